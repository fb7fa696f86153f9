"""Where something stood that a compaction would lose."""

from __future__ import annotations

import re
from collections.abc import Iterator

from compress.compaction.loss import texts
from compress.events import NodeId
from inspector.contents import Contents
from inspector.loaded import LoadedSession
from storage.errors import UnknownEventError
from storage.store import Store

READ = 20_000
"""Nodes that are read for one name."""

_SAID_AT = re.compile(r"\[event (\d+|o\d+)\]$")
"""Instructions and errors name the event that holds them (``compress.compaction.loss``)."""


def whereabouts(
    store: Store,
    loaded: LoadedSession,
    text: str,
    ends: tuple[NodeId, NodeId],
    at: NodeId | None,
) -> NodeId:
    """The node, of those from the first of ``ends`` to the second, that a lost item stood in; of a
    name that stood in several, the newest. ``at``: the moment that is meant, ``None`` for now.

    Raises :class:`UnknownEventError` where none of those read holds it,
    :class:`compress.errors.StaleNodeError` where the ends stand no longer.
    """
    said = _SAID_AT.search(text)
    if said is not None:
        return _node(said.group(1))
    state = loaded.plan(at)
    first, last = (state.surface.position(node) for node in ends)
    contents = Contents(store, loaded.record, state)
    for page in _pages_from_the_end(first, last + 1):
        nodes = [state.surface.nodes[position] for position in page]
        for content in reversed(contents.all(nodes)):
            if any(text in found for found in texts(content)):
                return content.node
    raise UnknownEventError(f"No node of the region holds {text!r} word for word.")


def _node(name: str) -> NodeId:
    return int(name) if name.isdigit() else name


def _pages_from_the_end(first: int, stop: int, size: int = 256) -> Iterator[range]:
    least = max(first, stop - READ)
    for upto in range(stop, least, -size):
        yield range(max(least, upto - size), upto)
