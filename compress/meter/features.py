"""From log entries to the features that the fit weighs (listed in ``priors``)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from compress.entries import LogEntry
from compress.events import NodeId, Replace

Features = dict[str, float]

LEAST_CALL_OVERHEAD = 25
"""Tokens; what a tool call costs beyond its name and input, at the least. Claude's models show
45 to 90."""

BROKEN_OFF = frozenset({"error", "aborted"})
"""Ends (``meta["stop"]``) of replies that pi shows but never sends again."""

UNNAMED_TOOL = "?"
"""Stands for the tool of a result whose call is not in the log."""


@dataclass(slots=True)
class Node:
    """What one node of the surface weighs."""

    features: Features = field(default_factory=dict)
    detail: Features = field(default_factory=dict)
    """How to divide among kinds what the fit sees as one: a reply's output, images."""
    counted: int = 0
    standing: bool = False
    order: int = 0
    """When it came to stand, by the meter's own count."""
    reply: Reply | None = None
    text: int = 0
    call: int = 0
    thinking: int = 0
    calls: int = 0
    sent: bool = True
    """Whether the agent sends it at all."""
    block: int = -1
    """The block of standing nodes that it was last summed up in."""


@dataclass(slots=True)
class Reply:
    """What one request produced: its nodes, and what the provider said of it."""

    seq: NodeId
    output: int | None = None
    """Output tokens by the provider; the newest of the largest."""
    reasoning: int | None = None
    """The part of ``output`` that was reasoning, where the provider tells it apart."""
    lower_bound: bool = False
    actual: int | None = None
    nodes: list[Node] = field(default_factory=list)
    counted: int = 0
    calls: int = 0
    shared: bool = False
    """Whether the nodes were last weighed by their share of ``output``."""

    @property
    def is_final(self) -> bool:
        """Whether ``output`` can be the count of the whole reply."""
        if not self.output:
            return False
        least = self.counted + LEAST_CALL_OVERHEAD * self.calls
        return not self.lower_bound or self.output >= least

    def join(self, node: Node) -> None:
        """Take a node in, before its first event is looked at."""
        node.reply = self
        self.nodes.append(node)


def take(node: Node, entry: LogEntry, tools: Mapping[str, str], thinking: float) -> None:
    """Add one event to its node. ``tools`` maps call ids to tool names; ``thinking`` is what
    stands of the running turn's thinking, which a user's message may end."""
    if entry.type == "assistant/message" and entry.meta.get("stop") in BROKEN_OFF:
        node.sent = False
    if not node.sent:
        return
    first = not node.counted and not node.features
    node.counted += entry.tokens
    text = entry.tokens - entry.image_tokens
    if entry.type == "assistant/message":
        node.text += text - entry.thinking_tokens - entry.call_tokens
        node.call += entry.call_tokens
        node.thinking += entry.thinking_tokens
        node.calls += len(entry.calls)
        if node.reply is not None:
            node.reply.counted += entry.tokens
            node.reply.calls += len(entry.calls)
        return
    if entry.image_tokens:
        _add(node.features, "image", entry.image_tokens)
    if entry.type == "tool/result":
        _take_result(node, entry, text, tools)
    elif is_checkpoint(entry):
        _add(node.features, "checkpoint", text)
        _add(node.detail, "image/checkpoint", entry.image_tokens)
    elif entry.type == "context/message":
        _add(node.features, "context", text)
        _add(node.features, "contexts", first)
        _add(node.detail, "image/context", entry.image_tokens)
    else:
        _add(node.features, "user", text)
        _add(node.features, "users", first)
        if first and entry.type == "user/message":
            _add(node.features, "dropped", thinking)
        _add(node.detail, "image/user", entry.image_tokens)


def is_checkpoint(entry: LogEntry) -> bool:
    """Whether an event is a summary that stands for what it shadowed."""
    if entry.type not in ("context/message", "user/message"):
        return False
    replaces = isinstance(entry.op, Replace) and not entry.op.live_only
    return replaces or "checkpoint" in entry.meta


def _take_result(node: Node, entry: LogEntry, text: int, tools: Mapping[str, str]) -> None:
    results = entry.results or ("",)
    for position, call in enumerate(results):
        tool = tools.get(call, UNNAMED_TOOL)
        # An event seldom holds more than one result; then its tokens are divided evenly.
        share = text / len(results)
        _add(node.features, "result", share)
        _add(node.features, "results", 1)
        _add(node.features, f"result:{tool}", share)
        _add(node.features, f"results:{tool}", 1)
        if position == 0:
            _add(node.detail, "image/result", entry.image_tokens)
            _add(node.detail, f"image/result:{tool}", entry.image_tokens)


def weigh_reply(node: Node, ratio: float) -> tuple[Features, Features]:
    """(features, detail) of an assistant node.

    The provider's output count is used where it is final, or at least not below what is plainly
    there (some versions of agents log the count of the stream's first chunk). A node takes its
    share of it by counted tokens. What the visible text and calls cannot explain was thinking;
    ``ratio`` says how many tokens of the provider a counted one is.
    """
    detail: Features = {"counted/thinking": float(node.thinking)} if node.thinking else {}
    reply = node.reply
    if not node.sent:
        return {}, {}
    if reply is None or not reply.is_final:
        parts = {"text": node.text, "call": node.call, "thinking": node.thinking}
        features: Features = {name: float(value) for name, value in parts.items() if value}
        if node.calls:
            features["calls"] = float(node.calls)
        return features, detail
    output = float(reply.output or 0)
    if reply.counted:
        output *= node.counted / reply.counted
    elif node is not reply.nodes[0]:
        output = 0.0
    features = {"output": output} if output else {}
    if node.calls:
        features["output_calls"] = float(node.calls)
    return features, detail | _divide(reply, output, node, ratio)


def _divide(reply: Reply, output: float, node: Node, ratio: float) -> Features:
    text, call = node.text * ratio, node.call * ratio
    hidden = output - text - call
    if reply.reasoning is not None and reply.output:
        share = min(1.0, max(0.0, reply.reasoning / reply.output))
        thinking = output * share
    else:
        thinking = max(hidden, 0.0) if hidden > output / 4 or node.thinking else 0.0
    visible = output - thinking
    if text + call <= 0:
        return {"output/thinking": output}
    return {
        "output/text": visible * text / (text + call),
        "output/call": visible * call / (text + call),
        "output/thinking": thinking,
    }


def _add(features: Features, name: str, value: float) -> None:
    if value:
        features[name] = features.get(name, 0.0) + value


def accumulate(into: Features, features: Features, sign: int) -> None:
    """Add features, or take them away; what comes to nothing is dropped."""
    for name, value in features.items():
        total = into.get(name, 0.0) + sign * value
        if abs(total) < 1e-6:
            into.pop(name, None)
        else:
            into[name] = total
