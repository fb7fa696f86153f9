"""A long text cut into spans: the values that pass between the rooms.

Offsets count Unicode scalars of the text and bytes of its UTF-8 form (a lone surrogate, as JSON may
hold it, is the three bytes of ``surrogatepass``); ranges are half open. The spans of a document, in
order and without what they overlap, are its text again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

BlockKind = Literal[
    "title",
    "heading",
    "paragraph",
    "list_item",
    "table_row_group",
    "code",
    "caption",
    "dialogue_turn",
    "dom_region",
    "unknown",
]

TextKind = Literal["markdown", "plain", "code", "diff", "log", "table"]
"""What a text is read as; found by its structure where the caller does not say."""

BoundaryMode = Literal["similarity", "structure_only"]

Cut = Literal["section", "block", "sentence", "line", "punctuation", "blank", "cluster", "scalar"]
"""What a span begins at, the strongest first. ``cluster``: nothing better was within the limit;
``scalar``: a single grapheme cluster was above the hard limit, so that it had to be cut."""


@dataclass(frozen=True, slots=True)
class SourceRange:
    """A part of a document's text."""

    start: int
    """Scalars before it."""
    end: int
    byte_start: int
    """Bytes before it."""
    byte_end: int


@dataclass(frozen=True, slots=True)
class Document:
    """An immutable text. Its blocks and spans belong to it; none is stored with another."""

    id: str
    text: str
    digest: str
    """SHA-256 of its bytes, in hexadecimal."""


@dataclass(frozen=True, slots=True)
class SourceBlock:
    """A piece of a document's structure. All blocks, in order, cover the text without a gap."""

    index: int
    kind: BlockKind
    range: SourceRange
    level: int = 0
    """Of a heading, from 1; of a list item, its depth from 1."""
    parent: int | None = None
    """Index of the block that it stands in: the heading of its section, its list item."""


@dataclass(frozen=True, slots=True)
class SpanLimits:
    """Tokens of a span as it is rendered, metadata included."""

    preferred: int
    """Neighbours are merged up to this size."""
    hard: int
    """No span is ever larger."""
    overlap: int = 0
    """Tokens that a span may repeat of the one before it; only where a text without any boundary
    was cut at token offsets."""


@dataclass(frozen=True, slots=True)
class Span:
    """One leaf."""

    index: int
    """In its document, from 0."""
    id: str
    """Follows from the document's id, its bytes and the range."""
    range: SourceRange
    payload: str
    """What is embedded, searched or shown: the metadata, then the text of the range."""
    payload_start: int
    """Scalars of the payload that are metadata."""
    tokens: int
    """Of the payload."""
    section: tuple[str, ...] = ()
    """The headings above it, the outermost first."""
    parent: int | None = None
    """Index of the block that holds it, where a block was split; else of its section's heading."""
    previous: int | None = None
    next: int | None = None
    """Index of the neighbours in the same document."""
    blocks: tuple[int, int] = (0, 0)
    """Index of the first block that it has a part of, and of the last."""
    overlap: int = 0
    """Scalars at its beginning that the span before it has, too."""
    cut: Cut = "block"
    """What it begins at."""


@dataclass(frozen=True, slots=True)
class Spans:
    """A document, cut."""

    document: Document
    kind: TextKind
    limits: SpanLimits
    counter: str
    boundary_mode: BoundaryMode
    blocks: tuple[SourceBlock, ...]
    spans: tuple[Span, ...]


class Similarity(Protocol):
    """How alike neighbouring units are, from 0 to 1."""

    @property
    def name(self) -> str: ...

    def scores(self, units: Sequence[str]) -> Sequence[float]:
        """One score for each pair of neighbours, ``len(units) - 1`` of them, in order."""
        ...
