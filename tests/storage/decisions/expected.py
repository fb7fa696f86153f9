"""What a person reads in a log, in its own lines, beside what the harvest says of it."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from compress.decisions.harvest import About, Harvest, Judge
from compress.decisions.values import DecisionPoint
from compress.events import NodeId, SessionEvent
from compress.reduction.profile import parse_profile
from storage.sources.registry import registry
from tests.conftest import REPOSITORY
from tests.derivation import records

PROFILES = REPOSITORY / "assets" / "profiles"


def judge(*names: str) -> Judge:
    """A judge that knows these tools, and errors in general."""
    parsed = {
        name: parse_profile(tomllib.loads((PROFILES / f"{name}.toml").read_text()), name)
        for name in (*names, "generic")
    }
    return Judge([parsed[name] for name in names], parsed["generic"])


@dataclass
class Read:
    """A log that was harvested: its records, and the line that each event stands in."""

    points: list[DecisionPoint]
    lines: dict[NodeId, int]

    def at(self, seqs: Sequence[NodeId]) -> list[int]:
        """The lines of these events."""
        return sorted({self.lines[seq] for seq in seqs})


def harvest_log(path: Path, agent: str, last_line: int | None = None) -> Read:
    """The decision points of a log's first lines, with the test runners of the corpus known."""
    adapter = registry().for_agent(agent)
    reader = adapter.open(path)
    lines: dict[NodeId, int] = {}
    events: list[SessionEvent] = []
    for record in records(path.read_bytes()):
        if last_line is not None and record.line > last_line:
            break
        for derived in reader.feed(record):
            if derived.session == "":
                events.extend(derived.events)
                lines.update((event.seq, record.line) for event in derived.events)
    facts = reader.sessions[""]
    about = About(agent, facts.native_id, facts.cwd)
    harvest = Harvest(about, lambda text: len(text) // 4, judge("pytest", "unittest"))
    for event in events:
        harvest.feed(event, sum(len(block.text) for block in event.blocks) // 4)
    return Read(harvest.take(), lines)


@dataclass
class Told:
    """A text, or its beginning, with the lines that it is read from."""

    text: str
    lines: list[int]


@dataclass
class Point:
    """One record as a person would write it down. ``first``: the line that it begins with;
    ``end``: the line of its last moment, ``None`` while it runs. ``steering``: (kind, beginning of
    the words, line). ``evidence``: (kind, a part of the text or the number, lines). ``files``:
    name → (action, lines of calls and results)."""

    kind: str
    title: Told
    outcome: str
    first: int
    end: int | None
    summary: Told | None = None
    why: Told | None = None
    decided: list[int] = field(default_factory=list)
    steering: list[tuple[str, str, list[int]]] = field(default_factory=list)
    evidence: list[tuple[str, Any, list[int]]] = field(default_factory=list)
    files: dict[str, tuple[str, list[int]]] = field(default_factory=dict)

    def sources(self) -> list[int]:
        """All lines that the record rests on."""
        told = [self.title, self.summary, self.why]
        lines = {self.first, *self.decided, *(line for t in told if t for line in t.lines)}
        lines |= {line for _, _, found in (*self.steering, *self.evidence) for line in found}
        lines |= {line for _, found in self.files.values() for line in found}
        return sorted(lines if self.end is None else lines | {self.end})


def check(read: Read, expected: Sequence[Point]) -> None:
    """Every record is the expected one, field by field, and rests on the lines that it should."""
    found = [
        (p.stage.kind, p.stage.title[: len(e.title.text)])
        for p, e in zip(read.points, expected, strict=False)
    ]
    assert found == [(e.kind, e.title.text) for e in expected][: len(found)]
    assert len(read.points) == len(expected)
    for point, want in zip(read.points, expected, strict=True):
        name = f"{want.kind} {want.title.text}"
        assert (name, point.outcome) == (name, want.outcome)
        assert (name, point.open) == (name, want.end is None)
        assert (name, read.at((point.first_seq,))) == (name, [want.first])
        assert (name, read.at(point.sources.title)) == (name, want.title.lines)
        assert (name, read.at(point.sources.outcome)) == (name, want.decided)
        assert (name, read.at(point.sources.ended_at)) == (name, [want.end] if want.end else [])
        _check_told(name, read, point.summary, point.sources.summary, want.summary)
        _check_told(name, read, point.rationale or "", point.sources.rationale, want.why)
        _check_steering(name, read, point, want)
        _check_evidence(name, read, point, want)
        files = {
            file.path.rsplit("/", 1)[-1]: (file.action, read.at(file.source_event_seqs))
            for file in point.files
        }
        assert (name, files) == (name, want.files)
        assert (name, read.at(point.source_event_seqs)) == (name, want.sources())
        assert point.left_out == 0


def _check_told(
    name: str, read: Read, text: str, seqs: Sequence[NodeId], want: Told | None
) -> None:
    if want is None:
        assert (name, text) == (name, "")
    else:
        assert (name, text[: len(want.text)]) == (name, want.text)
        assert (name, read.at(seqs)) == (name, want.lines)


def _check_steering(name: str, read: Read, point: DecisionPoint, want: Point) -> None:
    steering = [(item.kind, item.text, read.at(item.source_event_seqs)) for item in point.steering]
    shown = [
        (kind, text if text == said else text[: len(said)] if said else text, lines)
        for (kind, text, lines), (_, said, _) in zip(steering, want.steering, strict=False)
    ]
    assert (name, len(steering)) == (name, len(want.steering))
    assert (name, shown) == (name, want.steering)


def _check_evidence(name: str, read: Read, point: DecisionPoint, want: Point) -> None:
    assert (name, [e.kind for e in point.evidence]) == (
        name,
        [kind for kind, _, _ in want.evidence],
    )
    for item, (_, said, lines) in zip(point.evidence, want.evidence, strict=True):
        if isinstance(said, int):
            assert (name, item.value) == (name, said)
        else:
            assert said in item.text, (name, item.text)
        assert (name, item.text[:40], read.at(item.source_event_seqs)) == (
            name,
            item.text[:40],
            lines,
        )
