"""Spans made by hand: a text cut where the test says, and the profile that it is cut for."""

from __future__ import annotations

import hashlib
from itertools import accumulate, pairwise
from typing import Any

from hypothesis import strategies as st

from compress.spans.profile import SpanProfile, profile
from compress.spans.values import Document, SourceBlock, SourceRange, Span, Spans
from compress.tokens import CharsOverFour

COUNTER = CharsOverFour()
FACTS: dict[str, Any] = {
    "version": 3,
    "provider": "example",
    "model": "embed-small",
    "revision": "2026-01-15",
    "tokenizer": "chars/4",
    "tokenizer_digest": "a" * 64,
    "provider_max_input_tokens": 8_192,
    "provider_max_request_tokens": 300_000,
    "preferred_tokens": 500,
    "hard_tokens": 1_000,
    "request_tokens": 100_000,
    "overlap_tokens": 20,
    "dimensions": 1_536,
    "metadata_template": 1,
    "provenance": {
        "source": "https://docs.example.com/models/embed-small",
        "digest": "b" * 64,
        "verified_on": "2026-02-28",
    },
}
PROFILE: SpanProfile = profile(FACTS)
TEXTS = st.text(
    st.sampled_from("aZ 9\n.\0\u0301é\u200d👩🏽ทก한汉\u05d0\ud83d") | st.characters(), max_size=40
)
"""Scalars of one to four bytes, joiners, marks, NUL, lone surrogates."""


def size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def where(text: str, start: int, end: int) -> SourceRange:
    return SourceRange(start, end, size(text[:start]), size(text[:end]))


def cut(parts: list[tuple[str, str]], overlap: int = 0, name: str = "notes.md") -> Spans:
    """Spans of ``(metadata, text)`` each, one block a span. Every span but the first repeats so
    many scalars of the one before it, as far as that goes."""
    text = "".join(part for _, part in parts)
    encoded = text.encode("utf-8", "surrogatepass")
    document = Document(name, text, hashlib.sha256(encoded).hexdigest())
    ends = list(accumulate((len(part) for _, part in parts), initial=0))
    blocks, spans = [], []
    for index, ((metadata, _), (start, end)) in enumerate(zip(parts, pairwise(ends), strict=True)):
        blocks.append(SourceBlock(index, "paragraph", where(text, start, end), 0, None))
        repeated = min(overlap, len(parts[index - 1][1])) if index else 0
        payload = metadata + text[start - repeated : end]
        spans.append(
            Span(
                index=index,
                id=f"{name}-{index}",
                range=where(text, start - repeated, end),
                payload=payload,
                payload_start=len(metadata),
                tokens=COUNTER.count(payload),
                section=(metadata,) if metadata else (),
                parent=index,
                previous=index - 1 if index else None,
                next=index + 1 if index + 1 < len(parts) else None,
                blocks=(index - 1 if repeated else index, index),
                overlap=repeated,
                cut="cluster" if repeated else "block",
            )
        )
    return Spans(
        document, "plain", PROFILE.limits, COUNTER.name, "similarity", tuple(blocks), tuple(spans)
    )


PARTS = st.lists(st.tuples(TEXTS, TEXTS.filter(bool)), max_size=6)
CUT = st.builds(cut, PARTS, st.integers(0, 5))
