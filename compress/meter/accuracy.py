"""The meter's own error on a session: the figure of merit of its predictions."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

SMALLEST_INCREMENT = 20
"""Requests whose input grew by no more than this many tokens are not judged."""


class Predicted(Protocol):
    """A request with what was predicted of it."""

    @property
    def actual_input(self) -> int | None: ...
    @property
    def predicted_input(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Accuracy:
    """Absolute errors as shares, 0…; ``None`` where no request can be judged."""

    n: int
    median_of_increment: float | None = None
    p90_of_increment: float | None = None
    median_of_total: float | None = None


def accuracy(requests: Iterable[Predicted]) -> Accuracy:
    """|predicted − actual| ÷ (actual − previous actual) over all requests whose input grew by
    more than :data:`SMALLEST_INCREMENT`; and |predicted − actual| ÷ actual over the same ones.

    Nothing is clipped and none is left out. The first request has no increment.
    """
    increments, totals = [], []
    previous: int | None = None
    for request in requests:
        actual = request.actual_input
        if actual is None:
            continue
        if previous is not None and actual - previous > SMALLEST_INCREMENT:
            error = abs(request.predicted_input - actual)
            increments.append(error / (actual - previous))
            totals.append(error / actual)
        previous = actual
    if not increments:
        return Accuracy(0)
    return Accuracy(
        n=len(increments),
        median_of_increment=quantile(increments, 0.5),
        p90_of_increment=quantile(increments, 0.9),
        median_of_total=quantile(totals, 0.5),
    )


def quantile(values: Sequence[float], share: float) -> float:
    """The quantile with linear interpolation between neighbours (Hyndman and Fan's type 7).

    Raises ``ValueError`` on an empty sequence.
    """
    if not values:
        raise ValueError("no quantile of nothing")
    ranked = sorted(values)
    at = share * (len(ranked) - 1)
    below = math.floor(at)
    above = min(below + 1, len(ranked) - 1)
    return ranked[below] + (ranked[above] - ranked[below]) * (at - below)
