"""What stands before a span's text in its payload: the headings above it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from compress.spans.micro_units import edge_before
from compress.spans.values import SourceBlock, SpanLimits
from compress.tokens import TokenCounter

Metadata = Callable[[Sequence[str]], str]
"""The headings above a span, the outermost first → what its payload begins with."""

SHARE = 0.25
"""Of the preferred size, what the headings in the metadata take at most."""
TITLE = 120
"""Characters of a heading in metadata."""
_MARKS = " \t#=*~+_"


def headings(section: Sequence[str]) -> str:
    """The headings in a line of their own; nothing where there is none."""
    return " › ".join(section) + "\n" if section else ""


def bare(section: Sequence[str]) -> str:
    """No metadata: the payload is the text."""
    return ""


def title_of(text: str, block: SourceBlock) -> str:
    """A heading without its marks, in one line of at most :data:`TITLE` characters."""
    start, end = block.range.start, block.range.end
    line = text[start : min(end, start + 4 * TITLE)].lstrip().partition("\n")[0]
    title = " ".join(line.strip(_MARKS).split())
    return title[: edge_before(title, 0, TITLE)]


class Prefixes:
    """What the payloads of a document's spans begin with."""

    def __init__(
        self,
        text: str,
        blocks: Sequence[SourceBlock],
        metadata: Metadata,
        limits: SpanLimits,
        counter: TokenCounter,
    ) -> None:
        self._text = text
        self._blocks = blocks
        self._metadata = metadata
        self._most = SHARE * limits.preferred
        self._counter = counter
        self._sections: dict[int | None, tuple[str, ...]] = {None: ()}
        self._under: dict[int | None, tuple[str, int]] = {}
        self._rendered: dict[tuple[str, ...], tuple[str, int]] = {}

    def section(self, block: int) -> tuple[str, ...]:
        """The headings above a block, the outermost first; its own is none of them."""
        above = self._blocks[block].parent
        if above is not None and above not in self._sections:
            outer = self.section(above)
            title = title_of(self._text, self._blocks[above]) if self._is_heading(above) else ""
            self._sections[above] = (*outer, title) if title else outer
        return self._sections[above]

    def _is_heading(self, block: int) -> bool:
        return self._blocks[block].kind in ("heading", "title")

    def of(self, block: int) -> tuple[str, int]:
        """The metadata of a span that begins in a block, and its tokens: as many of the innermost
        headings as take no more than their share."""
        above = self._blocks[block].parent
        known = self._under.get(above)
        if known is None:
            known = self._under[above] = self._of(self.section(block))
        return known

    def _of(self, section: tuple[str, ...]) -> tuple[str, int]:
        if section not in self._rendered:
            text = self._metadata(section)
            tokens = self._counter.count(text) if text else 0
            fits = tokens <= self._most or not section
            self._rendered[section] = (text, tokens) if fits else self._of(section[1:])
        return self._rendered[section]
