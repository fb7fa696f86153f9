"""Where a text may be cut: sentence ends of any script, edges of grapheme clusters."""

from __future__ import annotations

from itertools import pairwise

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from compress.spans.micro_units import LINES, cluster_end, cuts_behind, edge_before, sentence_ends

JOINING = st.text(
    alphabet=[
        *("a", " ", "\n", "\r", "\0", "é", "\u0301", "\u200d", "👨", "👩", "👍", "🏽", "🇩", "🇪"),
        *("क", "\u094d", "ष", "ि", "\u0600", "각", "ᄀ", "ᅡ", "ก", "\u0e33", "\ud800", "\u200b"),
    ],
    max_size=24,
)


def sentences(text: str) -> list[str]:
    places = [0, *sentence_ends(text, 0, len(text)), len(text)]
    return [text[a:b] for a, b in pairwise(places)]


@pytest.mark.parametrize(
    "wanted",
    [
        ['He said: "No!" ', "Then he left... and came back. ", "Is it so? ", "Yes."],
        ["Mr. Smith met J. R. Ewing at 3.5 km. ", "St. Louis was cold."],
        ["See a.b and x!=y and ?q=1 in v1.2. ", "All of it."],
        ["他说：“你好。”", "然后走了。", "真的吗？", "是的！"],
        ["यह एक वाक्य है। ", "दूसरा वाक्य।", "तीसरा"],
        ["هل هذا سؤال؟ ", "نعم ذلك. ", "لا!"],
        ["ለምን ነው። ", "አይደለም።"],
        ["မြန်မာ။ ", "စကား။"],
        ["Είναι αυτό αλήθεια; Βεβαίως. ", "Όχι!"],
        ["Он ушёл. ", "Она осталась…"],
        ["First line ends.\n", "Second line. ", "Third"],
        ["ไม่มีจุดจบของประโยค มีแต่ช่องว่าง"],
    ],
)
def test_a_sentence_ends_by_the_marks_of_its_script(wanted: list[str]) -> None:
    assert sentences("".join(wanted)) == wanted


@given(JOINING)
@settings(max_examples=300, deadline=None)
def test_an_edge_is_one_of_the_whole_texts_clusters(text: str) -> None:
    edges = [0, *(found.end() for found in regex.finditer(r"\X", text))]
    for at in range(len(text) + 1):
        assert edge_before(text, 0, at) == max(edge for edge in edges if edge <= at)
    for edge, following in pairwise(edges):
        assert cluster_end(text, edge, len(text)) == following


def test_the_parity_of_flags_is_kept_however_many_stand_before() -> None:
    flags = "🇩🇪" * 200
    assert edge_before(flags, 0, 301) == 300
    assert edge_before(flags, 0, 300) == 300


def test_a_cluster_is_looked_at_as_far_as_asked() -> None:
    assert cluster_end("a" + "\u0301" * 100, 0, 10) == 10


def test_cuts_are_behind_lines_then_marks_then_blanks() -> None:
    text = "one two, three\nfour five (six) seven"
    assert list(cuts_behind(text, 0, len(text))) == [
        ("line", text.index("four")),
        ("punctuation", text.index("seven")),
        ("blank", text.index("seven")),
    ]


@pytest.mark.parametrize("text", ["1990–1995", "don’t", "foo_bar", "a-b", "3.14", "((("])
def test_nothing_is_cut_within_a_name_or_a_number(text: str) -> None:
    assert list(cuts_behind(text, 0, len(text))) == []


def test_a_mark_that_needs_no_blank_is_a_cut() -> None:
    assert dict(cuts_behind("春，夏，秋冬", 0, 6)) == {"punctuation": 4}


@pytest.mark.parametrize("run", ["\u2028", "\x0b ", "\x85\u2029", "\n\u2028", "\r\n \x0c"])
def test_a_run_of_line_ends_is_one_end_and_looked_through_once(run: str) -> None:
    found = list(LINES.finditer(run * 50_000 + "next"))
    assert len(found) == 1
