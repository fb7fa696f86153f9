"""One record of Claude Code's log → its parts, from the record alone.

A part is one event to be: what it holds and what it is, before the reader knows where it stands.
Its index is the event's block index, so content can always be read again from the raw record.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from compress.events import ContentBlock, EventType, Role, Usage
from storage.sources.claude_content import brief, content_block
from storage.sources.claude_plans import todo_items
from storage.sources.draft import LONGEST_FACT
from storage.sources.plan_items import plan_items
from storage.sources.values import count, listing, mapping, string

CLEARED = "[Old tool result content cleared]"
"""What the running agent sends in the place of a result that its micro-compaction cleared."""

_INTERRUPT = "[Request interrupted by user"
_REJECTION = "The user doesn't want to "
_REASONS = ("the user said:\n", "reason for the rejection:")
_AFTERWORD = "\n\nNote: The user's next message may contain"
_TEMPLATE = "The user wants to clarify these questions."
"""What the agent itself writes behind, and instead of, the person's reason."""
_ECHOES = ("<command-name>", "<local-command-", "<bash-input>", "<bash-stdout>", "<bash-stderr>")


Place = Literal["message", "own"]


@dataclass(slots=True)
class Part:
    """One event to be. ``place``: in the record's message node, in a node of its own, or (None)
    in the log only."""

    type: EventType
    blocks: tuple[ContentBlock, ...] = ()
    place: Place | None = None
    role: Role | None = None
    meta: Mapping[str, Any] = field(default_factory=dict)


def decode(value: Any) -> list[Part]:
    """The parts of one record, in order. Never raises; a record that sends and says nothing has
    none."""
    if not isinstance(value, dict):
        return []
    kind = value.get("type")
    if kind == "assistant":
        return _assistant(value)
    if kind == "user":
        return _user(value)
    if kind == "system":
        return _system(value)
    if kind == "attachment":
        return _attachment(mapping(value.get("attachment")))
    return []


def is_failure(value: Mapping[str, Any]) -> bool:
    """Whether an assistant record is the agent's own filler or an error's text: never sent."""
    model = mapping(value.get("message")).get("model")
    return value.get("isApiErrorMessage") is True or model == "<synthetic>"


def usage_of(message: Mapping[str, Any]) -> Usage | None:
    """What the provider said, bucket by bucket; ``None`` where it said nothing readable.

    A record that was written before the stream ended has no stop reason, and an output that is a
    lower bound (T09).
    """
    usage = mapping(message.get("usage"))
    found = [
        count(usage.get(name))
        for name in (
            "input_tokens",
            "cache_read_input_tokens",
            "cache_creation_input_tokens",
            "output_tokens",
        )
    ]
    if found == [None] * 4:
        return None
    return Usage.unchecked(
        {
            "input": found[0],
            "cache_read": found[1],
            "cache_write": found[2],
            "output": found[3],
            "reasoning": None,
            "lower_bound": message.get("stop_reason") is None,
        }
    )


def content_of(value: Mapping[str, Any]) -> list[Any]:
    """The content of a message record as a list of blocks, whatever its shape."""
    message = value.get("message")
    content = message.get("content") if isinstance(message, dict) else message
    if content is None:
        return []
    return content if isinstance(content, list) else [content]


def _assistant(value: dict[str, Any]) -> list[Part]:
    blocks = [content_block(item) for item in content_of(value)]
    if is_failure(value):
        text = "\n".join(block.text for block in blocks if block.text)
        kind = "api_error" if value.get("isApiErrorMessage") is True else "filler"
        meta = {"message": text[:LONGEST_FACT], "kind": kind}
        return [Part("error", tuple(blocks), meta=meta)]
    parts = [Part("assistant/message", (block,), "message", "assistant") for block in blocks]
    for block in blocks:
        if block.kind == "tool_call":
            parts.extend(_call_facts(block))
    return parts


def _call_facts(call: ContentBlock) -> list[Part]:
    arguments = mapping(call.input)
    if call.name == "TodoWrite":
        items = todo_items(arguments.get("todos"))
        return [Part("artifact/update", meta={"kind": "todo", "items": items})]
    if call.name == "ExitPlanMode":
        asked = Part("approval/request", meta={"tool": "ExitPlanMode", "call": call.id or ""})
        plan = string(arguments.get("plan"))
        if not plan:
            return [asked]
        document = {"call": call.id or "", "field": "plan"}
        path = string(arguments.get("planFilePath"))
        meta = {
            "kind": "plan",
            "items": plan_items(plan),
            "explanation": plan[:LONGEST_FACT],
            "document": {**document, "path": path} if path else document,
        }
        return [Part("artifact/update", meta=meta), asked]
    return []


def _user(value: dict[str, Any]) -> list[Part]:
    items = content_of(value)
    blocks = [content_block(item) for item in items]
    said = next((b for b in blocks if b.kind not in ("tool_result", "image")), None)
    kind, meta = _speaker(value, said.text if said is not None else "")
    parts: list[Part] = []
    for block in blocks:
        if block.kind == "tool_result":
            facts = _result_facts(value)
            if _rejected(block):
                facts["declined"] = True
            parts.append(Part("tool/result", (block,), "own", "user", facts))
        else:
            parts.append(Part(kind, (block,), "message", "user", meta))
    parts.extend(_decision(block) for block in blocks if _rejected(block))
    return parts


def _speaker(value: dict[str, Any], text: str) -> tuple[EventType, dict[str, Any]]:
    """Who says what stands in a user record: the person, or the agent in the person's place."""
    if value.get("isCompactSummary") is True:
        return "context/message", {"checkpoint": "agent", "source": "compaction"}
    if value.get("isMeta") is True:
        return "context/message", {"source": "agent"}
    if text.startswith(_INTERRUPT):
        return "context/message", {"source": "interrupt"}
    if text.startswith(_ECHOES):
        return "context/message", {"source": "command"}
    return "user/message", {}


def _result_facts(value: dict[str, Any]) -> dict[str, Any]:
    """``agent``: the native id of the sub-agent's session, which is the stem of its file.
    ``declined`` (added where it holds): a person refused the call, so that it has no result."""
    agent = mapping(value.get("toolUseResult")).get("agentId")
    return {"agent": f"agent-{agent}"} if isinstance(agent, str) else {}


def answers_of(result: Any) -> dict[str, str]:
    """What a person answered to the questions of an ``AskUserQuestion`` call: ``question`` and
    ``message``, from the structured result; empty where there is no answer."""
    answers = mapping(mapping(result).get("answers"))
    said = [(key, answer) for key, answer in answers.items() if isinstance(answer, str) and answer]
    if not said:
        return {}
    message = "\n".join(answer if len(said) == 1 else f"{key} {answer}" for key, answer in said)
    question = "\n".join(key for key, _ in said)
    return {"question": question[:LONGEST_FACT], "message": message[:LONGEST_FACT]}


def _rejected(block: ContentBlock) -> bool:
    return bool(block.is_error) and block.text.startswith(_REJECTION)


def _decision(block: ContentBlock) -> Part:
    meta: dict[str, Any] = {"decision": "rejected", "call": block.id or ""}
    for mark in _REASONS:
        before, found, words = block.text.partition(mark)
        if found and before:
            said = words.partition(_AFTERWORD)[0].strip()
            if said and not said.startswith(_TEMPLATE):
                meta["message"] = said[:LONGEST_FACT]
            break
    return Part("approval/decision", meta=meta)


def _system(value: dict[str, Any]) -> list[Part]:
    subtype = value.get("subtype")
    if subtype == "local_command":
        block = ContentBlock(kind="context", text=string(value.get("content")))
        return [Part("context/message", (block,), "message", "user", {"source": "command"})]
    if subtype == "api_error":
        error = value.get("error")
        status = mapping(error).get("status")
        meta = {
            "message": f"status {status}" if isinstance(status, int) else brief(error),
            "attempt": count(value.get("retryAttempt")),
        }
        return [Part("retry", meta=meta)]
    if subtype == "microcompact_boundary":
        ids = listing(mapping(value.get("microcompactMetadata")).get("compactedToolIds"))
        return [
            Part(
                "tool/result",
                (ContentBlock(kind="tool_result", id=call, text=CLEARED),),
                "own",
                "user",
                {"receipt": True},
            )
            for call in ids
            if isinstance(call, str)
        ]
    return []


def _attachment(attachment: dict[str, Any]) -> list[Part]:
    text = attachment_text(attachment)
    if not text:
        return []
    kind = string(attachment.get("type"))
    block = ContentBlock(kind="context", text=text)
    role: Role = "system" if attachment.get("renderedRole") == "system" else "user"
    steers = kind == "queued_command"
    type_: EventType = "steering/message" if steers else "context/message"
    return [Part(type_, (block,), "message", role, {"source": f"attachment:{kind}"})]


def attachment_text(attachment: Mapping[str, Any]) -> str:
    """What an attachment sends, as far as the log says it: the rendered text in the newest
    versions, else the field that holds its substance. Empty for one that sends nothing, or whose
    text is a template of the agent's own that the log does not hold."""
    rendered = attachment.get("rendered")
    if isinstance(rendered, list):
        return "\n".join(_rendered(item) for item in rendered)
    for name in ("content", "prompt", "snippet", "addedBlocks", "addedLines", "newDate"):
        text = _plain(attachment.get(name))
        if text:
            return text
    return ""


def _rendered(item: Any) -> str:
    content = item.get("content") if isinstance(item, dict) else item
    return _plain(content)


def _plain(value: Any) -> str:
    """A text, texts one under the other, or objects as compact JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(_line(item) for item in value)
    return _line(value) if isinstance(value, dict) else ""


def _line(value: Any) -> str:
    if isinstance(value, dict) and isinstance(value.get("text"), str):
        return str(value["text"])
    return value if isinstance(value, str) else brief(value)
