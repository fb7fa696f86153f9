"""One event of OpenHands' SDK → what it says, from the event alone.

Source: OpenHands/software-agent-sdk 1.58 (``openhands.sdk.event``: ``to_llm_message`` of each
event; ``openhands.tools``: ``to_llm_content`` of the observations that have one of their own).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any, Literal, NamedTuple

from compress.events import ContentBlock, EventType, Role
from compress.images import image_from_url
from storage.sources import chat_content as chat
from storage.sources.draft import NO_META, text_block, word
from storage.sources.values import count, listing, mapping, string

Place = Literal["said", "action", "result", "condensation", "silent", "outside", "unknown"]
"""What an event is to the agent's view. ``silent``: in the view, but nothing is sent of it;
``outside``: never in the view."""

ERROR_HEADER = "[An error occurred during execution.]\n"
_MOST_OUTPUT, _MOST_TEXT = 30_000, 50_000
"""Characters of a command's output, and of any other result's text, that are sent."""
_CLIPPED = (
    "<response clipped><NOTE>Due to the max output limit, only part of the full response has been "
    "shown to you.{}</NOTE>"
)
_SAVED = (
    " The complete output has been saved to {} - you can use other tools to view the full content "
    "(truncated part starts around line {})."
)
_COMMANDS = ("TerminalObservation", "ExecuteBashObservation")
_OUTSIDE = frozenset(
    {
        "ACPToolCallEvent",
        "CondensationRequest",
        "ConversationErrorEvent",
        "ConversationStateUpdateEvent",
        "HookExecutionEvent",
        "InterruptEvent",
        "LLMCompletionLogEvent",
        "PauseEvent",
        "SecurityAnalysisEvent",
        "StreamingDeltaEvent",
        "TokenEvent",
    }
)


class Said(NamedTuple):
    """One event with content."""

    type: EventType
    role: Role
    blocks: tuple[ContentBlock, ...]
    meta: Mapping[str, Any] = NO_META


class Entry(NamedTuple):
    """What an event of the agent's is and says."""

    place: Place
    said: Sequence[Said] = ()
    response: str | None = None
    """Of an action: the answer that it is a part of."""
    call: str | None = None
    """Of an action: its call; of a result: the call that it answers."""
    thinks: bool = False
    """An action with thinking that the provider signed: a loop of tools begins with it."""
    forgets: Sequence[str] | range = ()
    """Of a condensation: the events that it takes away."""
    summary_at: int | None = None
    """Of a condensation: the place of its summary among what is left."""


def decode(event: Mapping[str, Any]) -> Entry:
    """The event. Of a kind that is not known, ``unknown``."""
    kind = event.get("kind")
    if kind == "SystemPromptEvent":
        texts = [*_parts([event.get("system_prompt")]), *_parts([event.get("dynamic_context")])]
        meta = {"source": "system"}
        found = [Said("context/message", "system", (block,), meta) for block in texts]
        return Entry("said", found or [Said("context/message", "system", (), meta)])
    if kind == "MessageEvent":
        return _message(event)
    if kind == "ActionEvent":
        return _action(event)
    if kind in ("ObservationEvent", "UserRejectObservation", "AgentErrorEvent"):
        return Entry("result", [_result(event, string(kind))], call=call_of(event))
    if kind == "Condensation":
        return _condensation(event)
    return Entry("outside" if isinstance(kind, str) and kind in _OUTSIDE else "unknown")


def is_event(value: Any) -> bool:
    """Whether this is an event of the SDK's."""
    return isinstance(value, dict) and decode(value).place != "unknown"


def call_of(event: Mapping[str, Any]) -> str:
    """The id of the call; where a log names none, that of its action."""
    own = word(event.get("tool_call_id")) or word(mapping(event.get("tool_call")).get("id"))
    return own or string(event.get("action_id")) or string(event.get("id"))


def _message(event: Mapping[str, Any]) -> Entry:
    message = mapping(event.get("llm_message"))
    texts = _parts(message.get("content"))
    added = [
        block.model_copy(update={"kind": "context"}) if block.kind == "text" else block
        for block in _parts(event.get("extended_content"))
    ]
    if message.get("role") == "assistant":
        blocks = [*_thinking(message), *texts, *added]
        blocks += [_call(mapping(call)) for call in listing(message.get("tool_calls"))]
        found = [Said("assistant/message", "assistant", (block,)) for block in blocks]
        response = word(event.get("llm_response_id"))
        return Entry("said", found or [Said("assistant/message", "assistant", ())], response)
    kind: EventType = "user/message"
    role: Role = "user"
    meta: Mapping[str, Any] = NO_META
    if message.get("role") == "system":
        kind, role, meta = "context/message", "system", {"source": "system"}
    elif event.get("source") not in ("user", None):
        kind, meta = "context/message", {"source": string(event.get("source"))}
    return Entry(
        "said",
        [Said(kind, role, (b,), meta) for b in (*texts, *added)] or [Said(kind, role, (), meta)],
    )


def _action(event: Mapping[str, Any]) -> Entry:
    call = {"name": event.get("tool_name"), **mapping(event.get("tool_call"))}
    if "arguments" not in call:
        # A log that tells of the action alone.
        given = mapping(event.get("action"))
        call["arguments"] = {name: value for name, value in given.items() if name != "kind"}
    blocks = [*_thinking(event), *_parts(event.get("thought"))]
    blocks.append(_call({**call, "id": call_of(event)}))
    return Entry(
        "action",
        [Said("assistant/message", "assistant", (block,)) for block in blocks],
        response=word(event.get("llm_response_id")),
        call=call_of(event),
        thinks=bool(listing(event.get("thinking_blocks"))),
    )


def _thinking(holder: Mapping[str, Any]) -> list[ContentBlock]:
    found = chat.thinking_blocks(holder)
    item = mapping(holder.get("responses_reasoning_item"))
    if item:
        lines = [line for line in listing(item.get("summary")) if isinstance(line, str)]
        sealed = word(item.get("encrypted_content")) or word(item.get("id"))
        found.append(text_block("thinking", "\n".join(lines), signature=sealed))
    told = string(holder.get("reasoning_content"))
    return found or ([text_block("thinking", told)] if told else [])


def _call(call: Mapping[str, Any]) -> ContentBlock:
    return text_block(
        "tool_call",
        id=string(call.get("id")),
        name=string(call.get("name")),
        input=chat.arguments(call.get("arguments")),
    )


def _result(event: Mapping[str, Any], kind: str) -> Said:
    meta: Mapping[str, Any] = NO_META
    failed: bool | None = None
    observation = mapping(event.get("observation"))
    if kind == "UserRejectObservation":
        parts = [text_block("text", f"Action rejected: {_reason(event)}")]
        meta = {"declined": True}
    elif kind == "AgentErrorEvent":
        parts, failed = [text_block("text", string(event.get("error")))], True
    else:
        failed = True if observation.get("is_error") is True else None
        parts = _observed(observation)
        parts += _parts(event.get("extended_content"))
    texts = [clipped(part.text, _MOST_TEXT) for part in parts if part.kind == "text"]
    block = text_block(
        "tool_result",
        "".join(texts),
        id=call_of(event),
        name=word(event.get("tool_name")),
        is_error=failed,
        images=tuple(image for part in parts for image in part.images),
    )
    return Said("tool/result", "user", (block,), meta)


def _reason(event: Mapping[str, Any]) -> str:
    reason = event.get("rejection_reason")
    return reason if isinstance(reason, str) else "User rejected the action"


def _observed(observation: Mapping[str, Any]) -> list[ContentBlock]:
    """What the model is told of an observation."""
    kind = string(observation.get("kind"))
    header = [text_block("text", ERROR_HEADER)] if observation.get("is_error") is True else []
    content = _parts(observation.get("content"))
    text = "".join(part.text for part in content if part.kind == "text")
    folder = word(observation.get("full_output_save_dir"))
    if kind in _COMMANDS:
        told = command_output(text, mapping(observation.get("metadata")))
        saved = clipped(told, _MOST_OUTPUT, folder, "terminal")
        return [*header, text_block("text", saved)]
    if kind.startswith("Browser"):
        found = [text_block("text", clipped(text, _MOST_TEXT, folder, "browser"))] if text else []
        shown = word(observation.get("screenshot_data"))
        if shown is not None:
            image = image_from_url(f"data:image/png;base64,{shown}")
            found.append(text_block("image", images=(image,)))
        return [*header, *found]
    if kind == "TaskObservation":
        named = [("Task ID", "task_id"), ("Subagent", "subagent"), ("Status", "status")]
        lines = [f"{label}: {string(observation.get(name))}" for label, name in named]
        return [text_block("text", "\n".join(lines)), *header, *content]
    return [*header, *content]


def command_output(text: str, metadata: Mapping[str, Any]) -> str:
    """A command's output with what the agent says of it."""
    told = f"{string(metadata.get('prefix'))}{text}{string(metadata.get('suffix'))}"
    if folder := word(metadata.get("working_dir")):
        told += f"\n[Current working directory: {folder}]"
    if interpreter := word(metadata.get("py_interpreter_path")):
        told += f"\n[Python interpreter: {interpreter}]"
    code = metadata.get("exit_code", -1)
    if isinstance(code, int) and code != -1:
        told += f"\n[Command finished with exit code {code}]"
    return told


def clipped(text: str, most: int, folder: str | None = None, tool: str = "") -> str:
    """The beginning and the end of a text that is longer than ``most`` characters, with a note
    between (``maybe_truncate``). ``folder``: where the whole was written."""
    if len(text) <= most:
        return text
    note = _CLIPPED.format("")
    head = (most - len(note) + 1) // 2
    if folder is not None:
        digest = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
        path = f"{folder.rstrip('/')}/{tool}_output_{digest}.txt"
        line = len(text[:head].splitlines()) + 1
        note = _CLIPPED.format(_SAVED.format(path, line))
    if len(note) >= most:
        return note[:most]
    room = most - len(note)
    head = min(head, room)
    return text[:head] + note + (text[head - room :] if room > head else "")


def _condensation(event: Mapping[str, Any]) -> Entry:
    summary, at = event.get("summary"), count(event.get("summary_offset"))
    gone = [name for name in listing(event.get("forgotten_event_ids")) if isinstance(name, str)]
    meta = {"checkpoint": "agent", "source": "compaction"}
    said = []
    if isinstance(summary, str) and at is not None:
        said = [Said("context/message", "user", (text_block("text", summary),), meta)]
    response = word(event.get("llm_response_id"))
    return Entry("condensation", said, response, forgets=gone, summary_at=at if said else None)


def _parts(content: Any) -> list[ContentBlock]:
    """The parts of a content: a text, or a list of texts and images."""
    if isinstance(content, str):
        return [text_block("text", content)]
    found = []
    for part in listing(content):
        fields = mapping(part)
        if isinstance(part, str):
            found.append(text_block("text", part))
        elif fields.get("type") == "image" or "image_urls" in fields:
            urls = [url for url in listing(fields.get("image_urls")) if isinstance(url, str)]
            found.append(text_block("image", images=tuple(map(image_from_url, urls))))
        elif isinstance(fields.get("text"), str):
            found.append(text_block("text", fields["text"]))
        elif fields:
            found.append(text_block("opaque", name=word(fields.get("type"))))
    return found
