"""Identifiers as this benchmark understands them: its own rules, which the summariser never sees.

Classes, each span of text belonging to the first that fits: URLs; paths with at least one slash;
file names with a usual extension; snake_case and camelCase names; hexadecimal ids of 7 to 40
digits; numbers of three digits or more; upper-case codes of four letters or more.
"""

from __future__ import annotations

import re
from typing import Final

CLASSES: Final = ("url", "path", "file", "symbol", "hex", "number", "code")

_EXTENSIONS = (
    "astro|bash|bat|c|cc|cfg|clj|cmake|conf|cpp|cs|css|csv|cts|cxx|db|diff|env|ex|exs|fish|go"
    "|gradle|graphql|h|hpp|hs|html|ini|ipynb|java|jpeg|jpg|js|json|jsonl|jsx|kt|less|lock|log"
    "|lua|m|map|md|mdx|mjs|mod|mts|patch|pdf|php|pl|plist|png|proto|ps1|py|pyi|r|rb|rs|rst"
    "|sass|scala|scss|sh|sql|sqlite|sum|svelte|svg|swift|tar|tex|tf|toml|ts|tsv|tsx|txt|vue"
    "|wasm|webp|xml|yaml|yml|zig|zip|zsh|gz"
)

_SEGMENT = r"[\w.@%+~$#=-]"
_PATTERN = re.compile(
    rf"""
      (?P<url>\b[a-z][a-z0-9+.-]*://[^\s"'`<>|\\^{{}}\[\]()]+)
    | (?P<path>(?<![\w.@%+~$\#=/<-])
        (?:[A-Za-z]:(?:[\\/]{_SEGMENT}+)+ | /?{_SEGMENT}+(?:/{_SEGMENT}+)+ | /{_SEGMENT}+))
    | (?P<file>(?<![\w.-])\.?[\w-]+(?:\.[\w-]+)*\.(?:{_EXTENSIONS})(?![\w-]|\.\w))
    | (?P<symbol>(?<!\w)(?<!\w-)_*[A-Za-z][A-Za-z0-9]*(?:_+[A-Za-z0-9]+)+_*(?!\w|-\w)
        | (?<!\w)(?<!\w-)[A-Za-z][A-Za-z0-9]*?[a-z0-9][A-Z][A-Za-z0-9]*(?!\w|-\w))
    | (?P<hex>(?<!\w)(?<!\w-)(?=[a-fA-F]*[0-9])(?=[0-9]*[a-fA-F])[0-9a-fA-F]{{7,40}}(?!\w|-\w))
    | (?P<number>(?<![\w.,])(?<!\w-)[0-9]{{3,}}(?![\w]|-\w|[.,][0-9]))
    | (?P<code>(?<!\w)(?<!\w-)[A-Z]{{4,}}[0-9]*(?!\w|-\w))
    """,
    re.VERBOSE | re.ASCII,
)
_HEX = re.compile(r"(?=[a-f]*[0-9])(?=[0-9]*[a-f])[0-9a-f]{7,40}", re.IGNORECASE)
_REAL_SEGMENT = re.compile(r"[A-Za-z_]\w", re.ASCII)
_TRAILING = ".,:;!?*#=~+-%$@"
_WORD = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_")


def identifiers(text: str) -> dict[str, str]:
    """Identifier → class, in order of first sight. The longest form counts: a file name inside a
    path is no identifier of its own."""
    found: dict[str, str] = {}
    for match in _PATTERN.finditer(text):
        kind = str(match.lastgroup)
        name = match[0]
        if kind in ("url", "path"):
            name = name.rstrip(_TRAILING).rstrip("/")
        if kind == "path" and not _is_path(name):
            continue
        if kind == "symbol" and _HEX.fullmatch(name):
            kind = "hex"
        if name:
            found.setdefault(name, kind)
    return found


def _is_path(name: str) -> bool:
    """Fractions, dates and lone letters with slashes between them are no paths."""
    parts = [part for part in re.split(r"[\\/]", name) if part]
    return (
        bool(parts)
        and ("/" in name or "\\" in name)
        and any(_REAL_SEGMENT.search(part) for part in parts)
    )


def stands(name: str, text: str) -> bool:
    """Whether an identifier stands in a text on token boundaries: not inside a longer word, and
    not joined to one by a hyphen."""
    at = text.find(name)
    while at >= 0:
        if _bounded(text, at, at + len(name)):
            return True
        at = text.find(name, at + 1)
    return False


def _bounded(text: str, start: int, end: int) -> bool:
    first, last = text[start] in _WORD, text[end - 1] in _WORD
    before, after = text[max(0, start - 2) : start], text[end : end + 2]
    if before and before[-1] in _WORD and (first or text[start] in "/\\.~"):
        return False
    if first and len(before) == 2 and before[1] == "-" and before[0] in _WORD:
        return False
    if last and after[:1] and after[0] in _WORD:
        return False
    return not (last and len(after) == 2 and after[0] == "-" and after[1] in _WORD)
