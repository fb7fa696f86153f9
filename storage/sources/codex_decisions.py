"""What a person decided, as the results of calls tell it. Codex writes no approvals of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from storage.records import parse_text
from storage.sources.codex_items import Item
from storage.sources.draft import LONGEST_FACT, word
from storage.sources.values import listing, mapping


def decision_of(item: Item, question: str | None) -> Mapping[str, Any] | None:
    """The decision of a person that a result tells of: it was refused, or it answers the question
    that its call asked."""
    if item.type != "tool/result" or not item.blocks:
        return None
    if item.meta.get("declined"):
        return {"decision": "rejected", "call": item.call_id or ""}
    answer = _answer(item.blocks[0].text) if question is not None else ""
    if not answer:
        return None
    asked = {"question": question} if question else {}
    return {"decision": "answered", "call": item.call_id or "", **asked, "message": answer}


def question_asked(item: Item) -> str | None:
    """What a ``request_user_input`` call asks; ``None`` for anything else."""
    if item.call_id is None or not item.blocks or item.blocks[0].name != "request_user_input":
        return None
    asked = listing(mapping(item.blocks[0].input).get("questions"))
    texts = [word(mapping(question).get("question")) for question in asked]
    return "\n".join(text for text in texts if text)[:LONGEST_FACT]


def _answer(text: str) -> str:
    """The answers in the output of ``request_user_input``: an object of questions' ids, each with
    a list of texts (openai/codex ``protocol/src/request_user_input.rs``)."""
    answers = mapping(mapping(parse_text(text)).get("answers"))
    said = [
        ", ".join(part for part in listing(mapping(answer).get("answers")) if word(part))
        for answer in answers.values()
    ]
    return "\n".join(answer for answer in said if answer)[:LONGEST_FACT]
