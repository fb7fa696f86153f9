"""What a session of a million events costs: to open, to preview, to edit the preview, to commit.

    python -m tests.benchmarks.large_session --folder DIR [--events 1000000] [--keys 40]

Makes a believable Claude Code log (turns of a user's words, steps with text and a call, results),
ingests it into a store in DIR once, and then times the use-cases that the app calls. The baseline
of the same run is one plain walk over the surface in Python that weighs each node, which is what
any figure cost that was not kept. ``--keys`` sends keys to the app in a pseudo-terminal while the
region of a compaction is edited: in rounds with the worker busy, as a person types, and in rounds
of the same keys with each answer waited for, which is the baseline.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import shutil
import statistics
import sys
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from time import perf_counter
from typing import TypeVar

from inspector.compactions import PreviewHandle
from inspector.settings import load_settings
from inspector.surface_rows import SurfaceRows
from inspector.usecases import UseCases
from storage.sources.registry import registry
from storage.store import Store
from tests.benchmarks.key_latency import KEYS, Terminal, first_paint, latency

WORDS = (
    "the",
    "parser",
    "reads",
    "a",
    "line",
    "and",
    "keeps",
    "its",
    "place",
    "where",
    "it",
    "ended",
)
STEPS = 8
"""Steps of a turn; each is a message with a call, and its result. A turn begins with a user's words
and ends with the agent's."""

APP = """
import sys
from pathlib import Path
from inspector.app import UllageApp
from inspector.settings import load_settings
from inspector.usecases import UseCases
from storage.sources.registry import registry
from storage.store import Store
usecases = UseCases(Store(Path(sys.argv[1]), registry()), load_settings())
UllageApp(usecases, session=sys.argv[2]).run()
"""


def records(events: int, seed: int = 7) -> Iterator[dict[str, object]]:
    """A long session of one agent, ``events`` records of it."""
    rng = random.Random(seed)
    parent, number, step = None, 0, 0
    while number < events:
        for record in _turn(rng, step):
            number += 1
            uuid = f"u{number:07d}"
            yield {
                "uuid": uuid,
                "parentUuid": parent,
                "sessionId": "large",
                "isSidechain": False,
                "cwd": "/home/dev/parser",
                "version": "2.1.0",
                "timestamp": "2026-01-01T00:00:00.000Z",
                **record,
            }
            parent = uuid
            if number >= events:
                return
        step += STEPS


def _turn(rng: random.Random, first: int) -> Iterator[dict[str, object]]:
    path = f"src/mod_{first % 97}/part_{rng.randrange(900)}.py"
    ask = f"Look at case_{first} in {path}: {_text(rng, 9)}"
    yield {"type": "user", "message": {"role": "user", "content": ask}}
    for step in range(first, first + STEPS):
        call = f"toolu_{step:08d}"
        path = f"src/mod_{step % 97}/part_{rng.randrange(900)}.py"
        block = {"type": "tool_use", "id": call, "name": "Read", "input": {"file_path": path}}
        yield _message(f"msg_{step:08d}", block, 1_000 + step * 50 % 150_000)
        answer = (
            f"def fn_{step % 5000}():\n    return limit_{rng.randrange(10**6)}  # {_text(rng, 8)}"
        )
        result = {"type": "tool_result", "tool_use_id": call, "content": answer}
        yield {"type": "user", "message": {"role": "user", "content": [result]}}
    words = {"type": "text", "text": f"case_{first} is read: {_text(rng, 6)}."}
    yield _message(f"end_{first:08d}", words, 1_000 + (first + STEPS) * 50 % 150_000)


def _message(identity: str, block: dict[str, object], read: int) -> dict[str, object]:
    return {
        "type": "assistant",
        "message": {
            "id": identity,
            "role": "assistant",
            "model": "claude-sonnet-4-5",
            "content": [block],
            "usage": {"input_tokens": 10, "output_tokens": 40, "cache_read_input_tokens": read},
        },
    }


def _text(rng: random.Random, count: int) -> str:
    return " ".join(rng.choice(WORDS) for _ in range(count))


def prepared(folder: Path, events: int) -> Path:
    """The store of a session of so many events, made and ingested once."""
    folder.mkdir(parents=True, exist_ok=True)
    db, log = folder / f"large-{events}.db", folder / f"large-{events}.jsonl"
    done = folder / f"large-{events}.done"
    if done.exists():
        return db
    with log.open("w") as out:
        out.writelines(json.dumps(record) + "\n" for record in records(events))
    usecases = UseCases(Store(db, registry()), load_settings())
    try:
        print("ingest:", usecases.ingest([log]).seconds, "s")
    finally:
        usecases.close()
    done.touch()
    return db


T = TypeVar("T")


class Figures:
    """Timings, told as they come, in seconds."""

    def __init__(self) -> None:
        self.rows: dict[str, float] = {}

    def time(self, what: str, work: Callable[[], T]) -> T:
        """Run once and note how long it took."""
        begun = perf_counter()
        answer = work()
        self.note(what, perf_counter() - begun)
        return answer

    def worst(self, what: str, works: Sequence[Callable[[], object]]) -> None:
        """Run each and note the slowest."""
        spent = []
        for work in works:
            begun = perf_counter()
            work()
            spent.append(perf_counter() - begun)
        self.note(f"{what}, median of {len(works)}", statistics.median(spent))
        self.note(f"{what}, worst of {len(works)}", max(spent))

    def note(self, what: str, value: float) -> None:
        self.rows[what] = value
        print(f"{what:<58} {value:>10.3f}")


def engine(db: Path, session: str, figures: Figures, rounds: int) -> None:
    """Everything that a person does with a compaction, through the use-cases."""
    usecases = UseCases(Store(db, registry()), load_settings())
    try:
        before = resident()
        view = figures.time("open: load, fold, plan, measure", lambda: _opened(usecases, session))
        nodes = view.state.surface.nodes
        figures.note("memory a node when open, bytes", (resident() - before) / len(nodes))
        members, entries = view.state.surface.members, view.state.entries
        figures.time(
            "baseline: weigh each node in one loop",
            lambda: sum(entries[seq].tokens for node in nodes for seq in members[node]),
        )
        paired = usecases._load(session).measured(view.state)
        units = paired.units
        end, start = units[len(units) * 9 // 10], units[len(units) // 10]

        def preview(by: int = 0, **wanted: object) -> PreviewHandle:
            first, last = units[bisect_left(units, start) + by], end
            return usecases.preview(session, start=nodes[first], end=nodes[last - 1], **wanted)

        figures.time("first preview", preview)
        figures.worst("edge moved", [lambda n=n: preview(n + 1) for n in range(rounds)])
        budgets = (512, 1_024, 2_048, 4_096, 16_384)
        figures.worst("budget changed", [lambda b=b: preview(budget=b) for b in budgets])
        pins = [nodes[start + 1_000 * n + 7] for n in range(1, rounds + 1)]
        figures.worst("pin added", [lambda n=n: preview(pins=pins[:n]) for n in range(1, rounds)])
        handle = preview()
        shown = sum(1 for _ in handle.report.nodes.runs)
        figures.note("runs of fates", shown)
        figures.time("commit", lambda: usecases.commit(handle))
        figures.time("plan after the commit", lambda: usecases.view(session, track="plan"))
        figures.time("undo", lambda: usecases.undo(session))
        figures.time("preview after the undo", preview)
        figures.note("memory a node at the end, bytes", (resident() - before) / len(nodes))
    finally:
        usecases.close()


def _opened(usecases: UseCases, session: str) -> SurfaceRows:
    view = usecases.view(session, track="plan")
    view.rows(0, 50)
    return view


def resident() -> int:
    """Bytes of this process that are in memory."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize()


def keys(db: Path, session: str, count: int, figures: Figures) -> None:
    """Latency of keys while the region of a compaction is edited, in milliseconds."""
    root = Path(__file__).resolve().parents[2]
    command = [sys.executable, "-c", APP, str(db), session]
    terminal = Terminal(command, root)
    try:
        first_paint(terminal, b"case_", perf_counter())
        wait_for_silence(terminal)
        terminal.send("c")
        terminal.drain()
    finally:
        figures.time("quit while the first preview is made", lambda: leave(terminal))
    terminal = Terminal(command, root)
    try:
        first_paint(terminal, b"case_", perf_counter())
        wait_for_silence(terminal)
        terminal.send("c")
        wait_for_silence(terminal)
        for pressed in (KEYS["home"], "s", KEYS["end"], *"kkkkkkkkkkkk", "e", "k", "k"):
            terminal.send(pressed)
            wait_for_silence(terminal)
        # The first answer waits for the meter.
        for pressed in ("+", "-"):
            terminal.send(pressed)
            first_paint(terminal, b"gains", perf_counter())
            wait_for_silence(terminal)
        busy: list[float] = []
        idle: list[float] = []
        for number in range(count):
            answer_keys(terminal, busy, rest=0)
            if number % 2:
                wait_for_silence(terminal)
                answer_keys(terminal, idle, rest=1.5)
        for what, spent in (("region edited", busy), ("the same, worker idle", idle)):
            spent.sort()
            figures.note(f"key, {what}: how many", len(spent))
            figures.note(f"key, {what}: median ms", statistics.median(spent))
            for share in (95, 99):
                figures.note(f"key, {what}: p{share} ms", spent[len(spent) * share // 100])
            figures.note(f"key, {what}: worst ms", spent[-1])
    finally:
        leave(terminal)


def answer_keys(terminal: Terminal, spent: list[float], rest: float) -> None:
    """A round of keys, each with its latency in milliseconds; ``rest``: seconds of silence before
    each, so that nothing is computed meanwhile."""
    for pressed in ("j", "e", "-", "k", "p", "+", "e", "p"):
        if rest:
            wait_for_silence(terminal, rest)
        taken, drawn = latency(terminal, pressed)
        # A key that changes nothing (an edge that stands where it stood) is no sample.
        if drawn:
            spent.append(taken * 1000)


def wait_for_silence(terminal: Terminal, seconds: float = 2) -> None:
    """Until nothing was drawn for so long."""
    while terminal.wait(seconds):
        pass


def leave(terminal: Terminal) -> None:
    """Quit, and wait for the end of the process."""
    terminal.close(120)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--folder", type=Path, required=True, help="where the session is kept")
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=8, help="edits of each kind")
    parser.add_argument("--keys", type=int, default=0, help="rounds of eight keys in the app")
    asked = parser.parse_args()
    original = prepared(asked.folder, asked.events)
    copy = asked.folder / "scratch.db"
    shutil.copy(original, copy)
    figures = Figures()
    try:
        session = _name(copy)
        engine(copy, session, figures, asked.rounds)
        if asked.keys:
            keys(copy, session, asked.keys, figures)
    finally:
        for path in asked.folder.glob("scratch.db*"):
            path.unlink()
    print(json.dumps({"events": asked.events, "figures": figures.rows}))


def _name(db: Path) -> str:
    store = Store(db, registry())
    try:
        return store.sessions()[0].name
    finally:
        store.close()


if __name__ == "__main__":
    main()
