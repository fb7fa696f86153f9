"""A long content in parts, each of a size that a pack can hold."""

from __future__ import annotations

from compress.spans.blocks import document
from compress.spans.errors import UnsplittableError
from compress.spans.metadata import bare
from compress.spans.packer import spans_of
from compress.spans.values import SpanLimits
from compress.tokens import TokenCounter

PART_LIMITS = SpanLimits(preferred=240, hard=400)
"""Tokens of a part. A content within the hard limit stays whole."""


def parts_of(
    content: str, counter: TokenCounter, limits: SpanLimits = PART_LIMITS
) -> tuple[str, ...]:
    """The parts in order, which are the content again when they are joined. A content that cannot
    be cut stays whole."""
    if len(content.encode("utf-8", "surrogatepass")) <= limits.hard:
        # No token is shorter than a byte.
        return (content,)
    if len(content) <= 8 * limits.hard and counter.count(content) <= limits.hard:
        return (content,)
    try:
        found = spans_of(document("", content), limits, counter, similarity=None, metadata=bare)
    except UnsplittableError:
        return (content,)
    return tuple(span.payload[span.payload_start + span.overlap :] for span in found.spans)
