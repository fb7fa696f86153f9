"""Why a pack is refused: one sentence, with the way out."""

from __future__ import annotations

from compress.errors import CompressError


class PackBudgetError(CompressError):
    """What must stand in a pack exceeds its budget; names both numbers. ``least``: the tokens that
    it takes."""

    code = "pack_budget"

    def __init__(self, message: str, least: int, budget: int) -> None:
        super().__init__(message)
        self.least = least
        self.budget = budget


def too_small(least: int, budget: int, locked: int) -> PackBudgetError:
    """``locked``: how many beliefs are locked."""
    if locked:
        return PackBudgetError(
            f"What is pinned takes {least:,} tokens, more than the pack's budget of {budget:,}: "
            f"allow at least {least:,}, unpin something, or allow the overflow.",
            least,
            budget,
        )
    return PackBudgetError(
        f"Even an empty pack takes {least:,} tokens, more than the budget of {budget:,}: "
        f"allow at least {least:,}.",
        least,
        budget,
    )
