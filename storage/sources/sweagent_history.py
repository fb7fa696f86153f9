"""What the messages of SWE-agent's histories are, and which steps asked for them.

Source: SWE-agent 1.1 (``add_step_to_history``, ``handle_error_with_retry``) and mini-swe-agent 2.4
(``InteractiveAgent``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from compress.events import EventType
from storage.sources.draft import NO_META, word
from storage.sources.sweagent_document import Run, request_of
from storage.sources.values import mapping, string

REJECTION = "UserRejection"
"""How mini-SWE-agent marks that its user refused the calls."""
_SPOKEN = ("UserInterruption", REJECTION)
_TASK = "UserNewTask"
_GOOD_ENDS = ("submitted",)

Kind = tuple[EventType, Mapping[str, Any]]


def kind_of(message: Mapping[str, Any], kind: EventType, *, begun: bool) -> Kind:
    """What a message is, and its facts. ``begun``: the task was given already; from there on the
    user's messages are the observations of a model that calls no tools, unless they say more."""
    if kind == "turn/end":
        status = word(mapping(message.get("extra")).get("exit_status"))
        return kind, ending(status or string(message.get("content")))
    meta: Mapping[str, Any] = NO_META
    if message.get("is_demo"):
        meta = {"source": "demonstration"}
        kind = "context/message" if kind == "user/message" else kind
    elif kind == "context/message":
        meta = {"source": string(message.get("role"))}
    elif kind == "user/message" and begun:
        kind, meta = _later(mapping(message.get("extra")))
    return kind, meta


def _later(extra: Mapping[str, Any]) -> Kind:
    interruption = extra.get("interrupt_type")
    if interruption == _TASK:
        return "user/message", NO_META
    if interruption in _SPOKEN or "actions" in extra:
        return "steering/message", NO_META
    source = "format_error" if interruption == "FormatError" else "observation"
    return "context/message", {"source": source}


def ending(status: str) -> Mapping[str, Any]:
    """The facts of a run's end."""
    if status.lower() in _GOOD_ENDS:
        return {"reason": "completed"}
    return {"reason": "error", "message": status[:500]}


def requests_of(run: Run) -> Mapping[int, Sequence[tuple[int, Sequence[Any] | None]]]:
    """Place in the history → the steps whose request stood there, with its list; ``None`` for a
    step that never came into the history, since its answer was asked for again."""
    answers = [
        index
        for index, message in enumerate(run.messages)
        if mapping(message).get("role") == "assistant" and not mapping(message).get("is_demo")
    ]
    told: dict[int, list[tuple[int, Sequence[Any] | None]]] = {}
    end = len(run.messages)
    for step, fields in enumerate(map(mapping, run.steps)):
        if not answers:
            break
        spare = len(run.steps) - step > len(answers)
        if spare and not _is_answer(run.messages[answers[0]], fields):
            told.setdefault(answers[0], []).append((step, None))
            continue
        at = answers.pop(0)
        # ``messages`` is the list behind the step, ``query`` the one before it.
        place = at if "query" in fields else answers[0] if answers else end
        if request := request_of(fields):
            told.setdefault(place, []).append((step, request))
    return told


def _is_answer(message: Any, step: Mapping[str, Any]) -> bool:
    fields = mapping(message)
    if string(fields.get("content")) == string(step.get("response")):
        return True
    return all(fields.get(name) == step.get(name) for name in ("thought", "action"))
