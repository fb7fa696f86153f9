"""Logs of every agent, damaged: what reads them raises nothing, loses nothing and stays quick."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from compress.messages import derive_messages
from compress.surface import SurfaceFold, View
from compress.tokens import CharsOverFour
from storage.ingest import Ingest
from storage.records import parse_record
from storage.sources.base import Record, SourceAdapter
from storage.sources.registry import registry
from storage.store import Store
from storage.tail import Batch, Position, Tail
from tests.derivation import content
from tests.fuzzing.damage import Line, damaged_line, line_of, renamed
from tests.storage.sources import kit
from tests.storage.sources.made_logs import MADE
from tests.storage.store_dump import dump

_COPIES = 4
_LENGTHS = (8, 40, 200, 200, 200, 1_000)
_THOROUGH = 0.02
"""Share of the short logs that are held to the whole kit."""
_CROSSED = 0.1
"""Share of the logs into which lines of another log of their agent's are mixed."""
_VIEWS: tuple[View, ...] = ("resume", "live")
_MAY_DIFFER = {2, 20, 24}
"""Of a dump's sessions: the name, the estimate of what is in the window, its past figures."""
_LARGEST = 20_000
"""Bytes of a real log's line that is taken."""


class Food(NamedTuple):
    """What the logs of one agent are made of."""

    adapter: SourceAdapter
    path: Path
    lines: Sequence[Line]
    is_lines: bool
    states_operations: bool


class Clock:
    """The longest that one line took, in seconds of its thread's processor time."""

    def __init__(self) -> None:
        self.worst = 0.0
        self.what = ""

    def took(self, seconds: float, what: str) -> None:
        if seconds > self.worst:
            self.worst, self.what = seconds, what


def foods(corpus: Path | None = None) -> list[Food]:
    """Of every adapter of the registry, and of the real logs in a folder."""
    adapters = {adapter.agent: adapter for adapter in registry().adapters}
    found = []
    for agent, adapter in adapters.items():
        for log in MADE.get(agent, ()):
            copies = range(_COPIES if log.lines else 1)
            rows = [row for copy in copies for row in renamed(log.rows, copy)]
            lines = [line_of(row) for row in rows]
            found.append(Food(adapter, Path(log.path), lines, log.lines, log.states_operations))
    if corpus is not None:
        found += _real(corpus)
    return found


def _real(corpus: Path) -> Iterator[Food]:
    own = registry()
    for path in sorted(corpus.rglob("*.jsonl")):
        if "surfaces" in path.parts:
            continue
        raws = [raw for raw in path.read_bytes().split(b"\n")[:600] if 0 < len(raw) < _LARGEST]
        records = [parse_record(number, 0, raw) for number, raw in enumerate(raws[:20], 1)]
        adapter = own.recognise(path, [one.value for one in records if one is not None])
        if adapter is not None:
            lines = []
            for raw in raws:
                try:
                    lines.append(line_of(json.loads(raw)))
                except ValueError:
                    continue
            yield Food(adapter, path, lines, is_lines=True, states_operations=True)


def mixed(food: Food, chance: Random, length: int, share: float = 0.3) -> list[bytes]:
    """Lines of a log: a stretch of it, some damaged, twice, out of order or left out."""
    lines = food.lines
    if not food.is_lines:
        return [damaged_line(lines[0], lines[0], chance)]
    most = len(lines)
    begin = chance.randrange(most)
    # What a log begins with is needed to understand the rest.
    numbers = [*range(min(2, most)), *((begin + step) % most for step in range(length))]
    raws: list[bytes] = []
    for number in numbers:
        line = lines[number]
        kind = chance.random()
        if kind < share:
            raws.append(damaged_line(line, lines[chance.randrange(most)], chance))
        elif kind < share + 0.03:
            raws += [line.raw] * chance.randrange(3)
        elif kind < share + 0.05:
            raws.insert(chance.randrange(len(raws) + 1), line.raw)
        else:
            raws.append(line.raw)
    return raws


def crossed(food: Food, foods: Sequence[Food], chance: Random) -> Food:
    """The food with the lines of another one of its agent between its own, each in their order."""
    others = [one for one in foods if one.adapter is food.adapter and one.is_lines]
    if not food.is_lines or len(others) < 2:
        return food
    other = chance.choice([one for one in others if one is not food])
    first, second = list(food.lines[::-1]), list(other.lines[::-1])
    lines: list[Line] = []
    while first and second:
        lines.append(chance.choice((first, second)).pop())
    lines += first[::-1] or second[::-1]
    states = food.states_operations or other.states_operations
    return food._replace(lines=lines, states_operations=states)


def read(foods: Sequence[Food], chance: Random, clock: Clock) -> int:
    """One damaged log through its reader, the fold and the renderer; how many lines it had."""
    food = chance.choice(foods)
    if chance.random() < _CROSSED:
        food = crossed(food, foods, chance)
    length = chance.choice(_LENGTHS)
    raws = mixed(food, chance, length)
    reader = food.adapter.open(food.path)
    events: kit.Events = {}
    records: list[Record] = []
    offset = 0
    slowest = 0.0
    now = time.perf_counter
    begun = now()
    for number, raw in enumerate(raws, 1):
        record = parse_record(number, offset, raw)
        offset += len(raw) + 1
        if record is not None:
            records.append(record)
            if record.value is not None:
                for session, made in reader.feed(record):
                    events.setdefault(session, []).extend(made)
        ended = now()
        if ended - begun > slowest:
            slowest = ended - begun
        begun = ended
    if slowest > clock.worst:
        _measure(food, records, clock)
    accounted = reader.recognised + sum(reader.unknown_types.values())
    assert accounted >= sum(record.value is not None for record in records)
    assert events.keys() <= reader.sessions.keys()
    for emitted in events.values():
        # As the store has them: a revision stands at the place of what it revises. Of records with
        # one id, what they say of the surface may not go together: refused, not raised.
        found = list({event.seq: event for event in emitted}.values())
        state = SurfaceFold(chance.choice(_VIEWS))
        for event in found:
            state.apply_leniently(event)
        derive_messages(content(state.snapshot(), found), food.adapter.agent)
    if length < 100 and chance.random() < _THOROUGH:
        log = [record for record in records if record.value is not None]
        made = kit.check_records(food.adapter, food.path, log)
        kit.check_content(food.adapter, food.path, log)
        kit.check_surface(food.adapter, made, strict=not food.states_operations)
        kit.check_prefixes(food.adapter, food.path, log, made)
        kit.check_pieces(food.adapter, food.path, log, made)
    return len(raws)


def _measure(food: Food, records: Sequence[Record], clock: Clock) -> None:
    """What each line takes, by the clock of the thread: others may have had the processor."""
    reader = food.adapter.open(food.path)
    for record in records:
        begun = time.thread_time()
        parse_record(record.line, record.offset, record.raw)
        if record.value is not None:
            for _ in reader.feed(record):
                pass
        clock.took(time.thread_time() - begun, f"{food.adapter.agent}: {record.raw[:80]!r}")


def tailed(foods: Sequence[Food], folder: Path, chance: Random) -> int:
    """One damaged file that grows byte by byte, read meanwhile: as if read once at its end."""
    food = chance.choice(foods)
    ends = chance.choices((b"\n", b"\r\n", b"\n\n", b" \n"), (20, 1, 1, 1), k=1)[0]
    data = ends.join(mixed(food, chance, chance.choice((20, 100, 400, 2_000)), share=0.15))
    if chance.random() < 0.8:
        data += b"\n"
    limits = {
        "batch_bytes": chance.choice((100, 5_000, 1 << 20)),
        "batch_rows": chance.choice((1, 7, 1_000)),
        "max_line": chance.choice((60, 2_000, 1 << 24)),
    }
    path = folder / "tailed.jsonl"
    path.write_bytes(data)
    with Tail(path, **limits) as tail:
        expected = list(_drained(tail, final=True))
    path.unlink()
    path.touch()
    found: list[tuple[Any, ...]] = []
    tail = Tail(path, **limits)
    position: Position | None = None
    done = 0
    for cut in (*sorted(chance.choices(range(len(data) + 1), k=chance.randrange(6))), len(data)):
        with path.open("ab") as file:
            file.write(data[done:cut])
        done = cut
        found += _drained(tail, final=False)
        if chance.random() < 0.4:
            position = tail.position
            tail.close()
            tail = Tail(path, position, **limits)
    found += _drained(tail, final=True)
    tail.close()
    assert found == expected, data[:300]
    return data.count(b"\n") + 1


def _drained(tail: Tail, *, final: bool) -> Iterator[tuple[Any, ...]]:
    more = True
    while more:
        batch: Batch = tail.read(final=final)
        assert batch.state in ("appended", "unchanged"), batch.state
        for record in batch.records:
            yield record.line, record.offset, record.raw, record.size, record.damage
        more = batch.more


def ingested(foods: Sequence[Food], folder: Path, chance: Random) -> int:
    """Damaged logs in a store, read at once and while they grow: the same rows."""
    files = {}
    for number in range(chance.randrange(1, 4)):
        food = chance.choice(foods)
        raws = mixed(food, chance, chance.choice((10, 60, 200)))
        files[folder / f"f7c1{number}" / food.path.name] = b"\n".join(raws) + b"\n"
    stores = []
    for grows in (False, True):
        store = Store(":memory:", registry())
        reader = _reader(store)
        for path in files:
            path.parent.mkdir(exist_ok=True)
            path.unlink(missing_ok=True)
        if grows:
            reader = _grown(files, store, reader, chance)
        else:
            for path, data in files.items():
                path.write_bytes(data)
        reader.run(files, final=True)
        reader.close()
        stores.append(dump(store))
        store.close()
    for path in files:
        path.unlink()
        path.parent.rmdir()
    once, grown = stores
    # What a file is judged by at its first bytes may differ while there are few of them.
    if [row[1] for row in once["sources"]] == [row[1] for row in grown["sources"]]:
        for table in ("raw", "damage", "events", "sessions"):
            one, two = (_compared(told[table], table) for told in (once, grown))
            assert one == two, table
    return 2 * sum(data.count(b"\n") for data in files.values())


def _compared(rows: Sequence[Any], table: str) -> str:
    """As text, in which what is no number equals itself. A session keeps the name that it was
    first shown under, whatever its log says later; which of two files holds the copy of an event
    is told by which was read first. Of events that come again with another content, the estimates
    of the sessions list may differ."""
    if table == "sessions":
        rows = [[v for i, v in enumerate(row) if i not in _MAY_DIFFER] for row in rows]
    elif table == "events":
        rows = [row[:-1] for row in rows]
    return repr(rows)


def _grown(files: dict[Path, bytes], store: Store, reader: Ingest, chance: Random) -> Ingest:
    first = {path: _behind_the_head(data, chance) for path, data in files.items()}
    for path, data in files.items():
        path.write_bytes(data[: first[path]])
    for _ in range(chance.randrange(4)):
        reader.run(files, final=False)
        path = chance.choice(list(files))
        with path.open("ab") as file:
            cut = chance.randrange(first[path], len(files[path]) + 1)
            file.write(files[path][first[path] : cut])
        first[path] = cut
        if chance.random() < 0.5:
            reader.close()
            reader = _reader(store)
    for path, data in files.items():
        with path.open("ab") as file:
            file.write(data[first[path] :])
    return reader


def _behind_the_head(data: bytes, chance: Random) -> int:
    """A place in the bytes, mostly behind the lines by which a file is recognised."""
    if chance.random() < 0.2:
        return chance.randrange(len(data) + 1)
    head = len(b"\n".join(data.split(b"\n")[:25]))
    return chance.randrange(head, len(data) + 1)


def _reader(store: Store) -> Ingest:
    return Ingest(store, counter_for=lambda _: CharsOverFour())
