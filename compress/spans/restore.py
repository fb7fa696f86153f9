"""From what a search found to what is read: hits with what stands around them, under a budget.

Small spans are searched, and their surroundings are read. Two steps, both pure:

1. :func:`ranked`: a span's score is its own and a share of its neighbours', less across the border
   of a section: what stands between two hits is likely to belong to the answer, and a lone hit
   among strangers is not.
2. :func:`restored`: the best spans that fit, then, with what is left of the budget, the neighbours
   of each within its section, and the heading it stands under.

Adjacent spans are read as one run of the text, without metadata and without what they overlap.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from compress.spans.values import SourceRange, Span, SpanLimits, Spans
from compress.tokens import TokenCounter

SEARCHED = SpanLimits(preferred=96, hard=144)
"""Of spans that are searched: of the sizes from 64 to 128 tokens the one that found most."""
SHARE = 0.4
"""Of a neighbour's score, what a span is given; of one ``n`` spans away, the ``n``-th power of it.
All of these were chosen on two corpora and tried on a third, each way (CONTRIBUTING.md)."""
REACH = 3
"""Spans away, as far as they support each other."""
ACROSS = 0.8
"""Of that share, what is left over the border of a section."""
NEIGHBOURS = 2
"""Spans on either side of a hit that may be restored."""


def ranked(spans: Spans, scores: Mapping[int, float]) -> tuple[tuple[int, float], ...]:
    """Spans with their scores after their neighbours', the best first; equals in document order.

    ``scores``: index of a span → how well it matches, greater is better, above zero.
    """
    places = sorted({n for hit in scores for n in _around(spans, hit, REACH)} | set(scores))
    sections = {n: section_of(spans, n) for n in places}
    found = []
    for index in places:
        score = scores.get(index, 0.0)
        for other in _around(spans, index, REACH):
            if other in scores:
                near = SHARE ** abs(other - index)
                is_same = sections[other] == sections[index]
                score += (near if is_same else near * ACROSS) * scores[other]
        found.append((index, score))
    return tuple(sorted(found, key=lambda pair: (-pair[1], pair[0])))


def restored(
    spans: Spans, hits: Sequence[int], budget: int, counter: TokenCounter
) -> tuple[int, ...]:
    """Spans to read, in document order: hits, the best first as far as they fit, and their
    neighbours and headings. The text of their runs counts at most ``budget`` tokens.

    A hit that does not fit is passed over.
    """
    found = restored_of([spans], [(0, hit) for hit in hits], budget, counter)
    return tuple(index for _, index in found)


def restored_of(
    documents: Sequence[Spans],
    hits: Sequence[tuple[int, int]],
    budget: int,
    counter: TokenCounter,
) -> tuple[tuple[int, int], ...]:
    """The same over several documents: pairs of the document's place and the span's index."""
    context = _Context(documents, budget, counter)
    for hit in hits:
        context.take(hit)
    taken = [hit for hit in dict.fromkeys(hits) if context.has(hit)]
    for hit in taken:
        for place in _surroundings(documents[hit[0]], hit[1]):
            context.take((hit[0], place))
    return context.chosen()


def runs(spans: Spans, chosen: Sequence[int]) -> tuple[SourceRange, ...]:
    """The ranges of the text that spans cover, adjacent ones as one, in document order."""
    found: list[SourceRange] = []
    for index in sorted(set(chosen)):
        where = spans.spans[index].range
        if found and where.start <= found[-1].end:
            last = found[-1]
            where = SourceRange(last.start, where.end, last.byte_start, where.byte_end)
            found.pop()
        found.append(where)
    return tuple(found)


def section_of(spans: Spans, index: int) -> int | None:
    """The heading's block that a span stands under, or begins with; ``None`` before the first."""
    block: int | None = spans.spans[index].blocks[0]
    while block is not None and spans.blocks[block].kind not in ("heading", "title"):
        block = spans.blocks[block].parent
    return block


def _around(spans: Spans, index: int, reach: int) -> Iterator[int]:
    """Neighbours of a span, the nearest first."""
    for distance in range(1, reach + 1):
        for other in (index - distance, index + distance):
            if 0 <= other < len(spans.spans):
                yield other


def _surroundings(spans: Spans, index: int) -> Iterator[int]:
    """What may be restored with a span: its neighbours in the section, then where that begins."""
    section = section_of(spans, index)
    for other in _around(spans, index, NEIGHBOURS):
        if section_of(spans, other) == section:
            yield other
    if section is not None:
        heads = (n for n in range(index, -1, -1) if _holds(spans.spans[n], section))
        head = next(heads, None)
        if head is not None:
            yield head


def _holds(span: Span, block: int) -> bool:
    return span.blocks[0] <= block <= span.blocks[1]


_JOINED = 4
"""Tokens that a span may save, at most, by standing beside others; one that would need more is not
looked at twice."""


class _Context:
    """What was chosen so far. Runs are counted whole; a sum decides while it is below the budget,
    since runs that join cost no more than their parts and a token."""

    def __init__(self, documents: Sequence[Spans], budget: int, counter: TokenCounter) -> None:
        self._documents = documents
        self._budget = budget
        self._counter = counter
        self._chosen: dict[tuple[int, int], int] = {}
        self._spent = 0

    def has(self, place: tuple[int, int]) -> bool:
        return place in self._chosen

    def take(self, place: tuple[int, int]) -> None:
        """Adds a span if the whole is within the budget then."""
        if place in self._chosen:
            return
        document, index = place
        if self._spent + self._count(document, index, index) - _JOINED > self._budget:
            return
        left, right = index, index
        while (document, left - 1) in self._chosen:
            left -= 1
        while (document, right + 1) in self._chosen:
            right += 1
        before = self._count(document, left, index - 1) + self._count(document, index + 1, right)
        spent = self._spent - before + self._count(document, left, right)
        if spent <= self._budget:
            self._chosen[place] = index
            self._spent = spent

    def _count(self, document: int, first: int, last: int) -> int:
        if first > last:
            return 0
        spans = self._documents[document]
        start, end = spans.spans[first].range.start, spans.spans[last].range.end
        return self._counter.count(spans.document.text[start:end])

    def chosen(self) -> tuple[tuple[int, int], ...]:
        return tuple(sorted(self._chosen))
