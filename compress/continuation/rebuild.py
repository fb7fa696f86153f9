"""The context rebuilder: every part under one budget, which counts everything.

What may not be trimmed stands first: the header and the pinned units; where these alone exceed the
budget, it is refused. Of the room that is left each part is granted its share, in the order of
their rank; what they do not take goes on to what is retrieved, what that leaves, to the names that
stand nowhere else, and the last of it to the recent turns. The same material gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from compress.continuation.availability import availability
from compress.continuation.errors import LocksExceedBudgetError
from compress.continuation.header import header
from compress.continuation.parts import (
    Part,
    decisions_part,
    heading,
    names_part,
    pinned,
    said_part,
    said_parts,
    turns_part,
)
from compress.continuation.retrieval import TITLE, retrieved
from compress.continuation.values import (
    Continuation,
    ContinuationRequest,
    ContinuationSection,
    Material,
    SectionName,
)
from compress.packs.values import PackLine, PackRequest
from compress.tokens import TokenCounter

_SHARES: tuple[tuple[SectionName, float], ...] = (
    ("instructions", 0.15),
    ("rules", 0.05),
    ("open_items", 0.1),
    ("jobs", 0.03),
    ("errors", 0.1),
    ("decisions", 0.08),
    ("turns", 0.35),
)
"""Of the room, what a part may take before anything is retrieved."""
_NAMES_SHARE = 0.3
"""Of the room, what is left to names when all else stands: they are those that stand nowhere."""
_ORDER: tuple[SectionName, ...] = (
    "pinned",
    "instructions",
    "rules",
    "open_items",
    "jobs",
    "errors",
    "decisions",
    "retrieved",
    "names",
    "turns",
)
"""Of the text: what lasts first, what happened last at the end."""


def rebuild(material: Material, request: ContinuationRequest) -> Continuation:
    """The continuation context for a request.

    Raises :class:`LocksExceedBudgetError` where the header and the pinned units alone exceed the
    budget.
    """
    session, counter = material.session, material.session.counter
    seq, title = session.plan.agent_seq, "Context of an earlier session"
    head = header(title, "rebuilt", request.agent, request.session, seq)
    locked = pinned(session)
    fixed = counter.count(_joined(head, [locked]))
    if fixed > request.budget:
        raise LocksExceedBudgetError(fixed, request.budget, locked.items)
    writer = _Writer(material, request, locked)
    room = request.budget - fixed
    while True:
        parts, lines = writer.write(room)
        text = _joined(head, parts)
        tokens = counter.count(text)
        if tokens <= request.budget:
            break
        # Joined lines may count more than the sum of their parts.
        room = max(0, room - (tokens - request.budget) - 4)
    return Continuation(
        request=request,
        text=text,
        tokens=tokens,
        counter=counter.name,
        sections=tuple(_section(part, counter) for part in parts if part.lines),
        lines=lines,
        availability=availability(session, material.found, text),
    )


def _joined(head: str, parts: Sequence[Part]) -> str:
    return "\n\n".join([head, *(part.text for part in parts if part.lines)]) + "\n"


def _section(part: Part, counter: TokenCounter) -> ContinuationSection:
    return ContinuationSection(
        name=part.name,
        title=part.title,
        text=part.text,
        tokens=counter.count(part.text),
        items=part.items,
        left_out=part.left_out,
        degraded=part.degraded,
    )


@dataclass
class _Writer:
    """Writes all parts for a given room; asked again with less where the whole came out too
    large."""

    material: Material
    request: ContinuationRequest
    locked: Part

    def __post_init__(self) -> None:
        self._costs: dict[str, int] = {}
        self._said = said_parts(self.material.found)

    def _cost(self, text: str) -> int:
        known = self._costs.get(text)
        if known is None:
            known = self._costs[text] = self.material.session.counter.count(text + "\n")
        return known

    def write(self, room: int) -> tuple[list[Part], tuple[PackLine, ...]]:
        """The parts in the order of the text, and the line of every candidate."""
        parts: dict[SectionName, Part] = {"pinned": self.locked}
        left = room
        for name, share in _SHARES:
            part = self._part(name, min(int(room * share), left), parts)
            if part is None:
                continue
            parts[name] = part
            left -= self._spent(part)
        parts["retrieved"], lines = self._retrieved(left - int(room * _NAMES_SHARE), parts)
        left -= self._spent(parts["retrieved"])
        parts["names"] = names_part(self.material.found, parts.values(), left, self._cost)
        left -= self._spent(parts["names"])
        turns = self._turns(self._spent(parts["turns"]) + left) if "turns" in parts else None
        if turns is not None and self._spent(turns) - self._spent(parts["turns"]) <= left:
            parts["turns"] = turns
        return [parts[name] for name in _ORDER if name in parts], lines

    def _part(
        self, name: SectionName, allowance: int, parts: dict[SectionName, Part]
    ) -> Part | None:
        if name == "decisions":
            points = self.material.decisions
            return decisions_part(points, allowance, self._cost) if points else None
        if name == "turns":
            return self._turns(allowance)
        if name not in self._said:
            return None
        section, total = self._said[name]
        return said_part(name, section, total, allowance, self._cost)

    def _turns(self, allowance: int) -> Part:
        return turns_part(
            self.material.session,
            allowance,
            self._cost,
            type_aware=self.request.type_aware,
            skip=self.locked.shown,
        )

    def _retrieved(
        self, allowance: int, parts: dict[SectionName, Part]
    ) -> tuple[Part, tuple[PackLine, ...]]:
        """What the query finds and does not stand in another part, as a pack of its own."""
        room = allowance - self._cost("\n" + heading(TITLE))
        return retrieved(
            self.material.candidates,
            PackRequest(self.request.query, room, self.request.type_aware),
            self.material.session.counter,
            "\n".join(part.text for part in parts.values()),
        )

    def _spent(self, part: Part) -> int:
        return self._cost("\n" + part.text) if part.lines else 0
