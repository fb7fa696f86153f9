"""A rebuilt context as an operation: what is appended to the plan, still without numbers."""

from __future__ import annotations

from compress.continuation.values import Continuation
from compress.operations import OperationDraft
from compress.packs.draft import context_draft


def continuation_draft(made: Continuation) -> OperationDraft:
    """The operation that puts the context behind what stands: that of a pack, whose facts have the
    tokens of the sections, too."""
    facts = {
        "query": made.request.query,
        "scope": "rebuild",
        "budget": made.request.budget,
        "tokens": made.tokens,
        "counter": made.counter,
        "compression": made.request.type_aware,
        "sections": {part.name: part.tokens for part in made.sections},
    }
    headline = f"rebuilt context of {len(made.sections)} sections"
    packed = [line for line in made.lines if line.packed]
    return context_draft(made.text, made.tokens, packed, facts, headline)
