"""An image inside a log: how large it is, told from the first bytes of its base64 text."""

from __future__ import annotations

from base64 import b64decode
from binascii import Error

from compress.events import Image

_HEAD = 64 * 1024
"""Characters of base64 that are decoded; a JPEG's size may stand after a long preview."""


def from_base64(data: str, media_type: str | None = None) -> Image:
    """The image whose bytes this base64 text holds; without a size where it cannot be told."""
    padding = len(data) - len(data.rstrip("="))
    width, height = _pixels(_head(data))
    return Image(
        media_type=media_type,
        width=width,
        height=height,
        size=max(0, len(data) * 3 // 4 - padding),
    )


def from_url(url: str) -> Image:
    """The image behind a ``data:`` URL; of any other URL nothing is known."""
    if not url.startswith("data:"):
        return Image()
    header, _, data = url[5:].partition(",")
    media_type = header.partition(";")[0] or None
    return from_base64(data, media_type) if header.endswith("base64") else Image()


def _head(data: str) -> bytes:
    try:
        return b64decode(data[:_HEAD] + "=" * (-len(data[:_HEAD]) % 4))
    except (Error, ValueError):
        return b""


def _pixels(head: bytes) -> tuple[int, int] | tuple[None, None]:
    if head.startswith(b"\x89PNG\r\n\x1a\n") and len(head) >= 24:
        return int.from_bytes(head[16:20]), int.from_bytes(head[20:24])
    if head[:6] in (b"GIF87a", b"GIF89a") and len(head) >= 10:
        return int.from_bytes(head[6:8], "little"), int.from_bytes(head[8:10], "little")
    if head.startswith(b"\xff\xd8"):
        return _jpeg(head)
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP" and len(head) >= 30:
        return _webp(head)
    return None, None


def _jpeg(head: bytes) -> tuple[int, int] | tuple[None, None]:
    """Walks the segments to the frame header (ITU T.81, B.2.2)."""
    at = 2
    while at + 9 <= len(head) and head[at] == 0xFF:
        marker = head[at + 1]
        # Start of frame: C0 to CF without DHT, JPG and DAC.
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            return int.from_bytes(head[at + 7 : at + 9]), int.from_bytes(head[at + 5 : at + 7])
        at += 2 + int.from_bytes(head[at + 2 : at + 4])
    return None, None


def _webp(head: bytes) -> tuple[int, int] | tuple[None, None]:
    """The three kinds of first chunk (RFC 9649, section 2)."""
    kind = head[12:16]
    if kind == b"VP8X":
        return int.from_bytes(head[24:27], "little") + 1, int.from_bytes(head[27:30], "little") + 1
    if kind == b"VP8L":
        bits = int.from_bytes(head[21:25], "little")
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if kind == b"VP8 ":
        width = int.from_bytes(head[26:28], "little") & 0x3FFF
        return width, int.from_bytes(head[28:30], "little") & 0x3FFF
    return None, None
