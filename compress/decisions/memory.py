"""Two levels of memory: L2, a session's, under a cap; L3, its project's, where older records go.

When the records of a session weigh more than the cap, the oldest graduate, in whole records. A
record only changes its level by that, so that both levels together always hold every record. What
still runs stays, however much it weighs: it is no memory yet.
"""

from __future__ import annotations

from collections.abc import Iterable

from compress.decisions.values import DecisionPoint
from compress.operations import Operation, OperationDraft, draft_event

_NAMED = "decisions"


def graduating(records: Iterable[DecisionPoint], cap: int) -> list[DecisionPoint]:
    """Of the L2 records of one session, those that graduate, the oldest first: no more than it
    takes to have the rest weigh at most ``cap`` tokens."""
    known = sorted(records, key=_age)
    excess = sum(record.tokens for record in known) - cap
    found = []
    for record in known:
        if excess <= 0:
            break
        if not record.open:
            found.append(record)
            excess -= record.tokens
    return found


def graduation(records: Iterable[DecisionPoint], cap: int) -> OperationDraft | None:
    """What is to be recorded where some of a session's L2 records graduate.

    One event ``memory/graduate``; meta ``decisions`` (ids, the oldest first), ``cap``,
    ``tokens_before`` and ``tokens_after`` (of L2).
    """
    known = list(records)
    found = graduating(known, cap)
    if not found:
        return None
    before = sum(record.tokens for record in known)
    meta = {
        _NAMED: [record.id for record in found],
        "cap": cap,
        "tokens_before": before,
        "tokens_after": before - sum(record.tokens for record in found),
    }
    event = draft_event(1, type="memory/graduate", meta=meta)
    return OperationDraft("graduate", (event,), "policy")


def graduated(operation: Operation) -> tuple[str, ...]:
    """The ids of the records that an operation made graduate."""
    listed = operation.events[0].meta.get(_NAMED, ()) if operation.kind == "graduate" else ()
    return tuple(map(str, listed)) if isinstance(listed, list | tuple) else ()


def within(records: Iterable[DecisionPoint], cap: int) -> list[DecisionPoint]:
    """The newest of these records, in their order, that weigh at most ``cap`` tokens together;
    the newest one in any case. ``records`` come oldest first."""
    kept: list[DecisionPoint] = []
    room = cap
    for record in reversed(list(records)):
        room -= record.tokens
        if room < 0 and kept:
            break
        kept.append(record)
    return kept[::-1]


def _age(record: DecisionPoint) -> tuple[int, int, str]:
    first, last = record.first_seq, record.last_seq
    return (first if isinstance(first, int) else 0, last if isinstance(last, int) else 0, record.id)
