"""How much of a belief a pack needs: the whole, a headline, or that it exists.

What is charged is what is rendered, and that is never more than the content itself: a strategy
that would cost more falls back to the content, and says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from compress.beliefs.headline import headline
from compress.beliefs.matching import query_headline
from compress.beliefs.values import Belief, CompressedBelief, RetentionClass, Strategy
from compress.tokens import TokenCounter, count_many

STRATEGIES: Mapping[RetentionClass, Strategy] = {
    "fact": "verbatim",
    "snapshot": "headline",
    "transient": "stub",
    "unknown": "verbatim",
}


def strategy_of(belief: Belief, *, locked: bool) -> Strategy:
    """What its class asks for. What a person locked stands whole."""
    return "verbatim" if locked else STRATEGIES[belief.retention_class]


def compress_for_retrieval(
    belief: Belief,
    *,
    locked: bool,
    counter: TokenCounter,
    strategy: Strategy | None = None,
    query: str = "",
) -> CompressedBelief:
    """A belief as a pack renders it. ``strategy``: another than its class asks for; what is locked
    is verbatim all the same. ``query`` is looked at by ``query_headline`` alone.

    Pure and total; ``rendered_tokens`` is what the counter gives for ``rendered``, and never above
    what it gives for the content.
    """
    wanted = strategy_of(belief, locked=locked)
    if strategy is not None and not locked:
        wanted = strategy
    return compressed([belief], [wanted], counter, query=query)[0]


def compressed(
    beliefs: Sequence[Belief],
    strategies: Sequence[Strategy],
    counter: TokenCounter,
    *,
    query: str = "",
    raw: Sequence[int] | None = None,
) -> list[CompressedBelief]:
    """Several beliefs at once, each by its strategy. ``raw``: the tokens of their contents, where
    they are known."""
    if raw is None:
        raw = count_many(counter, [belief.content for belief in beliefs])
    texts = [
        _rendered(belief, strategy, query)
        for belief, strategy in zip(beliefs, strategies, strict=True)
    ]
    shorter = [at for at, belief in enumerate(beliefs) if texts[at] != belief.content]
    tokens = list(raw)
    for at, count in zip(shorter, count_many(counter, [texts[i] for i in shorter]), strict=True):
        tokens[at] = count
    found = []
    for belief, strategy, text, count, whole in zip(
        beliefs, strategies, texts, tokens, raw, strict=True
    ):
        if count > whole:
            found.append(CompressedBelief(belief, belief.content, whole, "verbatim", strategy))
        else:
            wanted: Strategy = strategy if belief.content else "verbatim"
            found.append(CompressedBelief(belief, text, count, wanted))
    return found


def stub(belief: Belief) -> str:
    """That it exists, its name and its class."""
    return f"[stub: belief={belief.id} class={belief.retention_class}]"


def _rendered(belief: Belief, strategy: Strategy, query: str) -> str:
    if strategy == "verbatim" or not belief.content:
        return belief.content
    if strategy == "stub":
        return stub(belief)
    if strategy == "query_headline":
        return query_headline(belief.content, query)
    return headline(belief.content)
