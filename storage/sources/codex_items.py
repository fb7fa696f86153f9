"""One Responses-API item of a Codex rollout → what it is on the surface.

Sources: openai/codex ``protocol/src/models.rs`` (the items), ``core/src/event_mapping.rs`` and
``core/src/context/`` (which user and developer texts Codex itself put there).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple

from compress.events import ContentBlock, EventType, Image, Role
from compress.images import image_from_url
from storage.records import parse_text
from storage.sources.draft import NO_META, text_block, word
from storage.sources.values import listing, mapping

Mark = Literal["user", "turn", "context"]
"""What a rollback or a legacy compaction takes an item for. ``user``: the user's own words;
``turn``: begins a turn too, but is another agent's; ``context``: put there by Codex, falls with
the turn after it."""

_USER_FRAGMENTS: tuple[tuple[str, str, str], ...] = (
    ("<environment_context>", "</environment_context>", "environment"),
    ("# agents.md instructions", "</instructions>", "agents_md"),
    ("<user_instructions>", "</user_instructions>", "agents_md"),
    ("<turn_aborted>", "</turn_aborted>", "turn_aborted"),
    ("<user_shell_command>", "</user_shell_command>", "user_shell_command"),
    ("<skill>", "</skill>", "skill"),
    ("<subagent_notification>", "</subagent_notification>", "subagent"),
    ("<subagents>", "</subagents>", "subagent"),
    ("<additional_context>", "</additional_context>", "additional_context"),
    ("<external_", ">", "additional_context"),
    ("<codex_internal_context ", "</codex_internal_context>", "internal"),
    ("<goal_context>", "</goal_context>", "goal"),
    ("<recommended_plugins>", "</recommended_plugins>", "plugins"),
    ("<hook_prompt ", "</hook_prompt>", "hook"),
    ("warning: the maximum number of unified exec processes you can keep open is", "", "warning"),
    ("warning: apply_patch was requested via ", "", "warning"),
    ("warning: your account was flagged for potentially high-risk", "", "warning"),
)
"""(start, end, source) of the texts that Codex writes in the user's name, in lower case."""

_LONGEST_START = max(len(start) for start, _, _ in _USER_FRAGMENTS)
_LONGEST_END = max(len(end) for _, end, _ in _USER_FRAGMENTS)

_DEVELOPER_PREFIXES = (
    "<permissions instructions>",
    "<model_switch>",
    "<collaboration_mode>",
    "<multi_agent_mode>",
    "<realtime_conversation>",
    "<skills_instructions>",
    "<personality_spec>",
    "<token_budget",
    "<context_window",
    "<rollout_budget>",
)
"""Starts of the developer texts that a rollback takes along."""

_SUMMARY_START = "Another language model started to solve this problem"
_SUMMARY_LINE_END = "use the information in this summary to assist with your own analysis:"
"""How the first line of the user message that carries a local compaction's summary begins and
ends. Older versions ended it otherwise; today's Codex takes their summaries for a user's words."""

_DECLINED = frozenset({"exec command rejected by user", "patch rejected by user"})
"""The whole output of a call that a person refused (openai/codex ``core/src/tools/events.rs``)."""
_EXIT_CODE = re.compile(
    r"(?:\A(?:.*\n){0,5}?(?:Process exited with code|Exit code:) (-?\d+)(?:\n|\Z))"
    r"|(?:\"exit_code\":\s*(-?\d+))"
)


class Item(NamedTuple):
    """One item. An empty ``blocks`` stands for one event without content."""

    type: EventType
    role: Role | None
    blocks: tuple[ContentBlock, ...]
    mark: Mark | None = None
    produced: bool = False
    """The model wrote it: it belongs to a request."""
    sent: bool = True
    """It stands on the surface."""
    known: bool = True
    call_id: str | None = None
    meta: Mapping[str, Any] = NO_META
    artifact: Mapping[str, Any] | None = None


def item_of(payload: Mapping[str, Any]) -> Item | None:
    """The item of a ``response_item`` payload; ``None`` where it has no type, and for items that
    are known to be neither sent nor of interest."""
    kind = payload.get("type")
    if not isinstance(kind, str) or kind in _UNSENT:
        return None
    decode = _DECODERS.get(kind)
    if decode is not None:
        return decode(payload)
    block = text_block("opaque", name=kind)
    return Item("context/message", None, (block,), known=False, meta={"source": kind})


def is_silent(payload: Mapping[str, Any]) -> bool:
    """Whether the item is known, and known to be neither sent nor of interest."""
    kind = payload.get("type")
    return isinstance(kind, str) and kind in _UNSENT


def looks_like_summary(text: str) -> bool:
    """Whether this message carries the summary of a local compaction of any version."""
    return text.startswith(_SUMMARY_START)


def _is_summary(text: str) -> bool:
    return looks_like_summary(text) and text.partition("\n")[0].endswith(_SUMMARY_LINE_END)


def message_text(item: Item) -> str:
    """The words of a message, as Codex joins them for a compaction: images are left out."""
    return "".join(block.text for block in item.blocks if block.kind == "text")


def summary_item(text: str) -> Item:
    """The user message that a legacy compaction makes of its text."""
    mark: Mark | None = None if _is_summary(text) else "user"
    block = text_block("text", text)
    return Item("context/message", "user", (block,), mark, meta={"source": "summary"})


def inter_agent_item(payload: Mapping[str, Any]) -> Item:
    """The item that Codex makes of an ``inter_agent_communication`` record."""
    author = word(payload.get("author"))
    secret = word(payload.get("encrypted_content"))
    blocks: tuple[ContentBlock, ...]
    if secret is None:
        blocks = (text_block("text", word(payload.get("content")) or ""),)
    else:
        message_type = "NEW_TASK" if payload.get("trigger_turn") is True else "MESSAGE"
        head = (
            f"Message Type: {message_type}\nTask name: {payload.get('recipient')}\n"
            f"Sender: {payload.get('author')}\nPayload:\n"
        )
        blocks = (
            text_block("text", head),
            text_block("opaque", name="encrypted_content", signature=secret),
        )
    return Item("context/message", "user", blocks, mark="turn", meta=_agent_meta(author))


def _agent_meta(author: str | None) -> Mapping[str, Any]:
    return {"source": "agent"} if author is None else {"source": "agent", "author": author}


def _message(payload: Mapping[str, Any]) -> Item:
    blocks = _content(payload.get("content"))
    role = payload.get("role")
    if role == "assistant":
        return Item("assistant/message", "assistant", blocks, produced=True)
    if role == "developer":
        texts = [block.text.lstrip() for block in blocks if block.kind == "text"]
        own = any(text[:32].lower().startswith(_DEVELOPER_PREFIXES) for text in texts)
        meta = {"source": "developer"}
        return Item("context/message", role, blocks, "context" if own else None, meta=meta)
    if role == "system":
        meta = {"source": "system"}
        return Item("context/message", role, blocks, sent=False, meta=meta)
    source = next((s for block in blocks if (s := _fragment(block))), None)
    if source is not None:
        return Item("context/message", "user", blocks, "context", meta={"source": source})
    text = blocks[0].text if blocks else ""
    if looks_like_summary(text):
        mark: Mark | None = None if _is_summary(text) else "user"
        return Item("context/message", "user", blocks, mark, meta={"source": "summary"})
    return Item("user/message", "user", blocks, "user")


def _fragment(block: ContentBlock) -> str | None:
    """Which of Codex' own texts this is, by its first and last characters."""
    if block.kind != "text":
        return None
    text = block.text.strip()
    if text[:1] not in "<#wW":
        return None
    head = text[:_LONGEST_START].lower()
    for start, end, source in _USER_FRAGMENTS:
        if head.startswith(start) and text[-_LONGEST_END:].lower().endswith(end):
            return source
    return None


def _content(content: Any) -> tuple[ContentBlock, ...]:
    if isinstance(content, str):
        return (text_block("text", content),)
    return tuple(_part(part) for part in listing(content))


def _part(part: Any) -> ContentBlock:
    if isinstance(part, str):
        return text_block("text", part)
    part = mapping(part)
    text = part.get("text")
    if isinstance(text, str):
        return text_block("text", text)
    kind = word(part.get("type"))
    if kind == "input_image":
        return text_block("image", images=(_image(part.get("image_url")),))
    return text_block("opaque", name=kind, signature=word(part.get("encrypted_content")))


def _image(url: Any) -> Image:
    return image_from_url(url) if isinstance(url, str) else Image()


def _reasoning(payload: Mapping[str, Any]) -> Item:
    texts = [word(mapping(part).get("text")) for part in listing(payload.get("summary"))]
    if not any(texts):
        texts = [word(mapping(part).get("text")) for part in listing(payload.get("content"))]
    block = text_block(
        "thinking",
        "\n".join(text for text in texts if text),
        signature=word(payload.get("encrypted_content")),
    )
    return Item("assistant/message", "assistant", (block,), produced=True)


def _call(payload: Mapping[str, Any]) -> Item:
    arguments = payload.get("arguments")
    if isinstance(arguments, str):
        parsed = parse_text(arguments)
        if parsed is not None:
            arguments = parsed  # else kept as the text that the model wrote
    name = word(payload.get("name"))
    artifact = _plan(arguments) if name == "update_plan" else None
    return _calling(payload, name, arguments, artifact)


def _custom_call(payload: Mapping[str, Any]) -> Item:
    return _calling(payload, word(payload.get("name")), payload.get("input"))


def _shell_call(payload: Mapping[str, Any]) -> Item:
    return _calling(payload, "local_shell", payload.get("action"))


def _search_call(payload: Mapping[str, Any]) -> Item:
    return _calling(payload, "tool_search", payload.get("arguments"))


def _calling(
    payload: Mapping[str, Any],
    name: str | None,
    arguments: Any,
    artifact: Mapping[str, Any] | None = None,
) -> Item:
    call_id = _id(payload)
    block = text_block("tool_call", id=call_id, name=name, input=arguments)
    return Item(
        "assistant/message",
        "assistant",
        (block,),
        produced=True,
        call_id=call_id,
        artifact=artifact,
    )


def _id(payload: Mapping[str, Any]) -> str | None:
    call_id = payload.get("call_id")
    return call_id if isinstance(call_id, str) else None


def _output(payload: Mapping[str, Any]) -> Item:
    output = payload.get("output")
    failed: bool | None = None
    if isinstance(output, dict):
        failed = False if output.get("success") is True else None
        failed = True if output.get("success") is False else failed
        output = output.get("content", output.get("content_items"))
    images: tuple[Image, ...] = ()
    if isinstance(output, str):
        text = output
    else:
        parts = _content(output)
        text = "".join(part.text for part in parts)
        images = tuple(image for part in parts for image in part.images)
    call_id = _id(payload)
    block = text_block(
        "tool_result",
        id=call_id,
        text=text,
        images=images,
        is_error=_failed(text) if failed is None else failed,
    )
    meta = {"declined": True} if text.strip() in _DECLINED else NO_META
    return Item("tool/result", "user", (block,), call_id=call_id, meta=meta)


def _failed(text: str) -> bool | None:
    """What the exit code in the head (exec) or in the tail (``metadata`` of older files) says, or
    that the command could not be run at all."""
    if text.startswith(("exec_command failed", "failed in sandbox ")):
        return True
    found = _EXIT_CODE.search(text[:400] if not text.endswith("}}") else text[-400:])
    if found is None:
        return None
    return (found.group(1) or found.group(2)) not in ("0", "-0")


def _search_output(payload: Mapping[str, Any]) -> Item:
    call_id = _id(payload)
    block = text_block("tool_result", id=call_id)
    # What the server itself searched is sent even where its call is gone.
    served = payload.get("execution") == "server"
    meta = {"source": "server"} if served else NO_META
    return Item("tool/result", "user", (block,), call_id=call_id, meta=meta)


def _opaque(payload: Mapping[str, Any]) -> Item:
    """What has no text for a reader: the query of a web search is shown all the same."""
    block = text_block(
        "opaque",
        name=payload["type"],
        text=word(mapping(payload.get("action")).get("query")) or "",
        signature=word(payload.get("encrypted_content")),
    )
    return Item("assistant/message", "assistant", (block,), produced=True)


def _agent_message(payload: Mapping[str, Any]) -> Item:
    meta = _agent_meta(word(payload.get("author")))
    blocks = _content(payload.get("content"))
    return Item("context/message", "user", blocks, mark="turn", meta=meta)


def _plan(arguments: Any) -> Mapping[str, Any] | None:
    """The artifact of an ``update_plan`` call."""
    steps = [mapping(step) for step in listing(mapping(arguments).get("plan"))]
    items = [
        {"text": word(step.get("step")) or "", "status": _status(step.get("status"))}
        for step in steps
    ]
    if not items:
        return None
    explanation = word(mapping(arguments).get("explanation"))
    meta: dict[str, Any] = {"kind": "plan", "items": items}
    return meta if explanation is None else {**meta, "explanation": explanation}


def _status(value: Any) -> str:
    return value if value in ("pending", "in_progress", "completed") else "pending"


_UNSENT = frozenset({"ghost_snapshot", "compaction_trigger", "other"})
_DECODERS: dict[str, Callable[[Mapping[str, Any]], Item]] = {
    "message": _message,
    "reasoning": _reasoning,
    "function_call": _call,
    "function_call_output": _output,
    "custom_tool_call": _custom_call,
    "custom_tool_call_output": _output,
    "local_shell_call": _shell_call,
    "tool_search_call": _search_call,
    "tool_search_output": _search_output,
    "web_search_call": _opaque,
    "image_generation_call": _opaque,
    "compaction": _opaque,
    "compaction_summary": _opaque,
    "context_compaction": _opaque,
    "agent_message": _agent_message,
}
