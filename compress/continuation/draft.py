"""A rebuilt context as an operation: what is appended to the plan, still without numbers."""

from __future__ import annotations

from compress.continuation.values import Continuation
from compress.events import Append, ContentBlock, NodeId
from compress.operations import OperationDraft, draft_event


def continuation_draft(made: Continuation) -> OperationDraft:
    """``pack/commit`` with the facts · ``context/message`` with the text, behind what stands:
    the shape of a committed pack, whose meta has the tokens of the sections, too."""
    packed = [line for line in made.lines if line.packed]
    cited: dict[NodeId, None] = {
        seq: None for line in packed for seq in line.belief.source_event_seqs
    }
    told = draft_event(
        1,
        type="pack/commit",
        meta={
            "query": made.request.query,
            "scope": "rebuild",
            "budget": made.request.budget,
            "tokens": made.tokens,
            "counter": made.counter,
            "compression": made.request.type_aware,
            "beliefs": [
                {
                    "id": line.belief.id,
                    "session": line.belief.session,
                    "seqs": list(line.belief.source_event_seqs),
                    "strategy": line.strategy,
                    "tokens": line.tokens_rendered,
                    "locked": line.belief.locked,
                }
                for line in packed
            ],
            "sections": {part.name: part.tokens for part in made.sections},
        },
    )
    message = draft_event(
        2,
        type="context/message",
        node="+2",
        role="user",
        op=Append(),
        blocks=(ContentBlock(kind="context", text=made.text),),
        source_event_seqs=(*cited, "+1"),
        meta={
            "headline": f"rebuilt context of {len(made.sections)} sections",
            "block_tokens": [made.tokens],
        },
    )
    return OperationDraft("pack", (told, message))
