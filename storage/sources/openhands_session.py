"""Where one conversation of OpenHands' stands while it is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from compress.events import NodeId, Rebase, Replace, SessionEvent, SurfaceOp, Usage
from storage.sources.base import Numbering, SessionFacts
from storage.sources.draft import APPEND, MOST_ITEMS, Identities, usage_of_prompt, word
from storage.sources.openhands_view import Conversation
from storage.sources.values import count, listing, mapping, string

_MAIN_MODELS = ("default", "agent")
"""How the SDK calls the figures of the agent's own model; condensers and others have theirs."""
_SUMS = (
    "prompt_tokens",
    "completion_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "reasoning_tokens",
)
_STATUSES = {"todo": "pending", "in_progress": "in_progress", "done": "completed"}


class Answer(NamedTuple):
    """An answer of the model's that was told."""

    request: int
    """Its first event."""
    time: float | None
    step: int


@dataclass(slots=True)
class Session:
    """One conversation, or a delegate's part of one."""

    facts: SessionFacts
    numbering: Numbering
    conversation: Conversation = field(default_factory=Conversation)
    standing: list[int] = field(default_factory=list)
    stands: set[int] = field(default_factory=set)
    """The same, to ask."""
    turn: int = 0
    step: int = 0
    steps: dict[str, int] = field(default_factory=dict)
    """Call → the request that made it."""
    acted: bool = False
    """The agent has answered in this turn."""
    asked_at: bool = False
    """The figures of the next answer were told before it."""
    spent: dict[str, Usage] = field(default_factory=dict)
    """Answer → what it cost, where it was told before the answer."""
    answers: dict[str, Answer] = field(default_factory=dict)
    figures: Mapping[str, Any] = field(default_factory=dict)
    """The sums that were told last."""
    has_rows: bool = False
    """What each answer cost is told by rows of its own."""
    requested: bool = False
    """A condensation was asked for."""
    asked: set[str] = field(default_factory=set)
    """Calls that a person is to approve."""
    identities: Identities = field(default_factory=Identities)
    """Of its own records."""
    events: list[SessionEvent] = field(default_factory=list)

    def set(self, wanted: list[int]) -> None:
        """Exactly these nodes stand."""
        self.standing, self.stands = wanted, {*wanted}

    def append(self, node: int) -> None:
        """This one stands, too."""
        self.standing.append(node)
        self.stands.add(node)


def step_to(
    before: Sequence[int], wanted: Sequence[int], node: int
) -> tuple[SurfaceOp, tuple[NodeId, ...]]:
    """The operation by which ``node``, which is new, turns one list of nodes into another, and
    what it cites: an append, one stretch replaced, or the whole list."""
    if [*before, node] == [*wanted]:
        return APPEND, ()
    head = 0
    while head < min(len(before), len(wanted)) and before[head] == wanted[head]:
        head += 1
    if head < len(wanted) and wanted[head] == node:
        behind = list(wanted[head + 1 :])
        end = len(before)
        while end > head and behind and before[end - 1] == behind[-1]:
            end -= 1
            behind.pop()
        span = list(before[head:end])
        stays = set(behind)
        kept = [each for each in span if each in stays]
        if span and kept == behind:
            gone = [each for each in span if each not in stays]
            if gone:
                op = Replace(start=span[0], end=span[-1], keep=tuple(kept))
                return op, (*gone, node)
    return Rebase(seqs=tuple(wanted)), ()


def usage_of(figures: Any) -> Usage | None:
    """What one answer cost."""
    fields = mapping(figures)
    prompt, output = count(fields.get("prompt_tokens")), count(fields.get("completion_tokens"))
    read, write = count(fields.get("cache_read_tokens")), count(fields.get("cache_write_tokens"))
    if not prompt and not output:
        return None
    reasoning = count(fields.get("reasoning_tokens")) or None
    return usage_of_prompt(prompt, output, read=read, written=write, reasoning=reasoning)


def main_figures(stats: Any) -> tuple[Mapping[str, Any], str | None]:
    """The sums of the agent's own model, and its name."""
    told = mapping(mapping(stats).get("usage_to_metrics"))
    key = next((name for name in (*_MAIN_MODELS, *told) if name in told), "")
    metrics = mapping(told.get(key))
    return mapping(metrics.get("accumulated_token_usage")), word(metrics.get("model_name"))


def difference(before: Mapping[str, Any], now: Mapping[str, Any]) -> Usage | None:
    """What the newest answer cost, by the sums before and behind it; ``None`` where more than one
    answer, or none, lies between."""
    names = ("prompt_tokens", "completion_tokens", "cache_read_tokens", "cache_write_tokens")
    more = {name: (count(now.get(name)) or 0) - (count(before.get(name)) or 0) for name in names}
    newest = count(now.get("per_turn_token"))
    whole = more["prompt_tokens"] + more["completion_tokens"]
    if not whole or newest != whole or min(more.values()) < 0:
        return None
    thought = (count(now.get("reasoning_tokens")) or 0) - (
        count(before.get("reasoning_tokens")) or 0
    )
    return usage_of({**more, "reasoning_tokens": thought})


def todo_items(tasks: Any) -> list[dict[str, Any]]:
    """The items of a task list."""
    found = []
    for task in map(mapping, listing(tasks)[:MOST_ITEMS]):
        text, status = string(task.get("title")), _STATUSES.get(string(task.get("status")))
        if text and status is not None:
            found.append({"text": text, "status": status})
    return found
