"""What the cutting of a text refuses. No message holds any of the text."""

from __future__ import annotations

from compress.errors import CompressError
from compress.spans.values import SourceRange


class SpanLimitsError(CompressError):
    """Limits that contradict each other."""

    code = "span_limits"


class UnsplittableError(CompressError):
    """A part of a text that no cut brings under the hard limit."""

    code = "unsplittable"

    def __init__(self, document: str, where: SourceRange, tokens: int, hard: int) -> None:
        super().__init__(
            f"Characters {where.start} to {where.end} of document {document} count {tokens} tokens "
            f"as a span and cannot be cut further; the hard limit is {hard}. Raise the limit, or "
            "leave the metadata out."
        )
        self.range = where
        self.tokens = tokens
        self.hard = hard


class SimilarityError(CompressError):
    """Scores that are no scores: another number of them, or one that is no finite number."""

    code = "similarity"


class SimilarityUnavailableError(CompressError):
    """Raised by a similarity that cannot serve now: the text is cut by its structure only."""

    code = "similarity_unavailable"
