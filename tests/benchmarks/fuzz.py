"""Random and hostile input, for as long as one likes; each finding ends it with what was handed in.

    python -m tests.benchmarks.fuzz --minutes 30 --seed 1

Questions over MCP, packs and rebuilt contexts, lines of every agent's log cut and mixed, spans of
texts that are made to be slow, the screen's cleaner, frames of a browser.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from compress.beliefs.headline import HEADLINE_LIMIT, headline
from compress.errors import CompressError
from compress.spans.blocks import document
from compress.spans.packer import spans_of
from compress.spans.values import SpanLimits
from inspector.sanitize import clean, line
from inspector.web.frames import MOST_COLUMNS, MOST_ROWS, Resized, frame_of
from storage.resources import counter
from storage.sources.registry import registry
from storage.store import Store
from tests.inspector.asking import NUMBERS, ODD, answered, hostile_log
from tests.inspector.logs import usecases
from tests.storage.store_dump import dump
from tests.storage.test_ingest import ingest

_CHARACTERS = (
    "a", " ", "\n", "\r", "\t", "\0", "\x0b", "\x1b[2J", "\x85", "\u0301", "\u200d", "\u2028",
    "\u202e", "\ud800", "\ufffe", "漢", "。", "ก", "\u0915\u094d", "\U0001f469", "\U0001f1e6", ". ",
    "```", "~~~\n", "# ", "| a |\n", "- ", "> ", "\\n", '{"a":1},', "</context-pack>", "[/]",
    "<!--",
)  # fmt: skip
_FIELDS = (None, True, -1, 2**70, 1e308, "", "\ud800", [], {}, [[]], {"text": 1}, "x" * 300)
_TOO_LONG = 20.0
"""Seconds of the processor; whatever takes longer is a finding."""


def _text(chance: random.Random) -> str:
    if chance.random() < 0.5:
        return "".join(chance.choices(_CHARACTERS, k=chance.randrange(1, 400)))
    unit = "".join(chance.choices(_CHARACTERS, k=chance.randrange(1, 4)))
    return unit * chance.randrange(1, 20_000 // len(unit))


def _spans(chance: random.Random) -> None:
    text = _text(chance)
    try:
        cut = spans_of(document("d", text), SpanLimits(60, 90, chance.choice((0, 8))), counter())
    except CompressError:
        return
    assert "".join(s.payload[s.payload_start + s.overlap :] for s in cut.spans) == text
    assert all(span.tokens <= 90 for span in cut.spans)


def _screen(chance: random.Random) -> None:
    text = _text(chance)
    clean(text).encode()
    assert not {"\x1b", "\0", "\u202e", "\x85"} & set(clean(text))
    assert "\n" not in line(text, 80)
    short = headline(text)
    assert len(short) <= HEADLINE_LIMIT or short in text


def _frame(chance: random.Random) -> None:
    kind = chance.choice(("stdin", "resize", "ping", "focus", "blur", "meta", 7))
    value = chance.choice((*_FIELDS, {"width": chance.choice(_FIELDS), "height": "9" * 9}))
    frame = frame_of(json.dumps([kind, value])[: chance.randrange(2, 400)])
    if isinstance(frame, Resized):
        assert frame.columns <= MOST_COLUMNS
        assert frame.rows <= MOST_ROWS


class _Sessions:
    """A hostile session that is asked."""

    def __init__(self, folder: Path) -> None:
        hostile_log(folder)
        self._cases = usecases(":memory:", folder)
        self._cases.ingest([folder])

    def asked(self, chance: random.Random) -> None:
        text, number = chance.choice((*ODD, _text(chance)[:500])), chance.choice(NUMBERS)
        tool, arguments = chance.choice((
            ("search", (text, number)),
            ("fetch", (text, number, chance.choice(NUMBERS))),
            ("pack", (text, number, chance.choice(("session", "project", "store")))),
            ("pack", (text, 500, "session", chance.choice(ODD))),
            ("decisions", (text, number)),
            ("pressure", (text,)),
            ("pin", ([number], "asked")),
            ("unpin", ([number], "asked")),
        ))  # fmt: skip
        answered(self._cases, (tool, arguments))

    def packed(self, chance: random.Random) -> None:
        budget = chance.randrange(1, 4_000)
        for make in (self._cases.pack, self._cases.rebuild):
            try:
                report = make("asked", query=_text(chance)[:300], budget=budget).report
            except CompressError as error:
                tokens, holds = getattr(error, "least", budget + 1), False
            else:
                tokens, holds = report.tokens, True
            assert (tokens <= budget) is holds, (tokens, budget)


class _Logs:
    """Lines of real and made logs, damaged, mixed and read in pieces."""

    lines = 0

    def __init__(self, folder: Path, corpus: Path | None) -> None:
        self._folder = folder
        sources = [hostile_log(folder).path]
        if corpus is not None:
            sources += [
                path for path in sorted(corpus.rglob("*.jsonl")) if path.parts[-2] in _AGENTS
            ]
        self._logs = [path.read_bytes().split(b"\n")[:400] for path in sources]

    def read(self, chance: random.Random) -> None:
        rows = list(chance.choice(self._logs))
        start = chance.randrange(max(1, len(rows) - 40))
        rows = rows[:2] + rows[start : start + chance.randrange(1, 40)]
        for _ in range(chance.randrange(4)):
            at = chance.randrange(len(rows))
            rows[at] = _damaged(rows[at], chance)
        data = b"\n".join(rows) + b"\n"
        _Logs.lines += len(rows)
        whole, pieces = self._folder / "f7c1-at-once.jsonl", self._folder / "f7c1-in-parts.jsonl"
        found = []
        for path, cuts in ((whole, []), (pieces, sorted(chance.choices(range(len(data)), k=3)))):
            path.unlink(missing_ok=True)
            store = Store(":memory:", registry())
            for cut in (*cuts, len(data)):
                path.write_bytes(data[:cut])
                ingest(store, path)
            rows_of = dump(store)
            store.close()
            found.append(json.dumps(rows_of, default=repr).replace(str(path), "PATH"))
            found[-1] = found[-1].replace(path.stem, "STEM")
        assert len(found[0]) > 2
        self.told(found, data)

    @staticmethod
    def told(found: list[str], data: bytes) -> None:
        first, second = (json.loads(one) for one in found)
        # What a file is judged by at its first bytes may differ while there are few of them.
        if [row[1] for row in first["sources"]] == [row[1] for row in second["sources"]]:
            for table in ("raw", "damage", "events"):
                one, two = ([row[1:] for row in told[table]] for told in (first, second))
                assert one == two, (table, data[:200])


_AGENTS = ("claude", "codex", "pi", "gemini", "dsh")


def _damaged(row: bytes, chance: random.Random) -> bytes:
    way = chance.randrange(4)
    if way == 0:
        return row[: chance.randrange(len(row) + 1)]
    if way == 1:
        at = chance.randrange(len(row) + 1)
        return row[:at] + bytes([chance.randrange(256)]) + row[at + 1 :]
    try:
        value = json.loads(row)
    except ValueError:
        return b"\0" * 20
    target = value
    while isinstance(target, dict) and target:
        key = chance.choice(list(target))
        if not isinstance(target[key], dict) or chance.random() < 0.3:
            target[key] = chance.choice(_FIELDS)
            break
        target = target[key]
    return json.dumps(value).encode()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--corpus", type=Path)
    asked = parser.parse_args()
    done: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="fuzz-") as name:
        folder = Path(name)
        for part in ("asked", "logs"):
            (folder / part).mkdir()
        sessions, logs = _Sessions(folder / "asked"), _Logs(folder / "logs", asked.corpus)
        ways: dict[str, Callable[[random.Random], None]] = {
            "spans": _spans, "screen": _screen, "frames": _frame, "questions": sessions.asked,
            "contexts": sessions.packed, "logs": logs.read,
        }  # fmt: skip
        end = time.monotonic() + 60 * asked.minutes
        number = asked.seed << 32
        while time.monotonic() < end:
            for way, run in ways.items():
                begun = time.process_time()
                try:
                    run(random.Random(number))
                except BaseException:
                    print(f"{way}, number {number}", flush=True)
                    raise
                took = time.process_time() - begun
                assert took < _TOO_LONG, f"{way}, number {number}: {took:.0f} s"
                done[way] += 1
            number += 1
    print(json.dumps({**done, "lines": _Logs.lines}))


if __name__ == "__main__":
    main()
