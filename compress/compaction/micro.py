"""Micro-compaction: old tool results become one-line receipts; the conversation is untouched.

It starts at ``micro_start`` and clears the oldest results first until the pressure is at or below
``micro_target``: on pressure only, never on a count of calls. A receipt is a function of its
result alone, so its bytes never change. Where that is not enough, the largest of the results that
stay are reduced, as far as it takes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from compress.compaction.digest import digest
from compress.compaction.drafts import Replaced, results_draft
from compress.compaction.errors import NoGainError, RegionError
from compress.compaction.facts import headline_of
from compress.compaction.fates import Mark
from compress.compaction.preview import Change, assemble
from compress.compaction.region import Span, find, refuse_unfinished
from compress.compaction.retention import head_entry, messages_from
from compress.compaction.values import PressureInputs, Preview, SessionInput
from compress.events import ContentBlock, NodeId, Replace, SessionEvent
from compress.measured import ASSISTANT, RESULT, TYPE_MASK, Measured
from compress.operations import OperationKind, Origin
from compress.toolcalls import outcome, tool_call

GIANT = 2_000
"""Counted tokens from which on a result that may not be cleared is worth reducing."""

_CALL_REACH = 64
"""Nodes before a result in which its call is looked for: parallel results stand between."""

Reducer = Callable[[NodeId, Sequence[SessionEvent]], tuple[str, str] | None]
"""A result's node and events → a shorter text and the name of the way; ``None``: none shorter."""


@dataclass(frozen=True, slots=True)
class _Call:
    name: str
    headline: str


def preview_micro(
    session: SessionInput,
    pressure: PressureInputs,
    origin: Origin = "user",
    reducer: Reducer | None = None,
) -> Preview | None:
    """The micro-compaction that the pressure asks for; ``None`` below ``micro_start``, without a
    known window, and where no result may be cleared or reduced.

    Stay: results among the last messages and in a step that still waits for another one, pinned
    ones, errors not yet resolved, results of tools on the policy's list, receipts, and what is
    hardly longer than its receipt. Of the results among the last messages, those of
    :data:`GIANT` tokens are reduced by ``reducer``, the largest first, while the target is not
    reached. Raises :class:`UnfinishedCompactionError` while the agent itself compacts.
    """
    window = pressure.window or session.window
    policy = session.policy
    if not window or pressure.used < policy.micro_start * window:
        return None
    refuse_unfinished(session)
    session = replace(session, window=window)
    measured = session.measure()
    excess = pressure.used - int(policy.micro_target * window)
    chosen: list[Replaced] = []
    for candidate in _candidates(session, measured):
        if excess <= 0:
            break
        chosen.append(candidate)
        excess -= session.calibrated(candidate.before - candidate.after)
    if excess > 0 and reducer is not None:
        for candidate in _giants(session, measured, reducer, {one.node for one in chosen}):
            chosen.append(candidate)
            excess -= session.calibrated(candidate.before - candidate.after)
            if excess <= 0:
                break
        chosen.sort(key=lambda one: measured.position(one.node))
    if not chosen:
        return None
    warnings = []
    if excess > 0:
        warnings.append(
            f"All clearable results are cleared, and still {excess:,} tokens stand above the "
            f"target of {policy.micro_target * 100:.0f} %."
        )
    strategy = "cleared, large ones reduced" if any(one.strategy for one in chosen) else "cleared"
    return _preview(session, measured, _Plan("micro", chosen, strategy, origin), warnings)


def preview_reduced(
    session: SessionInput, seq: NodeId, text: str, strategy: str, origin: Origin = "user"
) -> Preview:
    """One result with a shorter text, wherever it stands: a giant in the retained tail, too.
    ``text`` is what a pipeline made of it, ``strategy`` names that pipeline.

    Raises :class:`StaleNodeError` for an event that does not stand, :class:`RegionError` for one
    that is no result, is pinned, or whose step still waits for another result,
    :class:`NoGainError` where the text is hardly shorter,
    :class:`UnfinishedCompactionError` while the agent itself compacts.
    """
    refuse_unfinished(session)
    measured = session.measure()
    position = find(session, measured, seq)
    node = session.plan.surface.nodes[position]
    entry = head_entry(session, node)
    if entry is None or entry.type != "tool/result":
        raise RegionError(f"Event {seq} is no tool result: only results can be reduced.")
    if node in session.plan.held:
        raise RegionError(f"Event {seq} is pinned: unpin it first.")
    open_from = measured.paired.open_from
    if open_from is not None and position >= open_from:
        raise RegionError(
            f"Event {seq} is part of a step that still waits for another result: wait until that "
            "has come."
        )
    reduced = _shortened(session, node, measured.tokens[position], text, strategy)
    if not _gains(session, reduced):
        raise NoGainError(
            f"Event {seq} has {reduced.before:,} tokens, its reduced form {reduced.after:,}: that "
            f"frees less than {session.policy.minimum_gain * 100:.0f} %."
        )
    return _preview(session, measured, _Plan("reduce", [reduced], strategy, origin), [])


def receipt(node: NodeId, call: str, tokens: int, ended: str) -> str:
    """What stands in a cleared result's place: which call, how much, how it ended, that the
    content is gone from the window, and how to see it again (not by a repeated call, which might
    do its work twice)."""
    how = f", {ended}" if ended else ""
    return (
        f"[Cleared: the result of {call} ({tokens:,} tokens{how}) is no longer visible here. "
        f"Its full text is kept: to see it again, read event {node} of the session's log.]"
    )


@dataclass(frozen=True, slots=True)
class _Plan:
    kind: OperationKind
    replaced: Sequence[Replaced]
    strategy: str
    origin: Origin


def _candidates(session: SessionInput, measured: Measured) -> Iterator[Replaced]:
    """The results that may be cleared, oldest first, each with its receipt."""
    nodes = measured.nodes
    paired = measured.paired
    limit = messages_from(session, paired, session.policy.last_messages)
    if paired.open_from is not None:
        limit = min(limit, paired.open_from)
    unresolved = {failure.node for failure in digest(session, nodes, opened=False).failures}
    calls: dict[str, _Call] = {}
    for position in range(min(limit, len(nodes))):
        node, kind = nodes[position], measured.kinds[position] & TYPE_MASK
        if kind == ASSISTANT:
            calls.update(_calls(session.content(node).events))
        if kind != RESULT or node in session.plan.held or node in unresolved:
            continue
        entry = head_entry(session, node)
        if entry is None or entry.meta.get("stands_for") or isinstance(entry.op, Replace):
            continue
        one = _cleared(session, node, measured.tokens[position], calls)
        if one is not None and _gains(session, one):
            yield one


def _giants(
    session: SessionInput, measured: Measured, reducer: Reducer, cleared: Collection[NodeId]
) -> Iterator[Replaced]:
    """The large results that are not cleared, the largest first, each reduced."""
    nodes, open_from = measured.nodes, measured.paired.open_from
    unresolved = {failure.node for failure in digest(session, nodes, opened=False).failures}
    spared = unresolved.union(cleared)
    large = [
        position
        for position in range(len(nodes) if open_from is None else open_from)
        if measured.tokens[position] >= GIANT
        and measured.kinds[position] & TYPE_MASK == RESULT
        and nodes[position] not in session.plan.held
        and nodes[position] not in spared
    ]
    for position in sorted(large, key=lambda place: (-measured.tokens[place], place)):
        node = nodes[position]
        entry = head_entry(session, node)
        if entry is None or entry.meta.get("stands_for") or isinstance(entry.op, Replace):
            continue
        events = session.content(node).events
        tools = {_tool(session, nodes, position, block) for block in _results(events)}
        found = reducer(node, events) if tools.isdisjoint(session.policy.unclearable) else None
        if found is None:
            continue
        one = _shortened(session, node, measured.tokens[position], *found)
        if _gains(session, one):
            yield one


def _tool(
    session: SessionInput, nodes: Sequence[NodeId], position: int, result: ContentBlock
) -> str:
    """The tool whose call a result answers: that of the nearest call of its id before it."""
    for before in range(position - 1, max(position - _CALL_REACH, 0) - 1, -1):
        call = _calls(session.content(nodes[before]).events).get(result.id or "")
        if call is not None:
            return call.name
    return result.name or ""


def _shortened(
    session: SessionInput, node: NodeId, weight: int, text: str, strategy: str
) -> Replaced:
    events = session.content(node).events
    blocks = tuple(
        _with_text(block, "" if index else text) for index, block in enumerate(_results(events))
    )
    return Replaced(node, events[0], blocks, weight, session.counter.count(text), strategy)


def _gains(session: SessionInput, one: Replaced) -> bool:
    return one.after <= one.before * (1 - session.policy.minimum_gain)


def _cleared(
    session: SessionInput, node: NodeId, weight: int, calls: Mapping[str, _Call]
) -> Replaced | None:
    events = session.content(node).events
    results = _results(events)
    if not results:
        return None
    blocks = []
    for block in results:
        call = calls.get(block.id or "") or _Call(block.name or "", block.name or "a call")
        if call.name in session.policy.unclearable:
            return None
        ended = outcome(block.text, block.is_error).label
        share = weight if len(results) == 1 else session.counter.count(block.text)
        blocks.append(_with_text(block, receipt(node, call.headline, share, ended)))
    after = sum(session.counter.count(block.text) for block in blocks)
    return Replaced(node, events[0], tuple(blocks), weight, after)


def _preview(
    session: SessionInput, measured: Measured, wanted: _Plan, warnings: Sequence[str]
) -> Preview:
    positions = [measured.position(one.node) for one in wanted.replaced]
    nodes = tuple(one.node for one in wanted.replaced)
    change = Change(
        kind=wanted.kind,
        span=Span(positions[0], positions[-1] + 1, nodes, (), nodes),
        brought={
            position: ((f"+{index}", one.after),)
            for index, (position, one) in enumerate(zip(positions, wanted.replaced, strict=True), 3)
        },
        fates={
            position: _mark(one) for position, one in zip(positions, wanted.replaced, strict=True)
        },
        draft=results_draft(wanted.kind, wanted.replaced, wanted.strategy, origin=wanted.origin),
        summary=None,
        texts=tuple(block.text for one in wanted.replaced for block in one.blocks),
    )
    return assemble(session, measured, change, warnings)


def _mark(one: Replaced) -> Mark:
    if one.strategy:
        return Mark("reduced", one.strategy, one.after)
    return Mark("receipt", "old result, receipt kept", one.after)


def _calls(events: Sequence[SessionEvent]) -> dict[str, _Call]:
    made = [block for event in events for block in event.blocks if block.kind == "tool_call"]
    found = {}
    for block in made:
        name = block.name or ""
        found[block.id or ""] = _Call(name, headline_of(tool_call(name, block.input)))
    return found


def _results(events: Sequence[SessionEvent]) -> list[ContentBlock]:
    return [b for event in events for b in event.blocks if b.kind in ("tool_result", "synthetic")]


def _with_text(block: ContentBlock, text: str) -> ContentBlock:
    return block.model_copy(update={"text": text, "images": ()})
