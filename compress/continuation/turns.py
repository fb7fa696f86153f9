"""The newest units of a session, and how each is written: whole, told, or in one line.

The raw behind checkpoints is read, so that a context can be rebuilt right after a compaction, when
nothing but the checkpoint stands. Thinking is left out: it is sealed or of no use to another
request.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from compress.beliefs.headline import headline as first_sentence
from compress.compaction.facts import CallFacts, FactsCache, NodeFacts, ResultFacts, text_of
from compress.compaction.material import headline, pointer
from compress.compaction.reach import reach
from compress.compaction.values import SessionInput
from compress.entries import LogEntry
from compress.events import ContentBlock, NodeId
from compress.messages.base import NodeContent
from compress.pairing import pairing
from compress.tokens import compact_json

_RECENT = 400
"""Nodes at the end that may be written as recent turns: no budget holds more."""
_BRIEF = 120
_ROLES = {
    "user/message": "user",
    "steering/message": "user",
    "assistant/message": "agent",
    "tool/result": "result",
    "context/message": "context",
}


@dataclass(frozen=True, slots=True)
class _Raw:
    """Nodes of the log in the shape that pairing asks for."""

    nodes: Sequence[NodeId]
    members: Mapping[NodeId, Sequence[NodeId]]
    replace_generation: int = 0
    last_seq: NodeId | None = None


def recent_units(session: SessionInput) -> list[tuple[NodeId, ...]]:
    """The units at the end of the log, oldest first; checkpoints stand for nothing of their own."""
    members, entries = session.plan.surface.members, session.plan.entries
    near, _ = reach(session, session.plan.surface.nodes, opened=True)
    nodes = [node for node in near if not _is_checkpoint(session, node)][-_RECENT:]
    paired = pairing(_Raw(nodes, members), entries)
    starts = [*paired.units, len(nodes)]
    return [tuple(nodes[a:b]) for a, b in pairwise(starts)]


def _is_checkpoint(session: SessionInput, node: NodeId) -> bool:
    if node in session.plan.surface.shadowed:
        return True
    entry = _entry(session, node)
    return entry is None or entry.meta.get("checkpoint") is not None


def _entry(session: SessionInput, node: NodeId) -> LogEntry | None:
    members = session.plan.surface.members.get(node, ())
    return session.plan.entries.get(members[0]) if members else None


def spoken(content: NodeContent) -> Iterator[tuple[NodeId, str, str]]:
    """A node word for word: (event, who or what speaks, text) for each of its blocks."""
    for event in content.events:
        role = _ROLES.get(event.type, "context")
        for block in event.blocks:
            text = _whole_block(block)
            if text:
                yield event.seq, "call" if block.kind == "tool_call" else role, text


def whole(content: NodeContent) -> Iterator[str]:
    """A node word for word, an item for each of its blocks."""
    for seq, said, text in spoken(content):
        yield f"- {pointer(seq)} {said}: {indented(text)}"


def _whole_block(block: ContentBlock) -> str:
    if block.kind == "tool_call":
        return f"{block.name or ''} {compact_json(block.input)}".strip()
    if block.kind == "thinking":
        return ""
    if block.kind == "image" or (block.images and not block.text):
        return "[image]"
    return block.text.strip("\n")


def indented(text: str) -> str:
    """A text of several lines as part of a list item, so that no heading and no fence of it is one
    of ours."""
    return text.replace("\n", "\n  ")


def told(session: SessionInput, unit: Sequence[NodeId], *, short: bool = False) -> list[str]:
    """A unit with all that was said word for word, its calls by what they did and how they ended:
    of a failure the telling lines, of a command the last line of its output. ``short``: of the
    agent's words the headline, as a pack has it."""
    cache = session.cache or FactsCache()
    members = session.plan.surface.members
    lines: list[str] = []
    asked: dict[str, tuple[int, CallFacts]] = {}
    for node in unit:
        content = session.content(node)
        facts = cache.facts(session.content, node, len(members[node]))
        lines.extend(_words(content, facts, short=short))
        for call in facts.calls:
            asked[call.id] = (len(lines), call)
            wrote = f": `{call.wrote[0]}`" if call.wrote else ""
            lines.append(f"- {pointer(node)} {call.headline}{wrote}")
        for result in facts.results:
            place, made = asked.pop(result.id, (None, None))
            ended = _ended(result, made)
            if place is None:
                lines.append(f"- {pointer(node)} result{ended}")
            else:
                lines[place] += ended
    return lines


def _words(content: NodeContent, facts: NodeFacts, *, short: bool) -> Iterator[str]:
    head = content.events[0]
    text = text_of(content.events)
    if not text or facts.kind == "result":
        return
    if facts.kind in ("user", "agent", "rules"):
        role = "agent" if facts.kind == "agent" else "user" if facts.kind == "user" else "rules"
        text = first_sentence(text) if short and role == "agent" else text
        yield f"- {pointer(head.seq)} {role}: {indented(text)}"
    else:
        yield f"- {pointer(head.seq)} context: {headline(text)}"


def _ended(result: ResultFacts, call: CallFacts | None) -> str:
    label = f" → {result.ended.label}" if result.ended.label else ""
    if result.ended.failed and result.lines:
        return label + "".join(f"\n  {line}" for line in result.lines)
    ran = call is not None and any(fact.action == "ran" for fact in call.call.facts)
    return f"{label}: {headline(result.last)}" if ran and result.last else label


def brief(session: SessionInput, unit: Sequence[NodeId]) -> str:
    """A unit in one line: who spoke and how it began, or what was called, and where it is; empty
    where nothing can be read of it (sealed thinking)."""
    cache = session.cache or FactsCache()
    members = session.plan.surface.members
    for node in unit:
        content = session.content(node)
        text = text_of(content.events)
        if text:
            role = _ROLES.get(content.events[0].type, "context")
            return f"- {pointer(node)} {role}: {headline(text, _BRIEF)}"
        facts = cache.facts(session.content, node, len(members[node]))
        if facts.calls:
            made = ", ".join(dict.fromkeys(call.headline for call in facts.calls))
            return f"- {pointer(node)} {headline(made, _BRIEF)}"
    entry = _entry(session, unit[0])
    said = "" if entry is None else entry.headline
    return f"- {pointer(unit[0])} {headline(said, _BRIEF)}" if said else ""


def says(session: SessionInput, unit: Sequence[NodeId]) -> bool:
    """Whether the agent speaks in a unit."""
    for node in unit:
        entry = _entry(session, node)
        if entry is not None and entry.type == "assistant/message":
            return bool(text_of(session.content(node).events))
    return False


def omitted(session: SessionInput, unit: Sequence[NodeId]) -> str:
    """That a unit does not stand, how large it is, and where."""
    return f"- {pointer(unit[0])} left out: {sum(map(session.tokens, unit)):,} tokens"
