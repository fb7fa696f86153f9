"""What ships inside the package, read once: vocabularies, and the table of context windows.

Nothing here asks the network: tiktoken's own loader, which does, is not used.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import json
import re
import threading
import zlib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from compress.tokens import (
    SEPARATOR,
    SEPARATOR_ID,
    BatchCounter,
    TiktokenCounter,
    Vocabulary,
    model_name,
    profile_of,
)
from storage.fast_counter import fast_counter

if TYPE_CHECKING:
    import tiktoken

_HERE = Path(__file__).resolve().parent
ASSET_FOLDERS = (_HERE / "assets", _HERE.parent / "assets")
"""In a wheel, assets/ stands inside this package; in a source tree, beside it."""

DIGESTS: dict[Vocabulary, str] = {
    "o200k_base": "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    "cl100k_base": "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
}
"""SHA-256 of each vocabulary file, as tiktoken pins it (``tiktoken_ext/openai_public.py``)."""

_WORD_TAIL = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
PATTERNS: dict[Vocabulary, str] = {
    "o200k_base": "|".join(
        (
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
            + _WORD_TAIL,
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
            + _WORD_TAIL,
            r"\p{N}{1,3}",
            r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
            r"\s*[\r\n]+",
            r"\s+(?!\S)",
            r"\s+",
        )
    ),
    "cl100k_base": "|".join(
        (
            r"'(?i:[sdmt]|ll|ve|re)",
            r"[^\r\n\p{L}\p{N}]?+\p{L}++",
            r"\p{N}{1,3}+",
            r" ?[^\s\p{L}\p{N}]++[\r\n]*+",
            r"\s++$",
            r"\s*[\r\n]",
            r"\s+(?!\S)",
            r"\s",
        )
    ),
}
"""Pre-token patterns, part of each vocabulary's definition (same source as the digests)."""


class ResourceError(Exception):
    """Something that ships inside the package is missing or damaged."""


def asset(name: str) -> bytes:
    """The bytes of a file under ``assets/``.

    Raises :class:`ResourceError` where it is missing.
    """
    for folder in ASSET_FOLDERS:
        path = folder / name
        if path.is_file():
            return path.read_bytes()
    raise ResourceError(f"The file {name} is missing from this installation; install Ullage again.")


def vocabulary_bytes(vocabulary: Vocabulary) -> bytes:
    """A vocabulary, unpacked and checked against its digest.

    Raises :class:`ResourceError` where it is missing or damaged.
    """
    name = f"{vocabulary}.tiktoken.gz"
    try:
        data = gzip.decompress(asset(name))
    except (OSError, EOFError, zlib.error) as error:
        raise ResourceError(f"The vocabulary {name} is damaged; install Ullage again.") from error
    if hashlib.sha256(data).hexdigest() != DIGESTS[vocabulary]:
        raise ResourceError(f"The vocabulary {name} is not the published one; install again.")
    return data


_lock = threading.RLock()
_counters: dict[Vocabulary, TiktokenCounter | BatchCounter] = {}
_tiktokens: dict[Vocabulary, TiktokenCounter] = {}


def counter(vocabulary: Vocabulary = "o200k_base") -> TiktokenCounter | BatchCounter:
    """The counter of a vocabulary: the fast one where it is installed (0.1 s to load), else
    tiktoken's (0.4 s, about 46 MB). Loaded at first use, then shared. May be called from any
    thread.

    Raises :class:`ResourceError` where the vocabulary is missing or damaged.
    """
    with _lock:
        found = _counters.get(vocabulary)
        if found is None:
            fast = fast_counter(vocabulary, lambda piece: tiktoken_counter(vocabulary).count(piece))
            found = tiktoken_counter(vocabulary) if fast is None else fast
            _counters[vocabulary] = found
        return found


def tiktoken_counter(vocabulary: Vocabulary = "o200k_base") -> TiktokenCounter:
    """tiktoken's own, which all others are held to; loaded and shared like :func:`counter`'s, and
    for a short time twice as large.

    Raises :class:`ResourceError` where the vocabulary is missing or damaged.
    """
    with _lock:
        found = _tiktokens.get(vocabulary)
        if found is None:
            found = _tiktokens[vocabulary] = _load(vocabulary)
        return found


def counted_by() -> str:
    """The package that counts; all give the same figures. Loads it."""
    return "splintr" if isinstance(counter(), BatchCounter) else "tiktoken"


def counter_for(model: str | None) -> TiktokenCounter | BatchCounter:
    """The counter of a model's family, loaded at first use."""
    return counter(profile_of(model).vocabulary)


def _load(vocabulary: Vocabulary) -> TiktokenCounter:
    import tiktoken  # noqa: PLC0415 - 30 ms that a start without counting need not pay

    encoding: tiktoken.Encoding = tiktoken.Encoding(
        vocabulary,
        pat_str=PATTERNS[vocabulary],
        mergeable_ranks=_ranks(vocabulary_bytes(vocabulary)),
        special_tokens={SEPARATOR: SEPARATOR_ID},
    )
    # The compiled core has its own copy; the dictionary would hold 25 MB for nothing.
    encoding._mergeable_ranks = {}  # noqa: SLF001

    allowed = {SEPARATOR}

    def encode_joined(text: str) -> bytes:
        # What ``encode_to_numpy`` is made of: a list of numbers would be made under the lock.
        return bytes(encoding._core_bpe.encode_to_tiktoken_buffer(text, allowed))  # noqa: SLF001

    return TiktokenCounter(vocabulary, encoding.encode_ordinary, encode_joined)


def _ranks(data: bytes) -> dict[bytes, int]:
    ranks = {}
    for line in io.BytesIO(data):  # no list of 200,000 lines
        token, rank = line.split()
        ranks[base64.b64decode(token)] = int(rank)
    return ranks


_STATED = re.compile(r"\[(\d+)([km])\]", re.IGNORECASE)
_NEXT_VERSION = re.compile(r"-\d{1,2}(?!\d)")
_THOUSANDS = {"k": 1_000, "m": 1_000_000}


def table_window(model: str | None) -> int | None:
    """Tokens of a model's context window by the table, the last resort where neither the user
    nor the log states one; ``None`` for a model that the table does not know. The table is a
    snapshot of the public *genai-prices* data.

    A size in the name counts before the table (``claude-sonnet-4-5[1m]``). Else the longest known
    name that the model's begins with is taken: a date, ``-latest`` or ``-codex`` may follow, a
    further version number may not, since that is another model.
    """
    stated = _STATED.search(model or "")
    if stated:
        return int(stated[1]) * _THOUSANDS[stated[2].lower()]
    name = comparable(model)
    table = _table()
    end = len(name)
    while end > 0:
        found = table.get(name[:end])
        if found is not None and not _NEXT_VERSION.match(name, end):
            return found
        end = max(name.rfind(mark, 0, end) for mark in "-:@")
    return None


def comparable(model: str | None) -> str:
    """The form in which names are compared: bare, lower case, ``4.5`` written ``4-5``."""
    return model_name(model).replace(".", "-")


@cache
def _table() -> dict[str, int]:
    windows: dict[str, int] = json.loads(asset("windows.json"))["windows"]
    return windows
