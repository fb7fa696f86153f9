"""The parts of a continuation context, each written as well as its allowance of tokens lets it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from compress.beliefs.fences import fenced
from compress.compaction.material import Digest, headline, pointer
from compress.compaction.names import Present, choose
from compress.compaction.names import lines as name_lines
from compress.compaction.sections import Section, sections_of
from compress.compaction.values import SessionInput
from compress.continuation.turns import (
    brief,
    indented,
    omitted,
    recent_units,
    says,
    spoken,
    told,
    whole,
)
from compress.continuation.values import SectionName
from compress.decisions.text import memory_text
from compress.decisions.values import DecisionPoint
from compress.events import NodeId
from compress.operations import in_log_order

Cost = Callable[[str], int]
"""Tokens of an item, its newline included."""

_SAID: tuple[tuple[str, SectionName, str], ...] = (
    ("User instructions", "instructions", "What the user asked for"),
    ("Standing rules", "rules", "Standing rules"),
    ("Open items", "open_items", "Open items"),
    ("Running jobs", "jobs", "Running jobs"),
    ("Unresolved errors", "errors", "Unresolved errors"),
)
"""Title of a summary's section → what it is called here."""
_DECISIONS = "Decision points"
_NAMES = "Names in use"
_TURNS = "Recent turns"
_POINTERS = re.compile(r"- (?:At events? |\d+ messages: |… and )")
"""Lines that count what was left out."""
_TITLE, _DID = 60, 100
"""Characters of a decision point's title and summary in one line."""
_JOINED = 8
"""Tokens that lines of names may count more where they stand together."""
_LITTLE = 64
"""Tokens below which nothing is made fuller."""
_MISSES = 12
"""Units in a row that have no room left, after which no older one is tried."""


@dataclass(frozen=True, slots=True)
class Part:
    """Lines of one section. ``shown``: events whose texts stand word for word in it."""

    name: SectionName
    title: str
    lines: tuple[str, ...] = ()
    items: int = 0
    left_out: int = 0
    degraded: int = 0
    shown: frozenset[NodeId] = field(default_factory=frozenset)

    @property
    def text(self) -> str:
        """The section as it stands, its heading included; empty where there is nothing."""
        return "\n".join([heading(self.title), *self.lines]) if self.lines else ""


def heading(title: str) -> str:
    """The line that a section begins with."""
    return f"## {title}"


def pinned(session: SessionInput) -> Part:
    """Every pinned node with its whole unit, word for word: this part is never trimmed."""
    members = session.plan.surface.members
    nodes = [node for node in in_log_order(session.plan.held) if members.get(node)]
    lines = tuple(
        said_whole(seq, said, text)
        for node in nodes
        for seq, said, text in spoken(session.content(node))
    )
    return Part("pinned", "Pinned", lines, len(nodes), shown=frozenset(nodes))


def said_whole(seq: NodeId, said: str, text: str) -> str:
    """A pinned message: who speaks, or what, over a block of code that nothing in the text ends."""
    return f"### {pointer(seq)} {said}\n{fenced(text)}".removesuffix("\n")


def said_parts(found: Digest) -> dict[SectionName, tuple[Section, int]]:
    """What a summary would say of the user's words, of what is open and of what failed: name →
    (section, how many there are)."""
    known = {section.title: section for section in sections_of(found)}
    totals = {
        "User instructions": len(found.said),
        "Standing rules": len(found.rules),
        "Open items": len(found.open_items),
        "Running jobs": len(found.jobs),
        "Unresolved errors": len(found.failures),
    }
    return {name: (known[title], totals[title]) for title, name, _ in _SAID if title in known}


def said_part(name: SectionName, section: Section, total: int, allowance: int, cost: Cost) -> Part:
    """One of these in at most so many tokens, its heading included; empty where nothing fits."""
    title = next(shown for _, known, shown in _SAID if known == name)
    room = allowance - cost("\n" + heading(title))
    written = section.write(room, cost) if room > 0 else None
    if written is None or not written.lines or sum(map(cost, written.lines)) > room:
        return Part(name, title, left_out=total)
    items = sum(1 for line in written.lines if not _POINTERS.match(line))
    return Part(
        name,
        title,
        written.lines,
        items,
        max(0, total - items),
        max(0, items - (total - len(written.degraded))) if written.degraded else 0,
    )


def decisions_part(points: Sequence[DecisionPoint], allowance: int, cost: Cost) -> Part:
    """Decision points that say more than the user's words do, the newest first choice, written in
    log order: as their lines of memory, else in one line."""
    left = allowance - cost("\n" + heading(_DECISIONS))
    chosen: list[str] = []
    short = 0
    for point in filter(_says_something, reversed(points)):
        line = f"- {pointer(point.last_seq)} "
        full, one = line + indented(memory_text(point)), line + _one_line(point)
        form = next((f for f, most in ((full, left // 2), (one, left)) if cost(f) <= most), "")
        if not form:
            break
        short += form is one
        chosen.append(form)
        left -= cost(form)
    chosen.reverse()
    return Part(
        "decisions", _DECISIONS, tuple(chosen), len(chosen), len(points) - len(chosen), short
    )


def _says_something(point: DecisionPoint) -> bool:
    """A turn that only answered leaves no more than words, which stand elsewhere."""
    facts = point.rationale or point.steering or point.evidence or point.files
    return point.stage.kind != "turn" or point.open or bool(facts)


def _one_line(point: DecisionPoint) -> str:
    state = "running" if point.open else point.outcome
    did = "" if point.summary in ("", point.stage.title) else f": {headline(point.summary, _DID)}"
    return f"{headline(point.stage.title, _TITLE)} [{state}]{did}"


def names_part(found: Digest, others: Iterable[Part], allowance: int, cost: Cost) -> Part:
    """Names that stand in none of the other parts, the most likely to be needed first."""
    room = allowance - cost("\n" + heading(_NAMES)) - _JOINED
    text = "\n".join(part.text for part in others)
    chosen, more = choose(found.mentions.values(), found.length, Present(text), cost, room)
    while chosen and cost("\n".join(name_lines(chosen, 0))) > room:
        chosen.pop()
        more += 1
    return Part("names", _NAMES, tuple(name_lines(chosen, 0)), len(chosen), more)


@dataclass(slots=True)
class _Turn:
    """A unit as it is written. ``form``: ``whole``, ``told``, ``brief`` or ``omitted``."""

    unit: tuple[NodeId, ...]
    text: str
    form: str


def turns_part(
    session: SessionInput,
    allowance: int,
    cost: Cost,
    *,
    type_aware: bool,
    skip: frozenset[NodeId],
) -> Part:
    """The newest units, the newest first choice, written in log order.

    ``type_aware``: one that has no room in its form is a line, and what is left over has the newest
    ones stand word for word. Else one that has no room is a mark of what was left out. Where not
    even that fits, the part ends.
    """
    left = allowance - cost("\n" + heading(_TURNS))
    units = [unit for unit in recent_units(session) if not skip.issuperset(unit)]
    chosen: list[_Turn] = []
    misses, spoke = 0, False
    for unit in reversed(units):
        # What the agent said last says most of where it is.
        most = left // 2 if spoke else left * 2 // 3
        spoke = spoke or says(session, unit)
        turn = _told(session, unit, most, cost) if type_aware else _exact(session, unit, left, cost)
        if not turn.text:
            continue
        price = cost(turn.text)
        if price > left or misses >= _MISSES:
            break
        misses = misses + 1 if turn.form in ("brief", "omitted") else 0
        chosen.append(turn)
        left -= price
    if type_aware:
        _enrich(session, chosen, left, cost)
    standing = [turn for turn in chosen if turn.form != "omitted"]
    return Part(
        "turns",
        _TURNS,
        tuple(turn.text for turn in reversed(chosen)) if standing else (),
        len(standing),
        len(units) - len(standing),
        sum(1 for turn in standing if turn.form != "whole"),
        frozenset(node for turn in standing if turn.form == "whole" for node in turn.unit),
    )


def _told(session: SessionInput, unit: tuple[NodeId, ...], most: int, cost: Cost) -> _Turn:
    """A unit in the first form that fits, at last in one line."""
    for short in (False, True):
        text = "\n".join(told(session, unit, short=short))
        if text and cost(text) <= most:
            same = not short and len(unit) == 1 and text == _whole(session, unit, most)
            return _Turn(unit, text, "whole" if same else "told")
    return _Turn(unit, brief(session, unit), "brief")


def _exact(session: SessionInput, unit: tuple[NodeId, ...], most: int, cost: Cost) -> _Turn:
    """A unit word for word, else that it is left out; nothing for one that nothing can be read
    of."""
    text = _whole(session, unit, most)
    if text and cost(text) <= most:
        return _Turn(unit, text, "whole")
    return _Turn(unit, omitted(session, unit) if brief(session, unit) else "", "omitted")


def _whole(session: SessionInput, unit: Sequence[NodeId], most: int) -> str:
    """A unit word for word; nothing where its weight says that it is far too large."""
    if sum(map(session.tokens, unit)) > 2 * most + 64:
        return ""
    return "\n".join(line for node in unit for line in whole(session.content(node)))


def _enrich(session: SessionInput, chosen: Sequence[_Turn], left: int, cost: Cost) -> None:
    for turn in chosen:
        if left < _LITTLE:
            return
        text = _whole(session, turn.unit, left + cost(turn.text))
        more = cost(text) - cost(turn.text)
        if text and more <= left:
            turn.text, turn.form = text, "whole"
            left -= more
