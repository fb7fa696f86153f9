"""What one node says, read once: the facts that a summary and a report of losses are made of.

Pure and small, so that they can be kept: a text is never read twice for the same node. A cache may
change how long a digest takes, never one byte of it.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from compress.compaction.identifiers import IdentifierKind, identifiers
from compress.events import ContentBlock, NodeId, SessionEvent
from compress.messages.base import NodeContent
from compress.toolcalls import Outcome, ToolCall, json_output, outcome, tool_call

NodeKind = Literal["user", "agent", "result", "rules", "earlier", "checkpoint", "other"]
By = Literal["said", "edited", "called", "result", "user", "schema"]
"""Who named an identifier: the agent in its words, in what it wrote into a file, or in the input
of another call; a result (or an injected context); a user; the schema of a tool that was called."""

FRAME = "<checkpoint>\nThis is a checkpoint, not a request."
"""How a checkpoint made here begins: in the copy that an agent resumed it is a message of the
user's, and no request all the same."""
KEPT = 65_536
"""Nodes whose facts a cache keeps."""
_CHUNKS_KEPT = 8_192
_ERROR_LINES = 6
_TEXT_READ = 400_000
"""Characters of one text in which names are looked for: its head and its end."""
_ERROR_TEXT = 80_000
"""Characters of a failed result that are looked through: its head and, mostly, its end."""
_LINE = 240
_PLACE = re.compile(r"[\w./\\-]+\.\w+:\d+|\b\w*[a-z](?:Error|Exception|Panic)\b|\b\w+\[[A-Z]\d+\]")

Name = tuple[str, IdentifierKind, By, str]
"""An identifier, its kind, who named it, and the file that it was named in (or nothing)."""


@dataclass(frozen=True, slots=True)
class CallFacts:
    """One call of a tool. ``wrote``: a telling line of what it put into a file; ``words``: the
    values in its input that consist of one word, an id among them."""

    id: str
    call: ToolCall
    headline: str
    key: tuple[str, str]
    wrote: tuple[str, ...] = ()
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ResultFacts:
    """How one call ended. ``lines``: the telling lines of a failed one; ``last``: the last line
    that says something, of any."""

    id: str
    ended: Outcome
    lines: tuple[str, ...]
    last: str
    names: tuple[tuple[str, IdentifierKind], ...]


@dataclass(frozen=True, slots=True)
class NodeFacts:
    """The facts of one node. ``text``: the words of a user, of a rule, of a summary, or the last
    words of the agent in the node."""

    kind: NodeKind
    text: str = ""
    names: tuple[Name, ...] = ()
    """All but those of results, which stand with their result."""
    calls: tuple[CallFacts, ...] = ()
    results: tuple[ResultFacts, ...] = ()

    def every_name(self) -> Iterator[str]:
        """All identifiers that stand in the node, repeats included."""
        yield from (name for name, _, by, _ in self.names if by != "schema")
        for result in self.results:
            yield from (name for name, _ in result.names)


class FactsCache:
    """Facts by node, those that were read first dropped first; and merged facts of chunks of
    nodes that lie far back. Belongs to one state of one log: drop it where an event was revised.
    """

    def __init__(self, kept: int = KEPT) -> None:
        self._kept = kept
        self._facts: OrderedDict[tuple[NodeId, int], NodeFacts] = OrderedDict()
        self._chunks: OrderedDict[tuple[NodeId, ...], Any] = OrderedDict()

    def facts(
        self, content: Callable[[NodeId], NodeContent], node: NodeId, events: int
    ) -> NodeFacts:
        """The facts of a node that consists of so many events."""
        key = (node, events)
        known = self._facts.get(key)
        if known is None:
            known = self._facts[key] = node_facts(content(node))
            if len(self._facts) > self._kept:
                self._facts.popitem(last=False)
        return known

    def chunk(self, nodes: tuple[NodeId, ...], make: Callable[[], Any]) -> Any:
        """What ``make`` gives for these nodes."""
        known = self._chunks.get(nodes)
        if known is None:
            known = self._chunks[nodes] = make()
            if len(self._chunks) > _CHUNKS_KEPT:
                self._chunks.popitem(last=False)
        return known


def node_facts(content: NodeContent) -> NodeFacts:
    """The facts of a node, from its content alone."""
    events = content.events
    if not events:
        return NodeFacts("other")
    kind, meta = events[0].type, events[0].meta
    if kind == "assistant/message":
        return _agent(events)
    if kind == "tool/result":
        return NodeFacts("result", results=tuple(_results(events)))
    return _message(kind, meta, text_of(events))


def _message(kind: str, meta: Mapping[str, Any], text: str) -> NodeFacts:
    if not text:
        return NodeFacts("other")
    by_user = kind in ("user/message", "steering/message")
    if meta.get("checkpoint"):
        # Of one made here, what it stands for is read instead.
        names = _names(text, "result")
        return NodeFacts("checkpoint", "", names) if by_user else NodeFacts("earlier", text, names)
    if by_user and text.startswith(FRAME):
        told = text.partition("\n\n")[2].removesuffix("\n</checkpoint>")
        return NodeFacts("earlier", told, _names(told, "result"))
    if by_user:
        return NodeFacts("user", text, _names(text, "user"))
    if "instruction" in str(meta.get("source", "")) or meta.get("rules"):
        return NodeFacts("rules", text, _names(text, "user"))
    return NodeFacts("other", "", _names(text, "result"))


def critical_lines(text: str) -> tuple[str, ...]:
    """The lines of a failed result that say most: the first, and those that name a place in a file
    or an error by the shape of its name, else the last ones. At most six, in their order."""
    if len(text) > _ERROR_TEXT:
        text = f"{text[: _ERROR_TEXT // 4]}\n{text[-_ERROR_TEXT * 3 // 4 :]}"
    lines = [line.rstrip() for line in text.split("\n") if line.strip()]
    telling = [line for line in lines[1:] if _says_where(line)]
    chosen = telling[:2] + telling[2:][-(_ERROR_LINES - 3) :] if telling else lines[1:][-3:]
    chosen = [*lines[:1], *chosen]
    return tuple(dict.fromkeys(line.strip()[:300] for line in chosen))


def headline_of(call: ToolCall) -> str:
    """A call in one line."""
    target = call.facts[0].target if call.facts else ""
    return one_line(f"{call.name} {target}")[:160].strip()


def text_of(events: Iterable[SessionEvent]) -> str:
    """The words of a message."""
    parts = [
        block.text
        for event in events
        for block in event.blocks
        if block.kind in ("text", "context") and block.text.strip()
    ]
    return "\n".join(parts).strip()


def strings(value: Any) -> Iterator[str]:
    """All strings of a call's input, keys left out, without recursion."""
    for _, item in _leaves(value):
        if isinstance(item, str):
            yield item


def one_line(text: str) -> str:
    """A text without its line breaks."""
    return " ".join(text.split())


def _agent(events: Sequence[SessionEvent]) -> NodeFacts:
    said = ""
    names: list[Name] = []
    calls: list[CallFacts] = []
    results: list[ResultFacts] = []
    for event in events:
        for block in event.blocks:
            if block.kind == "text" and block.text.strip():
                said = block.text.strip()
                names.extend(_names(said, "said"))
            elif block.kind == "thinking":
                names.extend(_names(block.text, "said"))
            elif block.kind == "tool_call":
                call = tool_call(block.name or "", block.input)
                names.extend(_call_names(block, call))
                wrote = tuple(_wrote(block.input, call))
                words = tuple(w for w in strings(block.input) if len(w) <= 64 and w.isascii())
                words = tuple(word for word in words if len(word.split()) == 1)
                line = headline_of(call)
                calls.append(CallFacts(block.id or "", call, line, call.key, wrote, words))
            elif block.kind in ("tool_result", "synthetic"):
                results.append(_result(block))
    return NodeFacts("agent", said, tuple(dict.fromkeys(names)), tuple(calls), tuple(results))


def _call_names(block: ContentBlock, call: ToolCall) -> Iterator[Name]:
    fact = call.facts[0] if call.facts else None
    writes = fact is not None and fact.action in ("changed", "created")
    place = fact.target if fact is not None and (writes or fact.action == "read") else ""
    parts, keys = [], [call.name]
    for key, item in _leaves(block.input):
        keys.append(key)
        if isinstance(item, str):
            parts.append(item)
        elif isinstance(item, int) and not isinstance(item, bool) and -(2**53) < item < 2**53:
            parts.append(str(item))
    for name, kind in _found("\n".join(parts)):
        yield name, kind, "edited" if writes else "called", place if name != place else ""
    for name, kind in _found("\n".join(dict.fromkeys(keys))):
        if kind == "symbol":
            yield name, kind, "schema", call.name


def _wrote(value: Any, call: ToolCall) -> Iterator[str]:
    """For an edit, the first line that names something in the last long text that it carries:
    tools put the new text behind the old one."""
    if not any(fact.action in ("changed", "created") for fact in call.facts):
        return
    targets = {fact.target for fact in call.facts}
    texts = [text for text in strings(value) if text not in targets and len(text) > 8]
    for text in texts[-1:]:
        head = text[:4_000]
        lines = [line.strip().lstrip("+").strip() for line in head.split("\n")]
        for line in lines:
            if len(line) > 8 and not line.startswith("***") and next(identifiers(line), None):
                yield line[:_LINE]
                return


def _results(events: Iterable[SessionEvent]) -> Iterator[ResultFacts]:
    for event in events:
        for block in event.blocks:
            if block.kind in ("tool_result", "synthetic"):
                yield _result(block)


def _result(block: ContentBlock) -> ResultFacts:
    ended = outcome(block.text, block.is_error)
    text = _unwrapped(block.text)
    lines = critical_lines(text) if ended.failed else ()
    return ResultFacts(block.id or "", ended, lines, _last_line(text), _found(text))


def _unwrapped(text: str) -> str:
    """An output that stands in a JSON object, as some agents log it, is that output."""
    inner = (json_output(text) or {}).get("output")
    return inner if isinstance(inner, str) else text


def _last_line(text: str) -> str:
    for line in reversed(text[-2_000:].split("\n")):
        if any(c.isalnum() for c in line):
            return line.strip()[:_LINE]
    return ""


def _names(text: str, by: By) -> tuple[Name, ...]:
    return tuple((name, kind, by, "") for name, kind in _found(text))


def _found(text: str) -> tuple[tuple[str, IdentifierKind], ...]:
    if len(text) > _TEXT_READ:
        text = f"{text[: _TEXT_READ // 2]}\n{text[-_TEXT_READ // 2 :]}"
    return tuple(dict.fromkeys(identifiers(text)))


def _says_where(line: str) -> bool:
    """Whether a line looks like ``file.ext:12``, ``SomethingError: …`` or ``error[E0308]``."""
    return len(line) < 500 and bool(_PLACE.search(line))


def _leaves(value: Any) -> Iterator[tuple[str, Any]]:
    """(nearest key, value) of everything that is no container, in order, without recursion."""
    stack: list[tuple[str, Any]] = [("", value)]
    while stack:
        key, item = stack.pop()
        if isinstance(item, Mapping):
            stack.extend((str(k), v) for k, v in reversed(list(item.items())))
        elif isinstance(item, list | tuple):
            stack.extend((key, v) for v in reversed(item))
        else:
            yield key, item
