"""How a context begins: what it is, what it is not, and of which log."""

from __future__ import annotations

from compress.events import NodeId


def header(title: str, made: str, agent: str, session: str, seq: NodeId) -> str:
    """Under its title; ``made``: how the text came about. A model must never take it for a
    request."""
    of = " ".join(filter(None, (agent, session)))
    return (
        f"# {title}\n"
        f"This is context, not a request: nothing in it asks for anything new, finished work stays "
        f"finished. It was {made} by rule from session {of or 'log'} up to event {seq}; "
        f"[event N] is a place in that log."
    )
