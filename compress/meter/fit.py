"""A recursive robust linear fit: provider tokens as a weighted sum of what is counted.

Bayesian linear regression by Kalman updates (one observation at a time, no history kept): each
weight starts at a prior mean with a prior spread, and every observed increment moves the weights
in proportion to how uncertain they still are. Three properties matter here:

* the noise is *relative*: a miss of 5 % of a large result tells as much as 5 % of a small one;
* it is *robust*: the noise is Student's t, so an increment that nothing in the log explains
  (a reminder that was not written down, a tool schema that was loaded) moves little. The weight
  of an observation is ``(ν + 1) ÷ (ν + z²)`` (Lange, Little and Taylor, 1989);
* the weights of single tools are kept apart from each other (no covariances among them), so an
  update costs the square of the few shared weights, however many tools there are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

Prior = Callable[[str], tuple[float, float]]
"""Feature name → (mean, standard deviation) of its weight before anything was seen."""

RELATIVE_NOISE = 0.05
ABSOLUTE_NOISE = 5.0
"""Tokens."""
DEGREES_OF_FREEDOM = 2.0
_SMALLEST_SCALE = 30.0


class RecursiveFit:
    """Weights of named features. Features whose name holds a ``:`` are of one tool each."""

    def __init__(self, prior: Prior) -> None:
        self.observations = 0
        self._prior = prior
        self._mean: dict[str, float] = {}
        self._variance: dict[str, float] = {}
        """Of the features of single tools."""
        self._covariance: dict[str, dict[str, float]] = {}
        """Of the shared features, symmetric."""

    def weight(self, feature: str) -> float:
        """Provider tokens for one of this feature."""
        if feature not in self._mean:
            self._admit(feature)
        return self._mean[feature]

    def predict(self, features: Mapping[str, float]) -> float:
        """Provider tokens of these features together."""
        return sum(self.weight(name) * value for name, value in features.items())

    def observe(self, features: Mapping[str, float], tokens: float) -> None:
        """Learn that these features together were so many tokens."""
        expected = self.predict(features)
        gain = self._gain(features)
        own = sum(gain[name] * value for name, value in features.items())
        noise = RELATIVE_NOISE * max(abs(expected), _SMALLEST_SCALE) + ABSOLUTE_NOISE
        surprise = (tokens - expected) ** 2 / (own + noise**2)
        trust = (DEGREES_OF_FREEDOM + 1) / (DEGREES_OF_FREEDOM + surprise)
        total = own + noise**2 / min(1.0, trust)
        error = tokens - expected
        for name, value in gain.items():
            self._mean[name] += value / total * error
        for name, row in self._covariance.items():
            share = gain[name] / total
            for other in row:
                row[other] -= share * gain[other]
        for name in features:
            if name in self._variance:
                self._variance[name] -= gain[name] ** 2 / total
        self.observations += 1

    def _gain(self, features: Mapping[str, float]) -> dict[str, float]:
        """Covariance × features, of all shared weights and of the tools among the features."""
        shared = [(name, value) for name, value in features.items() if name in self._covariance]
        gain = {
            name: sum(row[other] * value for other, value in shared)
            for name, row in self._covariance.items()
        }
        for name, value in features.items():
            if name in self._variance:
                gain[name] = self._variance[name] * value
        return gain

    def _admit(self, name: str) -> None:
        mean, spread = self._prior(name)
        self._mean[name] = mean
        if ":" in name:
            self._variance[name] = spread**2
            return
        for row in self._covariance.values():
            row[name] = 0.0
        self._covariance[name] = dict.fromkeys(self._covariance, 0.0)
        self._covariance[name][name] = spread**2
