"""What opencode's rows say besides their content: figures, lists, what decides about a message."""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

from compress.events import Usage
from storage.sources.draft import MOST_ITEMS, word
from storage.sources.values import count, listing, mapping, string

_STATUSES = ("pending", "in_progress", "completed")


def usage_of(tokens: Any) -> Usage | None:
    """The figures of a request. opencode's buckets are disjoint; its output does not count
    reasoning. Source: ``Session.getUsage`` of opencode 1.18."""
    figures = mapping(tokens)
    cache = mapping(figures.get("cache"))
    output, reasoning = count(figures.get("output")), count(figures.get("reasoning"))
    given = count(figures.get("input"))
    read, written = count(cache.get("read")), count(cache.get("write"))
    if not any((output, reasoning, given, read, written)):
        return None
    return Usage(
        input=given,
        cache_read=read,
        cache_write=written,
        output=None if output is None and reasoning is None else (output or 0) + (reasoning or 0),
        reasoning=reasoning,
    )


def todo_items(given: Any) -> list[dict[str, str]]:
    """The items of a ``todowrite`` call. What was cancelled is not to be done any more."""
    items = []
    for item in map(mapping, listing(mapping(given).get("todos"))[:MOST_ITEMS]):
        status = string(item.get("status"))
        if text := string(item.get("content")):
            items.append({"text": text, "status": status if status in _STATUSES else "completed"})
    return items


def essence(data: Mapping[str, Any]) -> dict[str, Any]:
    """What decides whether and how a message is sent. The rest may be large."""
    names = ("role", "parentID", "finish", "error", "modelID")
    told = {name: data[name] for name in names if name in data}
    if data.get("summary") is True:
        told["summary"] = True
    return told


def told(data: Mapping[str, Any], *names: str) -> str:
    """What these fields say, shortly."""
    text = json.dumps([data.get(name) for name in names], sort_keys=True, default=str)
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=9).hexdigest()


def source_of(data: Mapping[str, Any]) -> str:
    """Who put a part into the user's message that the user did not write."""
    if data.get("ignored"):
        return "ignored"
    return "opencode" if data.get("type") == "text" else string(data.get("type"))


def error_text(error: Mapping[str, Any]) -> str:
    """The words of an error, else its name."""
    words = string(mapping(error.get("data")).get("message")) or word(error.get("name")) or ""
    return words[:2000]
