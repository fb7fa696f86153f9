"""One decision point, field by field; each line leads to the events that it was read from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from typing import Any, ClassVar

from textual import events
from textual.binding import Binding, BindingType

from compress.decisions.values import DecisionPoint
from compress.events import NodeId
from inspector.sanitize import clean, line, wrap
from inspector.widgets import figures
from inspector.widgets.decision_list import STATES, events_words, stage_words
from inspector.widgets.line_list import LineList, Listed
from inspector.widgets.tones import Cells, pad

NAME = 11
_SOURCES = 20
_LINES = 40
"""Of one text; the events have it whole."""


@dataclass(frozen=True, slots=True)
class DetailLine:
    """A line of a field, and on its first line where the field comes from."""

    name: str
    text: str
    tone: str
    seqs: tuple[NodeId, ...]
    first: bool = True


class DecisionDetail(LineList[DetailLine]):
    """The fields. Enter goes to an event that the line was read from, left and right choose which
    where there are several."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "activate", "To the event", tooltip="that this line was read from"),
        Binding("left", "choose(-1)", "Event before", show=False, tooltip="of the line's events"),
        Binding("right", "choose(1)", "Event after", show=False, tooltip="of the line's events"),
    ]

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.point: DecisionPoint | None = None
        self.zone: tzinfo | None = None
        self.chosen = 0
        """Which of the events of the line under the cursor."""

    def tell(self, point: DecisionPoint | None, zone: tzinfo | None) -> None:
        """Take another record, or a newer state of the same."""
        same = point is not None and self.point is not None and point.id == self.point.id
        self.point, self.zone = point, zone
        self._refold(self.cursor if same else 0)

    def on_resize(self, event: events.Resize) -> None:
        self._refold(self.cursor)

    def _refold(self, cursor: int) -> None:
        width = self.scrollable_content_region.width - 2 - NAME - _SOURCES
        lines = [] if self.point is None else list(detail_lines(self.point, self.zone, width))
        self.show(Listed(lines), cursor)

    def watch_cursor(self, old: int, new: int) -> None:
        before, after = self.at(old), self.at(new)
        if before is None or after is None or before.seqs != after.seqs:
            self.chosen = 0
        super().watch_cursor(old, new)

    def action_choose(self, by: int) -> None:
        row = self.row
        if row is not None and row.seqs:
            self.chosen = (self.chosen + by) % len(row.seqs)
            self.repaint()

    @property
    def event(self) -> NodeId | None:
        """The event that the line under the cursor leads to."""
        row = self.row
        return None if row is None or not row.seqs else row.seqs[self.chosen % len(row.seqs)]

    def paint(self, row: DetailLine, index: int, width: int) -> Cells:
        room = width - NAME - _SOURCES
        name = row.name if row.first else ""
        sources = ""
        tone = "muted"
        if index == self.cursor and row.seqs:
            place = f" {self.chosen % len(row.seqs) + 1}/{len(row.seqs)}" if row.seqs[1:] else ""
            sources, tone = f"→ {figures.event_name(self.event)}{place}", "accent"
        elif row.first:
            sources = source_words(row.seqs)
        return [
            (pad(name, NAME), "muted"),
            (pad(line(row.text, room - 1), room), row.tone),
            (pad(line(sources, _SOURCES), _SOURCES, right=True), tone),
        ]


def source_words(seqs: Sequence[NodeId]) -> str:
    """``#12 #14`` · ``#12 #14 +3``."""
    names = [figures.event_name(seq) for seq in seqs]
    return " ".join(names[:2]) + (f" +{len(names) - 2}" if names[2:] else "")


def detail_lines(point: DecisionPoint, zone: tzinfo | None, width: int) -> Iterator[DetailLine]:
    """The fields of a record, folded to ``width`` cells."""
    for name, text, tone, seqs in _fields(point, zone):
        rows = [row for part in clean(text).split("\n") for row in wrap(part, max(width, 8))]
        if len(rows) > _LINES:
            rows = [*rows[:_LINES], f"… {len(rows) - _LINES} more lines"]
        for number, row in enumerate(rows):
            yield DetailLine(name, row, tone, seqs, first=not number)


_Field = tuple[str, str, str, tuple[NodeId, ...]]
"""Name, text, tone and events."""


def _fields(point: DecisionPoint, zone: tzinfo | None) -> Iterator[_Field]:
    sources, state = point.sources, point.state
    yield "about", point.stage.title or "–", "strong", sources.title or (point.first_seq,)
    facts = [stage_words(point), f"events {events_words(point)}"]
    facts.append(f"{figures.tokens(point.stage_tokens)} tokens")
    memory = "session" if point.level == "L2" else "project"
    facts.append(f"{figures.tokens(point.tokens)} as a record of the {memory}'s memory")
    yield "stage", " · ".join(facts), "text", (point.first_seq, point.last_seq)
    times = [time for time in (point.started_at, point.ended_at) if time is not None]
    if times:
        seqs = (*sources.started_at, *sources.ended_at)
        words = " to ".join(dict.fromkeys(figures.moment(time, zone) for time in times))
        yield "time", f"since {words}" if point.open else words, "text", seqs
    yield "outcome", state, STATES[state][1], sources.outcome
    if point.summary and point.summary != point.stage.title:
        yield "did", point.summary, "text", sources.summary
    if point.rationale:
        yield "why", point.rationale, "assistant", sources.rationale
    yield from _items(point)
    if point.left_out:
        yield "", f"{point.left_out:,} more items stand in the log only", "muted", ()


def _items(point: DecisionPoint) -> Iterator[_Field]:
    for said in point.steering:
        words = f"{said.kind}: {said.text}" if said.text else said.kind
        yield "user", words, "user", said.source_event_seqs
    for fact in point.evidence:
        value = "" if fact.value is None else f" = {fact.value}"
        bad = fact.kind == "error" or (fact.kind in ("exit_code", "flag") and bool(fact.value))
        words = f"{fact.kind.replace('_', ' ')}: {fact.text}{value}"
        yield "evidence", words, "hot" if bad else "text", fact.source_event_seqs
    for file in point.files:
        yield "file", f"{file.action} {file.path}", "tool_calls", file.source_event_seqs
