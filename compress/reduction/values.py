"""What a reduction is asked for and what it answers: frozen values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from compress.errors import CompressError

StageName = Literal["filter", "group", "deduplicate", "truncate"]
STAGES: tuple[StageName, ...] = ("filter", "group", "deduplicate", "truncate")


class BudgetError(CompressError):
    """A budget that is neither tokens nor a share."""

    code = "budget"


@dataclass(frozen=True, slots=True)
class Budget:
    """How much may stay: ``tokens``, or ``share`` (0 < share ≤ 1) of the input's tokens."""

    tokens: int | None = None
    share: float | None = None

    @staticmethod
    def parse(text: str) -> Budget:
        """``"2000"`` or ``"25%"``.

        Raises :class:`BudgetError` for anything else.
        """
        word = text.strip()
        try:
            if word.endswith("%"):
                share = float(word[:-1]) / 100
                if 0 < share <= 1:
                    return Budget(share=share)
            elif (tokens := int(word)) > 0:
                return Budget(tokens=tokens)
        except ValueError:
            pass
        raise BudgetError(
            f"The budget {text!r} is neither a number of tokens (2000) nor a share (25%)."
        )

    def of(self, tokens: int) -> int:
        """The budget in tokens for an input of ``tokens``."""
        if self.tokens is not None:
            return self.tokens
        return int(tokens * self.share) if self.share is not None else tokens


@dataclass(frozen=True, slots=True)
class StageReport:
    """What one stage removed. ``lines_removed`` may be 0 where characters went, not lines."""

    name: StageName
    lines_removed: int
    tokens_removed: int
    notes: tuple[str, ...] = ()
    """In words and numbers, for people: ``"14 lines that stand again"``."""


@dataclass(frozen=True, slots=True)
class Reduction:
    """A reduced output. Lines are counted as ``"\\n"`` parts them; tokens by the counter given."""

    text: str
    """What to show, header included. The input itself where nothing was gained."""
    header: str
    """The first line of ``text``; empty where the input passed untouched."""
    profile: str
    """Name of the profile that was applied in the end (the generic one where it took over)."""
    stages: tuple[StageReport, ...]
    """In the order of :data:`STAGES`; empty where the input passed untouched."""
    verdicts: tuple[str, ...]
    """Verdict lines, copied from the input."""
    success: bool
    """Whether the profile's rule of success held: it decides the strength, and is no verdict."""
    lines_before: int
    lines_after: int
    tokens_before: int
    tokens_after: int
    exit_code: int | None
    pointer: str | None
    kept: tuple[int, ...]
    """Lines of the input, from 0, that stand in the result (within a collapsed run: the first)."""

    @property
    def unchanged(self) -> bool:
        """Whether the text is the input, byte for byte."""
        return not self.header
