"""The optional fast counter (``ullage[fast]``): *splintr*, with the vocabularies that it brings.

It counts what tiktoken counts, several times as fast, and is loaded in a tenth of the time. That
is not believed but looked at: where the package is absent, or does not give exactly tiktoken's
tokens for the sample below, tiktoken counts.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Protocol

from compress.tokens import BatchCounter, Vocabulary, is_refusal


class _Tokenizer(Protocol):
    """What is used of *splintr*'s."""

    def special_tokens(self) -> Mapping[str, int]: ...

    def encode_ordinary(self, text: str) -> list[int]:
        """Tokens of a text in which nothing is a special token."""
        ...

    def encode_batch_flat(self, texts: Sequence[str]) -> tuple[bytes, bytes]:
        """Tokens of all texts, and where each text's begin and the last ones end, 64 bits each, in
        the machine's order. Special tokens are seen as such. Leaves the interpreter lock."""
        ...


SAMPLE = (
    "def total(self, values):\n    return sum(v.amount for v in values)  # it's they'LL we'd\r\n",
    "\t\tXMLHttpRequest2 snake_case camelCase SCREAMING_CASE 3.14159 1234567 v2.0.1-rc.3\n\n\n  x",
    'https://example.org/a/b?c=d&e=%20#f /usr/bin ../../x.py -> {"k": [1, null, true]}\n///',
    "<|endoftext|><|im_start|>user<|im_end|> <|fim_prefix|>",
    "dGhlIHF1aWNrIGJyb3duIGZveCBqdW1wcyBvdmVyIHRoZSBsYXp5IGRvZw== 0x7f3a9c 9f86d081884c7d65",
    "Zażółć gęślą jaźń. Съешь ещё этих мягких булок. Ξεσκεπάζω τὴν ψυχοφθόρα βδελυγμία.",
    "敏捷的棕色狐狸跳过了懒狗。いろはにほへと ちりぬるを 키스의 고유조건은 입술끼리",
    "نص حكيم له سر قاطع ١٢٣ दूसरी भाषा में १२३ เป็นมนุษย์สุดประเสริฐ דג סקרן שט בים",
    "\u01c5\u02b0\u00aa e\u0301a\u0308 \u1e9e\u017f 'S 'rE \u2167\xbd\xb2 \u3000\xa0\u2028\x0b\x85",
    "👩‍💻🏳️‍🌈 🇺🇳 ✅❌ ─│┌┐ ▁▂▃ ∑∫√ ←→ \U0001d4d0\U0001d4ea \U000e0001\x00\x7f\u200b\ufeff",
    "a\u088fb \u0c5c\u0c5d \u1acf\u1ae0 \ua7ce\ua7cf \ua7f1 x\U00010940y \U0001e6c0\U000323b0",
    " " * 97 + "a" * 301 + "-" * 211 + "\n" * 47 + "漢" * 41 + "=" * 80 + " \n \t\n",
)
"""A text for each kind of pre-token, in several scripts; the last but one has letters of Unicode
17."""
EXPECTED: dict[Vocabulary, str] = {
    "o200k_base": "a44234d6a1a4e620e0120000d0abcfa5",
    "cl100k_base": "0a23f681e88498204a997bea36eb24bc",
}
"""BLAKE2b of tiktoken's tokens for the sample, 32 bits each, the lowest byte first."""
_MARK = "<|"
"""What every special token begins with."""
_LONG_S = "'ſ"
"""An ``'s`` to tiktoken, which folds case by Unicode; the one place where *splintr* does not."""


def fast_counter(vocabulary: Vocabulary, exact: Callable[[str], int]) -> BatchCounter | None:
    """A counter of the vocabulary, or ``None`` where there is none that agrees with tiktoken.
    ``exact`` counts a piece that it refuses (:class:`compress.tokens.BatchCounter`)."""
    try:
        from splintr import Tokenizer  # noqa: PLC0415 - optional

        tokenizer: _Tokenizer = Tokenizer.from_pretrained(vocabulary)
        count_all = _counting(tokenizer)
        # First, since tables are made at first use and this leaves the interpreter lock.
        counts = count_all(list(SAMPLE))
        tokens = [tokenizer.encode_ordinary(text) for text in SAMPLE]
        agrees = (
            digest([token for found in tokens for token in found]) == EXPECTED[vocabulary]
            and counts == [len(found) for found in tokens]
            and all(_MARK in name for name in tokenizer.special_tokens())
        )
    except BaseException as error:
        if not (isinstance(error, Exception) or is_refusal(error)):
            raise
        return None  # absent, broken, or of a version that does not know what is asked of it
    return BatchCounter(vocabulary, count_all, exact) if agrees else None


def _counting(tokenizer: _Tokenizer) -> Callable[[list[str]], list[int]]:
    own = os.getpid()

    def count_all(texts: list[str]) -> list[int]:
        # A process forked from this one has none of the encoder's threads and would wait for them.
        if os.getpid() != own or any(_LONG_S in text for text in texts):
            raise ValueError
        _, ends = tokenizer.encode_batch_flat(texts)
        counts = [end - start for start, end in pairwise(memoryview(ends).cast("Q"))]
        for place, text in enumerate(texts):
            if _MARK in text:
                counts[place] = len(tokenizer.encode_ordinary(text))
        return counts

    return count_all


def digest(tokens: Sequence[int]) -> str:
    """Of tokens, as :data:`EXPECTED` states it."""
    data = b"".join(token.to_bytes(4, "little") for token in tokens)
    return hashlib.blake2b(data, digest_size=16).hexdigest()
