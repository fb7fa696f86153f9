"""The names that stand in no other section: which are worth their tokens, and how they are
written so that a person can use them, by the file or the kind that they belong to."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from math import exp

from compress.compaction.identifiers import IdentifierKind, Mention, identifiers, likelihood

Cost = Callable[[str], int]
"""Tokens of a text."""

UNLIKELY = -4.2
"""Log odds below which a name is passing noise, however much room there is."""
_DOUBT_FILE = 3.0
_DOUBT_PATH = 1.5
_LONGEST = 12
"""Segments of a path whose parts are told apart."""
_SERIES = 3
"""Members of a series (``field_1``, ``field_2`` …) that stand for all of it."""
_DIGITS = re.compile(r"\d+")
_GROUP = 2
"""Names of one file that are worth a line of their own."""
_CANDIDATES = 4_000
_TITLES: Mapping[IdentifierKind, str] = {
    "path": "Paths",
    "file": "Files",
    "url": "URLs",
    "symbol": "Symbols",
    "code": "Codes",
    "commit": "Ids",
    "number": "Numbers",
    "mixed": "Other",
}


class Present:
    """The names that a text holds already, alone or as a part of a longer path."""

    def __init__(self, text: str) -> None:
        self._names: set[str] = set()
        for name, _ in identifiers(text):
            self.add(name)

    def __contains__(self, name: str) -> bool:
        return name in self._names

    def add(self, name: str) -> None:
        """It stands now, and with it every run of segments of a path."""
        self._names.add(name)
        if "/" not in name:
            return
        parts = name.split("/")[-_LONGEST:]
        for start in range(len(parts)):
            for stop in range(start + 1, len(parts) + 1):
                self._names.add("/".join(parts[start:stop]))


class _Places:
    """The folders and extensions that stand in paths of this session: what tells a file name from
    a member of an object, and a path from words with a slash between them."""

    def __init__(self, mentions: Collection[Mention]) -> None:
        paths = [m.text.split("/") for m in mentions if m.kind == "path"]
        self._extensions = {extension for parts in paths if (extension := _extension(parts[-1]))}
        self._last = {parts[-1] for parts in paths}
        self._folders: set[str] = set()
        for parts in paths:
            if parts[0] in ("", ".", "..", "~") or _extension(parts[-1]):
                self._folders.update(parts[:-1])

    def doubt(self, mention: Mention) -> float:
        """Log odds to take away."""
        if mention.kind == "file":
            extension = _extension(mention.text)
            known = extension in self._extensions if extension else mention.text in self._last
            return 0.0 if known else _DOUBT_FILE
        if mention.kind == "path" and "/" in mention.text:
            parts = mention.text.split("/")
            rooted = parts[0] in self._folders or parts[0] in ("", ".", "..", "~")
            return 0.0 if rooted or _extension(parts[-1]) in self._extensions else _DOUBT_PATH
        return 0.0


def _extension(name: str) -> str:
    stem, dot, extension = name.rpartition(".")
    return extension if dot and stem.strip(".") and extension.isalnum() else ""


def choose(
    mentions: Collection[Mention], length: int, present: Present, cost: Cost, budget: int
) -> tuple[list[Mention], int]:
    """The names to write in about ``budget`` tokens, and how many likely ones are left out.

    Greedy by likelihood ÷ √tokens: between the two pure orders, which favour long paths or short
    numbers too much.
    """
    likely: list[tuple[float, Mention]] = []
    known = _Places(mentions)
    for mention in mentions:
        odds = likelihood(mention, length) - known.doubt(mention)
        if odds >= UNLIKELY and mention.text not in present and _wanted(mention):
            likely.append((odds, mention))
    likely.sort(key=lambda one: (-one[0], -one[1].last, one[1].text))
    priced = []
    for odds, mention in likely[:_CANDIDATES]:
        price = cost(f", {mention.text}")
        priced.append((-1 / (1 + exp(-odds)) / price**0.5, -mention.last, mention.text, price))
    priced.sort()
    chosen: list[Mention] = []
    by_text = {mention.text: mention for _, mention in likely}
    left, more = budget, len(likely) - len(priced)
    series: Counter[str] = Counter()
    groups: Counter[tuple[str, str]] = Counter()
    for _, _, text, price in priced:
        mention = by_text[text]
        kin, group = _kin(mention), _group(mention)
        # The first name of a file stands among its kind; a second one is worth a line.
        headed = groups[group] == (1 if group[0] == "file" else 0)
        whole = price + (cost(f"- In {_short(group[1])}: ") if headed else 0)
        if text in present:
            continue
        if series[kin] >= _SERIES or whole > left:
            more += 1
            continue
        left -= whole
        groups[group] += 1
        series[kin] += 1
        present.add(text)
        chosen.append(mention)
    return chosen, more


def lines(chosen: Sequence[Mention], more: int) -> list[str]:
    """The names, a line for each file that several were named in and one for each other kind; the
    most likely first."""
    by_file: dict[str, list[str]] = {}
    for mention in chosen:
        if _group(mention)[0] == "file":
            by_file.setdefault(mention.place, []).append(mention.text)
    alone = {place for place, names in by_file.items() if len(names) < _GROUP}
    by_kind: dict[str, list[str]] = {}
    tools: dict[str, list[str]] = {}
    for mention in chosen:
        if mention.schema:
            tools.setdefault(mention.place, []).append(mention.text)
        elif _group(mention)[0] != "file" or mention.place in alone:
            by_kind.setdefault(_TITLES[mention.kind], []).append(mention.text)
    written = [
        f"- In {_short(place)}: {', '.join(names)}"
        for place, names in by_file.items()
        if place not in alone
    ]
    written += [
        f"- {title}: {', '.join(by_kind[title])}" for title in _TITLES.values() if title in by_kind
    ]
    if tools:
        listed = ", ".join(f"{tool} ({', '.join(names)})" for tool, names in tools.items())
        written.append(f"- Tools: {listed}")
    if more:
        written.append(f"- … and {more} more")
    return written


def _kin(mention: Mention) -> str:
    """What the members of a series, which differ in digits only, have in common."""
    if mention.kind in ("number", "commit"):
        return mention.text
    return _DIGITS.sub("0", mention.text)


def _wanted(mention: Mention) -> bool:
    return mention.kind != "number" or bool(mention.uses) or mention.told


def _group(mention: Mention) -> tuple[str, str]:
    """What a name is written under."""
    if mention.schema:
        return "tool", mention.place
    if mention.place and mention.kind in ("symbol", "code", "commit"):
        return "file", mention.place
    return "kind", mention.kind


def _short(place: str) -> str:
    """The end of a path: the whole of it stands among the files."""
    return place.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1] or place
