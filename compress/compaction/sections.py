"""The sections of a summary: each writes itself as well as its allowance of tokens lets it.

A section may be asked twice, the second time with what others left over. What does not fit stands
as a count, and, for the user's words, as a headline with a pointer, then as a pointer alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar

from compress.compaction.material import (
    HEADLINE,
    Briefs,
    CommandRun,
    Digest,
    Failure,
    FileTouch,
    Said,
    headline,
    pointer,
)
from compress.events import NodeId
from compress.pieces import Pieces

Cost = Callable[[str], int]
"""Tokens of a line, its newline included."""

_MISSES = 256
"""Messages in a row that do not fit, after which no further one is tried: there may be 50,000."""
_SHORTEST = 12
"""Tokens below which nothing that says something can be written."""
_POINTERS_LISTED = 8
_SHORT_FORMS = 20_000
"""Characters of a text beyond which its verbatim form is not tried."""
_CUT = "[…]"
_LISTED = 400
"""Items of a list that are looked at: no budget holds more."""

_Item = TypeVar("_Item")


@dataclass(frozen=True, slots=True)
class Written:
    """Lines, and the headlines of what could not stand verbatim."""

    lines: tuple[str, ...]
    degraded: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Section:
    """One part of a summary. ``share`` of the room (the budget without
    the names) is what it takes at first, ``most`` what it
    takes of what is left over at the end; ``minimal`` is what must stand of it at least (empty
    for one that may be left out)."""

    title: str
    share: float
    write: Callable[[int, Cost], Written]
    minimal: str = ""
    most: float = 1.0


def sections_of(found: Digest) -> list[Section]:
    """The sections with something to say, by priority, names left out."""
    open_items, done, jobs = len(found.open_items), len(found.done_items), len(found.jobs)
    files, commands = len(found.files), len(found.commands)
    every = [
        _messages("User instructions", 0.34, found.said),
        _messages("Standing rules", 0.1, found.rules),
        _list("Open items", 0.14, found.open_items, f"{open_items} open items"),
        _list("Running jobs", 0.05, _places(found.jobs), f"{jobs} background jobs"),
        _list("Unresolved errors", 0.12, _failures(found), of=len(found.failures)),
        _words("Reported", 0.18, found),
        _list("Last steps", 0.07, _steps(found), of=len(found.steps), reverse=True),
        _list("Files", 0.2, _files(found), f"{files} files read or changed", of=files),
        _list(
            "Commands", 0.07, _commands(found), of=commands, fuller=_commands(found, detailed=True)
        ),
        _list("Finished items", 0.05, _newest(found.done_items), f"{done} finished", of=done),
        _list("Decisions", 0.06, _places(_newest(found.decisions)), of=len(found.decisions)),
        _list("Earlier summary by the agent", 0.08, _earlier(found), bullet="", most=0.5),
        _list("Written into files", 0.0, _edits(found)),
    ]
    return [section for section in every if section is not None]


def _messages(title: str, share: float, said: Sequence[Said]) -> Section | None:
    if not said:
        return None

    def write(allowance: int, cost: Cost) -> Written:
        return _write_messages(said, allowance, cost)

    return Section(title, share, write, _all_pointers(said))


def _list(
    title: str,
    share: float,
    lines: Sequence[str],
    minimal: str = "",
    *,
    of: int = 0,
    bullet: str = "- ",
    fuller: Sequence[str] = (),
    reverse: bool = False,
    most: float = 1.0,
) -> Section | None:
    """Lines, the most important first, the first of ``of`` that there are. ``fuller``: the same
    with more to each, written where all of them fit. ``reverse``: written in log order."""
    if not lines:
        return None
    total = max(of, len(lines))
    every = [f"{bullet}{line}" for line in lines]
    richer = [f"{bullet}{line}" for line in fuller]

    def write(allowance: int, cost: Cost) -> Written:
        kept = _fitting(every, total, allowance, cost, minimal)
        if richer and len(kept) >= total:
            kept = _enriched(every, richer, allowance, cost)
        return Written(tuple(reversed(kept)) if reverse else tuple(kept))

    return Section(title, share, write, f"- {minimal}" if minimal else "", most)


def _write_messages(said: Sequence[Said], allowance: int, cost: Cost) -> Written:
    """In order of rank, newest first: verbatim where short, else headline and pointer; what is
    left over is one line of pointers. Written in log order. Short is two thirds of the allowance
    for the last message, what is left for the first, a sixth for others."""
    newest = range(len(said) - 1, max(-1, len(said) - 1 - _LISTED), -1)
    first = [i for i in range(min(len(said), _LISTED)) if said[i].rank < 2 and i not in newest]
    order = sorted([*newest, *first], key=lambda i: (said[i].rank, -i))
    left = allowance - cost(_all_pointers(said))
    chosen: dict[int, str] = {}
    verbatim: set[int] = set()
    misses = 0
    for index in order:
        if left < _SHORTEST or misses >= _MISSES:
            break
        one = said[index]
        misses += 1
        short = (allowance * 2 // 3, left, max(40, allowance // 6))[min(one.rank, 2)]
        whole = _verbatim(one)
        forms = [(whole, short)] if len(one.text) <= min(40 * short, _SHORT_FORMS) else []
        forms += [(_brief(one, HEADLINE), left // 2), (_brief(one, HEADLINE // 3), left)]
        for form, most in forms:
            price = cost(form)
            if price <= min(left, most):
                chosen[index] = form
                left -= price
                misses = 0
                if form == whole:
                    verbatim.add(index)
                break
    lines = [chosen[index] for index in sorted(chosen)]
    left_out = (said[i].node for i in range(len(said) - 1, -1, -1) if i not in chosen)
    rest = list(islice(left_out, _POINTERS_LISTED))[::-1]
    if rest:
        first_out = next(said[i].node for i in range(len(said)) if i not in chosen)
        lines.insert(0, _pointers(first_out, rest, len(said) - len(chosen)))
    return Written(tuple(lines), Briefs(Pieces.without(said, 0, len(said), sorted(verbatim))))


def _verbatim(one: Said) -> str:
    return f"- {pointer(one.node)} {_indented(one.text)}"


def _indented(text: str) -> str:
    """A text of several lines as part of a list item, so that its headings are none of ours."""
    return text.replace("\n", "\n  ")


def _brief(one: Said, length: int) -> str:
    return f"- {pointer(one.node)} {headline(one.text, length)}"


def _words(title: str, share: float, found: Digest) -> Section | None:
    """The agent's own words: what it said last, then what it closed earlier turns with, then the
    rest, newest first; each verbatim, else cut in the middle, else a headline."""
    closing = [node for _, node in found.notes]
    rank = {node: place for place, node in enumerate(reversed(closing))}
    said = found.words
    order = sorted(
        range(len(said)), key=lambda i: (i != len(said) - 1, rank.get(said[i][1], len(rank)), -i)
    )
    if not said:
        return None

    def write(allowance: int, cost: Cost) -> Written:
        left = allowance - cost(_left_out(len(said)))
        chosen: dict[int, str] = {}
        for place, index in enumerate(order):
            if left < _SHORTEST:
                break
            text, node = said[index]
            most = left if place == 0 else max(left // 3, min(left, 60))
            for form in _forms(text, node, most, cost):
                price = cost(form)
                if price <= most:
                    chosen[index] = form
                    left -= price
                    break
        lines = [chosen[index] for index in sorted(chosen)]
        earlier = len(closing) - sum(1 for i in chosen if said[i][1] in rank)
        if earlier > 0 and lines:
            lines.insert(0, _left_out(earlier))
        return Written(tuple(lines))

    return Section(title, share, write)


def _left_out(count: int) -> str:
    return f"- … the closing words of {count} earlier turns left out"


def _forms(text: str, node: NodeId, most: int, cost: Cost) -> Iterable[str]:
    if len(text) <= _SHORT_FORMS:
        yield f"- {pointer(node)} {_indented(text)}"
        lines = text.split("\n")
        # The end of a report says what comes next, its beginning what it is about.
        for kept in (16, 8, 5, 3):
            if len(lines) > kept:
                head = kept // 2
                cut = [*lines[:head], _CUT, *lines[head - kept :]]
                yield f"- {pointer(node)} " + _indented("\n".join(cut))
    yield f"- {pointer(node)} {headline(text, 4 * HEADLINE)}"
    yield f"- {pointer(node)} {headline(text)}"


def _fitting(
    lines: Sequence[str], total: int, allowance: int, cost: Cost, minimal: str
) -> list[str]:
    """The first lines that fit, then how many of all were left out."""
    kept: list[str] = []
    left = allowance
    reserve = cost(_more(total))
    for index, line in enumerate(lines):
        price = cost(line)
        if price > left - (0 if index == total - 1 else reserve):
            break
        kept.append(line)
        left -= price
    if not kept:
        return [f"- {minimal}"] if minimal else []
    if len(kept) < total:
        kept.append(_more(total - len(kept)))
    return kept


def _enriched(lines: Sequence[str], fuller: Sequence[str], allowance: int, cost: Cost) -> list[str]:
    """All lines, as many of the first ones in their fuller form as fit."""
    left = allowance - sum(cost(line) for line in lines)
    kept = list(lines)
    for index, line in enumerate(fuller):
        more = cost(line) - cost(lines[index])
        if more > left:
            break
        left -= more
        kept[index] = line
    return kept


def _more(count: int) -> str:
    return f"- … and {count} more"


def _all_pointers(said: Sequence[Said]) -> str:
    return _pointers(said[0].node, [one.node for one in said[-_POINTERS_LISTED:]], len(said))


def _pointers(first: NodeId, newest: Sequence[NodeId], count: int) -> str:
    """Where so many messages stand; ``newest``: the last of them, as many as are listed."""
    listed = ", ".join(str(node) for node in newest)
    if count > len(newest):
        return f"- {count} messages: the first at event {first}, the last at {listed}"
    return f"- At event {listed}" if count == 1 else f"- At events {listed}"


def _newest(items: Sequence[_Item]) -> list[_Item]:
    return list(islice(reversed(items), _LISTED))


def _places(found: Iterable[tuple[str, NodeId]]) -> list[str]:
    return [f"{headline(text)} {pointer(node)}" for text, node in found]


def _files(found: Digest) -> list[str]:
    """Changed ones first, the newest first."""
    return [_file(one) for one in _by_change(found)[:_LISTED]]


def _by_change(found: Digest) -> list[FileTouch]:
    return sorted(found.files.values(), key=lambda f: (not f.changes, -f.index, f.path))


def _file(one: FileTouch) -> str:
    what = []
    if one.created:
        what.append("created")
    if one.changes > one.created:
        what.append(f"changed ×{one.changes - one.created}")
    if one.reads:
        what.append(f"read ×{one.reads}")
    if one.last not in ("", "ok", "exit 0"):
        what.append(one.last)
    return f"{one.path}: {', '.join(what)}"


def _edits(found: Digest) -> list[str]:
    """What was written into the changed files, a telling line for each change, newest first."""
    return [
        "\n".join([f"{one.path}:", *(f"  `{line}`" for line in reversed(one.wrote))])
        for one in _by_change(found)[:_LISTED]
        if one.wrote
    ]


def _commands(found: Digest, *, detailed: bool = False) -> list[str]:
    runs = sorted(found.commands.values(), key=lambda run: (-run.index, run.command))
    return [_command(run, detailed=detailed) for run in runs[:_LISTED]]


def _command(run: CommandRun, *, detailed: bool) -> str:
    times = f" ×{run.runs}" if run.runs > 1 else ""
    ended = f" → {run.outcome.label}" if run.outcome.label else ""
    told = f": {headline(run.last)}" if detailed and run.last else ""
    return f"`{headline(run.command)}`{times}{ended}{told}"


def _steps(found: Digest) -> list[str]:
    """Newest first."""
    return [
        f"{headline(step.headline, 120)}{f' → {step.ended}' if step.ended else ''} "
        f"{pointer(step.node)}"
        for step in reversed(found.steps[-40:])
    ]


def _failures(found: Digest) -> list[str]:
    """Newest first; calls that failed alike stand once."""
    alike: dict[tuple[str, ...], list[Failure]] = {}
    for failure in islice(reversed(found.failures), _LISTED):
        alike.setdefault(failure.lines or (failure.call,), []).append(failure)
    return [
        "\n  ".join(
            [
                f"{same[0].call} {pointer(same[0].node)}"
                + (f" and {len(same) - 1} more calls" if len(same) > 1 else ""),
                *same[0].lines,
            ]
        )
        for same in alike.values()
    ]


def _demoted(line: str) -> str:
    """A heading of another text as one below ours."""
    return f"### {line.lstrip('# ')}" if line.startswith("#") else line


def _earlier(found: Digest) -> list[str]:
    """The newest summary that the agent wrote, by paragraphs, so that it is cut at one."""
    if not found.earlier:
        return []
    text, node = found.earlier[-1]
    paragraphs = [_demoted(part) for part in text.split("\n") if part.strip()]
    return [f"{pointer(node)} {paragraphs[0]}", *paragraphs[1:]] if paragraphs else []
