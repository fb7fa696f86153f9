"""A document cut into spans: read as blocks, merged or split under its limits, and linked.

The spans in order, without what they overlap, are the text again; none is empty, and none is above
the hard limit as it is rendered.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from compress.spans.blocks import Ranges, encoded, read
from compress.spans.errors import SimilarityUnavailableError, SpanLimitsError, UnsplittableError
from compress.spans.kinds import kind_of
from compress.spans.merge import Merge, Placed
from compress.spans.metadata import Metadata, Prefixes, headings
from compress.spans.similarity import LEXICAL, checked
from compress.spans.split import Atom
from compress.spans.units import Unit, parts, weights, whole
from compress.spans.values import (
    BoundaryMode,
    Document,
    Similarity,
    SourceBlock,
    Span,
    SpanLimits,
    Spans,
    TextKind,
)
from compress.tokens import TokenCounter, count_many


def spans_of(
    document: Document,
    limits: SpanLimits,
    counter: TokenCounter,
    *,
    kind: TextKind | None = None,
    similarity: Similarity | None = LEXICAL,
    metadata: Metadata = headings,
) -> Spans:
    """A document, cut; the same for the same arguments, in every process.

    ``kind`` is found by the text's structure where it is not given. Without a ``similarity``, or
    where it raises :class:`SimilarityUnavailableError`, only structure counts, and the result says
    so.

    Raises:
        SpanLimitsError: the limits contradict each other.
        SimilarityError: the similarity gave something else than one finite number for each border.
        UnsplittableError: one scalar, with its metadata, is above the hard limit.
    """
    _check(limits)
    text = document.text
    found = kind if kind is not None else kind_of(text)
    blocks = read(text, found)
    scores, mode = _scores(similarity, [text[b.range.start : b.range.end] for b in blocks])
    prefixes = Prefixes(text, blocks, metadata, limits, counter)
    units = _units(text, blocks, limits, counter, prefixes)
    try:
        placed = Merge(
            text, units, limits=limits, counter=counter, prefix_of=prefixes.of, scores=scores
        ).pieces()
    except Atom as atom:
        where = Ranges(text).range(atom.start, atom.end)
        raise UnsplittableError(document.id, where, atom.tokens, limits.hard) from None
    spans = tuple(_spans(document, blocks, placed, prefixes))
    return Spans(document, found, limits, counter.name, mode, blocks, spans)


def _check(limits: SpanLimits) -> None:
    if not 1 <= limits.preferred <= limits.hard:
        raise SpanLimitsError(
            f"A span's preferred size of {limits.preferred} tokens must be at least 1 and at most "
            f"the hard limit of {limits.hard}."
        )
    if not 0 <= limits.overlap < limits.preferred:
        raise SpanLimitsError(
            f"An overlap of {limits.overlap} tokens must be at least 0 and less than the preferred "
            f"size of {limits.preferred}."
        )


def _units(
    text: str,
    blocks: Sequence[SourceBlock],
    limits: SpanLimits,
    counter: TokenCounter,
    prefixes: Prefixes,
) -> list[Unit]:
    """Whole blocks as far as they fit: by themselves into the preferred size, with their metadata
    under the hard limit. The parts of the others."""
    sizes = count_many(counter, [text[b.range.start : b.range.end] for b in blocks])
    units: list[Unit] = []
    for block, size, weight in zip(blocks, sizes, weights(blocks), strict=True):
        rendered = size + prefixes.of(block.index)[1]
        if size <= limits.preferred and rendered <= limits.hard:
            units.append(whole(block, weight))
        else:
            units.extend(parts(text, block, weight))
    return units


def _scores(
    similarity: Similarity | None, texts: Sequence[str]
) -> tuple[list[float], BoundaryMode]:
    if similarity is None:
        return [], "structure_only"
    try:
        return checked(similarity, texts), "similarity"
    except SimilarityUnavailableError:
        return [], "structure_only"


def _spans(
    document: Document,
    blocks: Sequence[SourceBlock],
    placed: Sequence[Placed],
    prefixes: Prefixes,
) -> Iterator[Span]:
    """The pieces with their places in the hierarchy."""
    text = document.text
    starts = [block.range.start for block in blocks]
    ranges = Ranges(text)
    seed = hashlib.sha256(encoded(f"{document.id}\0{document.digest}\0"))
    for index, (piece, prefix, _, tokens) in enumerate(placed):
        first = bisect_right(starts, piece.start + piece.overlap) - 1
        last = bisect_right(starts, piece.end - 1) - 1
        where = ranges.range(piece.start, piece.end)
        whole_block = blocks[first].range
        is_part = first == last and (where.start, where.end) != (whole_block.start, whole_block.end)
        name = seed.copy()
        name.update(f"{where.byte_start}-{where.byte_end}".encode())
        yield Span(
            index=index,
            id=name.hexdigest()[:24],
            range=where,
            payload=prefix + text[piece.start : piece.end],
            payload_start=len(prefix),
            tokens=tokens,
            section=prefixes.section(first),
            parent=first if is_part else blocks[first].parent,
            previous=index - 1 if index else None,
            next=index + 1 if index + 1 < len(placed) else None,
            blocks=(bisect_right(starts, piece.start) - 1, last),
            overlap=piece.overlap,
            cut=piece.cut,
        )
