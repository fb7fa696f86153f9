"""A question about a compaction and its answer: asked off the UI thread, handed over as values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from compress.events import NodeId
from inspector.reports import CompactionReport
from inspector.screens.edits import Edits
from inspector.screens.ports import Inquiry, Preview
from inspector.views import SurfaceView
from inspector.widgets.fate_rows import After, Before
from inspector.widgets.loss_list import LostThing, lost_things

P = TypeVar("P", bound=Preview)

OWN = "own"
"""The budget that means: as many tokens as the agent's own summary has."""


@dataclass(frozen=True, slots=True)
class Place:
    """Which surface is meant."""

    session: str
    at: NodeId | None = None
    """A moment of the past; ``None`` for now."""
    number: int | None = None
    """Just before this compaction of the agent's own, 1 for the first."""

    @property
    def past(self) -> bool:
        """Nothing can be committed there."""
        return self.at is not None or self.number is not None


@dataclass(frozen=True, slots=True)
class Answer(Generic[P]):
    """What a wish would come to."""

    view: SurfaceView
    report: CompactionReport
    preview: P | None
    """``None`` for a comparison: it can be looked at, never committed."""
    before: Before
    after: After
    things: list[LostThing]


def answer(
    inquiry: Inquiry[P],
    place: Place,
    edits: Edits,
    view: SurfaceView | None,
    cancelled: Callable[[], bool],
) -> Answer[P]:
    """Ask the use-cases. ``view``: the surface as it is known already. ``cancelled`` says that
    nobody waits for the answer any more.

    Raises a refusal of the use-cases.
    """
    start, end = edits.span if edits.mode == "region" and edits.span else (None, None)
    preview: P | None = None
    if place.number is not None and start is None:
        report = inquiry.compare(
            place.session, place.number, budget=edits.budget or OWN, pins=edits.keep
        )
    else:
        preview = inquiry.preview(
            place.session,
            start=start,
            end=end,
            mode=edits.mode,
            at=place.at,
            before_compaction=place.number,
            budget=edits.budget or (OWN if place.number is not None else None),
            pins=edits.keep,
            cancelled=cancelled,
        )
        report = preview.report
    if view is None:
        at = report.at_seq if place.past else None
        view = inquiry.view(place.session, track="plan", at=at)
    after = After(view, report)
    # Here, not when a row is first painted: these may have to be made for the whole surface.
    view.rows(0, 1)
    return Answer(view, report, preview, Before(view, report), after, lost_things(report.lost))
