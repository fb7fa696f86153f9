"""What Cline sends: its messages, with the results that a provider asks for.

Rules of cline/cline 3.89 (``ContextManager.ensureToolResultsFollowToolUse``) for tasks, 4.1
(``MessageBuilder.addMissingToolResults``) for sessions: results stand first in a message of the
user's, and a call that nothing answered gets one that says so.

Left out: a session's reads of files that were read again later give way to a note once they weigh
64 kB together; texts of the model's above 200,000 characters are cut.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from compress.events import ContentBlock, NodeId, Role
from compress.messages.base import Message, NodeContent

MISSING = "result missing"
"""Of a task, in place of a result that is not there."""
INTERRUPTED = "Tool execution was interrupted before a result was produced."
"""The same of a session."""
TASK = "task"
"""Meta ``layout`` of what the user and the model said in a task."""


@dataclass(slots=True)
class _Sent:
    role: Role
    record: str
    blocks: list[ContentBlock] = field(default_factory=list)
    seqs: list[NodeId] = field(default_factory=list)

    def is_results(self) -> bool:
        return all(block.kind == "tool_result" for block in self.blocks)


def render(nodes: Sequence[NodeContent]) -> list[Message]:
    """Nodes in surface order → messages."""
    is_task = any(e.meta.get("layout") == TASK for node in nodes for e in node.events)
    sent = _merged(nodes, is_task=is_task)
    if is_task:
        _pair(sent)
    else:
        sent = list(_answered(sent))
    return [Message(m.role, tuple(m.blocks), tuple(m.seqs)) for m in sent if m.blocks]


def _merged(nodes: Sequence[NodeContent], *, is_task: bool) -> list[_Sent]:
    """The messages as they were before their results became nodes."""
    sent: list[_Sent] = []
    for node in nodes:
        first = node.events[0]
        role = first.role or "user"
        last = sent[-1] if sent else None
        goes_on = (
            last is not None
            and last.role == role
            and (
                last.record == first.native_id
                or (role == "user" and (is_task or last.is_results()))
            )
        )
        if last is None or not goes_on:
            last = _Sent(role, first.native_id)
            sent.append(last)
        last.record = first.native_id
        for event in node.events:
            last.blocks.extend(b for b in event.blocks if not (is_task and _is_unsigned(b)))
            last.seqs.append(event.seq)
    return sent


def _is_unsigned(block: ContentBlock) -> bool:
    return block.kind == "thinking" and not block.signature


def _pair(sent: list[_Sent]) -> None:
    """In the message behind calls: their results in the order of the calls, then all else. Results
    of other calls are dropped there."""
    for message, behind in pairwise(sent):
        calls = _calls(message.blocks)
        if message.role != "assistant" or behind.role != "user" or not calls:
            continue
        results = {b.id: b for b in behind.blocks if b.kind == "tool_result"}
        others = [b for b in behind.blocks if b.kind != "tool_result"]
        found = [results.get(call.id) or _made_up(call, MISSING) for call in calls]
        behind.blocks = [*found, *others]


def _answered(sent: list[_Sent]) -> Iterable[_Sent]:
    """The messages of a session, each call answered."""
    answered = {b.id for m in sent for b in m.blocks if b.kind == "tool_result"}
    waiting: list[ContentBlock] = []
    for message in sent:
        if message.role != "user":
            if waiting:
                yield _Sent("user", "", [_made_up(call) for call in waiting])
            waiting = [call for call in _calls(message.blocks) if call.id not in answered]
        else:
            results = [b for b in message.blocks if b.kind == "tool_result"]
            others = [b for b in message.blocks if b.kind != "tool_result"]
            made_up = [_made_up(call) for call in waiting]
            message.blocks = [*results, *made_up, *others]
            waiting = []
        yield message
    if waiting:
        yield _Sent("user", "", [_made_up(call) for call in waiting])


def _calls(blocks: Iterable[ContentBlock]) -> list[ContentBlock]:
    """Each id once."""
    return list({b.id: b for b in blocks if b.kind == "tool_call" and b.id}.values())


def _made_up(call: ContentBlock, text: str = "") -> ContentBlock:
    said = text or (f"{INTERRUPTED} Tool: {call.name}." if call.name else INTERRUPTED)
    return ContentBlock(
        kind="synthetic", id=call.id, name=call.name, text=said, is_error=None if text else True
    )
