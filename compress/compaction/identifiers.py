"""Identifiers: the names that a later step may need again, told by their shape alone.

Paths, file names, URLs, symbols, codes, commit ids, numbers. No list of words of any language: a
plain word is none; a word with an inner underscore, hump, dot or slash is, and one in capitals.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from math import log1p
from typing import Literal

IdentifierKind = Literal["path", "file", "url", "symbol", "code", "commit", "number", "mixed"]
"""``mixed``: letters and digits, or parts with hyphens: most are words of a language or data."""

LENGTH_LIMIT = 240
"""Characters: longer runs are data, not names."""

_RUN = re.compile(r"\b[A-Za-z]:\\[\w.\\-]*\w|(?<!<)(?:\\[nrt])?([\w$@~./:+#=?&%-]+)")
_TRAILING = "$@~./:+#=?&%-"
_LEADING = ":=+#?&%-"
_URL = re.compile(r"[a-z][a-z0-9+.-]{1,15}://[^\s]+")
_LINE_SUFFIX = re.compile(r"(?::\d+)+$")
_NUMBER = re.compile(r"\d{3,}|v?\d+(?:\.\d+){1,3}")
_COMMIT = re.compile(r"(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,40}")
_CODE = re.compile(r"(?=(?:[^A-Z]*[A-Z]){4})[A-Z][A-Z0-9]{3,}")
_FILE = re.compile(r"[\w@][\w@-]*(?:\.[\w-]+)*\.[A-Za-z]\w{0,5}|\.[a-z][\w.-]+")
_DOTTED = re.compile(r"\w[\w-]*(?:\.\w[\w-]*)+")
_SYMBOL = re.compile(
    r"\w*[^\W_]_+[^\W_]\w*"  # inner underscore
    r"|_+[^\W\d_]\w+"  # leading underscore
    r"|(?=[^\W\d])\w*[a-z0-9]\w*[A-Z]\w*"  # hump
    r"|[A-Z]{2,}[a-z]\w+"
    r"|\w+(?:::\w+)+"
)
_MIXED = re.compile(r"(?=\w*\d)(?=\w*[^\W\d_])\w{3,}")
_KEBAB = re.compile(r"[A-Za-z0-9]+(?:-[A-Za-z0-9]+)+")
_DATA = re.compile(r"[A-Za-z0-9+/=]{64,}")
_SHUFFLED = re.compile(r"(?:[a-z]+|[A-Z]+|\d+)")
"""The runs of one sort of character that a token consists of."""
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")
_ASSIGNED = re.compile(r":|(?<=\w)=(?=[\w./~-]+/|[./~])")
_REAL_PART = re.compile(r"[^\W\d]\w")

_STRONG: frozenset[IdentifierKind] = frozenset({"symbol", "code", "commit"})


def identifiers(text: str) -> Iterator[tuple[str, IdentifierKind]]:
    """The identifiers of a text in order, repeats included."""
    for run in _RUN.finditer(text):
        # Stripped here, since a pattern that had to end on a letter would go back over long rules.
        token = (run[1] or run[0]).rstrip(_TRAILING)
        if 3 <= len(token) <= LENGTH_LIMIT and not (token.isalpha() and token[1:].islower()):
            yield from _classify(token)


@lru_cache(maxsize=50_000)
def _classify(token: str) -> tuple[tuple[str, IdentifierKind], ...]:
    if "://" in token:
        found = _URL.search(token)
        return ((found[0], "url"),) if found else ()
    token = token.lstrip(_LEADING)
    token = _LINE_SUFFIX.sub("", token).rstrip("\\/")
    if "/" in token or "\\" in token:
        return _paths(token)
    parts = [token] if "::" in token else re.split(r"[=:?&%#+]+", token)
    return tuple(name for part in parts for name in _plain(part))


def _paths(token: str) -> tuple[tuple[str, IdentifierKind], ...]:
    if _DATA.fullmatch(token):
        return ()
    parts = [token] if _DRIVE.match(token) else _ASSIGNED.split(token)
    found: list[tuple[str, IdentifierKind]] = []
    for part in parts:
        name = part.lstrip("/") if part.startswith("//") else part
        if "/" not in name and "\\" not in name:
            found.extend(_plain(name))
        elif any(_REAL_PART.search(piece) for piece in re.split(r"[\\/]", name)):
            found.append((name, "path"))
    return tuple(found)


def _plain(part: str) -> list[tuple[str, IdentifierKind]]:
    """A word without slashes. One with dots is a file, or symbols that belong to one another."""
    part = part.strip("-$@")
    if len(part) < 3 or _DATA.fullmatch(part):
        return []
    kind = _kind(part)
    if kind is not None or "." not in part:
        return [] if kind is None or _shuffled(part, kind) else [(part, kind)]
    pieces = [piece for piece in part.split(".") if piece]
    strong = [(piece, k) for piece in pieces if (k := _kind(piece)) in _STRONG and k is not None]
    if _FILE.fullmatch(part) and max(len(piece) for piece in pieces) > 2:
        # It may be a member of a symbol as well: only then do the pieces say more.
        last = pieces[-1]
        return [(part, "file"), *(strong if len(last) > 4 or not last.islower() else ())]
    if strong:
        return strong
    dotted = _DOTTED.fullmatch(part) and max(len(piece) for piece in pieces) > 2
    return [(part, "mixed")] if dotted else []


def _kind(part: str) -> IdentifierKind | None:
    if _NUMBER.fullmatch(part):
        # Three digits at least: a shorter one is a count, and stands for nothing.
        return "number" if sum(c.isdigit() for c in part) > 2 else None
    if _COMMIT.fullmatch(part):
        return "commit"
    if _CODE.fullmatch(part):
        return "code"
    if _SYMBOL.fullmatch(part):
        return "symbol"
    if _MIXED.fullmatch(part) or (_KEBAB.fullmatch(part) and any(c.isdigit() for c in part)):
        return "mixed"
    return None


def _shuffled(part: str, kind: IdentifierKind) -> bool:
    """Whether a long word changes its sort of character so often that it is data (a key, an id in
    base 62), not a name that someone gave."""
    if kind not in ("symbol", "mixed") or len(part) < 16 or "-" in part:
        return False
    if not any(c.isdigit() for c in part):
        return False
    runs = [run for word in part.split("_") for run in _SHUFFLED.findall(word)]
    return len(runs) * 3 > len(part)


@dataclass(slots=True)
class Mention:
    """What is known of one identifier over a span of nodes."""

    text: str
    kind: IdentifierKind
    first: int
    """Index of the node that brought it in."""
    last: int
    uses: int = 0
    """Nodes of the agent that name it: its texts and the inputs of its calls."""
    used_last: int = -1
    """Index of the newest of those."""
    said: int = 0
    """Nodes in whose words, not calls, the agent names it."""
    seen: int = 0
    """Other nodes that name it."""
    told: bool = False
    """A user named it."""
    place: str = ""
    """The file in which it was named last, or the tool whose input names it."""
    schema: bool = False
    """It stands for nothing but an argument of a tool."""


def ranked(mentions: Iterable[Mention], length: int) -> list[Mention]:
    """Most likely needed again first; ties are broken by recency, then by text. ``length`` is the
    number of nodes. Numbers that only results hold are left out: most are line numbers."""
    worth = (m for m in mentions if not m.schema and (m.kind != "number" or m.uses or m.told))
    return sorted(worth, key=lambda m: (-likelihood(m, length), -m.last, m.text))


def likelihood(mention: Mention, length: int) -> float:
    """How likely the agent is to name an identifier again: log odds.

    What it used itself, often and lately, is used again; what only results hold counts by recency
    alone, and what stood once is mostly passing. The weights are round numbers near a logistic
    fit over the cuts of real sessions, each session judged by the fit over the others; taking any
    of them half as large or half as large again moves the share of identifiers found by less than
    two points.
    """
    odds = _KIND_ODDS[mention.kind] - 2.5
    if mention.uses:
        odds += 2.0 + log1p(mention.uses) - 0.5 * log1p(length - 1 - mention.used_last)
    else:
        odds -= 0.3 * log1p(length - 1 - mention.last)
        if mention.kind == "code":
            # Capitals in a document are emphasis as often as they are a name.
            odds -= 1.0
    if mention.uses + mention.seen == 1:
        odds -= 1.0
    return odds


_KIND_ODDS: dict[IdentifierKind, float] = {
    "path": 0.5,
    "file": 0.0,
    "url": 0.2,
    "symbol": 0.7,
    "code": 0.7,
    "commit": 0.7,
    "number": -1.0,
    "mixed": -4.0,
}
