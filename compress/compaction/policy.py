"""When to compact and how much to keep: settings, validated when they are made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from compress.errors import CompressError

Automatic = Literal["off", "micro", "full"]
"""Whether a policy may commit without a person. ``off``: it only proposes."""


class PolicyError(CompressError):
    """A policy that contradicts itself; names both numbers."""

    code = "policy"


@dataclass(frozen=True, slots=True)
class Policy:
    """The figures of automatic and micro-compaction. Ratios are shares of the context window.

    Raises :class:`PolicyError` at construction for a figure out of range, a micro-compaction that
    would clear to above its start, or a retained tail that reaches the threshold.
    """

    threshold_ratio: float = 0.8
    """Pressure at which compaction starts."""
    retain_ratio: float = 0.16
    """Share of the window that stays verbatim at the tail."""
    retain_tokens: int | None = None
    """The same in tokens; wins over the ratio where it is set."""
    summary_tokens: int = 8192
    """At most that many tokens of summary."""
    retries: int = 1
    """Further attempts while still above the threshold, each only if the one before gained."""
    last_messages: int = 6
    """Newest messages (user, steering, assistant) that stay verbatim in a conversation."""
    micro_start: float = 0.70
    """Pressure at or above which micro-compaction starts."""
    micro_target: float = 0.60
    """It clears until the pressure is at or below this."""
    minimum_gain: float = 0.10
    """Share of the region's tokens that an operation must free."""
    unclearable: frozenset[str] = frozenset()
    """Names of tools whose results micro-compaction leaves alone; all others are clearable."""
    auto: Automatic = "off"

    def __post_init__(self) -> None:
        self._check_ranges()
        if self.micro_target > self.micro_start:
            raise PolicyError(
                f"micro_target is {self.micro_target}, above micro_start {self.micro_start}: "
                "clearing would never end. Set it to at most that."
            )
        if self.retain_tokens is None and self.retain_ratio >= self.threshold_ratio:
            raise PolicyError(
                f"retain_ratio is {self.retain_ratio}, but must be below threshold_ratio "
                f"{self.threshold_ratio}: what is kept alone would reach the threshold."
            )

    def _check_ranges(self) -> None:
        for name in ("threshold_ratio", "micro_start", "micro_target"):
            if not 0 < getattr(self, name) <= 1:
                raise PolicyError(
                    f"{name} is {getattr(self, name)}, but must be above 0 and at most 1."
                )
        for name in ("retain_ratio", "minimum_gain"):
            if not 0 <= getattr(self, name) < 1:
                raise PolicyError(
                    f"{name} is {getattr(self, name)}, but must be at least 0 and below 1."
                )
        for name in ("retries", "last_messages", "retain_tokens"):
            if (getattr(self, name) or 0) < 0:
                raise PolicyError(f"{name} is {getattr(self, name)}, but must not be negative.")
        if self.summary_tokens < 64:
            raise PolicyError(f"summary_tokens is {self.summary_tokens}, but must be at least 64.")

    def threshold(self, window: int) -> int:
        """Tokens at which compaction starts, in a window of ``window`` tokens."""
        return int(window * self.threshold_ratio)

    def retain(self, window: int) -> int:
        """Tokens of the tail that stay verbatim.

        Raises :class:`PolicyError` where ``retain_tokens`` reaches the threshold of this window.
        """
        if self.retain_tokens is None:
            return int(window * self.retain_ratio)
        threshold = self.threshold(window)
        if self.retain_tokens >= threshold:
            raise PolicyError(
                f"retain_tokens is {self.retain_tokens:,}, but must be below the threshold of "
                f"{threshold:,} tokens ({self.threshold_ratio:g} of a window of {window:,}): "
                "lower it, or raise threshold_ratio."
            )
        return self.retain_tokens
