"""Images: their size from the header, their price from the provider's own examples."""

from __future__ import annotations

import base64
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compress.events import Image
from compress.images import (
    anthropic_high_tokens,
    anthropic_tokens,
    dimensions,
    gemini_tokens,
    image_from_base64,
    image_from_url,
    image_tokens,
    openai_patch_tokens,
    openai_tile_tokens,
)

PNG = b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", 640, 480) + b"\x08\x02\0\0\0"
GIF = b"GIF89a" + struct.pack("<HH", 320, 200) + b"\0\0\0"
JPEG = (
    b"\xff\xd8\xff\xe0"
    + struct.pack(">H", 16)
    + b"JFIF\0" * 2
    + b"\0\0\0\0"
    + b"\xff\xc4\0\x03x"  # a Huffman table: its marker lies among those of frame headers
    + b"\xff\xc2"
    + struct.pack(">HBHHB", 17, 8, 600, 800, 3)
    + b"\0" * 20
)
WEBP_LOSSY = (
    b"RIFF\0\0\0\0WEBPVP8 \0\0\0\0\x30\x01\x00\x9d\x01\x2a" + struct.pack("<HH", 176, 144) + b"\0\0"
)
WEBP_LOSSLESS = b"RIFF\0\0\0\0WEBPVP8L\0\0\0\0\x2f" + struct.pack("<I", 99 | 49 << 14) + b"\0" * 8
WEBP_EXTENDED = b"RIFF\0\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0" + b"\x0f\x27\0" + b"\x1f\x4e\0"


@pytest.mark.parametrize(
    ("data", "size"),
    [
        (PNG, (640, 480)),
        (GIF, (320, 200)),
        (JPEG, (800, 600)),
        (WEBP_LOSSY, (176, 144)),
        (WEBP_LOSSLESS, (100, 50)),
        (WEBP_EXTENDED, (10_000, 20_000)),
        (b"", None),
        (b"%PDF-1.7", None),
        (PNG[:20], None),
        (JPEG[:22], None),
    ],
    ids=["png", "gif", "jpeg", "vp8", "vp8l", "vp8x", "empty", "pdf", "cut png", "cut jpeg"],
)
def test_the_size_stands_in_the_header(data: bytes, size: tuple[int, int] | None) -> None:
    assert dimensions(data) == size


@given(st.one_of(st.binary(max_size=80), st.binary(max_size=40).map(lambda b: JPEG[:4] + b)))
@settings(max_examples=80, deadline=None)
def test_no_bytes_are_refused(data: bytes) -> None:
    found = dimensions(data)
    assert found is None or (found[0] > 0 and found[1] > 0)


@given(
    st.binary(max_size=60)
    | st.sampled_from([PNG, GIF, JPEG, WEBP_EXTENDED]).flatmap(
        lambda data: st.integers(0, len(data)).map(lambda cut: data[:cut])
    )
)
@settings(max_examples=80, deadline=None)
def test_the_size_in_bytes_is_that_of_what_is_encoded(data: bytes) -> None:
    assert image_from_base64(base64.b64encode(data).decode()).size == len(data)


def test_a_data_url_says_its_type() -> None:
    url = "data:image/png;base64," + base64.b64encode(PNG).decode()
    assert image_from_url(url) == Image(
        media_type="image/png", width=640, height=480, size=len(PNG)
    )


@pytest.mark.parametrize(
    "url", ["", "data:", "https://example.org/x.png", "data:image/svg+xml,<svg/>"]
)
def test_of_what_is_not_in_the_url_nothing_is_known(url: str) -> None:
    assert image_from_url(url) == Image()


@pytest.mark.parametrize("text", ["", "=", "data:", "***", "é" * 9, "QQ"])
def test_what_is_no_image_has_no_size(text: str) -> None:
    assert image_from_base64(text).width is None


@given(st.text(max_size=60))
@settings(max_examples=80, deadline=None)
def test_any_text_is_taken(text: str) -> None:
    assert image_from_base64(text).size >= 0
    assert image_from_url("data:image/png;base64," + text).size >= 0


@pytest.mark.parametrize(
    # Differences of token counts published for Claude 4.5 (huggingface.co/datasets/JOHNISKING/
    # image-token-cost), less the 65 tokens of the prompt around the image.
    ("width", "height", "tokens"),
    [
        (256, 256, 165 - 65),
        (512, 512, 426 - 65),
        (768, 768, 849 - 65),
        (1024, 1024, 1434 - 65),
        (1280, 720, 1261 - 65),
        (1920, 1080, 1625 - 65),
        (1080, 1920, 1625 - 65),
    ],
)
def test_anthropic_counts_patches(width: int, height: int, tokens: int) -> None:
    assert anthropic_tokens(width, height) == tokens


@pytest.mark.parametrize(
    # The same for Claude 5.5, less 77.
    ("width", "height", "tokens"),
    [(512, 512, 438 - 77), (1024, 1024, 1446 - 77), (1920, 1080, 2768 - 77)],
)
def test_newer_claudes_take_larger_images(width: int, height: int, tokens: int) -> None:
    assert anthropic_high_tokens(width, height) == tokens


@given(st.integers(1, 20_000), st.integers(1, 20_000))
@settings(max_examples=80, deadline=None)
def test_no_image_costs_more_than_the_limit(width: int, height: int) -> None:
    assert 1 <= anthropic_tokens(width, height) <= 1568
    assert anthropic_tokens(width, height) <= anthropic_high_tokens(width, height) <= 4784


@pytest.mark.parametrize(
    # Worked examples of OpenAI's documentation: 1024×1024 → four tiles; 2048×4096 → six.
    ("width", "height", "tokens"),
    [(1024, 1024, 765), (2048, 4096, 1105), (512, 512, 255)],
)
def test_openai_counts_tiles(width: int, height: int, tokens: int) -> None:
    assert openai_tile_tokens(width, height) == tokens


@pytest.mark.parametrize(
    ("width", "height", "tokens"), [(1024, 1024, 1024), (32, 33, 2), (9000, 9000, 1536)]
)
def test_openai_counts_patches(width: int, height: int, tokens: int) -> None:
    assert openai_patch_tokens(width, height) == tokens


@pytest.mark.parametrize(
    ("width", "height", "tokens"), [(384, 384, 258), (385, 10, 258), (800, 700, 516)]
)
def test_gemini_counts_tiles(width: int, height: int, tokens: int) -> None:
    assert gemini_tokens(width, height) == tokens


def test_an_image_of_unknown_size_is_priced_as_a_large_one() -> None:
    assert image_tokens(Image()) == 1568
    assert image_tokens(Image(), "openai_tiles") == 1105
