"""Why a context is not rebuilt: one sentence each, with the way out."""

from __future__ import annotations

from compress.errors import CompressError


class LocksExceedBudgetError(CompressError):
    """What may not be trimmed exceeds the budget; names both numbers. ``least``: its tokens."""

    code = "budget"

    def __init__(self, least: int, budget: int, pinned: int) -> None:
        what = (
            f"The header and {pinned} pinned {'messages' if pinned > 1 else 'message'}"
            if pinned
            else "The header alone"
        )
        verb = "take" if pinned else "takes"
        way = " or unpin what may go" if pinned else ""
        super().__init__(
            f"{what} {verb} {least:,} tokens, more than the budget of {budget:,}: "
            f"allow at least {least:,}{way}."
        )
        self.least = least
        self.budget = budget
