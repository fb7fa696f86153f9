"""Previews: values that say all that a compaction would do, and the check before a commit."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from compress.compaction.digest import RAW_TOKENS, digest
from compress.compaction.errors import ChangedError
from compress.compaction.loss import lost, texts
from compress.compaction.region import Span, span_of
from compress.compaction.retention import automatic_cut, oversized_units
from compress.compaction.values import (
    Fate,
    NodeFate,
    Preview,
    Region,
    SessionInput,
    Summary,
)
from compress.errors import CompressError
from compress.events import NodeId
from compress.operations import OperationDraft, OperationKind
from compress.pairing import Pairing, pairing

BY_HAND = "kept by hand"
"""The rule of a node that is kept in this one operation."""

_LISTED = 5


@dataclass(frozen=True, slots=True)
class Change:
    """What an operation puts in the place of nodes: position of the first one → the nodes that
    come, and what each of the affected nodes turns into."""

    kind: OperationKind
    span: Span
    brought: Mapping[int, tuple[tuple[NodeId, int], ...]]
    """Position → (new node, its tokens)."""
    fates: Mapping[int, tuple[Fate, str, int]]
    """Position → (fate, rule, tokens after); every other node is kept."""
    draft: OperationDraft
    summary: Summary | None
    texts: tuple[str, ...]
    """What stands newly, for the report of what is lost."""


def node_tokens(session: SessionInput) -> list[int]:
    """Counted tokens of each standing node, in surface order."""
    members, entries = session.plan.surface.members, session.plan.entries
    return [sum(entries[seq].tokens for seq in members[n]) for n in session.plan.surface.nodes]


def assemble(
    session: SessionInput,
    paired: Pairing,
    tokens: Sequence[int],
    change: Change,
    warnings: Iterable[str] = (),
) -> Preview:
    """The preview of a change."""
    nodes = session.plan.surface.nodes
    fates, after = [], list[NodeId]()
    first = min(change.brought, default=0)
    behind = before = gone_before = gone_after = 0
    for position, node in enumerate(nodes):
        for new, weight in change.brought.get(position, ()):
            after.append(new)
            gone_after += weight
            behind += weight
        fate, rule, weight = change.fates.get(position, _kept(session, change.span, position))
        weight = tokens[position] if weight < 0 else weight
        fates.append(NodeFate(node, fate, rule, tokens[position], weight))
        before += tokens[position]
        if fate in ("kept", "pinned"):
            after.append(node)
            behind += weight if position >= first else 0
        else:
            gone_before += tokens[position]
    total_after = before - gone_before + gone_after
    floor = _floor(session, paired, tokens)
    oversized = oversized_units(session, paired, tokens)
    flat = digest(session, change.span.gone, opened=False)
    return Preview(
        kind=change.kind,
        region=Region(change.span.nodes[0], change.span.nodes[-1]),
        fates=tuple(fates),
        surface=tuple(after),
        summary=change.summary,
        tokens_before=before,
        tokens_after=total_after,
        region_before=gone_before,
        region_after=gone_after,
        pressure_before=session.pressure(before),
        pressure_after=session.pressure(total_after),
        floor=floor,
        oversized=oversized,
        lost=lost(flat, [*change.texts, *_standing(session, change, tokens)]),
        cache_invalidated_tokens=behind,
        warnings=(*warnings, *_warnings(session, floor, oversized)),
        draft=change.draft,
        fingerprint=fingerprint(session, change.span),
    )


def fingerprint(session: SessionInput, span: Span) -> str:
    """Of a region: its nodes with their events, in order, what of them is kept, and its edges."""
    members = session.plan.surface.members
    parts = [(str(node), [str(seq) for seq in members[node]]) for node in span.nodes]
    text = repr((parts, [str(node) for node in span.keep]))
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def check_commit(preview: Preview, session: SessionInput) -> Preview:
    """The preview with the figures of now, ready to be committed.

    What was appended behind the region never invalidates it: the figures are recomputed, and a
    warning says so. Raises :class:`ChangedError` where the region itself changed: other nodes,
    other order, other pins, or an edge that would part a call from its result.
    """
    paired = pairing(session.plan.surface, session.plan.entries)
    try:
        start = session.plan.surface.position(preview.region.start)
        stop = session.plan.surface.position(preview.region.end) + 1
        if preview.kind == "compact":
            span = span_of(session, paired, start, stop, frozenset(_kept_by_hand(preview)))
        else:
            span = Span(start, stop, session.plan.surface.nodes[start:stop], ())
    except CompressError as error:
        raise ChangedError(f"The previewed region changed: {error} Preview it again.") from None
    if not (paired.legal(start) and paired.legal(stop)) and preview.kind == "compact":
        raise ChangedError("The edges of the previewed region would part a call from its result.")
    if _region_print(preview, session, span) != preview.fingerprint:
        raise ChangedError("The previewed region changed since: preview it again.")
    if session.plan.surface.nodes == tuple(fate.node for fate in preview.fates):
        return preview
    return _refigured(preview, session, paired)


def _region_print(preview: Preview, session: SessionInput, span: Span) -> str:
    if preview.kind == "compact":
        return fingerprint(session, span)
    touched = {fate.node for fate in preview.fates if fate.fate in ("receipt", "reduced")}
    nodes = tuple(node for node in span.nodes if node in touched)
    kept = tuple(node for node in nodes if node in session.plan.held)
    return fingerprint(session, Span(span.start, span.stop, nodes, kept))


def _kept_by_hand(preview: Preview) -> list[NodeId]:
    return [fate.node for fate in preview.fates if fate.rule == BY_HAND]


def _refigured(preview: Preview, session: SessionInput, paired: Pairing) -> Preview:
    tokens = node_tokens(session)
    known = {fate.node: fate for fate in preview.fates}
    fates = tuple(
        known.get(node) or NodeFate(node, "kept", "appended since the preview", weight, weight)
        for node, weight in zip(session.plan.surface.nodes, tokens, strict=True)
    )
    new = len(fates) - sum(1 for fate in fates if fate.node in known)
    before = sum(tokens)
    saved = preview.region_before - preview.region_after
    return replace(
        preview,
        fates=fates,
        surface=(*preview.surface, *(f.node for f in fates if f.node not in known)),
        tokens_before=before,
        tokens_after=before - saved,
        pressure_before=session.pressure(before),
        pressure_after=session.pressure(before - saved),
        floor=_floor(session, paired, tokens),
        cache_invalidated_tokens=preview.cache_invalidated_tokens + before - preview.tokens_before,
        warnings=(*preview.warnings, f"{new} nodes were appended since the preview."),
    )


def _kept(session: SessionInput, span: Span, position: int) -> tuple[Fate, str, int]:
    node = session.plan.surface.nodes[position]
    if node in session.plan.pins:
        return ("pinned", "pinned", -1)
    if node in session.plan.held:
        return ("pinned", "unit of a pinned node", -1)
    if span.start <= position < span.stop and node in span.keep:
        return ("pinned", BY_HAND, -1)
    return ("kept", "outside the region", -1)


def _floor(session: SessionInput, paired: Pairing, tokens: Sequence[int]) -> int:
    """Overhead, pins and retained tail, in counted tokens."""
    cut = automatic_cut(session, paired, tokens) if session.window else len(tokens)
    held = session.plan.held
    nodes = session.plan.surface.nodes
    pinned = sum(tokens[p] for p in range(cut) if nodes[p] in held) if held else 0
    overhead = round((session.overhead or 0) / (session.calibration or 1.0))
    return overhead + pinned + sum(tokens[cut:])


def _standing(session: SessionInput, change: Change, tokens: Sequence[int]) -> Iterable[str]:
    """The texts of the nodes that stay, the nearest to the tail first, within bounds."""
    budget = RAW_TOKENS
    for position in range(len(tokens) - 1, -1, -1):
        if position in change.fates and change.fates[position][0] not in ("kept", "pinned"):
            continue
        budget -= tokens[position]
        if budget < 0:
            return
        yield from texts(session.content(session.plan.surface.nodes[position]))


def _warnings(session: SessionInput, floor: int, oversized: Sequence[NodeId]) -> Iterable[str]:
    if session.window:
        threshold = session.policy.threshold(session.window)
        least = session.calibrated(floor)
        if least >= threshold:
            yield (
                f"What cannot be compacted (overhead, pins, retained tail) takes {least:,} tokens, "
                f"the threshold of {threshold:,} or more: no compaction will get below it."
            )
    if oversized:
        listed = ", ".join(str(node) for node in oversized[:_LISTED])
        more = f" and {len(oversized) - _LISTED} more" if len(oversized) > _LISTED else ""
        yield (
            f"Larger than the retained tail by themselves: the units at events {listed}{more}. "
            "Summarising other nodes does not mend that."
        )
