"""What a query finds, as one part of a context: a pack of what does not stand in it already."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from compress.beliefs.values import LOCK_NONE
from compress.continuation.parts import Part
from compress.packs.errors import PackBudgetError
from compress.packs.fit import pack
from compress.packs.values import Candidate, Pack, PackLine, PackRequest
from compress.tokens import TokenCounter

TITLE = "Retrieved for what comes next"


def retrieved(
    candidates: Sequence[Candidate], request: PackRequest, counter: TokenCounter, beside: str
) -> tuple[Part, tuple[PackLine, ...]]:
    """The part, and a line for every candidate. ``beside``: the text of the other parts, in which
    a candidate's content may stand already. What is pinned stands there in any case, and so is no
    matter of the pack's."""
    if not candidates:
        return Part("retrieved", TITLE), ()
    held = _flat(beside)
    free = [replace(one, belief=replace(one.belief, lock_level=LOCK_NONE)) for one in candidates]
    standing = {one.belief.id for one in free if _flat(one.belief.content) in held}
    made = _packed(free, replace(request, excluded=frozenset(standing)), counter)
    lines = tuple(
        replace(line, reason="standing") if line.belief.id in standing else line
        for line in made.lines
    )
    packed = sum(1 for line in lines if line.packed)
    return (
        Part(
            "retrieved",
            TITLE,
            (made.text,) if packed else (),
            packed,
            len(lines) - packed - len(standing),
            sum(1 for line in lines if line.packed and line.strategy != "verbatim"),
        ),
        lines,
    )


def _packed(candidates: Sequence[Candidate], request: PackRequest, counter: TokenCounter) -> Pack:
    """The pack; an empty one where the room does not even hold its frame."""
    try:
        return pack(candidates, request, counter)
    except PackBudgetError as error:
        return pack(candidates, replace(request, budget=error.least), counter)


def _flat(text: str) -> str:
    return " ".join(text.split())
