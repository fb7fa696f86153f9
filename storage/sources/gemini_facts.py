"""What Gemini CLI's messages say besides their content: figures, lists, plans, decisions.

Source: google-gemini/gemini-cli 0.61: ``recordMessageTokens``, and the tools ``write_todos``,
``write_file``, ``exit_plan_mode`` and ``ask_user``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from compress.events import ContentBlock, EventType, Usage
from storage.records import parse_text
from storage.sources.draft import LONGEST_FACT, MOST_ITEMS, word
from storage.sources.plan_items import plan_items
from storage.sources.values import count, listing, mapping, string

_STATUSES = {
    "pending": "pending",
    "blocked": "pending",
    "in_progress": "in_progress",
    "completed": "completed",
}
_WORKSPACE = re.compile(r"Workspace Directories:\*\*\s+- (.+)")
_PLAN_APPROVED = ("Plan approved.", "User has manually exited Plan Mode.")
_PLAN_REJECTED = ("Plan rejected.", "User cancelled the plan approval dialog.")
_FEEDBACK = "User feedback: "


class Fact(NamedTuple):
    """A log-only event."""

    type: EventType
    meta: Mapping[str, Any]


def usage_of(tokens: Any) -> Usage | None:
    """The figures of a request. The prompt counts cached tokens, but not those of tools' own
    prompts; the output does not count thoughts."""
    figures = mapping(tokens)
    prompt, cached = count(figures.get("input")), count(figures.get("cached"))
    output, thoughts = count(figures.get("output")), count(figures.get("thoughts"))
    if not any((prompt, output, thoughts)):
        return None
    fresh = None
    if prompt is not None:
        fresh = max(0, prompt - (cached or 0)) + (count(figures.get("tool")) or 0)
    said = None if output is None and thoughts is None else (output or 0) + (thoughts or 0)
    return Usage(input=fresh, cache_read=cached, output=said, reasoning=thoughts)


def workspace_of(text: str) -> str | None:
    """The folder that a session's context names first."""
    found = _WORKSPACE.search(text)
    return found[1].strip() if found else None


class Asked:
    """What calls asked of a person, and the documents that they wrote."""

    def __init__(self) -> None:
        self._written: dict[str, tuple[str, str, str]] = {}
        """File name → call, path and text of the newest whole writing of it."""
        self._questions: dict[str, str] = {}
        self._plans: set[str] = set()

    def call(self, call: ContentBlock) -> list[Fact]:
        """What a call tells."""
        given = mapping(call.input)
        name = call.id or ""
        if call.name == "write_todos":
            items = todo_items(given.get("todos"))
            return [Fact("artifact/update", {"kind": "todo", "items": items})]
        if call.name == "write_file":
            path, text = string(given.get("file_path")), string(given.get("content"))
            if path.endswith(".md") and name:
                self._written[_file_name(path)] = (name, path, text)
        elif call.name == "exit_plan_mode":
            self._plans.add(name)
            asked = Fact("approval/request", {"tool": call.name, "call": name})
            named = string(given.get("plan_filename")) or string(given.get("plan_path"))
            plan = self._written.get(_file_name(named))
            return [asked] if plan is None else [_plan(*plan), asked]
        elif call.name == "ask_user":
            questions = map(mapping, listing(given.get("questions")))
            texts = [string(question.get("question")) for question in questions]
            question = "\n".join(text for text in texts if text)[:LONGEST_FACT]
            self._questions[name] = question
            meta = {"tool": call.name, "call": name, "text": question}
            return [Fact("approval/request", meta)]
        return []

    def result(self, result: ContentBlock, *, declined: bool) -> list[Fact]:
        """What a person decided, as the result of a call tells it."""
        name, text = result.id or "", result.text
        meta: dict[str, Any] = {"call": name}
        if declined:
            meta["decision"] = "rejected"
        elif name in self._questions:
            answer = _answers(text)
            if not answer:
                return []
            asked = self._questions[name]
            meta |= {"decision": "answered", "message": answer}
            meta |= {"question": asked} if asked else {}
        elif name in self._plans and text.startswith(_PLAN_APPROVED):
            meta["decision"] = "approved"
        elif name in self._plans and text.startswith(_PLAN_REJECTED):
            meta["decision"] = "rejected"
            said = text.partition("\n")[0].partition(_FEEDBACK)[2]
            meta |= {"message": said[:LONGEST_FACT]} if said else {}
        else:
            return []
        return [Fact("approval/decision", meta)]


def todo_items(todos: Any) -> list[dict[str, Any]]:
    """The items of a ``write_todos`` call. A cancelled one is left out: it is neither done nor
    open."""
    found = []
    for todo in map(mapping, listing(todos)[:MOST_ITEMS]):
        text, status = string(todo.get("description")), _STATUSES.get(string(todo.get("status")))
        if text and status is not None:
            found.append({"text": text, "status": status})
    return found


def _plan(call: str, path: str, text: str) -> Fact:
    document = {"call": call, "field": "content", "path": path}
    meta = {"kind": "plan", "items": plan_items(text), "document": document}
    return Fact("artifact/update", {**meta, "explanation": text[:LONGEST_FACT]})


def _file_name(path: str) -> str:
    return re.split(r"[/\\]", path)[-1]


def _answers(text: str) -> str:
    """The answers in the result of ``ask_user``: an object of texts by the question's place."""
    answers = mapping(mapping(parse_text(text)).get("answers"))
    said = (word(answer) for answer in answers.values())
    return "\n".join(answer for answer in said if answer)[:LONGEST_FACT]
