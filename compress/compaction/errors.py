"""Why a compaction is refused: one sentence each, with the way out."""

from __future__ import annotations

from compress.errors import CompressError
from compress.operations import OperationDraft


class RegionError(CompressError):
    """A region whose ends are in the wrong order, or that holds nothing to compact."""

    code = "region"


class UnfinishedCompactionError(CompressError):
    """The agent began a compaction in the current turn and has not ended it."""

    code = "unfinished_compaction"


class NoGainError(CompressError):
    """What would take the region's place is hardly smaller than the region."""

    code = "no_gain"


class BudgetError(CompressError):
    """Even the pointers to what must be kept exceed the budget; names both numbers. ``least``:
    the tokens that they take."""

    code = "budget"

    def __init__(self, message: str, least: int) -> None:
        super().__init__(message)
        self.least = least


class ChangedError(CompressError):
    """The previewed region is not what stands there now."""

    code = "changed"


class SummaryError(CompressError):
    """Summarising failed: the surface is untouched. ``draft`` notes the failure in the audit."""

    code = "summary"

    def __init__(self, message: str, draft: OperationDraft | None = None) -> None:
        super().__init__(message)
        self.draft = draft
