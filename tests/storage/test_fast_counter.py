"""The optional fast counter: it counts what tiktoken counts, or does not count at all."""

from __future__ import annotations

import base64
import os
import random
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compress.tokens import PIECE_CHARACTERS, BatchCounter, Vocabulary
from storage import resources
from storage.fast_counter import EXPECTED, SAMPLE, digest, fast_counter

VOCABULARIES: tuple[Vocabulary, ...] = ("o200k_base", "cl100k_base")
SCRIPTS = (
    *((0x20, 0x7E), (0xA0, 0x24F), (0x250, 0x36F), (0x370, 0x52F), (0x590, 0x6FF)),
    *((0x900, 0xDFF), (0xE00, 0x11FF), (0x1200, 0x1FFF), (0x2000, 0x2BFF), (0x3000, 0x9FFF)),
    *((0xA000, 0xABFF), (0xAC00, 0xD7FF), (0xE000, 0xFFFF), (0x10000, 0x1FFFF)),
    *((0x20000, 0x2FFFF), (0xE0000, 0xE01EF), (0xF0000, 0x10FFFF)),
)
ODD = (
    *(" ", "  ", "\t", "\n", "\r\n", "\x0b", "\x1c", "\x85", "\xa0", "\u2028", "\u3000", "\ufeff"),
    *(
        "a",
        "B",
        "é",
        "Ж",
        "ʰ",
        "ª",
        "ǅ",
        "中",
        "ſ",
        "K",
        "\u0301",
        "\u093e",
        "1",
        "12",
        "٣",
        "Ⅷ",
        "½",
    ),
    *("'", "'s", "'LL", "'rE", "'ſ", "’s", "/", "//", "_", ".", "\0", "\x7f", "\u200b", "👩‍💻"),
    *("<|endoftext|>", "<|im_start|>", "<|fim_prefix|>", "\0<|ullage separator|>\0"),
    *("\ud800", "\udfff", "\ud83d\ude00"),
)
CHARACTERS = st.sampled_from(SCRIPTS).flatmap(
    lambda script: st.text(
        st.characters(min_codepoint=script[0], max_codepoint=script[1]), max_size=30
    )
)
TEXTS = st.lists(
    st.one_of(
        CHARACTERS,
        st.lists(st.sampled_from(ODD), max_size=20).map("".join),
        st.tuples(st.sampled_from(ODD), st.integers(1, 3_000)).map(lambda run: run[0] * run[1]),
    ),
    max_size=4,
).map("".join)


def installed(vocabulary: Vocabulary) -> BatchCounter:
    pytest.importorskip("splintr", reason="ullage[fast] is not installed")
    found = resources.counter(vocabulary)
    assert isinstance(found, BatchCounter), "installed, and does not agree with tiktoken"
    return found


@pytest.mark.parametrize("vocabulary", VOCABULARIES)
def test_what_is_expected_is_what_tiktoken_gives(vocabulary: Vocabulary) -> None:
    encode = resources.tiktoken_counter(vocabulary)._encode
    assert digest([token for text in SAMPLE for token in encode(text)]) == EXPECTED[vocabulary]


@pytest.mark.parametrize("vocabulary", VOCABULARIES)
def test_its_vocabulary_is_the_one_that_ships(vocabulary: Vocabulary) -> None:
    installed(vocabulary)
    from splintr import Tokenizer  # noqa: PLC0415 - optional

    known = Tokenizer.from_pretrained(vocabulary).decode_token_bytes
    lines = resources.vocabulary_bytes(vocabulary).splitlines()
    for token, rank in (line.split() for line in lines):
        assert known(int(rank)) == base64.b64decode(token)


@pytest.mark.parametrize("vocabulary", VOCABULARIES)
@given(texts=st.lists(TEXTS, min_size=1, max_size=6))
@settings(max_examples=120, deadline=None)
def test_it_counts_what_tiktoken_counts(vocabulary: Vocabulary, texts: list[str]) -> None:
    fast, exact = installed(vocabulary), resources.tiktoken_counter(vocabulary)
    wanted = [exact.count(text) for text in texts]
    assert fast.count_many(texts) == wanted
    assert [fast.count(text) for text in texts] == wanted


@pytest.mark.parametrize("vocabulary", VOCABULARIES)
def test_every_character_is_cut_from_its_neighbours_as_tiktoken_cuts(
    vocabulary: Vocabulary,
) -> None:
    # Where letters, marks and numbers of many scripts lie close, each; elsewhere a few of each run.
    fast, exact = installed(vocabulary), resources.tiktoken_counter(vocabulary)
    dense = [*range(0x3400), *range(0xA640, 0xAC00), *range(0xFB00, 0x10000)]
    places = [*dense, *range(0x10000, 0x20000, 5), *range(0x20000, 0x110000, 997)]
    texts = [f"aB{c} {c}x1{c}\n '{c}ll" for c in map(chr, places)]
    odd = [
        hex(place)
        for place, one, other in zip(
            places, fast.count_many(texts), exact.count_many(texts), strict=True
        )
        if one != other
    ]
    assert odd == []


@pytest.mark.parametrize("vocabulary", VOCABULARIES)
@pytest.mark.parametrize("run", [" ", "\t ", "\n", "a", "-", "漢", "e\u0301", "\U0001f468\u200d"])
def test_long_runs_count_the_same(vocabulary: Vocabulary, run: str) -> None:
    text = run * (3 * PIECE_CHARACTERS // len(run))
    exact = resources.tiktoken_counter(vocabulary)
    assert installed(vocabulary).count(text) == exact.count(text)


def test_long_texts_without_a_blank_count_the_same() -> None:
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    text = "".join(random.Random(5).choices(letters, k=4 * PIECE_CHARACTERS))
    assert installed("o200k_base").count(text) == resources.tiktoken_counter().count(text)


def test_it_is_used_and_told_where_it_is_installed() -> None:
    installed("o200k_base")
    assert resources.counted_by() == "splintr"


def test_halves_of_a_pair_that_meet_are_one_character() -> None:
    fast, exact = installed("o200k_base"), resources.tiktoken_counter()
    for text in ("\ud83d\ude00", "\ude00\ud83d", "a\ud800b", "\udc00" * 9):
        assert fast.count(text) == exact.count(text)


@pytest.mark.corpus
def test_texts_of_real_logs_count_the_same(corpus: Path) -> None:
    fast, exact = installed("o200k_base"), resources.tiktoken_counter()
    texts = [
        line
        for path in sorted(corpus.glob("*/*.jsonl"))[::4]
        for line in path.read_bytes()[:60_000].decode("utf-8", "replace").splitlines()
    ]
    assert len(texts) > 100
    assert fast.count_many(texts) == exact.count_many(texts)


def exactly(_: str) -> int:
    raise AssertionError("nobody asks")


def load(vocabulary: Vocabulary = "o200k_base") -> BatchCounter | None:
    return fast_counter(vocabulary, exactly)


def test_without_the_package_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "splintr", None)
    assert load() is None


class Wrong:
    """A tokenizer for which a text is one token."""

    @classmethod
    def from_pretrained(cls, _name: str) -> Wrong:
        return cls()

    def special_tokens(self) -> dict[str, int]:
        return {}

    def encode_ordinary(self, _text: str) -> list[int]:
        return [1]

    def encode_batch_flat(self, texts: Sequence[str]) -> tuple[bytes, bytes]:
        return b"\1\0\0\0" * len(texts), b"".join(
            n.to_bytes(8, sys.byteorder) for n in range(len(texts) + 1)
        )


def use(monkeypatch: pytest.MonkeyPatch, tokenizer: Any) -> None:
    module = ModuleType("splintr")
    module.Tokenizer = tokenizer  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "splintr", module)


@pytest.mark.parametrize("tokenizer", [Wrong, object])
def test_one_that_does_not_agree_is_not_used(
    monkeypatch: pytest.MonkeyPatch, tokenizer: Any
) -> None:
    use(monkeypatch, tokenizer)
    assert load() is None


class PanicException(BaseException):
    """As PyO3 raises it."""


@pytest.mark.parametrize("breaks", ["from_pretrained", "encode_batch_flat"])
@pytest.mark.parametrize("error", [RuntimeError, OSError, MemoryError, PanicException])
def test_one_that_breaks_is_not_used(
    monkeypatch: pytest.MonkeyPatch, breaks: str, error: type[BaseException]
) -> None:
    use(monkeypatch, with_a_breaking(breaks, error))
    assert load() is None


def test_an_interrupt_while_it_is_loaded_is_not_swallowed(monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, with_a_breaking("from_pretrained", KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        load()


def with_a_breaking(method: str, error: type[BaseException]) -> type[Wrong]:
    def breaks(*_: object) -> None:
        raise error

    return type("Breaking", (Wrong,), {method: staticmethod(breaks)})


def test_what_the_encoder_refuses_is_counted_exactly() -> None:
    def panics_at_x(texts: list[str]) -> list[int]:
        if any("x" in text for text in texts):
            raise PanicException
        return [1] * len(texts)

    asked: list[str] = []

    def exact(text: str) -> int:
        asked.append(text)
        return 10 * len(text)

    assert BatchCounter("fast", panics_at_x, exact).count_many(["a", "xx", "b"]) == [1, 20, 1]
    assert asked == ["xx"]


def test_a_process_forked_from_one_that_counts_counts_too() -> None:
    text = "The threads of the encoder are not forked with it. " * 40
    expected = resources.counter().count_many([text, text * 2])
    child = os.fork()
    if child == 0:
        counted = resources.counter().count_many([text, text * 2])
        os._exit(0 if counted == expected else 1)
    assert os.waitpid(child, 0) == (child, 0)


def test_an_interrupt_is_not_swallowed() -> None:
    def interrupted(_: list[str]) -> list[int]:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        BatchCounter("fast", interrupted, exactly).count("text")


def test_a_text_that_repeats_is_counted_once() -> None:
    seen: list[str] = []

    def counts(texts: list[str]) -> list[int]:
        seen.extend(texts)
        return [len(text) for text in texts]

    assert BatchCounter("fast", counts, exactly).count_many(["ab", "c", "ab"]) == [2, 1, 2]
    assert seen == ["ab", "c"]
