"""A tool's result in a session, through the same pipeline as ``ullage squeeze``."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from compress.compaction.micro import Reducer
from compress.errors import CompressError
from compress.events import ContentBlock, NodeId, SessionEvent
from compress.plan import PlanState
from compress.reduction.pipeline import reduce
from compress.reduction.values import Budget, Reduction
from compress.toolcalls import outcome, tool_call
from inspector.contents import Contents
from inspector.loaded import LoadedSession
from inspector.profile_choice import profiles_in
from storage import resources
from storage.catalog import SessionRecord
from storage.errors import StorageError, UnknownSessionError
from storage.store import Store

_SHORTEST = 8
"""Characters of a session's name in a pointer, unless another begins with the same ones."""


class NoResultError(CompressError):
    """An event that is no result of a tool, or one without text."""

    code = "no_result"


def squeezed_result(
    store: Store, loaded: LoadedSession, state: PlanState, seq: NodeId, budget: Budget | None = None
) -> Reduction:
    """The text of the result that an event belongs to, reduced: by the profile of the command
    that made it, as the folder of the session has it.

    Raises :class:`NoResultError`, :class:`compress.errors.StaleNodeError`,
    :class:`storage.errors.UnknownEventError`.
    """
    entry = state.entries.get(seq)
    node = seq if entry is None or entry.node is None else entry.node
    events: tuple[SessionEvent, ...] = ()
    if node in state.surface.members:
        events = Contents(store, loaded.record, state)(node).events
    return squeezed_events(store, loaded, node, events, budget)


def squeezed_events(
    store: Store,
    loaded: LoadedSession,
    node: NodeId,
    events: tuple[SessionEvent, ...],
    budget: Budget | None = None,
) -> Reduction:
    """The same of a node whose events are at hand."""
    results = [b for event in events for b in event.blocks if b.kind == "tool_result" and b.text]
    if not results:
        raise NoResultError(f"Event {node} is no tool result with a text: nothing to reduce.")
    text = "\n".join(block.text for block in results)
    name, command = _called(store, loaded, results[0])
    profiles = profiles_in(Path(loaded.record.cwd or "/"))
    return reduce(
        text,
        profiles.chosen(tool=name, command=command, output=text),
        resources.counter_for(loaded.record.model),
        budget,
        pointer=pointer_to(store, loaded.record, node),
        exit_code=outcome(text, results[0].is_error).exit_code,
        generic=profiles.generic,
    )


def result_reducer(store: Store, loaded: LoadedSession) -> Reducer:
    """How a micro-compaction reduces what it may not clear."""

    def reduced(node: NodeId, events: Sequence[SessionEvent]) -> tuple[str, str] | None:
        try:
            found = squeezed_events(store, loaded, node, tuple(events))
        except CompressError:  # no text, or a profile of the project that cannot be used
            return None
        return None if found.unchanged else (found.text, f"tool output, {found.profile}")

    return reduced


def pointer_to(store: Store, record: SessionRecord, node: NodeId) -> str | None:
    """What ``ullage raw`` takes for this node's content; ``None`` for one of the plan's own."""
    if isinstance(node, str):
        return None
    for length in range(_SHORTEST, len(record.name)):
        with suppress(UnknownSessionError):
            if store.find(record.name[:length]).id == record.id:
                return f"{record.name[:length]}:{node}"
    return f"{record.name}:{node}"


def _called(
    store: Store, loaded: LoadedSession, result: ContentBlock
) -> tuple[str | None, str | None]:
    """The tool of the call that a result answers, and the command that it ran, if it ran one."""
    name = result.name or loaded.tools.get(result.id or "")
    entry = next(
        (e for e in reversed(loaded.order) if any(call == result.id for call, _ in e.calls)), None
    )
    if entry is None or not isinstance(entry.seq, int):
        return name, None
    with suppress(StorageError):
        for event in store.events(loaded.record, [entry.seq]):
            for block in event.blocks:
                if block.kind == "tool_call" and block.id == result.id:
                    facts = tool_call(block.name or "", block.input).facts
                    ran = next((fact.target for fact in facts if fact.action == "ran"), None)
                    return block.name or name, ran
    return name, None
