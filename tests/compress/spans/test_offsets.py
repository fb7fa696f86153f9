"""From a place in a payload to its place in the source."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compress.spans.offsets import PayloadMap, PayloadOffset, PayloadPositionError, SourceOffset
from compress.spans.values import SourceRange, Spans
from tests.compress.spans.made import CUT, cut, size

SPANS = cut([("", "Zwölf "), ("Über > ", "👩🏽 汉ก")])
"""Of the second: range 6 to 11 of the text, 7 bytes before it, seven scalars of metadata."""


def test_a_place_in_the_text_has_its_scalars_and_its_bytes() -> None:
    places = PayloadMap(SPANS.spans[1])
    assert places.source(PayloadOffset(7)) == SourceOffset(6, 7)
    # 👩 and the tone of its skin are four bytes each.
    assert places.source(PayloadOffset(8)) == SourceOffset(7, 11)
    assert places.source(PayloadOffset(12)) == SourceOffset(11, 22)
    assert places.payload(7) == PayloadOffset(8)


@pytest.mark.parametrize("at", [0, 6])
def test_a_position_in_the_metadata_has_no_place_in_the_source(at: int) -> None:
    with pytest.raises(PayloadPositionError, match="is in the metadata, the first 7 characters"):
        PayloadMap(SPANS.spans[1]).source(PayloadOffset(at))


@pytest.mark.parametrize("at", [-1, 13])
def test_a_position_outside_of_the_payload_is_refused(at: int) -> None:
    with pytest.raises(PayloadPositionError, match="outside of a payload of 12 characters"):
        PayloadMap(SPANS.spans[1]).source(PayloadOffset(at))


@pytest.mark.parametrize("at", [5, 12])
def test_a_place_that_the_span_does_not_reach_is_refused(at: int) -> None:
    with pytest.raises(PayloadPositionError, match="outside of the span, 6 to 11"):
        PayloadMap(SPANS.spans[1]).payload(at)


def test_a_range_that_ends_before_it_begins_is_refused() -> None:
    with pytest.raises(PayloadPositionError, match="ends before it begins"):
        PayloadMap(SPANS.spans[1]).source_range(PayloadOffset(9), PayloadOffset(8))


@given(CUT, st.data())
def test_there_and_back_is_the_same_place_and_the_same_text(
    spans: Spans, data: st.DataObject
) -> None:
    text = spans.document.text
    for span in spans.spans:
        places = PayloadMap(span)
        start = data.draw(st.integers(span.payload_start, len(span.payload)))
        end = data.draw(st.integers(start, len(span.payload)))
        found = places.source_range(PayloadOffset(start), PayloadOffset(end))
        assert text[found.start : found.end] == span.payload[start:end]
        assert (found.byte_start, found.byte_end) == (
            size(text[: found.start]),
            size(text[: found.end]),
        )
        assert places.payload(found.start) == PayloadOffset(start)


def test_tokens_are_found_in_the_source_and_never_in_the_metadata() -> None:
    (span,) = cut([("Title\n", "The 👩🏽 went home.")]).spans
    tokens = [b"Title", b"\n", b"The", b" \xf0\x9f", b"\x91\xa9\xf0\x9f\x8f\xbd", b" went home."]
    places = PayloadMap(span)
    assert places.token_range(tokens, 2, 3) == SourceRange(0, 3, 0, 3)
    # A token that ends inside of a scalar has a part of it.
    assert places.token_range(tokens, 3, 4) == SourceRange(3, 5, 3, 8)
    assert places.token_range(tokens, 4, 5) == SourceRange(4, 6, 4, 12)
    assert places.token_range(tokens, 6, 6) == SourceRange(17, 17, 23, 23)
    for first, last in ((0, 2), (1, 3)):
        with pytest.raises(PayloadPositionError, match="in the metadata"):
            places.token_range(tokens, first, last)
    for first, last in ((3, 2), (0, 7), (-1, 2)):
        with pytest.raises(PayloadPositionError, match="none of a payload of 6 tokens"):
            places.token_range(tokens, first, last)
    with pytest.raises(PayloadPositionError, match="not those of the payload"):
        places.token_range(tokens[1:], 0, 1)


@given(CUT)
def test_the_tokens_of_a_text_cover_it(spans: Spans) -> None:
    for span in spans.spans:
        encoded = span.payload[span.payload_start :].encode("utf-8", "surrogatepass")
        metadata = span.payload[: span.payload_start].encode("utf-8", "surrogatepass")
        tokens = [metadata, *(encoded[at : at + 3] for at in range(0, len(encoded), 3))]
        assert PayloadMap(span).token_range(tokens, 1, len(tokens)) == span.range
