"""The shape of a Claude Code session that the agent was seen to resume, as assertions."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from tests.storage.sources.claude_reference import standing

MESSAGES = ("user", "assistant")
BESIDE = ("summary", "ai-title", "custom-title", "last-prompt")
"""Records beside the chain that a copy may end with."""


def check_recipe(lines: Sequence[bytes], session: str) -> list[dict[str, Any]]:
    """Record by record; returns those of the chain."""
    rows: list[dict[str, Any]] = [json.loads(line) for line in lines]
    chain = [row for row in rows if "uuid" in row]
    beside = rows[len(chain) :]
    assert rows[: len(chain)] == chain, "what stands beside the chain stands behind it"
    assert all(row["type"] in BESIDE for row in beside)
    assert all(row.get("sessionId", session) == session for row in rows)
    _check_links(chain, session)
    _check_head(chain)
    _check_messages(chain)
    _check_pairs(chain)
    for row in beside:
        if "leafUuid" in row:
            assert row["leafUuid"] == [r["uuid"] for r in chain if r["type"] in MESSAGES][-1]
    bounded = chain[0].get("subtype") == "compact_boundary"
    # By the agent's own rules, written down independently, all of the chain is sent, in order.
    assert standing(rows) == [row["uuid"] for row in chain[bounded:]]
    return chain


def _check_links(chain: Sequence[dict[str, Any]], session: str) -> None:
    assert len({row["uuid"] for row in chain}) == len(chain)
    assert [row["parentUuid"] for row in chain] == [None, *(row["uuid"] for row in chain[:-1])]
    for row in chain:
        assert row["sessionId"] == session
        assert row["timestamp"]
        assert not row.get("isSidechain")
        assert not {"forkedFrom", "requestRef"} & set(row)


def _check_head(chain: Sequence[dict[str, Any]]) -> None:
    assert all(row.get("subtype") != "compact_boundary" for row in chain[1:])
    head = chain[0]
    if head.get("subtype") != "compact_boundary":
        return
    assert (head["type"], head["content"], head["level"]) == (
        "system",
        "Conversation compacted",
        "info",
    )
    assert (head["isMeta"], head["isSidechain"]) == (False, False)
    assert head["compactMetadata"]["trigger"] in ("manual", "auto")
    assert head["compactMetadata"].get("preTokens", 0) >= 0
    assert set(head["compactMetadata"]) <= {"trigger", "preTokens"}
    assert head["logicalParentUuid"] not in {row["uuid"] for row in chain}
    summary = chain[1]
    assert summary["type"] == "user"
    assert summary["isCompactSummary"] is True
    assert summary["isVisibleInTranscriptOnly"] is True


def _check_messages(chain: Sequence[dict[str, Any]]) -> None:
    said = [row for row in chain if row["type"] in MESSAGES]
    assert said
    for row in said:
        assert row["message"]["role"] == row["type"]
        assert row["message"]["content"]
        assert not row.get("isApiErrorMessage")
        if row["type"] == "assistant":
            assert len(row["message"]["content"]) == 1, "one block a record"
    ids = [row["message"]["id"] for row in said if row["type"] == "assistant"]
    runs = [name for at, name in enumerate(ids) if at == 0 or ids[at - 1] != name]
    assert len(runs) == len(set(runs)), "the records of a message stand together"


def _check_pairs(chain: Sequence[dict[str, Any]]) -> None:
    called: set[str] = set()
    answered: list[str] = []
    for row in chain:
        content = row.get("message", {}).get("content")
        for block in content if isinstance(content, list) else ():
            if block.get("type") == "tool_use":
                called.add(block["id"])
            elif block.get("type") == "tool_result":
                assert block["tool_use_id"] in called
                answered.append(block["tool_use_id"])
    assert len(answered) == len(set(answered))
