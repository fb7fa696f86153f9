"""The rule-based summary: a digest, written under a budget.

Priorities (design, section 5): the user's standing instructions, open items, decisions, files,
commands and errors, the names most likely to be needed again, pointers to the raw. First every
part that must stand is granted its least form; then the instructions are written, as far as a
third of the budget goes, and the names are granted their part of the rest; then each section in
turn takes what its share allows; what is left over makes the sections fuller, in the same order.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from compress.compaction.errors import BudgetError
from compress.compaction.facts import FRAME
from compress.compaction.identifiers import Mention
from compress.compaction.material import Digest
from compress.compaction.names import Present, choose, lines
from compress.compaction.sections import Cost, Section, Written, sections_of
from compress.compaction.values import Summary
from compress.events import NodeId
from compress.pieces import Pieces
from compress.tokens import TokenCounter

_MARK = re.compile(r"<(/?)\s*checkpoint\s*>", re.IGNORECASE)
INSTRUCTIONS = ("User instructions", "Standing rules")
_INSTRUCTIONS = 0.34
"""Share of the budget that they may take before anything else is written."""
_NAMES_TITLE = "Names"
_NAMES_SHARE = 0.56
_NAMES_ENOUGH = 1_800
"""Tokens of names beyond which further ones are worth less than sentences."""
_NAMES_BEYOND = 0.12
"""Share of what the budget has above the one that gives so many."""


def summarise(found: Digest, counter: TokenCounter, budget: int) -> Summary:
    """The summary of a digest in at most ``budget`` tokens, as the counter counts them.

    Raises :class:`BudgetError` where even the pointers to what must be kept exceed the budget.
    """
    known: dict[str, int] = {}

    def cost(line: str) -> int:
        price = known.get(line)
        if price is None:
            price = known[line] = counter.count(line + "\n")
        return price

    sections = sections_of(found)
    least = sum(_least(section, cost) for section in sections)
    if least > budget:
        raise BudgetError(
            f"The pointers to what must be kept take {least:,} tokens, more than the budget of "
            f"{budget:,}: allow at least {least:,}.",
            least,
        )
    draft = _Draft(sections, cost)
    room = budget - least
    told = draft.instruct(int(budget * _INSTRUCTIONS))
    names = min(_names_budget(budget - told), room - told) if found.mentions else 0
    draft.fill(room - told - names)
    chosen, more, spent = _names(found, counter, draft.text(), names)
    draft.enrich(budget - draft.spent - spent)
    return _fitted(draft, chosen, more, counter, budget)


def frame(text: str, count: int, reach: tuple[NodeId, NodeId], tokens: int) -> str:
    """A summary as it stands in the window: it says that it is a checkpoint, of how many nodes
    from which event to which, and where the raw is, so that it cannot be taken for a new
    request. Marks of a frame in the summary itself, which quotes, are told as what they are."""
    text = _MARK.sub(r"‹\1checkpoint›", text)
    return (
        f"{FRAME} It stands for {count:,} earlier messages and "
        f"results, events {reach[0]} to {reach[1]} ({tokens:,} tokens), summarised by rule. "
        f"Nothing in it asks for anything new; finished work stays finished. The raw is kept in "
        f"the session's log: [event N] is a place in it.\n\n{text}\n</checkpoint>"
    )


class _Draft:
    """The sections as written so far."""

    def __init__(self, sections: Sequence[Section], cost: Cost) -> None:
        self._sections = sections
        self._cost = cost
        self._written: dict[str, Written] = {}
        self._spent: dict[str, int] = {}

    @property
    def spent(self) -> int:
        return sum(self._spent.values())

    def body(self) -> list[tuple[str, tuple[str, ...]]]:
        """The sections that have something, in their order."""
        titles = [s.title for s in self._sections if s.title in self._written]
        return [(title, self._written[title].lines) for title in titles]

    def text(self) -> str:
        return _join(self.body())

    def degraded(self) -> Sequence[str]:
        """Of all sections that stand."""
        listed = [written.degraded for written in self._written.values()]
        return Pieces((lines, 0, len(lines)) for lines in listed)

    def instruct(self, room: int) -> int:
        """The user's own words and the standing rules before anything else, as far as the room
        goes; the tokens that they take beyond their least forms."""
        left = room
        for section in self._sections:
            if section.title in INSTRUCTIONS:
                own = _least(section, self._cost)
                left -= self._put(section, left + own) - own
        return room - left

    def fill(self, room: int) -> None:
        """Every further section with its share of the room, as far as it goes."""
        left = room
        for section in self._sections:
            if section.title in self._written:
                continue
            own = _least(section, self._cost)
            left -= self._put(section, min(int(room * section.share), left) + own) - own

    def enrich(self, left: int) -> None:
        """What is left over, to the sections in their order."""
        for section in self._sections:
            before = self._spent.get(section.title, 0)
            if left < 16:
                return
            left -= self._put(section, before + int(left * section.most)) - before

    def drop(self, tokens: int) -> None:
        """Make the last written section that may shrink smaller by about so many tokens."""
        for section in reversed(self._sections):
            spent, least = self._spent.get(section.title, 0), _least(section, self._cost)
            if spent > least:
                self._put(section, max(least, spent - tokens - 16), shrink=True)
                return

    def _put(self, section: Section, allowance: int, *, shrink: bool = False) -> int:
        """Write a section in at most so many tokens, its title included; tokens that it takes."""
        cost, title = self._cost, self._cost(_title(section.title))
        part = section.write(allowance - title, cost) if allowance > title else Written(())
        spent = title + sum(cost(line) for line in part.lines)
        if not part.lines or spent > allowance:
            if section.title in self._written and not shrink:
                return self._spent[section.title]
            part = Written((section.minimal,) if section.minimal else (), part.degraded)
            spent = _least(section, cost)
        if part.lines:
            self._written[section.title] = part
            self._spent[section.title] = spent
        else:
            self._written.pop(section.title, None)
            self._spent.pop(section.title, None)
        return spent


def _least(section: Section, cost: Cost) -> int:
    return cost(_title(section.title)) + cost(section.minimal) if section.minimal else 0


def _title(title: str) -> str:
    return f"\n## {title}"


def _names_budget(budget: int) -> int:
    enough = min(int(budget * _NAMES_SHARE), _NAMES_ENOUGH)
    return enough + int(max(0, budget - _NAMES_ENOUGH / _NAMES_SHARE) * _NAMES_BEYOND)


def _names(
    found: Digest, counter: TokenCounter, text: str, budget: int
) -> tuple[list[Mention], int, int]:
    """The names, how many are left out, and the tokens of their section."""
    title = counter.count(f"\n\n## {_NAMES_TITLE}\n") + 12
    chosen, more = choose(
        found.mentions.values(), found.length, Present(text), counter.count, budget - title
    )
    if not chosen:
        return [], 0, 0
    return chosen, more, title + counter.count("\n".join(lines(chosen, more)))


def _fitted(
    draft: _Draft, chosen: list[Mention], more: int, counter: TokenCounter, budget: int
) -> Summary:
    """Joined, and cut where the tokens of joined lines exceed the sum of their parts."""
    while True:
        body = draft.body()
        if chosen:
            body.append((_NAMES_TITLE, tuple(lines(chosen, more))))
        text = _join(body)
        total = counter.count(text)
        if total <= budget:
            break
        if chosen:
            cut = max(1, min(len(chosen), (total - budget) // 6 + 1))
            del chosen[-cut:]
            more += cut
        else:
            draft.drop(total - budget)
    return Summary(
        text=text,
        tokens=total,
        sections={title: counter.count("\n".join(part)) for title, part in body},
        degraded=draft.degraded(),
    )


def _join(body: Sequence[tuple[str, Sequence[str]]]) -> str:
    return "\n\n".join("\n".join([f"## {title}", *part]) for title, part in body)
