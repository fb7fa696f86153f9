"""What an image weighs: its size from the header bytes, its price by the provider's formula.

Base64 is never counted as text: one megabyte of it would count as 0.7 million tokens.
"""

from __future__ import annotations

import base64
import binascii
import math
from collections.abc import Callable
from typing import Literal

from compress.events import Image

ImagePricing = Literal["anthropic", "anthropic_high", "openai_tiles", "openai_patches", "gemini"]

_HEADER_CHARACTERS = 1 << 20
"""How much base64 is looked at for the size. A JPEG's size stands behind its metadata, which may
hold a preview of some hundred kilobytes."""

ANTHROPIC_EDGE, ANTHROPIC_MOST = 1568, 1568
OPENAI_BASE, OPENAI_TILE = 85, 170
OPENAI_PATCHES_MOST = 1536
GEMINI_TILE = 258


def image_tokens(image: Image, pricing: ImagePricing = "anthropic") -> int:
    """Tokens of one image. An image of unknown size is priced as a large one: what stands in the
    window should be over- rather than underestimated."""
    if not image.width or not image.height:
        return _OF_UNKNOWN_SIZE[pricing]
    return _FORMULAS[pricing](image.width, image.height)


def anthropic_tokens(
    width: int, height: int, edge: int = ANTHROPIC_EDGE, most: int = ANTHROPIC_MOST
) -> int:
    """One a patch of 28 × 28 pixels. A larger image is first scaled down, keeping its aspect
    ratio, until its long edge is at most ``edge`` pixels and it has at most ``most`` patches.

    Source: Anthropic's documentation, *Images and vision*, "Calculate image costs" (the older
    width × height ÷ 750 is the same rule without the rounding); limits up to Claude 4.6.
    """
    low, high = 0.0, min(1.0, edge / max(width, height))
    if _patches(width, height, high, 28) <= most:
        return _patches(width, height, high, 28)
    for _ in range(24):
        middle = (low + high) / 2
        if _patches(width, height, middle, 28) <= most:
            low = middle
        else:
            high = middle
    return _patches(width, height, low, 28)


def anthropic_high_tokens(width: int, height: int) -> int:
    """The same with the limits of Claude 4.7 and later: 2,576 pixels, 4,784 patches."""
    return anthropic_tokens(width, height, 2576, 4784)


def _patches(width: int, height: int, scale: float, side: int) -> int:
    across = max(1, math.ceil(width * scale / side - 1e-9))
    return across * max(1, math.ceil(height * scale / side - 1e-9))


def openai_tile_tokens(width: int, height: int) -> int:
    """85 + 170 a tile of 512 pixels, in high detail: the image is first fitted into 2,048 square,
    then its short side brought down to 768.

    Source: OpenAI's documentation, *Images and vision*, "Calculating costs" (GPT-4o family).
    """
    scale = min(1.0, 2048 / max(width, height))
    scale *= min(1.0, 768 / (min(width, height) * scale))
    tiles = math.ceil(width * scale / 512) * math.ceil(height * scale / 512)
    return OPENAI_BASE + OPENAI_TILE * tiles


def openai_patch_tokens(width: int, height: int) -> int:
    """One a patch of 32 pixels, at most 1,536: larger images are scaled down to that.

    Source: OpenAI's documentation, *Images and vision*, "Calculating costs" (patch-based models),
    without the factors of the small models.
    """
    return min(OPENAI_PATCHES_MOST, _patches(width, height, 1.0, 32))


def gemini_tokens(width: int, height: int) -> int:
    """258 where both sides are at most 384 pixels, else 258 a tile of 768 pixels.

    Source: Google's documentation, *Understand and count tokens*, "Multimodal tokens".
    """
    if width <= 384 and height <= 384:
        return GEMINI_TILE
    return GEMINI_TILE * math.ceil(width / 768) * math.ceil(height / 768)


def image_from_base64(data: str, media_type: str | None = None) -> Image:
    """The image that a log holds as base64, with the size that its header states. Never raises:
    what is no image has no size."""
    padding = data[-2:].count("=")
    head = data[:_HEADER_CHARACTERS]
    try:
        found = dimensions(base64.b64decode(head[: len(head) // 4 * 4]))
    except (binascii.Error, ValueError):
        found = None
    width, height = found or (None, None)
    size = max(0, len(data) * 3 // 4 - padding)
    return Image(media_type=media_type, width=width, height=height, size=size)


def image_from_url(url: str) -> Image:
    """The image behind a ``data:`` URL (RFC 2397); of any other URL nothing is known."""
    scheme, _, rest = url.partition(":")
    header, comma, data = rest.partition(",")
    if scheme != "data" or not comma or not header.endswith("base64"):
        return Image()
    return image_from_base64(data, header.partition(";")[0] or None)


def dimensions(data: bytes) -> tuple[int, int] | None:
    """(width, height) in pixels of a PNG, JPEG, GIF or WebP by its first bytes, or ``None``."""
    if data[:8] == b"\x89PNG\r\n\x1a\n" and data[12:16] == b"IHDR":
        found = _pair(data, 16, 4, "big")
    elif data[:6] in (b"GIF87a", b"GIF89a"):
        found = _pair(data, 6, 2, "little")
    elif data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        found = _webp(data)
    elif data[:2] == b"\xff\xd8":
        found = _jpeg(data)
    else:
        found = None
    return found if found and all(found) else None


def _pair(
    data: bytes, at: int, width: int, order: Literal["big", "little"]
) -> tuple[int, int] | None:
    if len(data) < at + 2 * width:
        return None
    first = int.from_bytes(data[at : at + width], order)
    return first, int.from_bytes(data[at + width : at + 2 * width], order)


def _webp(data: bytes) -> tuple[int, int] | None:
    kind = data[12:16]
    if kind == b"VP8X" and len(data) >= 30:
        return (
            int.from_bytes(data[24:27], "little") + 1,
            int.from_bytes(data[27:30], "little") + 1,
        )
    if kind == b"VP8L" and len(data) >= 25:
        bits = int.from_bytes(data[21:25], "little")
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if kind == b"VP8 " and data[23:26] == b"\x9d\x01\x2a":
        found = _pair(data, 26, 2, "little")
        return None if found is None else (found[0] & 0x3FFF, found[1] & 0x3FFF)
    return None


def _jpeg(data: bytes) -> tuple[int, int] | None:
    at = 2
    while at + 9 < len(data):
        if data[at] != 0xFF:
            return None
        marker = data[at + 1]
        if marker == 0xFF:
            at += 1
        elif 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            found = _pair(data, at + 5, 2, "big")
            return None if found is None else (found[1], found[0])
        elif marker == 0x01 or 0xD0 <= marker <= 0xD8:
            at += 2
        else:
            at += 2 + int.from_bytes(data[at + 2 : at + 4], "big")
    return None


_FORMULAS: dict[ImagePricing, Callable[[int, int], int]] = {
    "anthropic": anthropic_tokens,
    "anthropic_high": anthropic_high_tokens,
    "openai_tiles": openai_tile_tokens,
    "openai_patches": openai_patch_tokens,
    "gemini": gemini_tokens,
}
_OF_UNKNOWN_SIZE: dict[ImagePricing, int] = {
    "anthropic": ANTHROPIC_MOST,
    "anthropic_high": anthropic_high_tokens(1920, 1080),
    "openai_tiles": openai_tile_tokens(1536, 1024),
    "openai_patches": OPENAI_PATCHES_MOST,
    "gemini": gemini_tokens(1536, 1024),
}
