"""The sections of a summary: each writes itself as well as its allowance of tokens lets it.

A section is asked once, with an allowance. What does not fit stands as a count, and, for the
user's words, as a headline with a pointer, then as a pointer alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from compress.compaction.digest import Digest, FileTouch, Said
from compress.events import NodeId

Cost = Callable[[str], int]
"""Tokens of a line, its newline included."""

HEADLINE = 160
"""Characters of a message's headline."""
_POINTERS_LISTED = 8


@dataclass(frozen=True, slots=True)
class Written:
    """Lines, and the headlines of what could not stand verbatim."""

    lines: tuple[str, ...]
    degraded: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Section:
    """One part of a summary. ``share`` of the budget is the most that it takes; ``minimal`` is
    what must stand of it at least (empty for one that may be left out)."""

    title: str
    share: float
    write: Callable[[int, Cost], Written]
    minimal: str = ""


def pointer(node: NodeId) -> str:
    """Where the raw is."""
    return f"[event {node}]"


def sections_of(found: Digest) -> list[Section]:
    """The sections with something to say, by priority, identifiers left out."""
    every = [
        _messages("User instructions", 0.4, found.said),
        _messages("Standing rules", 0.1, found.rules),
        _list("Open items", 0.15, found.open_items, f"{len(found.open_items)} open items"),
        _list("Running jobs", 0.05, _places(found.jobs), f"{len(found.jobs)} background jobs"),
        _list("Decisions", 0.08, _places(found.decisions)),
        _list("Files", 0.16, _files(found), f"{len(found.files)} files read or changed"),
        _list("Unresolved errors", 0.12, _failures(found)),
        _list("Commands", 0.1, _commands(found)),
        _list("Reported", 0.08, _places(found.notes, reverse=True)),
        _list("Earlier summary by the agent", 0.12, _earlier(found), bullet=""),
    ]
    return [section for section in every if section is not None]


def _messages(title: str, share: float, said: Sequence[Said]) -> Section | None:
    if not said:
        return None

    def write(allowance: int, cost: Cost) -> Written:
        return _write_messages(said, allowance, cost)

    return Section(title, share, write, _pointers([s.node for s in said]))


def _list(
    title: str, share: float, lines: Sequence[str], minimal: str = "", *, bullet: str = "- "
) -> Section | None:
    if not lines:
        return None

    def write(allowance: int, cost: Cost) -> Written:
        listed = [f"{bullet}{line}" for line in lines]
        return Written(tuple(_fitting(listed, allowance, cost, minimal)))

    return Section(title, share, write, f"- {minimal}" if minimal else "")


def _write_messages(said: Sequence[Said], allowance: int, cost: Cost) -> Written:
    """In order of rank, newest first: verbatim where short, else headline and pointer; what is
    left over is one line of pointers. Written in log order."""
    order = sorted(range(len(said)), key=lambda i: (said[i].rank, -i))
    left = allowance - cost(_pointers([s.node for s in said]))
    chosen: dict[int, str] = {}
    degraded: list[int] = []
    for index in order:
        one = said[index]
        short = allowance // 2 if one.rank < 2 else max(40, allowance // 8)
        forms = [(_verbatim(one), short)] if len(one.text) <= 40 * short else []
        forms += [(_brief(one, HEADLINE), left // 2), (_brief(one, HEADLINE // 3), left)]
        for form, most in forms:
            price = cost(form)
            if price <= min(left, most):
                chosen[index] = form
                left -= price
                break
        if chosen.get(index) != _verbatim(one):
            degraded.append(index)
    rest = [one.node for index, one in enumerate(said) if index not in chosen]
    lines = [chosen[index] for index in sorted(chosen)]
    if rest:
        lines.insert(0, _pointers(rest))
    return Written(
        tuple(lines),
        tuple(f"{_headline(said[i].text)} {pointer(said[i].node)}" for i in sorted(degraded)),
    )


def _verbatim(one: Said) -> str:
    return f"- {pointer(one.node)} {one.text}"


def _brief(one: Said, length: int) -> str:
    return f"- {pointer(one.node)} {_headline(one.text, length)}"


def _fitting(lines: Sequence[str], allowance: int, cost: Cost, minimal: str) -> list[str]:
    """The first lines that fit, then how many were left out."""
    kept: list[str] = []
    left = allowance
    reserve = cost(_more(len(lines)))
    for index, line in enumerate(lines):
        price = cost(line)
        last = index == len(lines) - 1
        if price > left - (0 if last else reserve):
            break
        kept.append(line)
        left -= price
    if not kept:
        return [f"- {minimal}"] if minimal else []
    if len(kept) < len(lines):
        kept.append(_more(len(lines) - len(kept)))
    return kept


def _more(count: int) -> str:
    return f"- … and {count} more"


def _pointers(nodes: Sequence[NodeId]) -> str:
    listed = ", ".join(str(node) for node in nodes[-_POINTERS_LISTED:])
    if len(nodes) > _POINTERS_LISTED:
        return f"- {len(nodes)} messages, the last at events {listed}"
    return f"- At event {listed}" if len(nodes) == 1 else f"- At events {listed}"


def _headline(text: str, length: int = HEADLINE) -> str:
    line = " ".join(text.split())
    return line if len(line) <= length else line[: length - 1] + "…"


def _places(found: Iterable[tuple[str, NodeId]], *, reverse: bool = False) -> list[str]:
    lines = [f"{_headline(text)} {pointer(node)}" for text, node in found]
    return lines[::-1] if reverse else lines


def _files(found: Digest) -> list[str]:
    """Changed ones first, the newest first."""
    touched = sorted(found.files.values(), key=lambda f: (not f.changes, -f.index, f.path))
    return [_file(one) for one in touched]


def _file(one: FileTouch) -> str:
    what = []
    if one.created:
        what.append("created")
    if one.changes > one.created:
        what.append(f"changed ×{one.changes - one.created}")
    if one.reads:
        what.append(f"read ×{one.reads}")
    if one.last == "error" or one.last.startswith("exit "):
        what.append(one.last)
    return f"{one.path}: {', '.join(what)}"


def _commands(found: Digest) -> list[str]:
    runs = sorted(found.commands.values(), key=lambda run: (-run.index, run.command))
    lines = []
    for run in runs:
        times = f" ×{run.runs}" if run.runs > 1 else ""
        ended = f" → {run.outcome.label}" if run.outcome.label else ""
        lines.append(f"`{_headline(run.command)}`{times}{ended}")
    return lines


def _failures(found: Digest) -> list[str]:
    return [
        "\n  ".join([f"{failure.call} {pointer(failure.node)}", *failure.lines])
        for failure in reversed(found.failures)
    ]


def _earlier(found: Digest) -> list[str]:
    """The newest summary that the agent wrote, by paragraphs, so that it is cut at one."""
    if not found.earlier:
        return []
    text, node = found.earlier[-1]
    paragraphs = [part for part in text.split("\n") if part.strip()]
    return [f"{pointer(node)} {paragraphs[0]}", *paragraphs[1:]] if paragraphs else []


@dataclass(slots=True)
class NameList:
    """The identifiers that stand in no other section, in as few tokens as they take."""

    names: dict[str, list[str]] = field(default_factory=dict)
    """Kind → names, most important first."""
    left_out: int = 0

    def lines(self) -> list[str]:
        titles = {"path": "Paths", "url": "URLs", "symbol": "Symbols"}
        lines = [
            f"{titles.get(kind, 'Commits' if kind == 'commit' else 'Numbers')}: {', '.join(names)}"
            for kind, names in self.names.items()
            if names
        ]
        if self.left_out:
            lines.append(f"… and {self.left_out} more")
        return lines
