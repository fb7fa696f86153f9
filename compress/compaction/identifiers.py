"""Identifiers: the names that a later step may need again, told by their shape alone.

Paths, URLs, symbols, numbers, commit ids. No list of words of any language: a plain word is none,
a word with an inner underscore, hump, digit, dot or slash is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

IdentifierKind = Literal["path", "url", "symbol", "commit", "number"]

LENGTH_LIMIT = 240
"""Characters: longer runs are data, not names."""

_RUN = re.compile(r"\b[A-Za-z]:\\[\w.\\-]*\w|(?<!<)(?:\\[a-z])?([\w$@~./:+#=?&%-]+)")
_TRAILING = "$@~./:+#=?&%-"
_URL = re.compile(r"[a-z][a-z0-9+.-]{1,15}://[^\s]+")
_LINE_SUFFIX = re.compile(r"(?::\d+)+$")
_NUMBER = re.compile(r"\d{3,}|v?\d+(?:\.\d+){1,3}")
_COMMIT = re.compile(r"(?=\w*\d)(?=\w*[a-f])[0-9a-f]{7,40}")
_DOTTED = re.compile(r"\w[\w-]*(?:\.\w[\w-]*)+")
_SYMBOL = re.compile(
    r"\w*[^\W_]_+[^\W_]\w*"  # inner underscore
    r"|_+[^\W\d_]\w+"  # leading underscore
    r"|\w*[a-z]\w*[A-Z]\w*"  # hump
    r"|[A-Z]{2,}[a-z]\w+"
    r"|(?=\w*\d)(?=\w*[^\W\d_])\w{3,}"  # letters and digits
    r"|\w+(?:::\w+)+"
)
_FLAG = re.compile(r"--\w[\w-]*\w")
_KEBAB = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)+")
_DATA = re.compile(r"[A-Za-z0-9+/=]{64,}")


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
    seen: int = 0
    """Other nodes that name it."""
    told: bool = False
    """A user named it."""


def identifiers(text: str) -> Iterator[tuple[str, IdentifierKind]]:
    """The identifiers of a text in order, repeats included."""
    for run in _RUN.finditer(text):
        # Stripped here, since a pattern that had to end on a letter would go back over long rules.
        token = (run[1] or run[0]).rstrip(_TRAILING)
        if 3 <= len(token) <= LENGTH_LIMIT and not (token.isalpha() and token[1:].islower()):
            yield from _classify(token)


def collect(mentions: dict[str, Mention], text: str, index: int, *, by: str) -> None:
    """Note the identifiers of one node's text; ``by`` is ``agent``, ``user`` or ``result``."""
    for name, kind in dict.fromkeys(identifiers(text)):
        known = mentions.get(name)
        if known is None:
            known = mentions[name] = Mention(name, kind, index, index)
        if by == "agent" and known.used_last != index:
            known.uses += 1
            known.used_last = index
        elif by != "agent":
            known.seen += 1
        known.told = known.told or by == "user"
        known.last = index


def ranked(mentions: Iterable[Mention], length: int) -> list[Mention]:
    """Most likely needed again first: what the agent itself used, often and lately. ``length`` is
    the number of nodes; ties are broken by recency, then by text. Numbers that only results hold
    are left out: most are line numbers."""
    worth = (m for m in mentions if m.kind != "number" or m.uses or m.told)
    return sorted(worth, key=lambda m: (-_score(m, length), -m.last, m.text))


def _score(mention: Mention, length: int) -> float:
    span = max(length, 1)
    recent_use = (mention.used_last + 1) / span
    recent = (mention.last + 1) / span
    weight = 2.0 * mention.uses * (0.25 + recent_use * recent_use)
    weight += 0.5 * min(mention.seen, 4) * (0.25 + recent * recent)
    if mention.told:
        weight += 1.0
    return weight * _KIND_WEIGHT[mention.kind]


_KIND_WEIGHT = {"path": 1.2, "url": 1.0, "symbol": 1.0, "commit": 0.9, "number": 0.5}


@lru_cache(maxsize=50_000)
def _classify(token: str) -> tuple[tuple[str, IdentifierKind], ...]:
    if "://" in token:
        found = _URL.search(token)
        return ((found[0], "url"),) if found else ()
    token = token.lstrip(":=+#.?&%-") if not token.startswith(("./", "../", "--", ".")) else token
    if _FLAG.fullmatch(token):
        return ((token, "symbol"),)
    token = _LINE_SUFFIX.sub("", token).rstrip("\\/")
    if "/" in token or "\\" in token:
        token = token.lstrip("/") if token.startswith("//") else token
        named = not _DATA.fullmatch(token) and any(c.isalpha() for c in token)
        return ((token, "path"),) if named else ()
    parts = [token] if "::" in token else re.split(r"[=:?&%#+]+", token)
    kinds = ((part, _plain_kind(part)) for part in parts)
    return tuple((part, kind) for part, kind in kinds if kind is not None)


def _plain_kind(part: str) -> IdentifierKind | None:
    if len(part) < 3 or _DATA.fullmatch(part):
        return None
    if _NUMBER.fullmatch(part):
        return "number"
    if _COMMIT.fullmatch(part):
        return "commit"
    if _DOTTED.fullmatch(part):
        # Shorter is an abbreviation with full stops.
        return "symbol" if max(len(piece) for piece in part.split(".")) > 2 else None
    if _SYMBOL.fullmatch(part) or (_KEBAB.fullmatch(part) and any(c.isdigit() for c in part)):
        return "symbol"
    return None
