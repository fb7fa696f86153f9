"""The usual ways to cut a text, each as half-open ranges of characters, blanks at the ends off."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from compress.tokens import TokenCounter

Range = tuple[int, int]
Splitter = Callable[[str], Iterable[Range]]

SIZES = (100, 200, 400)
SEPARATORS = ("\n\n", "\n", ".", "?", "!", " ", "")
"""Of the recursive splitter, in the order in which they are tried (those of Chroma's study)."""
_BLANK_LINE = re.compile(r"\n[^\S\n]*\n\s*")


def usual(counter: TokenCounter) -> dict[str, Splitter]:
    """All of them, by the names under which they are shown."""
    found: dict[str, Splitter] = {}
    for size in SIZES:
        found[f"fixed {size}"] = lambda text, size=size: windows(text, size, counter)
    found["paragraphs"] = paragraphs
    for size in SIZES:
        found[f"recursive {size}"] = lambda text, size=size: recursive(text, size, counter)
    for size in SIZES:
        found[f"semantic-text-splitter {size}"] = lambda text, size=size: semantic(
            text, size, counter
        )
    return found


def trimmed(text: str, ranges: Iterable[Range]) -> list[Range]:
    """Without blanks at either end; what is blank is left out."""
    found = []
    for start, end in ranges:
        part = text[start:end]
        if part.strip():
            first = start + len(part) - len(part.lstrip())
            found.append((first, first + len(part.strip())))
    return found


def windows(text: str, size: int, counter: TokenCounter) -> Iterator[Range]:
    """As many characters as count at most ``size`` tokens, one window after the other."""
    start = 0
    while start < len(text):
        low, high = start + 1, min(len(text), start + size)
        while high < len(text) and counter.count(text[start:high]) <= size:
            low, high = high, min(len(text), high + size)
        while low < high:
            middle = (low + high + 1) // 2
            if counter.count(text[start:middle]) <= size:
                low = middle
            else:
                high = middle - 1
        yield start, low
        start = low


def paragraphs(text: str) -> Iterator[Range]:
    """What stands between blank lines, of any length."""
    start = 0
    for gap in _BLANK_LINE.finditer(text):
        yield start, gap.start()
        start = gap.end()
    yield start, len(text)


def recursive(text: str, size: int, counter: TokenCounter) -> list[Range]:
    """Split at the first separator, parts merged while they fit, a larger part split at the next:
    what ``RecursiveCharacterTextSplitter`` of LangChain does, without overlap."""

    def fits(start: int, end: int) -> bool:
        return counter.count(text[start:end].strip()) <= size

    def split(start: int, end: int, level: int) -> Iterator[Range]:
        pending: Range | None = None
        for part in _parts(text, start, end, SEPARATORS[level]):
            if pending is not None and fits(pending[0], part[1]):
                pending = (pending[0], part[1])
                continue
            if pending is not None:
                yield pending
            pending = None
            if fits(*part) or level == len(SEPARATORS) - 1:
                pending = part
            else:
                yield from split(*part, level + 1)
        if pending is not None:
            yield pending

    return list(split(0, len(text), 0))


def _parts(text: str, start: int, end: int, separator: str) -> Iterator[Range]:
    """Each with its separator; without one, single characters."""
    while start < end:
        at = text.find(separator, start, end) if separator else start
        stop = end if at < 0 else max(start + 1, at + len(separator))
        yield start, stop
        start = stop


def semantic(text: str, size: int, counter: TokenCounter) -> Iterator[Range]:
    """By the library of that name, which only this benchmark needs."""
    try:
        from semantic_text_splitter import TextSplitter  # noqa: PLC0415 - only here
    except ImportError:
        raise SystemExit(
            "semantic-text-splitter is not installed: `pip install semantic-text-splitter`, "
            "or leave its arms out with --without-semantic"
        ) from None
    for start, chunk in TextSplitter.from_callback(counter.count, size).chunk_indices(text):
        yield start, start + len(chunk)
