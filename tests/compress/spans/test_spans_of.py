"""A document cut into spans: nothing lost, nothing above the limit, nothing empty."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from compress.spans.blocks import document, encoded
from compress.spans.errors import SpanLimitsError, UnsplittableError
from compress.spans.metadata import bare
from compress.spans.packer import spans_of
from compress.spans.values import SpanLimits, Spans, TextKind
from compress.tokens import CharsOverFour, TokenCounter
from storage.resources import counter
from tests.conftest import REPOSITORY

LOREM = "Lorem ipsum dolor sit amet, consectetur adipiscing elit. "


@dataclass(frozen=True)
class Scalars:
    """One token a scalar: a size can be told by looking."""

    name: str = "scalars"

    def count(self, text: str) -> int:
        return len(text)


@dataclass(frozen=True)
class Bytes:
    """One token a byte, as a tokenizer without merges has it."""

    name: str = "bytes"

    def count(self, text: str) -> int:
        return len(encoded(text))


@dataclass(frozen=True)
class Growing:
    """The whole costs more than its parts: no sum of sizes is a size."""

    name: str = "growing"

    def count(self, text: str) -> int:
        return len(text) + len(text) ** 2 // 50


def cut(
    text: str,
    preferred: int,
    hard: int | None = None,
    *,
    overlap: int = 0,
    by: TokenCounter | None = None,
    kind: TextKind | None = None,
) -> Spans:
    limits = SpanLimits(preferred, hard if hard is not None else preferred, overlap)
    return spans_of(document("d", text), limits, by or Scalars(), kind=kind)


def parts(spans: Spans) -> list[str]:
    return [spans.document.text[s.range.start : s.range.end] for s in spans.spans]


def check(spans: Spans, by: TokenCounter) -> None:
    """What holds of any text, with any limits."""
    text, data = spans.document.text, encoded(spans.document.text)
    own = [s.payload[s.payload_start + s.overlap :] for s in spans.spans]
    assert "".join(own) == text
    assert all(own)
    at = 0
    for span in spans.spans:
        where = span.range
        assert span.tokens == by.count(span.payload) <= spans.limits.hard
        assert span.payload[span.payload_start :] == text[where.start : where.end]
        assert data[where.byte_start : where.byte_end] == encoded(text[where.start : where.end])
        assert where.start + span.overlap == at
        assert span.overlap == 0 or span.cut == "cluster"
        at = where.end
        first, last = (spans.blocks[n].range for n in span.blocks)
        assert first.start <= where.start < first.end
        assert last.start < where.end <= last.end
        assert span.previous == (span.index - 1 if span.index else None)
        assert span.next == (None if span.index + 1 == len(spans.spans) else span.index + 1)
    assert at == len(text)
    assert len({span.id for span in spans.spans}) == len(spans.spans)
    edges = {0, *(found.end() for found in regex.finditer(r"\X", text))}
    for span in spans.spans:
        assert span.cut == "scalar" or span.range.start + span.overlap in edges


PIECES = st.one_of(
    st.sampled_from(
        [
            *("# Heading\n", "\n\n", "\r\n", "- item\n", "```\ncode\n```\n", "| a | b |\n", "\0"),
            *(
                "Ein Satz. ",
                "Noch einer? ",
                "ohne Punkt und Komma ",
                "一句话。",
                "另一句",
                "\ud83d",
            ),
            *(
                "ภาษาไทย ",
                "हिन्दी वाक्य। ",
                "جملة عربية؟ ",
                "👨‍👩‍👧‍👦",
                "🇩🇪🇫🇷",
                "e\u0301\u0302\u0303",
                "\u202e",
            ),
            *("0123456789", "aaaaaaaaaaaaaaaaaaaaaaaa", "x=1;y=2;", " \t ", "\u2028", "=" * 30),
        ]
    ),
    st.text(max_size=12),
)
TEXTS = st.lists(PIECES, max_size=24).map("".join)


@given(
    TEXTS,
    st.integers(4, 60),
    st.integers(0, 40),
    st.sampled_from([Scalars(), CharsOverFour(), Growing()]),
)
@settings(max_examples=250, deadline=None)
def test_no_text_is_lost_cut_short_or_above_the_limit(
    text: str, preferred: int, more: int, by: TokenCounter
) -> None:
    check(cut(text, preferred, preferred + more, by=by), by)


@given(TEXTS, st.integers(8, 40), st.sampled_from(["o200k_base", "cl100k_base"]))
@settings(max_examples=80, deadline=None)
def test_the_same_with_a_real_vocabulary(text: str, preferred: int, vocabulary: str) -> None:
    by = counter(vocabulary)  # type: ignore[arg-type]
    check(cut(text, preferred, by=by), by)


@given(TEXTS, st.integers(8, 40), st.integers(1, 7))
@settings(max_examples=100, deadline=None)
def test_what_is_repeated_is_counted_and_within_the_overlap(
    text: str, preferred: int, overlap: int
) -> None:
    spans = cut(text, preferred, overlap=overlap)
    check(spans, Scalars())
    assert all(span.overlap <= overlap for span in spans.spans)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("👨‍👩‍👧‍👦" * 300, id="zwj"),
        pytest.param("🇩🇪🇫🇷" * 300, id="flags"),
        pytest.param(("a" + "\u0301" * 5) * 300, id="marks"),
        pytest.param("שלום עולם " * 300, id="hebrew"),
        pytest.param("ภาษาไทยไม่มีช่องว่าง" * 100, id="thai"),
        pytest.param("没有标点的一行文字" * 200, id="han"),
        pytest.param("\0" * 1_000, id="nul"),
        pytest.param("\ud83d" * 1_000 + "\udc00", id="surrogates"),
        pytest.param("line\r\n" * 500, id="crlf"),
        pytest.param("Zm9vYmFy+/0x7f" * 300, id="base64"),
        pytest.param(" " * 5_000, id="blanks"),
        pytest.param("." * 3_000, id="dots"),
        pytest.param("क्षत्रिय" * 300, id="conjuncts"),
    ],
)
def test_hard_texts_come_back_whole(text: str) -> None:
    check(cut(text, 48, 64, by=counter()), counter())


def test_a_limit_is_accepted_and_one_more_is_split() -> None:
    text = LOREM * 3
    assert parts(cut(text, len(text))) == [text]
    assert len(parts(cut(text, len(text) - 1))) > 1
    real = counter()
    size = real.count(text)
    assert parts(cut(text, size, by=real)) == [text]
    assert len(parts(cut(text, size - 1, by=real))) > 1


def test_a_sentence_above_the_preferred_size_stays_whole_up_to_the_hard_limit() -> None:
    text = "Short one. " + "A" * 29 + ". Short two."
    assert parts(cut(text, 20, 31)) == ["Short one. ", "A" * 29 + ". ", "Short two."]
    assert len(parts(cut(text, 20, 30))) > 3


def test_what_is_pending_is_flushed_before_a_block_that_is_split() -> None:
    text = "Short.\n\n" + "One sentence here. Another there. A third one."
    assert parts(cut(text, 40)) == [
        "Short.\n\n",
        "One sentence here. Another there. ",
        "A third one.",
    ]


def test_no_span_crosses_into_the_next_section() -> None:
    text = "# A\none\n## B\ntwo\n# C\nthree\n"
    spans = spans_of(document("d", text), SpanLimits(99, 99), Scalars())
    assert parts(spans) == ["# A\none\n", "## B\ntwo\n", "# C\nthree\n"]
    assert [span.section for span in spans.spans] == [(), ("A",), ()]
    assert [span.payload for span in spans.spans][1] == "A\n## B\ntwo\n"
    assert [span.cut for span in spans.spans] == ["section"] * 3


def test_a_heading_is_never_alone_before_what_it_heads() -> None:
    text = "# A heading\n## And another\n" + LOREM * 4
    first = parts(cut(text, 100, 120))[0]
    assert first.startswith("# A heading\n## And another\n" + "Lorem")


def test_headings_above_stand_in_the_payload_the_outermost_left_out_first() -> None:
    text = "# Outer\n## In\n" + LOREM * 8
    roomy = cut(text, 160)
    assert {span.payload[: span.payload_start] for span in roomy.spans} == {"", "Outer › In\n"}
    tight = cut(text, 64)
    assert {span.payload[: span.payload_start] for span in tight.spans} == {"", "Outer › In\n"}
    tighter = cut(text, 40)
    assert {span.payload[: span.payload_start] for span in tighter.spans} == {"", "In\n"}
    assert tighter.spans[-1].section == ("Outer", "In")


def test_metadata_counts_and_bare_has_none() -> None:
    text = "# Head\n" + LOREM * 4
    spans = spans_of(document("d", text), SpanLimits(120, 120), Scalars(), metadata=bare)
    assert all(span.payload_start == 0 for span in spans.spans)
    assert all(span.tokens == len(span.payload) for span in cut(text, 120).spans)


def test_metadata_above_the_limit_is_refused() -> None:
    with pytest.raises(UnsplittableError):
        spans_of(
            document("d", "text"), SpanLimits(5, 5), Scalars(), metadata=lambda _: "too long\n"
        )


def test_a_block_that_fits_without_its_metadata_only_is_cut_between_sentences() -> None:
    text = "# Head\nFirst.\n\n" + "A sentence, of some words. Another, of a few. Last.\n"
    assert parts(cut(text, 52, kind="markdown"))[1:] == [
        "A sentence, of some words. Another, of a few. ",
        "Last.\n",
    ]


def test_a_part_of_a_block_names_it_and_a_whole_one_its_heading() -> None:
    text = "# A\nShort.\n\n" + "One sentence here. Another there. A third one."
    spans = cut(text, 40, kind="markdown")
    assert [span.parent for span in spans.spans] == [None, 2, 2]
    assert spans.blocks[2].parent == 0


def test_a_cluster_is_cut_only_if_it_is_above_the_hard_limit() -> None:
    family = "👨‍👩‍👧‍👦"  # seven scalars
    assert parts(cut(family * 2, 4, 7)) == [family, family]
    cut_up = cut(family, 4, 6)
    assert [span.cut for span in cut_up.spans] == ["block", "scalar"]
    assert parts(cut_up) == [family[:6], family[6:]]


def test_every_cut_within_a_cluster_is_recorded() -> None:
    spans = cut("a" + "\u0301" * 40 + "b", 4, 6)
    assert [span.cut for span in spans.spans] == ["block", *["scalar"] * 6, "cluster"]
    assert all(span.tokens <= 6 for span in spans.spans)


def test_one_scalar_above_the_limit_is_refused_without_a_word_of_the_text() -> None:
    text = "ab" + "𝔘" + "cd"
    with pytest.raises(UnsplittableError) as refused:
        cut(text, 3, by=Bytes())
    assert (refused.value.range.start, refused.value.range.byte_start) == (2, 2)
    assert (refused.value.tokens, refused.value.hard) == (4, 3)
    assert "𝔘" not in str(refused.value)


@pytest.mark.parametrize(
    "limits", [SpanLimits(0, 5), SpanLimits(6, 5), SpanLimits(5, 5, 5), SpanLimits(5, 5, -1)]
)
def test_limits_that_contradict_each_other_are_refused(limits: SpanLimits) -> None:
    with pytest.raises(SpanLimitsError):
        spans_of(document("d", "text"), limits, Scalars())


def test_an_empty_text_has_no_spans() -> None:
    assert cut("", 10).spans == ()


def test_overlap_stands_only_where_nothing_else_could_be_cut() -> None:
    spans = cut("x" * 100, 20, overlap=4)
    assert [span.overlap for span in spans.spans] == [0, 4, 4, 4, 4, 4]
    assert all(span.overlap == 0 for span in cut("word " * 20, 20, overlap=4).spans)


def test_code_is_cut_where_it_is_least_indented() -> None:
    text = "def f():\n    a()\n    if x:\n        b()\n        c()\n"
    assert parts(cut(text, 34, kind="code")) == [
        "def f():\n    a()\n",
        "    if x:\n        b()\n        c()\n",
    ]


def test_ids_follow_from_document_bytes_and_place() -> None:
    same = [s.id for s in cut(LOREM * 4, 60).spans]
    assert same == [s.id for s in cut(LOREM * 4, 60).spans]
    other = spans_of(document("e", LOREM * 4), SpanLimits(60, 60), Scalars())
    assert set(same).isdisjoint(span.id for span in other.spans)


def test_one_line_of_megabytes_is_cut_in_time_that_grows_with_it() -> None:
    # Quadratic work would take hours here.
    text = "x" * 2_000_000
    assert "".join(parts(cut(text, 4_000))) == text


SCRIPT = """
import json, sys
from compress.spans.blocks import document
from compress.spans.packer import spans_of
from compress.spans.values import SpanLimits
from compress.tokens import CharsOverFour
texts = json.load(sys.stdin)
for text in texts:
    spans = spans_of(document("d", text), SpanLimits(40, 64), CharsOverFour())
    print(json.dumps([(s.id, s.payload, s.tokens, s.parent, s.cut) for s in spans.spans]))
"""


def test_two_processes_and_hash_seeds_give_the_same_bytes() -> None:
    files = ("README.md", "compress/tokens.py", "Makefile")
    texts = [(REPOSITORY / name).read_text(encoding="utf-8")[:6_000] for name in files]
    outputs = [
        subprocess.run(
            [sys.executable, "-c", SCRIPT],
            input=json.dumps(texts),
            env={**os.environ, "PYTHONHASHSEED": seed},
            cwd=REPOSITORY,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert outputs[0] == outputs[1]
    assert len(outputs[0].splitlines()) == len(texts)


def some_texts(corpus: Path) -> Sequence[str]:
    """The beginnings of real logs, which are JSON, and the texts that stand in them."""
    found = []
    for path in sorted(corpus.rglob("*.jsonl"))[::9]:
        rows = path.read_text(encoding="utf-8", errors="surrogateescape")[:60_000]
        found.append(rows)
        for row in rows.splitlines()[:-1][:20]:
            found.extend(t for t in strings(json.loads(row)) if len(t) > 400)
    return found


def strings(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for item in value.values() for text in strings(item)]
    return [text for item in value for text in strings(item)] if isinstance(value, list) else []


@pytest.mark.corpus
def test_texts_of_real_logs_come_back_whole(corpus: Path) -> None:
    texts = some_texts(corpus)
    assert len(texts) > 20
    for text in texts[:60]:
        check(cut(text[:20_000], 96, 144, by=counter()), counter())
