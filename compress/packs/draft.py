"""A pack as an operation: what is appended to the plan, still without numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from compress.errors import CompressError
from compress.events import Append, ContentBlock, NodeId
from compress.operations import OperationDraft, Origin, draft_event
from compress.packs.values import Pack, PackLine

_HEADLINE = 160
"""Characters."""


class EmptyPackError(CompressError):
    """A pack without a belief in it."""

    code = "empty_pack"


def pack_draft(
    pack: Pack, session: str, tokens: int, *, scope: str = "", origin: Origin = "user"
) -> OperationDraft:
    """The operation that puts a pack behind what stands.

    ``session`` is the name of the one that it is committed on: its beliefs' events are the
    message's sources, those of others stand with the facts. ``tokens``: what the text counts there.

    Raises :class:`EmptyPackError`.
    """
    packed = [line for line in pack.lines if line.packed]
    if not packed:
        raise EmptyPackError(
            "Nothing is packed, so there is nothing to commit: ask for something else, or raise "
            "the budget."
        )
    facts = {
        "query": pack.request.query,
        "scope": scope,
        "budget": pack.request.budget,
        "tokens": pack.tokens,
        "counter": pack.counter,
        "compression": pack.request.type_aware,
    }
    headline = _headline(pack, len(packed))
    return context_draft(pack.text, tokens, packed, facts, headline, session=session, origin=origin)


def context_draft(
    text: str,
    tokens: int,
    packed: Sequence[PackLine],
    facts: Mapping[str, Any],
    headline: str,
    *,
    session: str = "",
    origin: Origin = "user",
) -> OperationDraft:
    """``pack/commit`` with the facts and the beliefs that are packed · ``context/message`` with the
    text of so many tokens, behind what stands; its sources are the events of the session's own
    beliefs."""
    own: dict[NodeId, None] = {
        seq: None
        for line in packed
        if line.belief.session in ("", session)
        for seq in line.belief.source_event_seqs
    }
    told = draft_event(
        1,
        type="pack/commit",
        meta={
            **facts,
            "query": _sound(facts["query"]),
            "beliefs": [_facts(line) for line in packed],
        },
    )
    message = draft_event(
        2,
        type="context/message",
        node="+2",
        role="user",
        op=Append(),
        blocks=(ContentBlock(kind="context", text=text),),
        source_event_seqs=(*own, "+1"),
        meta={"headline": headline, "block_tokens": [tokens]},
    )
    return OperationDraft("pack", (told, message), origin)


def _facts(line: PackLine) -> dict[str, Any]:
    belief = line.belief
    return {
        "id": belief.id,
        "session": belief.session,
        "seqs": list(belief.source_event_seqs),
        "strategy": line.strategy,
        "tokens": line.tokens_rendered,
        "locked": belief.locked,
    }


def _headline(pack: Pack, count: int) -> str:
    asked = " ".join(_sound(pack.request.query[: _HEADLINE * 4]).split())
    head = f"pack of {count} {'belief' if count == 1 else 'beliefs'}"
    return f"{head}: {asked}"[:_HEADLINE] if asked else head


def _sound(query: str) -> str:
    """Without halves of surrogate pairs, which a terminal may hand in and no JSON takes."""
    return query.encode("utf-8", "replace").decode("utf-8")
