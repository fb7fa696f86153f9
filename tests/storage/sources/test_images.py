"""The size of an image, from the first bytes of each format."""

from __future__ import annotations

from base64 import b64encode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compress.events import Image
from storage.sources.images import from_base64, from_url

PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + (640).to_bytes(4) + (480).to_bytes(4) + b"\x08\6\0\0\0"
GIF = b"GIF89a" + (640).to_bytes(2, "little") + (480).to_bytes(2, "little") + b"\0" * 4
JPEG = (
    b"\xff\xd8\xff\xe0\0\x04ab"  # a segment to step over
    b"\xff\xc4\0\x03x"  # a Huffman table, which is no frame header
    b"\xff\xc2\0\x11\x08" + (480).to_bytes(2) + (640).to_bytes(2) + b"\x03" * 10
)
WEBP = b"RIFF\0\0\0\0WEBP"
VP8X = WEBP + b"VP8X" + b"\0" * 8 + (639).to_bytes(3, "little") + (479).to_bytes(3, "little")
VP8L = WEBP + b"VP8L\0\0\0\0\x2f" + (639 | 479 << 14).to_bytes(4, "little") + b"\0" * 8
VP8 = (
    WEBP
    + b"VP8 \0\0\0\0\0\0\0\x9d\x01\x2a"
    + (640).to_bytes(2, "little")
    + (480).to_bytes(2, "little")
)


@pytest.mark.parametrize("data", [PNG, GIF, JPEG, VP8X, VP8L, VP8])
def test_width_and_height_stand_in_the_header(data: bytes) -> None:
    image = from_base64(b64encode(data).decode(), "image/any")
    assert (image.width, image.height, image.size) == (640, 480, len(data))


def test_of_a_remote_image_nothing_is_known() -> None:
    assert from_url("https://example.org/x.png") == Image()
    assert from_url("data:image/svg+xml,<svg/>") == Image()


@given(
    st.binary(max_size=60)
    | st.sampled_from([PNG, GIF, JPEG, VP8X]).flatmap(
        lambda data: st.integers(0, len(data)).map(lambda cut: data[:cut])
    )
)
def test_any_bytes_are_taken(data: bytes) -> None:
    assert from_base64(b64encode(data).decode()).size == len(data)


@given(st.text(max_size=60))
def test_any_text_is_taken(text: str) -> None:
    assert from_base64(text).size >= 0
    assert from_url("data:image/png;base64," + text).size >= 0
