"""Where the thresholds lie, and how many steps are left until they are reached."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Literal

MICRO_RATIO = 0.70
COMPACT_RATIO = 0.80
LOOK_BACK = 12
"""Requests that the slope is taken from."""


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Tokens at which micro-compaction and compaction begin; ``None`` without a window."""

    micro: int | None
    compact: int | None

    def proposed(self, used: int) -> Literal["micro", "compact"] | None:
        """What the policy would do at so many tokens."""
        if self.compact is not None and used >= self.compact:
            return "compact"
        return "micro" if self.micro is not None and used >= self.micro else None


def thresholds(
    window: int | None, micro: float = MICRO_RATIO, compact: float = COMPACT_RATIO
) -> Thresholds:
    """The thresholds of a window, from their ratios."""
    if window is None:
        return Thresholds(None, None)
    return Thresholds(math.floor(window * micro), math.floor(window * compact))


def slope(inputs: Sequence[int]) -> float | None:
    """Tokens a step: the median of all pairwise slopes of the last requests (Theil and Sen), so
    that one giant result does not bend it. What stood before the last compaction (an input that
    fell by more than a tenth) does not count. ``None`` under three requests."""
    last = inputs[-LOOK_BACK:]
    for at in range(len(last) - 1, 0, -1):
        if last[at] < 0.9 * last[at - 1]:
            last = last[at:]
            break
    if len(last) < 3:
        return None
    return median(
        (last[later] - last[earlier]) / (later - earlier)
        for earlier in range(len(last))
        for later in range(earlier + 1, len(last))
    )


def steps_left(used: int, threshold: int | None, tokens_a_step: float | None) -> int | None:
    """Steps until ``used`` reaches the threshold; 0 where it stands there already, ``None`` where
    nothing can be said: no window, too few requests, or a surface that does not grow."""
    if threshold is None:
        return None
    if used >= threshold:
        return 0
    if tokens_a_step is None or tokens_a_step <= 0:
        return None
    return math.ceil((threshold - used) / tokens_a_step)
