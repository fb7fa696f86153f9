"""In which order, and for which share of the budget, candidates go into a pack, and how full.

Without compression: by rank, whole. With it, in four phases:

1. *Pointers.* What can be had again – a file, what a tool gave, what was run – by rank and short as
   its class asks for, one of each label: a name leads back to the whole.
2. *Whole.* Those that are worth most for their tokens, what stands around them counted for more:
   of two that rank alike, the longer one, since its pointer costs no more. Pointers that are best
   are made whole.
3. *Around.* What stands around the best matches, each as its class asks for: a headline says much
   for little.
4. What is left then makes the best whole that are not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from compress.beliefs.values import BeliefType, CompressedBelief
from compress.packs.lines import Line

_AGAIN: frozenset[BeliefType] = frozenset({"file_snapshot", "tool_result", "action"})
"""What can be had again."""
_POINTER = 8
"""Tokens that an entry takes beside its content, about."""
_AROUND = 0.5
"""How much more what stands around counts where headlines of it follow."""


@dataclass(frozen=True, slots=True)
class Shares:
    """Of what is left of the budget when a phase begins, how much it may take; and how much a
    belief's worth follows from the share of its tokens that is content (an exponent)."""

    pointers: float = 0.5
    whole: float = 0.92
    thrift: float = 0.2


SHARES = Shares()
Wanted = list[tuple[Line, CompressedBelief]]


@dataclass(frozen=True, slots=True)
class Phase:
    """Lines in the forms in which they are wanted, the best first."""

    wanted: Wanted
    share: float = 1.0


def phases(lines: Sequence[Line], *, type_aware: bool, shares: Shares = SHARES) -> Iterator[Phase]:
    """The phases for the lines that may be packed, which are handed in by rank."""
    if not type_aware:
        yield Phase([(line, line.form) for line in lines])
        return
    yield Phase([(line, line.form) for line in _pointers(lines)], shares.pointers)
    best = sorted(lines, key=lambda line: -_worth(line, shares.thrift))
    whole = [line for line in best if line.is_free or line.form.strategy == "verbatim"]
    yield Phase([(line, line.whole) for line in whole], shares.whole)
    around = sorted(lines, key=lambda line: -line.ranked.around)
    yield Phase([(line, line.form) for line in around if not line.packed])
    yield Phase([(line, line.whole) for line in lines if line.is_free and line.packed])


def _pointers(lines: Sequence[Line]) -> Iterator[Line]:
    labels: set[tuple[BeliefType, str, str]] = set()
    for line in lines:
        belief = line.belief
        if not line.is_free or belief.belief_type not in _AGAIN:
            continue
        if belief.label and belief.belief_type != "action":
            name = (belief.belief_type, belief.session, belief.label)
            if name in labels:
                continue
            labels.add(name)
        yield line


def _worth(line: Line, thrift: float) -> float:
    tokens = line.whole.rendered_tokens
    content: float = (tokens / (tokens + _POINTER)) ** thrift
    return (line.ranked.score + _AROUND * line.ranked.around) * content
