"""What a text, and a content block, counts.

The counter is a value that is handed in: the vocabulary's bytes are read by
``storage.resources``. A count is of a public vocabulary, before calibration; what the provider
will bill is the meter's business.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from compress.events import ContentBlock
from compress.images import ImagePricing, image_tokens

Vocabulary = Literal["o200k_base", "cl100k_base"]

PIECE_CHARACTERS = 24_000
"""Longest text handed to the encoder at once: at most 96 kB of UTF-8. tiktoken's regex engine
panics near a million blanks in one run, and an encoded piece holds the GIL while its list is made.
"""
JOINED_CHARACTERS = 400_000
"""About how much is handed to the encoder at once when many texts are counted."""
SEPARATOR = "\0<|ullage separator|>\0"
"""A special token of our own, known to the encoder alone: texts that hold it count one by one."""
SEPARATOR_ID = 0x0F0F0F0F
"""The same bytes in any order, and no token of a vocabulary."""
TOKEN_BYTES = 4
_SEPARATOR_BYTES = SEPARATOR_ID.to_bytes(TOKEN_BYTES, "big")
_LOOK_BACK = 2_000
"""Characters before a piece's end in which a safe place to cut is looked for."""

_SAFE_CUT = re.compile(r"(?<=[^\W_])(?=\s)|(?<=\n)(?=[^\s/])")
"""Places where both vocabularies always begin a new pre-token, whatever stands around: before a
blank that follows a letter or digit, and after a line feed that neither a blank nor a slash
follows. So the counts of the pieces add up to the count of the whole."""


class TokenCounter(Protocol):
    """Counts texts. ``name`` is printed beside every figure that the counter made."""

    @property
    def name(self) -> str: ...

    def count(self, text: str) -> int:
        """Tokens of a text. Never raises for what a text holds."""
        ...


class TiktokenCounter:
    """Counts with one of tiktoken's vocabularies.

    ``encode`` is ``Encoding.encode_ordinary``, never ``encode``, which refuses text that looks
    like a special token (T12). It may be called from several threads.
    """

    def __init__(
        self,
        name: str,
        encode: Callable[[str], Sequence[int]],
        encode_joined: Callable[[str], bytes] | None = None,
    ) -> None:
        """``encode_joined`` takes texts joined by :data:`SEPARATOR` and encodes each for itself,
        giving :data:`SEPARATOR_ID` between them; tokens are :data:`TOKEN_BYTES` each, in the
        machine's order. No number is made of them, since only the separators are looked for."""
        self.name = name
        self._encode_joined = encode_joined
        self.estimated = 0
        """Pieces that the encoder refused and that were estimated instead."""
        self._encode = encode

    def count(self, text: str) -> int:
        """Tokens of a text; a piece that the encoder cannot take counts as characters ÷ 4."""
        if len(text) <= PIECE_CHARACTERS:
            return self._count_piece(text)
        return sum(self._count_piece(piece) for piece in pieces(text))

    def count_many(self, texts: Sequence[str]) -> list[int]:
        """The counts of several texts, the same as one by one, each text counted once and in few
        calls of the encoder: it leaves the interpreter lock while it works, so long calls let
        other threads work."""
        if self._encode_joined is None:
            return [self.count(text) for text in texts]
        counts = dict.fromkeys(texts, 0)
        alone = {text: self.count(text) for text in counts if SEPARATOR in text}
        counts.update(alone)
        for owners, parts in _calls(text for text in counts if text not in alone):
            self._count_joined(parts, owners, counts)
        return [counts[text] for text in texts]

    def _count_joined(self, parts: list[str], owners: list[str], counts: dict[str, int]) -> None:
        assert self._encode_joined is not None
        try:
            tokens = self._encode_joined(SEPARATOR.join(parts))
        except BaseException as error:
            if not is_refusal(error):
                raise
            for part, owner in zip(parts, owners, strict=True):
                counts[owner] += self._count_piece(part)
            return
        start = 0
        for owner in owners[:-1]:
            end = tokens.find(_SEPARATOR_BYTES, start)
            while end % TOKEN_BYTES:
                end = tokens.find(_SEPARATOR_BYTES, end + 1)
            counts[owner] += (end - start) // TOKEN_BYTES
            start = end + TOKEN_BYTES
        counts[owners[-1]] += (len(tokens) - start) // TOKEN_BYTES

    def _count_piece(self, text: str) -> int:
        try:
            return len(self._encode(text))
        except BaseException as error:
            if not is_refusal(error):
                raise
        self.estimated += 1
        return CharsOverFour().count(text)


class BatchCounter:
    """Counts with an encoder that takes many texts in one call and gives no tokens, only counts.

    The counts are those of :class:`TiktokenCounter` with the same vocabulary, and so is the name:
    a long text is cut at the same places, lone surrogates stand for the same character, and
    ``exact``, which counts one piece, is asked where the encoder refuses. May be called from
    several threads if the encoder may.
    """

    def __init__(
        self,
        name: str,
        count_all: Callable[[list[str]], Sequence[int]],
        exact: Callable[[str], int],
    ) -> None:
        self.name = name
        self._count_all = count_all
        self._exact = exact

    def count(self, text: str) -> int:
        """Tokens of a text."""
        parts = [text] if len(text) <= PIECE_CHARACTERS else list(pieces(text))
        return sum(self._count_parts(parts))

    def count_many(self, texts: Sequence[str]) -> list[int]:
        """The counts of several texts, each text counted once and in few calls."""
        counts = dict.fromkeys(texts, 0)
        for owners, parts in _calls(counts):
            for owner, count in zip(owners, self._count_parts(parts), strict=True):
                counts[owner] += count
        return [counts[text] for text in texts]

    def _count_parts(self, parts: list[str]) -> Sequence[int]:
        try:
            return self._count_all(parts)
        except BaseException as error:
            if not is_refusal(error):
                raise
        return [self._count_part(part) for part in parts]

    def _count_part(self, part: str) -> int:
        try:
            return self._count_all([whole_characters(part)])[0]
        except BaseException as error:
            if not is_refusal(error):
                raise
        return self._exact(part)


def whole_characters(text: str) -> str:
    """The text as tiktoken takes it: halves of a surrogate pair that belong together are joined,
    others replaced by U+FFFD."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _calls(texts: Iterable[str]) -> Iterator[tuple[list[str], list[str]]]:
    """Texts in pieces, as many as the encoder is handed at once; before them, piece by piece, the
    text that each is of."""
    owners: list[str] = []
    parts: list[str] = []
    size = 0
    for text in texts:
        cut = [text] if len(text) <= PIECE_CHARACTERS else list(pieces(text))
        owners += [text] * len(cut)
        parts += cut
        size += len(text)
        if size > JOINED_CHARACTERS:
            yield owners, parts
            owners, parts, size = [], [], 0
    if parts:
        yield owners, parts


def is_refusal(error: BaseException) -> bool:
    """Whether the encoder cannot take a text. Its panic is no Exception, and its class cannot be
    imported (T13)."""
    return type(error).__name__ == "PanicException" or isinstance(error, ValueError)


@dataclass(frozen=True, slots=True)
class CharsOverFour:
    """One token for four characters, rounded up: the usual guess where no vocabulary is known."""

    name: str = "chars/4"

    def count(self, text: str) -> int:
        """Characters ÷ 4, rounded up."""
        return -(-len(text) // 4)


def pieces(text: str, limit: int = PIECE_CHARACTERS) -> Iterator[str]:
    """The text in pieces of at most ``limit`` characters, cut at a safe place where there is one
    within reach, else at the limit."""
    start = 0
    while len(text) - start > limit:
        end = start + limit
        cut = end
        # One character more, so that what follows the cut can be seen.
        for found in _SAFE_CUT.finditer(text, max(start + 1, end - _LOOK_BACK), end + 1):
            if found.start() <= end:
                cut = found.start()
        yield text[start:cut]
        start = cut
    yield text[start:]


def compact_json(value: Any) -> str:
    """A call's input as most providers hold it: JSON without blanks; a plain string as it is."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def count_many(counter: TokenCounter, texts: Sequence[str]) -> list[int]:
    """The counts of several texts, at once where the counter can."""
    if isinstance(counter, TiktokenCounter | BatchCounter):
        return counter.count_many(texts)
    return [counter.count(text) for text in texts]


def block_texts(block: ContentBlock) -> tuple[str, ...]:
    """The texts of a block that are counted, each for itself. See :func:`count_block`."""
    if block.kind != "tool_call":
        return (block.text,) if block.text else ()
    texts = (block.name or "", compact_json(block.input))
    return tuple(text for text in texts if text)


def count_block(
    block: ContentBlock, counter: TokenCounter, images: ImagePricing = "anthropic"
) -> int:
    """What one block counts.

    A tool call counts as its name and its compact input, an image by the provider's formula. An
    opaque block counts as what a reader sees of it: what the provider makes of the rest is in the
    usage, from which the meter learns.
    """
    tokens = sum(image_tokens(image, images) for image in block.images)
    return tokens + sum(counter.count(text) for text in block_texts(block))


@dataclass(frozen=True, slots=True)
class ModelProfile:
    """How a family of models is counted."""

    vocabulary: Vocabulary
    images: ImagePricing


NEWER_CLAUDE = ("claude-opus-4-7", "claude-opus-4-8", "claude-opus-5", "claude-sonnet-5")
"""Beginnings of the names of Claude's models with the newer tokenizer and larger images."""

_O200K: Vocabulary = "o200k_base"
PROFILES: tuple[tuple[str, ModelProfile], ...] = (
    *((name, ModelProfile(_O200K, "anthropic_high")) for name in NEWER_CLAUDE),
    ("claude", ModelProfile(_O200K, "anthropic")),
    ("gpt-4o", ModelProfile(_O200K, "openai_tiles")),
    ("gpt-4.1-mini", ModelProfile(_O200K, "openai_patches")),
    ("gpt-4.1-nano", ModelProfile(_O200K, "openai_patches")),
    ("gpt-4.1", ModelProfile(_O200K, "openai_tiles")),
    ("gpt-4.5", ModelProfile(_O200K, "openai_tiles")),
    ("gpt-4", ModelProfile("cl100k_base", "openai_tiles")),
    ("gpt-3.5", ModelProfile("cl100k_base", "openai_tiles")),
    ("gpt-5-mini", ModelProfile(_O200K, "openai_patches")),
    ("gpt-5-nano", ModelProfile(_O200K, "openai_patches")),
    ("gpt", ModelProfile(_O200K, "openai_tiles")),
    ("codex", ModelProfile(_O200K, "openai_tiles")),
    ("o4-mini", ModelProfile(_O200K, "openai_patches")),
    ("o1", ModelProfile(_O200K, "openai_tiles")),
    ("o3", ModelProfile(_O200K, "openai_tiles")),
    ("gemini", ModelProfile(_O200K, "gemini")),
)
"""Model name's beginning → profile; the first that fits counts. The one place to add a family."""

DEFAULT_PROFILE = ModelProfile(_O200K, "anthropic")
"""For models of which nothing is known: the largest public vocabulary."""


def profile_of(model: str | None) -> ModelProfile:
    """How a model is counted. Provider prefixes (``anthropic/…``) and case do not matter."""
    name = model_name(model)
    return next((p for prefix, p in PROFILES if name.startswith(prefix)), DEFAULT_PROFILE)


def model_name(model: str | None) -> str:
    """The model's bare name: lower case, without a provider's prefix and without ``[1m]``; empty
    where there is none (``None``, ``<synthetic>``)."""
    name = (model or "").strip().lower()
    if name.startswith("<"):
        return ""
    name = name.rpartition("/")[2].partition("[")[0]
    # Bedrock: "us.anthropic.claude-…-v1:0".
    return name.rpartition("anthropic.")[2].strip()
