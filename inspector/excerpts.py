"""Where in an event's text the words of a search stand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from compress.beliefs.matching import query_headline
from compress.events import SessionEvent
from storage.search import Hit
from storage.store import Store

MOST = 50
"""Hits, the best first, whose contents are read."""
EXCERPT = 160
"""Characters."""


def excerpts(store: Store, hits: Sequence[Hit], query: str) -> dict[tuple[str, int], str]:
    """By session and seq: the sentence or line that holds most of the query."""
    by_session: dict[str, list[int]] = {}
    for hit in hits[:MOST]:
        by_session.setdefault(hit.session, []).append(hit.seq)
    found: dict[tuple[str, int], str] = {}
    for session, seqs in by_session.items():
        for event in store.events(store.find(session), sorted(seqs)):
            text = "\n".join(_texts(event))
            if text.strip():
                found[session, int(event.seq)] = query_headline(text, query, EXCERPT)
    return found


def _texts(event: SessionEvent) -> Iterator[str]:
    for block in event.blocks:
        if block.text:
            yield block.text
        yield from _strings(block.input)


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _strings(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _strings(inner)
