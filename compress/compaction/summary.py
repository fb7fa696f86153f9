"""The rule-based summary: a digest, written under a budget.

Priorities (design, section 5): the user's standing instructions, open items, decisions, files,
commands and errors, the identifiers most likely to be needed again, pointers to the raw. First
every part that must stand is granted its least form; then each in turn takes what its share
allows; what is left over goes to the identifiers.
"""

from __future__ import annotations

from collections.abc import Sequence

from compress.compaction.digest import Digest
from compress.compaction.errors import BudgetError
from compress.compaction.identifiers import Mention, identifiers, ranked
from compress.compaction.sections import Cost, NameList, Section, sections_of
from compress.compaction.values import Summary
from compress.events import NodeId
from compress.tokens import TokenCounter

_KINDS = ("path", "symbol", "url", "commit", "number")
_NAMES_TITLE = "Names"
_NAMES_LIMIT = 4_000


def summarise(found: Digest, counter: TokenCounter, budget: int) -> Summary:
    """The summary of a digest in at most ``budget`` tokens, as the counter counts them.

    Raises :class:`BudgetError` where even the pointers to what must be kept exceed the budget.
    """

    def cost(line: str) -> int:
        return counter.count(line + "\n")

    sections = sections_of(found)
    least = sum(_least(section, cost) for section in sections)
    if least > budget:
        raise BudgetError(
            f"The pointers to what must be kept take {least:,} tokens, more than the budget of "
            f"{budget:,}: allow at least {least:,}.",
            least,
        )
    written, degraded = _write(sections, budget, least, cost)
    body = [(title, lines) for title, lines in written if lines]
    return _with_names(body, found, counter, budget, tuple(degraded))


def frame(text: str, count: int, reach: tuple[NodeId, NodeId], tokens: int) -> str:
    """A summary as it stands in the window: it says that it is a checkpoint, of how many nodes
    from which event to which, and where the raw is, so that it cannot be taken for a new
    request."""
    return (
        f"<checkpoint>\n"
        f"This is a checkpoint, not a request. It stands for {count:,} earlier messages and "
        f"results, events {reach[0]} to {reach[1]} ({tokens:,} tokens), summarised by rule. "
        f"Nothing in it asks for anything new; finished work stays finished. The raw is kept in "
        f"the session's log: [event N] is a place in it.\n\n{text}\n</checkpoint>"
    )


def _write(
    sections: Sequence[Section], budget: int, least: int, cost: Cost
) -> tuple[list[tuple[str, tuple[str, ...]]], list[str]]:
    left = budget - least
    written: list[tuple[str, tuple[str, ...]]] = []
    degraded: list[str] = []
    for section in sections:
        title, own = cost(_title(section.title)), _least(section, cost)
        room = left + own - title
        allowance = max(min(int(budget * section.share), room), own - title)
        if allowance <= 0:
            continue
        part = section.write(allowance, cost)
        lines, spent = part.lines, title + sum(cost(line) for line in part.lines)
        if not lines or spent > left + own:
            lines, spent = ((section.minimal,) if section.minimal else ()), own
        left -= spent - own
        written.append((section.title, lines))
        degraded.extend(part.degraded)
    return written, degraded


def _least(section: Section, cost: Cost) -> int:
    return cost(_title(section.title)) + cost(section.minimal) if section.minimal else 0


def _title(title: str) -> str:
    return f"\n## {title}"


def _with_names(
    body: list[tuple[str, tuple[str, ...]]],
    found: Digest,
    counter: TokenCounter,
    budget: int,
    degraded: tuple[str, ...],
) -> Summary:
    text = _join(body)
    left = budget - counter.count(text) - counter.count(f"\n\n## {_NAMES_TITLE}\n") - 24
    candidates = _absent(ranked(found.mentions.values(), found.length), text)
    names = NameList({kind: [] for kind in _KINDS})
    chosen: list[Mention] = []
    for mention in candidates[:_NAMES_LIMIT]:
        price = counter.count(f", {mention.text}")
        if price <= left:
            left -= price
            chosen.append(mention)
        if left < 2:
            break
    while True:
        names = NameList({kind: [] for kind in _KINDS}, len(candidates) - len(chosen))
        for mention in chosen:
            names.names[mention.kind].append(mention.text)
        whole = [*body, (_NAMES_TITLE, tuple(names.lines()))] if chosen else body
        text = _join(whole)
        total = counter.count(text)
        if total <= budget or not chosen:
            break
        # Tokens of a joined line can exceed the sum of its parts by a few.
        del chosen[-max(1, min(len(chosen), (total - budget) // 8 + 1)) :]
    return Summary(
        text=text,
        tokens=total,
        sections={title: counter.count("\n".join(lines)) for title, lines in whole},
        degraded=degraded,
    )


def _absent(mentions: Sequence[Mention], text: str) -> list[Mention]:
    """Those that do not stand in the text already, alone or as the last part of a path."""
    present: set[str] = set()
    for name, _ in identifiers(text):
        present.add(name)
        present.update(part for part in name.replace("\\", "/").split("/") if part)
    kept = []
    for mention in mentions:
        if mention.text in present:
            continue
        kept.append(mention)
        if mention.kind == "path":
            present.add(mention.text.replace("\\", "/").rsplit("/", 1)[-1])
    return kept


def _join(body: Sequence[tuple[str, Sequence[str]]]) -> str:
    return "\n\n".join("\n".join([f"## {title}", *lines]) for title, lines in body)
