"""Two compactions of the same moment side by side: what only one of them kept, and what an
operation costs the prompt cache."""

from __future__ import annotations

from itertools import takewhile

from compress.compaction.values import Lost
from compress.plan import PlanState


def kept_only_by(one: Lost, other: Lost) -> Lost:
    """What the ``other`` lost and ``one`` did not, in the order of the other's report. Both are
    judged at the same moment, so that the same words name the same thing."""
    return Lost(
        identifiers=_without(other.identifiers, one.identifiers),
        instructions=_without(other.instructions, one.instructions),
        errors=_without(other.errors, one.errors),
    )


def resent_tokens(before: PlanState, after: PlanState) -> int:
    """Counted tokens of the first request after an operation that its cache cannot serve: all
    nodes from the first one on that is another than before."""
    left, right = before.surface.nodes, after.surface.nodes
    same = sum(
        1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(left, right, strict=False))
    )
    if same == len(right):
        # Only the end was taken away: what is left is a prefix that the cache knows.
        return 0
    members = after.surface.members
    return sum(after.entries[seq].tokens for node in right[same:] for seq in members[node])


def _without(names: tuple[str, ...], these: tuple[str, ...]) -> tuple[str, ...]:
    known = set(these)
    return tuple(name for name in names if name not in known)
