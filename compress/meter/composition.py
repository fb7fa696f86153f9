"""What the tokens in the window are, in whole tokens that add up."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

KINDS = (
    "system_and_tools",
    "instructions",
    "user",
    "assistant",
    "thinking",
    "tool_calls",
    "tool_results",
    "checkpoints",
)
"""The slices, in the order in which they are drawn."""

_KIND_OF_FEATURE: Mapping[str, str] = {
    "text": "assistant",
    "call": "tool_calls",
    "calls": "tool_calls",
    "output_calls": "tool_calls",
    "thinking": "thinking",
    "dropped": "thinking",
    "result": "tool_results",
    "results": "tool_results",
    "user": "user",
    "users": "user",
    "context": "instructions",
    "contexts": "instructions",
    "checkpoint": "checkpoints",
}
_KIND_OF_DETAIL: Mapping[str, tuple[str, str]] = {
    "output/text": ("output", "assistant"),
    "output/call": ("output", "tool_calls"),
    "output/thinking": ("output", "thinking"),
    "image/user": ("image", "user"),
    "image/context": ("image", "instructions"),
    "image/checkpoint": ("image", "checkpoints"),
    "image/result": ("image", "tool_results"),
}


def kinds_of(
    totals: Mapping[str, float], detail: Mapping[str, float], weight: Callable[[str], float]
) -> dict[str, float]:
    """Provider tokens of each kind of content on the surface, overhead not among them."""
    found = dict.fromkeys(KINDS[1:], 0.0)
    for feature, value in totals.items():
        kind = _KIND_OF_FEATURE.get(feature.partition(":")[0])
        if kind is not None:
            found[kind] += weight(feature) * value
    for name, value in detail.items():
        entry = _KIND_OF_DETAIL.get(name)
        if entry is not None:
            found[entry[1]] += weight(entry[0]) * value
    return {kind: max(0.0, value) for kind, value in found.items()}


def tools_of(
    totals: Mapping[str, float], detail: Mapping[str, float], weight: Callable[[str], float]
) -> dict[str, float]:
    """Provider tokens of the results of each tool, by name."""
    tools: dict[str, float] = {}
    for feature, value in totals.items():
        kind, colon, tool = feature.partition(":")
        if colon:
            tokens = (weight(kind) + weight(feature)) * value
            tools[tool] = tools.get(tool, 0.0) + tokens
    for name, value in detail.items():
        kind, colon, tool = name.partition(":")
        if colon:
            tools[tool] = tools.get(tool, 0.0) + weight("image") * value
    return {tool: max(0.0, tokens) for tool, tokens in tools.items()}


def apportion(total: int, shares: Mapping[str, float]) -> dict[str, int]:
    """The shares in whole tokens whose sum is ``total`` (largest remainder; ties by order).

    Shares are not negative; where all are zero, all parts but the first are zero.
    """
    if not shares:
        return {}
    whole = sum(shares.values())
    if whole <= 0:
        first = next(iter(shares))
        return {name: total if name == first else 0 for name in shares}
    exact = {name: total * share / whole for name, share in shares.items()}
    parts = {name: math.floor(value) for name, value in exact.items()}
    by_remainder = sorted(exact, key=lambda name: parts[name] - exact[name])
    for name in by_remainder[: total - sum(parts.values())]:
        parts[name] += 1
    return parts
