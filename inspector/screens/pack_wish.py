"""What a person wants of a pack while it is edited: a value, and its changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from compress.beliefs.values import Strategy
from inspector.pack_reports import PackLineReport, PackScope

Scope = PackScope

SCOPES: tuple[Scope, ...] = ("session", "project", "store")
STRATEGIES: tuple[Strategy, ...] = ("verbatim", "headline", "query_headline", "stub")
STEPS = (250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000)
"""Budgets that plus and minus step through, in tokens."""


@dataclass(frozen=True, slots=True)
class PackWish:
    """A question, and by hand what its answer is changed by."""

    query: str = ""
    scope: Scope = "session"
    budget: int | None = None
    """Tokens; ``None``: the setting's."""
    compression: bool | None = None
    """``None``: as it is set."""
    overrides: Mapping[str, Strategy] = field(default_factory=dict)
    excluded: frozenset[str] = frozenset()
    included: frozenset[str] = frozenset()
    allow_overflow: bool = False

    def with_query(self, query: str) -> PackWish:
        """Another question: what was chosen by hand for the lines stays with those that it finds
        again."""
        return replace(self, query=query)

    def with_scope_after(self, scopes: tuple[Scope, ...]) -> PackWish:
        """The next of these places to look in."""
        place = scopes.index(self.scope) + 1 if self.scope in scopes else 0
        return replace(self, scope=scopes[place % len(scopes)])

    def with_budget_step(self, by: int, now: int) -> PackWish:
        """The next larger or smaller of the steps, from the budget that is in force."""
        steps = [step for step in STEPS if (step > now if by > 0 else step < now)]
        if not steps:
            return self
        return replace(self, budget=steps[0] if by > 0 else steps[-1])

    def with_toggled(self, row: PackLineReport) -> PackWish:
        """A packed line goes out, one that is out goes in; what is locked stays as it is."""
        if row.locked:
            return self
        name = frozenset((row.belief,))
        if row.packed:
            return replace(self, excluded=self.excluded | name, included=self.included - name)
        if row.belief in self.excluded:
            return replace(self, excluded=self.excluded - name)
        return replace(self, included=self.included ^ name)

    def with_strategy_after(self, row: PackLineReport) -> PackWish:
        """The next strategy for a line; behind the last, what its class says again."""
        if row.locked:
            return self
        others = {name: chosen for name, chosen in self.overrides.items() if name != row.belief}
        chosen = self.overrides.get(row.belief)
        place = STRATEGIES.index(chosen) + 1 if chosen is not None else 0
        if chosen is None and row.strategy == STRATEGIES[0]:
            place = 1
        if place < len(STRATEGIES):
            others[row.belief] = STRATEGIES[place]
        return replace(self, overrides=others)

    @property
    def by_hand(self) -> int:
        """How many lines were changed by hand."""
        return len(self.excluded | self.included | self.overrides.keys())

    def without_hand(self) -> PackWish:
        """Lines as they are ranked and fitted."""
        return replace(self, overrides={}, excluded=frozenset(), included=frozenset())
