"""The candidates of a pack with what each would cost in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from compress.beliefs.compress import compressed, strategy_of
from compress.beliefs.values import Belief, CompressedBelief, Strategy
from compress.packs.rank import Ranked
from compress.packs.render import entry
from compress.packs.values import PackLine, PackRequest, Reason
from compress.tokens import TokenCounter, count_many

AT_ONCE = 64
"""Entries that are counted in one call."""


@dataclass(slots=True)
class Line:
    """A candidate while the pack is made."""

    ranked: Ranked
    form: CompressedBelief
    """As it stands, or would stand, in the pack."""
    whole: CompressedBelief
    is_free: bool
    """Its class alone made its form, so that it may stand whole, too."""
    costs: dict[Strategy, int] = field(default_factory=dict)
    """Tokens of its entry, by strategy, as far as they were asked for."""
    packed: bool = False
    reason: Reason = "over_budget"

    @property
    def belief(self) -> Belief:
        """What it is about."""
        return self.ranked.candidate.belief

    def cost(self, form: CompressedBelief) -> int:
        """Tokens of its entry in this form, which :func:`count_entries` counted."""
        return self.costs[form.strategy]

    def told(self, rank: int) -> PackLine:
        """Its line in the preview."""
        return PackLine(
            belief=self.belief,
            rank=rank,
            score=self.ranked.score,
            strategy=self.form.strategy,
            rendered=self.form.rendered,
            tokens_raw=self.whole.rendered_tokens,
            tokens_rendered=self.form.rendered_tokens,
            packed=self.packed,
            reason=self.reason,
            duplicate_of=self.ranked.duplicate_of,
            fell_back=self.form.fell_back,
        )


def lines_of(order: Sequence[Ranked], request: PackRequest, counter: TokenCounter) -> list[Line]:
    """The lines of ranked candidates, each in the form that its class, or a person, asks for. What
    is locked is whole whatever is asked for."""
    beliefs = [one.candidate.belief for one in order]
    raw = count_many(counter, [belief.content for belief in beliefs])
    strategies: list[Strategy] = []
    for belief in beliefs:
        strategy = strategy_of(belief, locked=belief.locked or not request.type_aware)
        if not belief.locked:
            strategy = request.overrides.get(belief.id, strategy)
        strategies.append(strategy)
    forms = compressed(beliefs, strategies, counter, query=request.query, raw=raw)
    return [
        Line(
            ranked=one,
            form=form,
            whole=CompressedBelief(belief, belief.content, tokens, "verbatim"),
            is_free=form.strategy != "verbatim" and belief.id not in request.overrides,
        )
        for one, belief, form, tokens in zip(order, beliefs, forms, raw, strict=True)
    ]


def count_entries(wanted: Sequence[tuple[Line, CompressedBelief]], counter: TokenCounter) -> None:
    """Count the entries of these lines in these forms, but for those that are counted already."""
    missing = [(line, form) for line, form in wanted if form.strategy not in line.costs]
    texts = [entry(line.belief, form.rendered) for line, form in missing]
    for (line, form), tokens in zip(missing, count_many(counter, texts), strict=True):
        line.costs[form.strategy] = tokens
