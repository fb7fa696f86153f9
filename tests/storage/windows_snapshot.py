"""Makes ``assets/windows.json`` anew from the installed genai-prices, which is needed for nothing
else: ``python -m tests.storage.resources_snapshot > assets/windows.json``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.metadata import version
from typing import Any

from genai_prices.data_snapshot import get_snapshot

from storage.resources import comparable

MAKERS = (
    "anthropic",
    "openai",
    "google",
    "x-ai",
    "deepseek",
    "mistral",
    "moonshotai",
    "zai",
    "minimax",
    "meta",
)
"""Whose word on a model counts first."""
RESELLER = "openrouter"
"""Fills the gaps of the others; the first two makers' lists have none."""


def snapshot() -> dict[str, Any]:
    """``{"source", "windows": {model name: tokens}}``, names as ``storage.resources`` compares
    them."""
    providers = {provider.id: provider for provider in get_snapshot().providers}
    windows: dict[str, int] = {}
    for provider in MAKERS:
        for model in providers[provider].models:
            for name in (model.id, *_names(model.match)):
                if model.context_window:
                    windows.setdefault(comparable(name), model.context_window)
    for model in providers[RESELLER].models:
        if model.context_window and not model.id.startswith(("anthropic/", "openai/")):
            windows.setdefault(comparable(model.id), model.context_window)
    return {
        "source": f"genai-prices {version('genai-prices')}",
        "windows": dict(sorted(windows.items())),
    }


def _names(match: Any) -> Iterator[str]:
    """The plain names among the clauses that recognise a model."""
    for clause in getattr(match, "or_", [match]):
        name = getattr(clause, "equals", None) or getattr(clause, "starts_with", None)
        if name:
            yield name


if __name__ == "__main__":
    print(json.dumps(snapshot(), indent=0))
