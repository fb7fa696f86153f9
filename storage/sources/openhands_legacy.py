"""One event of OpenHands before its SDK (0.x) → what it says, from the event alone.

Source: openhands-ai 0.62, ``ConversationMemory`` and ``View.from_events``. An event is an action or
an observation; the answer of the model that an action came from stands in its
``tool_call_metadata``, whole, in each of its actions.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from compress.events import ContentBlock, Image, Usage
from compress.images import image_from_url
from storage.sources import chat_content as chat
from storage.sources.draft import text_block, word
from storage.sources.openhands_events import Entry, Said, command_output
from storage.sources.values import count, listing, mapping, string

_OUTSIDE = (
    "null",
    "change_agent_state",
    "pause",
    "resume",
    "stop",
    "start",
    "condensation_request",
)
_SILENT = ("recall", "reject", "loop_recovery", "push", "send_pr", "write")
_TOOLS = (
    "run",
    "run_ipython",
    "read",
    "edit",
    "browse",
    "browse_interactive",
    "call_tool_mcp",
    "delegate",
    "think",
    "task_tracking",
)
_SILENT_RESULTS = ("loop_detection",)
_OUTSIDE_RESULTS = ("null", "agent_state_changed")
_RESULTS = (
    "run",
    "run_ipython",
    "read",
    "write",
    "edit",
    "browse",
    "chat",
    "delegate",
    "message",
    "error",
    "success",
    "think",
    "user_rejected",
    "condense",
    "recall",
    "mcp",
    "download",
    "task_tracking",
)
LEGACY: Mapping[str, Any] = {"legacy": True}
"""In the facts of every event of these versions that is sent: they are rendered in another way."""
_EMPTY_RECALL = ("recall_type", "hidden")


def decode(event: Mapping[str, Any]) -> Entry:
    """The event. Of a kind that is not known, ``unknown``."""
    action, observation = event.get("action"), event.get("observation")
    if isinstance(action, str):
        args = mapping(event.get("args"))
        return Entry("outside") if args.get("hidden") else _action(event, action, args)
    if isinstance(observation, str):
        extras = mapping(event.get("extras"))
        return Entry("outside") if extras.get("hidden") else _observation(event, observation)
    return Entry("unknown")


def is_event(value: Any) -> bool:
    """Whether this is an event of these versions."""
    if not isinstance(value, dict):
        return False
    named = ("args", "extras", "content", "message")
    return any(name in value for name in named) and decode(value).place != "unknown"


def name_of(event: Mapping[str, Any]) -> str | None:
    """The event's own id, which is a number."""
    own = event.get("id")
    return str(own) if isinstance(own, int) and not isinstance(own, bool) else word(own)


def usage_of(event: Mapping[str, Any]) -> Usage | None:
    """What the answer cost, where this is the first event of it."""
    found = _answer(event)
    return None if found is None or not found[2] else chat.usage(found[0].get("usage"))


def figures_of(event: Mapping[str, Any]) -> Mapping[str, Any]:
    """The sums of what was spent until this event, where it tells them."""
    return mapping(mapping(event.get("llm_metrics")).get("accumulated_token_usage"))


def model_of(event: Mapping[str, Any]) -> str | None:
    """The model that answered."""
    found = _answer(event)
    return None if found is None else word(found[0].get("model"))


def _answer(
    event: Mapping[str, Any],
) -> tuple[Mapping[str, Any], Mapping[str, Any], bool] | None:
    """The response of the model, its message, and whether this event is its first."""
    metadata = mapping(event.get("tool_call_metadata"))
    response = mapping(metadata.get("model_response"))
    choices = listing(response.get("choices"))
    if not choices:
        return None
    message = mapping(mapping(choices[0]).get("message"))
    ids = [mapping(call).get("id") for call in listing(message.get("tool_calls"))]
    return response, message, metadata.get("tool_call_id") in (ids[0] if ids else None, None)


def _action(event: Mapping[str, Any], kind: str, args: Mapping[str, Any]) -> Entry:
    if kind in _OUTSIDE:
        return Entry("outside")
    if kind in _SILENT:
        return Entry("silent")
    if kind == "condensation":
        return _condensation(args)
    by_user = event.get("source") == "user"
    if kind in _TOOLS and not (by_user and not mapping(event.get("tool_call_metadata"))):
        return _call(event, kind, args)
    said = _said(event, kind, args, by_user=by_user)
    found = _answer(event)
    response = None if found is None else word(found[0].get("id"))
    return Entry("said", said, response) if said else Entry("unknown")


def _said(
    event: Mapping[str, Any], kind: str, args: Mapping[str, Any], *, by_user: bool
) -> list[Said]:
    if kind == "system":
        meta = {**LEGACY, "source": "system"}
        block = text_block("text", string(args.get("content")))
        return [Said("context/message", "system", (block,), meta)]
    if kind == "message":
        blocks = [text_block("text", string(args.get("content")))]
        urls = listing(args.get("image_urls")) or listing(args.get("images_urls"))
        blocks += [text_block("image", images=(image,)) for image in _images(urls)]
        return [_words(block, by_user=by_user) for block in blocks]
    if kind == "finish":
        return [_words(text_block("text", _farewell(event, args)), by_user=by_user)]
    return [_of_the_user(kind, args)] if kind in _TOOLS else []


def _images(urls: Any) -> tuple[Image, ...]:
    found = (url for url in listing(urls) if isinstance(url, str) and url.strip())
    return tuple(map(image_from_url, found))


def _words(block: ContentBlock, *, by_user: bool) -> Said:
    if by_user:
        return Said("user/message", "user", (block,), LEGACY)
    return Said("assistant/message", "assistant", (block,), LEGACY)


def _farewell(event: Mapping[str, Any], args: Mapping[str, Any]) -> str:
    """The text of a ``finish``: its thought, and what the answer says besides."""
    thought = string(args.get("thought"))
    found = _answer(event)
    if found is None:
        return thought
    said = string(found[1].get("content"))
    if thought and thought != said:
        return f"{thought}\n{said}"
    return thought or said


def _of_the_user(kind: str, args: Mapping[str, Any]) -> Said:
    if kind == "run":
        text = f"User executed the command:\n{string(args.get('command'))}"
    else:
        text = f"User requested to read file: {string(args.get('path'))}"
    meta = {**LEGACY, "source": "user_command"}
    return Said("context/message", "user", (text_block("text", text),), meta)


def _call(event: Mapping[str, Any], kind: str, args: Mapping[str, Any]) -> Entry:
    metadata = mapping(event.get("tool_call_metadata"))
    call = word(metadata.get("tool_call_id")) or name_of(event) or ""
    found = _answer(event)
    blocks: list[ContentBlock] = []
    calls = 1
    name, given = kind, dict(args)
    response = None
    if found is not None:
        answer, message, is_first = found
        response = word(answer.get("id"))
        made = [mapping(each) for each in listing(message.get("tool_calls"))]
        calls = max(1, len(made))
        function = next((mapping(c.get("function")) for c in made if c.get("id") == call), {})
        name = word(function.get("name")) or string(metadata.get("function_name")) or kind
        given = chat.arguments(function.get("arguments"))
        text = message.get("content")
        if is_first and isinstance(text, str) and text.strip():
            blocks.append(text_block("text", text))
    elif thought := word(given.pop("thought", None)):
        # An export without the model's answers: what the action says of it.
        blocks.append(text_block("text", thought))
    blocks.append(text_block("tool_call", id=call, name=name, input=given))
    meta = {**LEGACY, "calls": calls}
    said = [Said("assistant/message", "assistant", (block,), meta) for block in blocks]
    return Entry("action", said, response=response, call=call)


def _observation(event: Mapping[str, Any], kind: str) -> Entry:
    if kind in _OUTSIDE_RESULTS:
        return Entry("outside")
    if kind in _SILENT_RESULTS:
        return Entry("silent")
    if kind not in _RESULTS:
        return Entry("unknown")
    metadata = mapping(event.get("tool_call_metadata"))
    extras = mapping(event.get("extras"))
    call = word(metadata.get("tool_call_id"))
    # An observation has the source of its action.
    by_user = not metadata and event.get("source") == "user"
    if not metadata and not by_user and kind != "recall" and isinstance(event.get("cause"), int):
        call = str(event["cause"])
    text = _told(event, kind, extras, by_user=by_user)
    images = _images(extras.get("image_urls"))
    meta = dict(LEGACY)
    if kind == "user_rejected":
        meta["declined"] = True
    if call is None:
        meta["source"] = kind
        if kind == "recall" and not text:
            return Entry("silent")
        block = text_block("context" if kind == "recall" else "text", text, images=images)
        return Entry("said", [Said("context/message", "user", (block,), meta)])
    failed = True if kind == "error" or extras.get("error") is True else None
    name = word(metadata.get("function_name"))
    block = text_block("tool_result", text, id=call, name=name, is_error=failed, images=images)
    return Entry("result", [Said("tool/result", "user", (block,), meta)], call=call)


def _told(event: Mapping[str, Any], kind: str, extras: Mapping[str, Any], *, by_user: bool) -> str:
    """The text that the model is given of an observation."""
    text = string(event.get("content"))
    if kind == "run":
        metadata = dict(mapping(extras.get("metadata")))
        if "exit_code" in extras:  # before 0.18
            metadata.setdefault("exit_code", extras["exit_code"])
        told = command_output(text, metadata)
        return f"\nObserved result of command executed by user:\n{told}" if by_user else told
    if kind == "error":
        return f"{text}\n[Error occurred in processing last action]"
    if kind == "user_rejected":
        return f"OBSERVATION:\n{text}\n[Last action has been rejected by the user]"
    if kind == "delegate":
        return word(mapping(extras.get("outputs")).get("content")) or text
    if kind == "recall":
        return _recalled(extras)
    return text


def _recalled(extras: Mapping[str, Any]) -> str:
    """What was recalled, from its fields: the templates that the agent renders them by are not in
    the log."""
    told = [
        f"{name}: {value}"
        for name, value in extras.items()
        if name not in _EMPTY_RECALL and isinstance(value, str) and value
    ]
    known = map(mapping, listing(extras.get("microagent_knowledge")))
    told += [f"{string(each.get('name'))}: {string(each.get('content'))}" for each in known]
    return "\n".join(told)


def _condensation(args: Mapping[str, Any]) -> Entry:
    first, last = (count(args.get(f"forgotten_events_{edge}_id")) for edge in ("start", "end"))
    ids = args.get("forgotten_event_ids")
    gone: list[str] | range = []
    if isinstance(ids, list):
        gone = [str(name) for name in ids if isinstance(name, int | str)]
    elif first is not None and last is not None:
        gone = range(first, last + 1)
    summary, at = args.get("summary"), count(args.get("summary_offset"))
    said = []
    if isinstance(summary, str) and at is not None:
        meta = {**LEGACY, "checkpoint": "agent", "source": "compaction"}
        said = [Said("context/message", "user", (text_block("text", summary),), meta)]
    return Entry("condensation", said, forgets=gone, summary_at=at if said else None)
