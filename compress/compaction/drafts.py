"""The events that a compaction appends, in their order, still without numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from compress.compaction.errors import SummaryError
from compress.compaction.policy import Policy
from compress.compaction.region import Span
from compress.compaction.values import Summary
from compress.events import ContentBlock, NodeId, Replace, SessionEvent
from compress.operations import OperationDraft, OperationKind, Origin, draft_event
from compress.pieces import Pieces


@dataclass(frozen=True, slots=True)
class Written:
    """A summary, framed as it will stand, with the tokens that it shadows and that it takes.
    ``reach``: the first and the last node that it stands for, through the checkpoints in it."""

    summary: Summary
    framed: str
    reach: tuple[NodeId, NodeId]
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class Replaced:
    """A result that gets another text. ``head``: the first event of its node. ``strategy``: how
    the text was made, where it is not the operation's own way."""

    node: NodeId
    head: SessionEvent
    blocks: tuple[ContentBlock, ...]
    before: int
    after: int
    strategy: str = ""


def compact_draft(
    span: Span, written: Written, policy: Policy, strategy: str, *, origin: Origin
) -> OperationDraft:
    """start · summary · the checkpoint with its replace · end."""
    text = ContentBlock(kind="text", text=written.summary.text)
    start = draft_event(1, type="compact/start", meta={"kind": "compact"})
    told = draft_event(
        2,
        type="compact/summary",
        blocks=(text,),
        meta={
            "start": span.nodes[0],
            "end": span.nodes[-1],
            "shadowed_seqs": span.gone,
            "tokens_before": written.before,
            "tokens_after": written.after,
            "strategy": strategy,
            "policy": {
                "threshold_ratio": policy.threshold_ratio,
                "summary_tokens": policy.summary_tokens,
                "last_messages": policy.last_messages,
            },
            "block_tokens": [written.summary.tokens],
        },
    )
    message = draft_event(
        3,
        type="user/message",
        node="+3",
        role="user",
        op=Replace(start=span.nodes[0], end=span.nodes[-1], keep=span.keep),
        blocks=(ContentBlock(kind="text", text=written.framed),),
        meta={
            "checkpoint": origin,
            "headline": "checkpoint of events {} to {}".format(*written.reach),
            "block_tokens": [written.after],
        },
    )
    # Put in unchecked, as a view of a surface's own nodes: up to a million of them, which are
    # listed only when the operation gets its numbers.
    own: tuple[NodeId, ...] = ("+1", "+2")
    cited = Pieces([(span.gone, 0, len(span.gone)), (own, 0, len(own))])
    message = message.model_copy(update={"source_event_seqs": cited})
    end = draft_event(4, type="compact/end")
    return OperationDraft("compact", (start, told, message, end), origin)


def results_draft(
    kind: OperationKind, replaced: Sequence[Replaced], strategy: str, *, origin: Origin
) -> OperationDraft:
    """start · summary · one result with a replace for each · end."""
    start = draft_event(1, type="compact/start", meta={"kind": kind})
    told = draft_event(
        2,
        type="compact/summary",
        meta={
            "start": replaced[0].node,
            "end": replaced[-1].node,
            "shadowed_seqs": [one.node for one in replaced],
            "tokens_before": sum(one.before for one in replaced),
            "tokens_after": sum(one.after for one in replaced),
            "strategy": strategy,
        },
    )
    results = [
        draft_event(
            index,
            type="tool/result",
            node=f"+{index}",
            role=one.head.role,
            turn=one.head.turn,
            step=one.head.step,
            op=Replace(start=one.node, end=one.node),
            source_event_seqs=(one.node, "+1", "+2"),
            blocks=one.blocks,
            meta={"stands_for": one.node, "kind": kind, "block_tokens": _weights(one)}
            | ({"strategy": one.strategy} if one.strategy else {}),
        )
        for index, one in enumerate(replaced, 3)
    ]
    end = draft_event(3 + len(replaced), type="compact/end")
    return OperationDraft(kind, (start, told, *results, end), origin)


def failed_draft(error: SummaryError, origin: Origin) -> OperationDraft:
    """start · end with the error: noted in the audit, without effect on the surface."""
    start = draft_event(1, type="compact/start", meta={"kind": "compact"})
    end = draft_event(2, type="compact/end", meta={"error": str(error)})
    return OperationDraft("compact", (start, end), origin)


def _weights(one: Replaced) -> list[int]:
    """All of the node's weight on its first block: it is weighed as a whole."""
    return [one.after] + [0] * (len(one.blocks) - 1)
