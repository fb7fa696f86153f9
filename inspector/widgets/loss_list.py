"""What a compaction would lose, one thing a line; each leads to the node that it stands in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from textual.binding import Binding, BindingType

from inspector.reports import LostReport
from inspector.sanitize import line
from inspector.widgets.line_list import LineList
from inspector.widgets.tones import Cells, pad

KIND = 12
_TONES = {"instruction": "user", "error": "hot", "identifier": "muted"}


@dataclass(frozen=True, slots=True)
class LostThing:
    """One thing that would stand nowhere any more."""

    kind: str
    """instruction · error · identifier"""
    text: str
    told: bool = True
    """False for the line that says how many are not listed."""


def lost_things(lost: LostReport) -> list[LostThing]:
    """The gravest first."""
    return [
        *_things("instruction", lost.instructions, lost.instructions_total),
        *_things("error", lost.errors, lost.errors_total),
        *_things("identifier", lost.identifiers, lost.identifiers_total),
    ]


def total_of(lost: LostReport) -> int:
    """How many things of all kinds."""
    return (
        max(lost.instructions_total, len(lost.instructions))
        + max(lost.errors_total, len(lost.errors))
        + max(lost.identifiers_total, len(lost.identifiers))
    )


def _things(kind: str, texts: tuple[str, ...], total: int) -> Iterator[LostThing]:
    yield from (LostThing(kind, text) for text in texts)
    if total > len(texts):
        yield LostThing(kind, f"… and {total - len(texts):,} more", told=False)


class LossList(LineList[LostThing]):
    """The list; Enter leads to the node."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "activate", "Where it stands", show=False, tooltip="go to its node"),
    ]

    stale: bool = False

    def dim(self, stale: bool) -> None:
        """Whether what is shown is no longer what was asked for."""
        if self.stale != stale:
            self.stale = stale
            self.repaint()

    def paint(self, row: LostThing, index: int, width: int) -> Cells:
        cells: Cells = [
            (pad(row.kind, KIND), _TONES[row.kind]),
            (line(row.text, width - KIND), "text" if row.told else "muted"),
        ]
        return [(text, "faint") for text, _ in cells] if self.stale else cells
