"""Decision points as beliefs of a pack: those that are kept, looked through for what is asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress

from compress.beliefs.classes import Source
from compress.beliefs.harvest import belief_of_decision
from compress.beliefs.values import Belief
from compress.decisions.values import DecisionPoint
from inspector.decisions import rules_of
from storage.candidates import Matches
from storage.catalog import SessionRecord
from storage.decisions import behind, bring_up, kept_texts
from storage.errors import StorageError
from storage.scoring import rough_scores
from storage.store import Store

LOOKED_THROUGH = 2_000
"""Records, the newest of each session; and at most so many sessions, those with the best matches.
"""
_SESSIONS = 8
TAKEN = 40
"""Records that a pack has as candidates."""
_HARVESTED = 500
"""Events that are harvested for a pack where they are all that is missing: a tenth of a second."""


def decision_beliefs(
    store: Store,
    own: SessionRecord | None,
    records: Mapping[int, SessionRecord],
    found: Matches,
    *,
    until: int | None,
    sources: Mapping[str, Source],
    named: bool,
) -> list[tuple[Belief, tuple[int, int]]]:
    """The records that hold most of the query, each with (session, newest seq); without a query the
    newest. ``own``: brought up to date first where that costs little. ``named``: beliefs carry
    their session's name."""
    if own is not None:
        _bring_up(store, own)
    sessions = _sessions(own, records, found)
    texts = kept_texts(store, sessions, LOOKED_THROUGH, until=until)
    told = []
    for session, text in _best(texts, found):
        point = DecisionPoint.model_validate_json(text)
        if until is not None and point.revision > until:
            # Its newest state knows more; what it was then is not kept.
            continue
        record = records[session]
        seq = point.last_seq if isinstance(point.last_seq, int) else 0
        belief = belief_of_decision(
            point, native=record.native_id, session=record.name if named else "", sources=sources
        )
        told.append((belief, (session, seq)))
    return told


def _bring_up(store: Store, own: SessionRecord) -> None:
    rules = rules_of(own)
    if not store.connections.read_only and 0 < behind(store, own, rules) <= _HARVESTED:
        # Another process may be writing; what is kept will do.
        with suppress(StorageError):
            bring_up(store, own, rules)


def _sessions(
    own: SessionRecord | None, records: Mapping[int, SessionRecord], found: Matches
) -> Sequence[SessionRecord]:
    order = dict.fromkeys([own.id] if own is not None else [])
    order.update(dict.fromkeys(event.session for event in found.events))
    return [records[identifier] for identifier in order][:_SESSIONS]


def _best(texts: Sequence[tuple[int, str]], found: Matches) -> list[tuple[int, str]]:
    """Those that hold something of the query, the most of it first."""
    if not found.pieces:
        return list(texts[:TAKEN])
    held = rough_scores([text for _, text in texts], found.pieces)
    order = sorted((-score, place) for place, score in enumerate(held) if score > 0)
    return [texts[place] for _, place in order[:TAKEN]]
