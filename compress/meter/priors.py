"""What is believed of a model's tokens before a session has taught better.

The features, each a number that stands in the log before the request:

====================  ==========================================================================
``output``            the provider's own count of a reply that now stands in the prompt
``output_calls``      tool calls in such a reply
``text`` ``call``     counted tokens of a reply whose output count is missing or a placeholder
``thinking``          the same, thinking
``calls``             tool calls in such a reply
``result``            counted tokens of tool results
``results``           tool results
``result:T``          counted tokens of results of tool T: how T's output differs from the rest
``results:T``         results of tool T: reminders or schemas that come with each
``user`` ``users``    counted tokens of the user's messages, and their number
``dropped``           with a user's message: the thinking of the turn that it ends. Some models
                      are not shown it again, others are; the weight says how much of it went
``context``           counted tokens of injected context
``contexts``          injected context messages
``checkpoint``        counted tokens of summaries
``image``             tokens of images by the provider's formula
``request``           1: what every request adds
====================  ==========================================================================

The means of families are ratios to o200k_base as measured on public session logs (Claude up to
4.6: 1.08–1.26; from 4.7: 1.23–1.58); the spreads are wide enough that a dozen requests overrule
them.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType

from compress.meter.fit import Prior
from compress.tokens import NEWER_CLAUDE, model_name

_WEIGHTS: Mapping[str, tuple[float, float]] = MappingProxyType(
    {
        "output": (1.0, 0.03),
        "output_calls": (0.0, 6.0),
        "text": (1.0, 0.12),
        "call": (1.0, 0.12),
        "thinking": (1.0, 0.25),
        "calls": (45.0, 20.0),
        "result": (1.0, 0.12),
        "results": (12.0, 10.0),
        "result:": (0.0, 0.12),
        "results:": (0.0, 40.0),
        "user": (1.0, 0.25),
        "users": (10.0, 40.0),
        "context": (0.9, 0.3),
        "contexts": (10.0, 30.0),
        "checkpoint": (1.0, 0.2),
        "image": (1.0, 0.3),
        "request": (2.0, 5.0),
    }
)
_SCALED = frozenset({"text", "call", "thinking", "result", "user", "context", "checkpoint"})
"""Weights of counted text: times the family's ratio."""

RATIOS: tuple[tuple[str, float], ...] = (
    *((name, 1.5) for name in NEWER_CLAUDE),
    ("claude", 1.25),
    ("gpt", 1.0),
    ("o1", 1.0),
    ("o3", 1.0),
    ("o4", 1.0),
    ("codex", 1.0),
)
"""Model name's beginning → provider tokens per token of the counter, to start with. The first
that fits counts."""
DEFAULT_RATIO = 1.1

DROPPED: tuple[tuple[str, tuple[float, float]], ...] = (
    ("claude-3", (-1.0, 0.3)),
    ("claude-sonnet-4-6", (0.0, 0.1)),
    ("claude-sonnet-4", (-0.25, 0.3)),
    ("claude-opus-4-1", (-0.25, 0.3)),
    ("claude-opus-4-0", (-0.25, 0.3)),
    ("claude-opus-4-2", (-0.25, 0.3)),
    ("claude-haiku-4", (-0.25, 0.3)),
    ("claude", (0.0, 0.1)),
    ("gpt", (-1.0, 0.1)),
    ("codex", (-1.0, 0.1)),
    ("o1", (-1.0, 0.1)),
    ("o3", (-1.0, 0.1)),
    ("o4", (-1.0, 0.1)),
)
"""Model name's beginning → the prior of ``dropped``. OpenAI's models are not shown the reasoning
of earlier turns again; Claude's are from Opus 4.5 on (Anthropic's documentation, *Extended
thinking*, "Thinking block preservation")."""
DEFAULT_DROPPED = (-0.25, 0.3)


@lru_cache(maxsize=64)
def ratio_of(model: str | None) -> float:
    """Provider tokens per counted token that is assumed of a model at first."""
    name = model_name(model)
    return next((ratio for prefix, ratio in RATIOS if name.startswith(prefix)), DEFAULT_RATIO)


def prior_of(model: str | None) -> Prior:
    """The prior of a model's weights."""
    ratio = ratio_of(model)
    name = model_name(model)
    dropped = next((d for prefix, d in DROPPED if name.startswith(prefix)), DEFAULT_DROPPED)

    def prior(feature: str) -> tuple[float, float]:
        if feature == "dropped":
            return dropped
        kind, colon, _ = feature.partition(":")
        mean, spread = _WEIGHTS[kind + colon]
        return (mean * ratio, spread * ratio) if kind in _SCALED else (mean, spread)

    return prior
