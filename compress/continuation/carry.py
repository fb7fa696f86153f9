"""What is carried over an agent's own compaction: what was pinned and what is open, or, in the
agent's place, the whole summary. Under a budget that counts everything; nothing is retrieved.

Unlike a context that a person asks for, it is never refused for its pins: where they do not all
fit, some stand as their headline and their place. The same material gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from compress.compaction.material import headline, pointer
from compress.continuation.header import header
from compress.continuation.parts import (
    Cost,
    Part,
    decisions_part,
    heading,
    names_part,
    pinned,
    said_part,
    said_parts,
    said_whole,
)
from compress.continuation.turns import spoken
from compress.continuation.values import Material, SectionName
from compress.events import NodeId
from compress.operations import in_log_order
from compress.tokens import TokenCounter

_BESIDE: Mapping[SectionName, float] = {"open_items": 0.5, "decisions": 0.5}
_WHOLE: Mapping[SectionName, float] = {
    "instructions": 0.25,
    "rules": 0.05,
    "open_items": 0.1,
    "jobs": 0.05,
    "errors": 0.1,
    "decisions": 0.15,
    "names": 0.3,
}
"""By rank: of the room, what a part may take first. What it leaves goes to those that need more."""
_PINNED = "Pinned"
_PIN = 100
"""Characters of a pinned message that has no room for more."""


@dataclass(frozen=True, slots=True)
class CarryRequest:
    """What is asked for. ``whole``: the text stands in the place of a summary that the agent would
    write; else it stands beside that."""

    budget: int
    """Tokens of the whole text, as counted."""
    largest: int | None = None
    """Bytes of UTF-8, where the agent sets a limit."""
    whole: bool = False
    session: str = ""
    """The session's name, for the pointers."""
    agent: str = ""


@dataclass(frozen=True, slots=True)
class Carried:
    """``tokens``: what the whole text counts, never above the budget. ``sections``: name → tokens.
    ``shortened``: pinned messages that stand as their headline only, or as a number."""

    text: str
    tokens: int
    sections: Mapping[SectionName, int]
    shortened: int = 0


def carry(material: Material, request: CarryRequest) -> Carried | None:
    """The text; ``None`` where there is nothing to say, or not even room to say the first of it."""
    counter = material.session.counter
    head = _head(request, material.session.plan.agent_seq)
    room = request.budget - counter.count(head + "\n\n")
    writer = _Writer(material, counter, _WHOLE if request.whole else _BESIDE)
    while room > 0:
        parts = [part for part in writer.write(room) if part.lines]
        if not parts:
            return None
        text = "\n\n".join([head, *(part.text for part in parts)]) + "\n"
        tokens = counter.count(text)
        size = len(text.encode("utf-8", "replace"))
        largest = size if request.largest is None else request.largest
        if tokens <= request.budget and size <= largest:
            return Carried(
                text,
                tokens,
                {part.name: counter.count(part.text) for part in parts},
                sum(part.left_out + part.degraded for part in parts if part.name == "pinned"),
            )
        # Joined lines may count more than the sum of their parts.
        fitting = min(room, tokens) * min(largest, size) // size
        room = min(room - 1, room - (tokens - request.budget) - 4, fitting)
    return None


def _head(request: CarryRequest, seq: NodeId) -> str:
    title = (
        "Summary of the session so far"
        if request.whole
        else "What was pinned and left open before the context was compacted"
    )
    return header(title, "written", request.agent, request.session, seq)


class _Writer:
    """Writes the parts for a given room, in the order of their rank, which is that of the text."""

    def __init__(
        self, material: Material, counter: TokenCounter, shares: Mapping[SectionName, float]
    ) -> None:
        self._material = material
        self._counter = counter
        self._shares = shares
        self._said = said_parts(material.found)
        self._pinned = pinned(material.session)
        self._costs: dict[str, int] = {}

    def _cost(self, text: str) -> int:
        known = self._costs.get(text)
        if known is None:
            known = self._costs[text] = self._counter.count(text + "\n")
        return known

    def write(self, room: int) -> Sequence[Part]:
        """Pins first and whole, if they fit; what they leave goes to the others."""
        locked = self._pinned
        if self._spent(locked) > room:
            locked = _shortened(self._material, room, self._cost)
        parts: dict[SectionName, Part] = {"pinned": locked}
        left = room = room - self._spent(locked)
        for name, share in self._shares.items():
            parts[name] = self._part(name, min(int(room * share), left), parts)
            left -= self._spent(parts[name])
        for name in self._shares:
            short = parts[name]
            if short.left_out or short.degraded:
                others = {other: part for other, part in parts.items() if other != name}
                fuller = self._part(name, self._spent(short) + left, others)
                more = self._spent(fuller) - self._spent(short)
                if fuller.lines and more <= left:
                    parts[name] = fuller
                    left -= more
        return list(parts.values())

    def _part(self, name: SectionName, allowance: int, others: Mapping[SectionName, Part]) -> Part:
        if name == "decisions":
            return decisions_part(self._material.decisions, allowance, self._cost)
        if name == "names":
            return names_part(self._material.found, others.values(), allowance, self._cost)
        if name not in self._said:
            return Part(name, "")
        section, total = self._said[name]
        return said_part(name, section, total, allowance, self._cost)

    def _spent(self, part: Part) -> int:
        return self._cost("\n" + part.text) if part.lines else 0


@dataclass(frozen=True, slots=True)
class _Pin:
    whole: str
    short: str
    by_user: bool


def _shortened(material: Material, room: int, cost: Cost) -> Part:
    """Pins in log order: as headlines, as many as there is room for, and of these whole what still
    fits. The user's words come first in both, then what is newest."""
    pins = list(_pins(material))
    order = sorted(range(len(pins)), key=lambda at: (not pins[at].by_user, -at))
    left = room - cost("\n" + heading(_PINNED)) - cost(_rest(len(pins))) - 8
    forms: dict[int, str] = {}
    for at in order:
        if cost(pins[at].short) > left:
            break
        forms[at] = pins[at].short
        left -= cost(pins[at].short)
    if not forms:
        return Part("pinned", _PINNED, left_out=len(pins))
    short = 0
    for at in [at for at in order if at in forms]:
        more = cost(pins[at].whole) - cost(pins[at].short)
        if more <= left:
            forms[at] = pins[at].whole
            left -= more
        else:
            short += 1
    dropped = len(pins) - len(forms)
    lines = [forms[at] for at in sorted(forms)] + ([_rest(dropped)] if dropped else [])
    part = Part("pinned", _PINNED, tuple(lines), len(forms), dropped, short)
    # Joined lines may count more than the sum of their parts.
    over = cost("\n" + part.text) - room
    return part if over <= 0 else _shortened(material, room - over - 8, cost)


def _pins(material: Material) -> Iterator[_Pin]:
    session = material.session
    members = session.plan.surface.members
    for node in in_log_order(session.plan.held):
        content = session.content(node)
        said = list(spoken(content)) if members.get(node) else []
        if said:
            whole = (said_whole(seq, who, text) for seq, who, text in said)
            seq, who, text = said[0]
            short = f"- {pointer(seq)} {who}, too long to stand here: {headline(text, _PIN)}"
            by_user = content.events[0].type in ("user/message", "steering/message")
            yield _Pin("\n".join(whole), short, by_user)


def _rest(count: int) -> str:
    return f"- and {count} more pinned {'messages' if count > 1 else 'message'}"
