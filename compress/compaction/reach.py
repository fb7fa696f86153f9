"""Which nodes are read for a summary: the raw behind checkpoints, back to a bound; what lies
further back only for the user's own words."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain

from compress.compaction.facts import FactsCache
from compress.compaction.material import Said, said
from compress.compaction.values import SessionInput
from compress.entries import LogEntry
from compress.events import NodeId
from compress.operations import is_operation_id

RAW_TOKENS = 1_000_000
"""Counted tokens of raw behind a region that are read; what lies further back is read for the
user's own words only."""
RAW_NODES = 4_000
"""The same bound in nodes: what a fold may take at each key of a person who edits a region."""
_CHUNK = 1_024
"""Far-back nodes whose facts are merged and kept together."""

Run = tuple[Sequence[NodeId], int]
"""The first so many nodes of a sequence."""


def raw_tokens(session: SessionInput, nodes: Sequence[NodeId]) -> int:
    """Counted tokens of these nodes, checkpoints made here weighed as the raw behind them; at
    :data:`RAW_TOKENS` the count ends."""
    total = 0
    for node in _backwards(session, [(nodes, len(nodes))], opened=True):
        total += session.tokens(node)
        if total >= RAW_TOKENS:
            break
    return total


def reach(
    session: SessionInput, nodes: Sequence[NodeId], *, opened: bool
) -> tuple[list[NodeId], list[Run]]:
    """The raw nodes to read, oldest first, and the runs of those too far back, oldest first."""
    stack: list[Run] = [(nodes, len(nodes))]
    near: list[NodeId] = []
    budget = RAW_TOKENS
    for node in _backwards(session, stack, opened=opened):
        budget -= session.tokens(node)
        if near and (budget < 0 or len(near) >= RAW_NODES):
            stack.append(((node,), 1))
            break
        near.append(node)
    near.reverse()
    return near, [run for run in stack if run[1]]


def _backwards(session: SessionInput, stack: list[Run], *, opened: bool) -> Iterator[NodeId]:
    """The raw nodes behind these, newest first, each once; ``stack`` always holds what is left.

    A checkpoint made here is what it shadows; the agent's own stands before what it shadows.
    """
    shadowed = session.plan.surface.shadowed if opened else {}
    seen: set[NodeId] = set()
    itself: set[NodeId] = set()
    while stack:
        nodes, stop = stack.pop()
        if not stop:
            continue
        node = nodes[stop - 1]
        stack.append((nodes, stop - 1))
        if node in seen:
            continue
        hidden = shadowed.get(node)
        if hidden is None or node in itself:
            seen.add(node)
            yield node
            continue
        if is_operation_id(node):
            seen.add(node)
        else:
            itself.add(node)
            stack.append(((node,), 1))
        stack.append((hidden, len(hidden)))


def far_words(
    session: SessionInput, cache: FactsCache, run: Run, *, opened: bool
) -> Iterator[Sequence[Said]]:
    """The user's words in nodes that lie far back, by chunks, which are kept."""
    nodes, stop = run
    at = 0
    while at < stop:
        end = _chunk_end(nodes, at, stop)
        chunk = tuple(nodes[at:end])
        make = partial(_words_of, session, cache, chunk, opened=opened)
        yield cache.chunk(chunk, make)
        at = end


def _chunk_end(nodes: Sequence[NodeId], at: int, stop: int) -> int:
    """Where a chunk ends: before the next seq that :data:`_CHUNK` divides, so that chunks stay the
    same while the region's edges move."""
    node = nodes[at]
    if not isinstance(node, int):
        return at + 1
    edge = (node // _CHUNK + 1) * _CHUNK
    return bisect_left(nodes, edge, at + 1, min(stop, at + _CHUNK), key=_number)


def _number(node: NodeId) -> int:
    return node if isinstance(node, int) else -1


def _words_of(
    session: SessionInput, cache: FactsCache, nodes: Sequence[NodeId], *, opened: bool
) -> list[Said]:
    shadowed = session.plan.surface.shadowed if opened else {}
    words: list[Said] = []
    for node in nodes:
        hidden = shadowed.get(node)
        if hidden:
            run = hidden, len(hidden)
            words.extend(chain.from_iterable(far_words(session, cache, run, opened=opened)))
        entry = _entry(session, node)
        if entry is None or entry.type not in ("user/message", "steering/message"):
            continue
        facts = cache.facts(session.content, node, len(session.plan.surface.members[node]))
        if facts.kind == "user":
            words.append(said(node, facts.text))
    return words


def _entry(session: SessionInput, node: NodeId) -> LogEntry | None:
    members = session.plan.surface.members.get(node, ())
    return session.plan.entries.get(members[0]) if members else None
