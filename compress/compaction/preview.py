"""Previews: values that say all that a compaction would do, and the check before a commit."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from compress.compaction.digest import digest
from compress.compaction.errors import ChangedError
from compress.compaction.fates import FateRun, Fates, Mark, runs_of
from compress.compaction.loss import lost_from
from compress.compaction.material import Digest
from compress.compaction.region import Span, find, span_of
from compress.compaction.retention import automatic_cut, oversized_units
from compress.compaction.values import Lost, Preview, Region, SessionInput, Summary
from compress.errors import CompressError
from compress.events import NodeId
from compress.measured import Measured
from compress.operations import OperationDraft, OperationKind
from compress.pieces import Pieces

BY_HAND = "kept by hand"
"""The rule of a node that is kept in this one operation."""
OUTSIDE = "outside the region"
APPENDED = "appended since the preview"

_LISTED = 5


@dataclass(frozen=True, slots=True)
class Change:
    """What an operation puts in the place of nodes: position of the first one → the nodes that
    come, and what each of the affected nodes turns into."""

    kind: OperationKind
    span: Span
    brought: Mapping[int, tuple[tuple[NodeId, int], ...]]
    """Position → (new node, its tokens)."""
    draft: OperationDraft
    summary: Summary | None
    texts: tuple[str, ...]
    """What stands newly, for the report of what is lost."""
    fates: Mapping[int, Mark] = field(default_factory=dict)
    """Position → the fate of a node that gets another text; every other one is kept, or shadowed
    where the kind is ``compact``."""
    found: Digest | None = None
    """The facts of what goes, where they were harvested already."""


@dataclass(frozen=True, slots=True)
class _Figures:
    """What follows from a change by sums alone."""

    fates: Fates
    surface: Sequence[NodeId]
    before: int
    after: int
    region_before: int
    region_after: int
    floor: int
    oversized: tuple[NodeId, ...]
    behind: int


def assemble(
    session: SessionInput, measured: Measured, change: Change, warnings: Iterable[str] = ()
) -> Preview:
    """The preview of a change."""
    figures = _figures(session, measured, change)
    lost = _lost(session, measured, change, figures.fates)
    return Preview(
        kind=change.kind,
        region=Region(change.span.nodes[0], change.span.nodes[-1]),
        fates=figures.fates,
        surface=figures.surface,
        summary=change.summary,
        tokens_before=figures.before,
        tokens_after=figures.after,
        region_before=figures.region_before,
        region_after=figures.region_after,
        pressure_before=session.pressure(figures.before),
        pressure_after=session.pressure(figures.after),
        floor=figures.floor,
        oversized=figures.oversized,
        lost=lost,
        cache_invalidated_tokens=figures.behind,
        warnings=(*warnings, *_warnings(session, figures, lost)),
        draft=change.draft,
        fingerprint=fingerprint(measured, _touched(change), change.span.keep),
    )


def fingerprint(
    measured: Measured, touched: Iterable[tuple[int, int]], keep: Sequence[NodeId]
) -> str:
    """Of the runs of nodes that an operation touches: their order, their events and weights, and
    what of them is kept."""
    found = hashlib.sha256()
    for start, stop in touched:
        found.update(f"{stop - start}:".encode())
        for part in measured.bytes_of(start, stop):
            found.update(part)
    found.update(repr([str(node) for node in keep]).encode())
    return found.hexdigest()


def check_commit(preview: Preview, session: SessionInput) -> Preview:
    """The preview with the figures of now, ready to be committed.

    What was appended behind the region never invalidates it: the figures are recomputed, and a
    warning says so. Raises :class:`ChangedError` where the region itself changed: other nodes,
    other order, other pins, or an edge that would part a call from its result.
    """
    measured = session.measure()
    try:
        change = _change_now(preview, session, measured)
    except CompressError as error:
        raise ChangedError(f"The previewed region changed: {error} Preview it again.") from None
    paired, span = measured.paired, change.span
    if change.kind == "compact" and not (paired.legal(span.start) and paired.legal(span.stop)):
        raise ChangedError(
            "The edges of the previewed region would part a call from its result now: preview it "
            "again."
        )
    if fingerprint(measured, _touched(change), span.keep) != preview.fingerprint:
        raise ChangedError("The previewed region changed since: preview it again.")
    if measured.nodes == preview.fates.nodes and measured.total == preview.tokens_before:
        return preview
    return _refigured(preview, session, measured, change)


def _change_now(preview: Preview, session: SessionInput, measured: Measured) -> Change:
    """The previewed change at the places where its nodes stand now.

    Raises a :class:`CompressError` where one of them does not stand, or nothing would go.
    """
    new = {"draft": preview.draft, "summary": preview.summary, "texts": ()}
    if preview.kind == "compact":
        start = find(session, measured, preview.region.start)
        stop = find(session, measured, preview.region.end) + 1
        by_hand = frozenset(
            preview.fates.nodes[position]
            for run in preview.fates.runs
            if run.rule == BY_HAND
            for position in range(run.start, run.stop)
        )
        span = span_of(session, measured, start, stop, by_hand)
        brought = {start: (("+3", preview.region_after),)}
        return Change("compact", span, brought, **new)  # type: ignore[arg-type]
    runs = [run for run in preview.fates.runs if run.fate in ("receipt", "reduced")]
    places = [find(session, measured, preview.fates.nodes[run.start]) for run in runs]
    nodes = tuple(measured.nodes[place] for place in places)
    kept = tuple(node for node in nodes if node in session.plan.held)
    gone = tuple(node for node in nodes if node not in session.plan.held)
    return Change(
        preview.kind,
        Span(min(places), max(places) + 1, nodes, kept, gone),
        {
            place: ((f"+{index}", run.tokens_after),)
            for index, (place, run) in enumerate(zip(places, runs, strict=True), 3)
        },
        fates={
            place: Mark(run.fate, run.rule or "", run.tokens_after)
            for place, run in zip(places, runs, strict=True)
        },
        **new,  # type: ignore[arg-type]
    )


def _refigured(
    preview: Preview, session: SessionInput, measured: Measured, change: Change
) -> Preview:
    known, nodes = len(preview.fates), measured.nodes
    grown = nodes[:known] == preview.fates.nodes
    if not grown:
        old = set(preview.fates.nodes)
        known = len(nodes) - sum(node not in old for node in nodes)
    figures = _figures(session, measured, change, known if grown else None)
    new = len(nodes) - known
    note = f"{new} nodes were appended since the preview."
    if not new:
        note = "What stands was changed since the preview, outside of its region."
    return replace(
        preview,
        fates=figures.fates,
        surface=figures.surface,
        tokens_before=figures.before,
        tokens_after=figures.after,
        pressure_before=session.pressure(figures.before),
        pressure_after=session.pressure(figures.after),
        floor=figures.floor,
        oversized=figures.oversized,
        cache_invalidated_tokens=figures.behind,
        warnings=(*preview.warnings, note),
    )


def _figures(
    session: SessionInput, measured: Measured, change: Change, appended: int | None = None
) -> _Figures:
    """``appended``: from this position on, nodes came after the preview."""
    span, whole = change.span, change.kind == "compact"
    marks = {**_pinned(session, measured, span), **change.fates}
    tail = None if appended is None else (appended, APPENDED)
    runs = tuple(
        runs_of(measured, (span.start, span.stop) if whole else None, marks, OUTSIDE, tail=tail)
    )
    gone = sum(run.tokens_before for run in runs if run.fate not in ("kept", "pinned"))
    came = sum(weight for new in change.brought.values() for _, weight in new)
    before, first = measured.total, min(change.brought, default=0)
    return _Figures(
        fates=Fates(measured, runs),
        surface=Pieces(_surface(measured.nodes, runs, change.brought)),
        before=before,
        after=before - gone + came,
        region_before=gone,
        region_after=came,
        floor=_floor(session, measured),
        oversized=oversized_units(session, measured),
        behind=measured.weight(first, len(measured)) - gone + came,
    )


def _surface(
    nodes: Sequence[NodeId],
    runs: Sequence[FateRun],
    brought: Mapping[int, tuple[tuple[NodeId, int], ...]],
) -> Iterator[tuple[Sequence[NodeId], int, int]]:
    """The stretches of what stands after: new nodes take the place of the first that they stand
    for."""
    left = dict(brought)
    for run in runs:
        new = tuple(node for node, _ in left.pop(run.start, ()))
        yield new, 0, len(new)
        if run.fate in ("kept", "pinned"):
            yield nodes, run.start, run.stop


def _touched(change: Change) -> Iterable[tuple[int, int]]:
    """The runs of nodes that a change is about."""
    if change.kind == "compact":
        return ((change.span.start, change.span.stop),)
    return ((place, place + 1) for place in change.fates)


def _pinned(session: SessionInput, measured: Measured, span: Span) -> dict[int, Mark]:
    """The nodes that stay because they are pinned, by position."""
    marks: dict[int, Mark] = {}
    for node in span.keep:
        marks[measured.position(node)] = Mark("pinned", BY_HAND)
    for node in session.plan.held:
        position = measured.place(node)
        if position is not None:
            rule = "pinned" if node in session.plan.pins else "unit of a pinned node"
            marks[position] = Mark("pinned", rule)
    return marks


def _floor(session: SessionInput, measured: Measured) -> int:
    """Overhead, pins and retained tail, in counted tokens."""
    cut = automatic_cut(session, measured) if session.window else len(measured)
    places = (measured.place(node) for node in session.plan.held)
    pinned = sum(measured.tokens[p] for p in places if p is not None and p < cut)
    overhead = round((session.overhead or 0) / (session.calibration or 1.0))
    return overhead + pinned + measured.weight(cut, len(measured))


def _lost(session: SessionInput, measured: Measured, change: Change, fates: Fates) -> Lost:
    found = change.found
    if found is None:
        found = digest(session, change.span.gone, opened=False)
    stays = [run for run in fates.runs if run.fate in ("kept", "pinned")]
    standing = (
        (measured.nodes[position], measured.tokens[position])
        for run in reversed(stays)
        for position in range(run.stop - 1, run.start - 1, -1)
    )
    count = sum(run.stop - run.start for run in stays)
    return lost_from(session, found, change.texts, standing, count)


def _warnings(session: SessionInput, figures: _Figures, lost: Lost) -> Iterator[str]:
    if session.window:
        threshold = session.policy.threshold(session.window)
        least = session.calibrated(figures.floor)
        if least >= threshold:
            yield (
                f"What cannot be compacted (overhead, pins, retained tail) takes {least:,} tokens, "
                f"the threshold of {threshold:,} or more: no compaction will get below it."
            )
    oversized = figures.oversized
    if oversized:
        listed = ", ".join(str(node) for node in oversized[:_LISTED])
        more = f" and {len(oversized) - _LISTED} more" if len(oversized) > _LISTED else ""
        one = len(oversized) == 1
        what = "the unit at event" if one else "the units at events"
        yield (
            f"Larger than the retained tail by {'itself' if one else 'themselves'}: {what} "
            f"{listed}{more}. Summarising other nodes does not mend that."
        )
    if lost.unread:
        yield (
            f"{lost.unread:,} nodes that stay are too far from the end to be read: what stands in "
            "those alone is listed as lost."
        )
