"""Headlines: the first sentence of a text in any script, or as much as a headline may have."""

from __future__ import annotations

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from compress.beliefs.fences import open_fence
from compress.beliefs.headline import HEADLINE_LIMIT, WHITE, headline

FIRST_SENTENCES = {
    "Latin": "The parser fails on tabs.| It was written in 1999.",
    "Latin, tokenised": "OK , we 're on .| So just make sure .",
    "Cyrillic": "Тест упал вчера.| Сегодня он прошёл.",
    "Greek, full stop": "Το τεστ απέτυχε.| Πέρασε σήμερα.",
    "Greek, question mark": "Τι είναι αυτό;| Ένα τεστ.",
    "Arabic": "هل فشل الاختبار؟| نعم فشل.",
    "Urdu": "ٹیسٹ ناکام ہوا۔| آج کامیاب ہے۔",
    "Hebrew": "הבדיקה נכשלה אתמול.| היום היא עברה.",
    "Devanagari": "परीक्षण कल विफल हुआ।| आज सफल रहा।",
    "Han": "测试昨天失败了。|今天通过了。",
    "Kana": "テストは失敗した！|今日は成功した。",
    "Hangul": "시험이 어제 실패했다.| 오늘은 통과했다.",
    "Armenian": "Փորձարկումը ձախողվեց։| Այսօր անցավ։",
    "Ethiopic": "ፈተናው ወደቀ።| ዛሬ አለፈ።",
    "Burmese": "စမ်းသပ်မှု မအောင်မြင်ပါ။| ယနေ့ အောင်မြင်သည်။",
    "Khmer": "ការសាកល្បងបរាជ័យ។| ថ្ងៃនេះជោគជ័យ។",
}
"""The bar marks where the first sentence ends."""


@pytest.mark.parametrize("text", FIRST_SENTENCES.values(), ids=FIRST_SENTENCES)
def test_it_is_the_first_sentence_in_any_script(text: str) -> None:
    first, _, rest = text.partition("|")
    assert headline(first + rest) == f"{first}…"
    assert headline(first) == first


@pytest.mark.parametrize(
    "text",
    [
        "Dr. Smith ran it.| Then he left.",
        "Mr. and Mrs. Jones agreed.| We went on.",
        "We met Prof. Lee today.| He agreed.",
        "J. R. R. Tolkien wrote it.| In 1937.",
        "Use a linter, e.g. Ruff, for that.| It is fast.",
        "It holds for U.S. Units as well.| See below.",
        "See No. 5 for it.| Then go on.",
        "Files, folders, etc. are read.| Then they are cut.",
        "Das gilt z. B. Montags.| Danach nicht.",
        "Das gilt z.B. Montags.| Danach nicht.",
        "Это верно, т. е. Проверено.| Дальше.",
        "Он живёт в г. Москва сейчас.| Потом уедет.",
        "यह डॉ. शर्मा का है।| आगे बढ़ें।",
        "1. Open the file first.| Read it.",
        "Version 1.2.3 of foo.py is read.| It works.",
        "It costs 3.50 a day.| That is much.",
        "Wait... what is that?| Go on.",
    ],
)
def test_the_full_stop_of_an_abbreviation_ends_no_sentence(text: str) -> None:
    first, _, rest = text.partition("|")
    assert headline(first + rest) == f"{first}…"


def test_thai_has_no_full_stop_so_the_whole_text_is_one() -> None:
    text = "นายกฯ และ ดร. สมชาย ไปที่ ร.ร. แล้ว"
    assert headline(text) == text


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ('He said "Stop." Then he left.', 'He said "Stop."…'),
        ("It works (mostly.) Then it stops.", "It works (mostly.)…"),
        ("**Done.** Next comes the rest.", "**Done.**…"),
        ("„Es geht.“ Das sagte er.", "„Es geht.“…"),
        ("「できた。」と言った。", "「できた。」…"),
        ("Really?! Yes, it does.", "Really?!…"),
    ],
)
def test_quotes_and_brackets_close_with_their_sentence(text: str, first: str) -> None:
    assert headline(text) == first


@pytest.mark.parametrize(
    "text", ["find . -name foo.py", "x = a ? b : c", "see https://a.example/b?c=d!e", "if !ok {"]
)
def test_marks_of_a_program_end_no_sentence(text: str) -> None:
    assert headline(text) == text


# -- the limit ----------------------------------------------------------------------------------


def test_without_a_sentence_end_it_is_cut_at_the_last_white_space_within_the_limit() -> None:
    text = " ".join(["abcd"] * 60)  # blanks at 4, 9, 14, …, 239
    assert headline(text) == text[:239] + "…"
    assert headline("x" + text) == "x" + text[:234] + "…"


def test_any_white_space_of_unicode_will_do() -> None:
    text = "漢字" * 60 + "\u3000" + "漢字" * 100
    assert headline(text) == "漢字" * 60 + "…"


def test_a_sentence_that_just_fits_stands_whole() -> None:
    sentence = "x" * 120 + " " + "y" * 118 + "."  # 240
    assert headline(sentence) == sentence
    # With the ellipsis it would have 241 characters.
    assert headline(sentence + " More.") == "x" * 120 + "…"
    assert headline(sentence[1:] + " More.") == sentence[1:] + "…"


def test_without_white_space_it_is_cut_between_graphemes() -> None:
    family = "👨‍👩‍👧‍👦"  # seven scalars
    assert headline(family * 100) == family * 34 + "…"
    stacked = "o\u0302\u0301\u0323"
    assert headline(stacked * 100) == stacked * 59 + "…"


def test_nothing_is_left_out_without_an_ellipsis_nor_the_other_way_round() -> None:
    assert headline("  One line.\n\n") == "One line."
    assert headline("no end here") == "no end here"


@pytest.mark.parametrize("blank", ["", " ", "\n\t\u3000"])
def test_of_nothing_there_is_no_headline(blank: str) -> None:
    assert headline(blank) == ""


# -- fences -------------------------------------------------------------------------------------


def test_a_text_that_is_one_fenced_block_stays_whole() -> None:
    text = "```python\n" + "print(1. + 2). Then = 3\n" * 100 + "```"
    assert headline(f"\n{text}\n") == text


def test_a_sentence_end_within_a_fence_is_none() -> None:
    text = "Run this:\n```\nmake. Then wait.\n```\nIt takes long. Go on."
    assert headline(text) == "Run this:\n```\nmake. Then wait.\n```\nIt takes long.…"


def test_of_a_fence_that_does_not_fit_the_text_before_it_is_left() -> None:
    text = "Run this:\n~~~\n" + "make it. " * 60 + "\n~~~\nDone."
    assert headline(text) == "Run this:…"


def test_a_fence_that_is_cut_is_closed() -> None:
    text = "````\n" + "make it " * 60 + "\n````\nDone."
    found = headline(text)
    assert found.startswith("````\nmake it ")
    assert found.endswith("…\n````")
    assert len(found) <= HEADLINE_LIMIT


def test_an_unbalanced_fence_counts_as_text_and_is_closed() -> None:
    assert headline("```py\nx = 1. And more") == "```py\nx = 1.…\n```"


def test_the_ellipsis_does_not_spoil_a_closing_fence() -> None:
    text = "```\nmake\n```\n" + "y" * 300
    assert headline(text) == "```\nmake\n```\n…"


# -- of any text --------------------------------------------------------------------------------

_PIECES = st.sampled_from(
    (
        *("```", "````", "~~~", "\n", " ", "\r\n", "\u3000", "word", "Dr", ".", "!", "。", "?"),
        *('"', ")", "é", "e\u0301", "👨‍👩‍👧", "\u200d", "\ud800", "\0", "\x1b[0m", "…", "漢", "ก"),
        "x" * 90,
    )
)
_TEXTS = st.lists(_PIECES | st.text(max_size=8), max_size=60).map("".join)


@given(_TEXTS)
def test_it_is_short_closed_and_a_part_of_the_text(text: str) -> None:
    found = headline(text)
    stripped = text.strip(WHITE)
    if found == stripped:
        return
    assert len(found) <= HEADLINE_LIMIT
    assert open_fence(found) is None
    told = found
    if "…" in found:
        told = found[: found.rindex("…")]
    elif told not in stripped:
        # Nothing is left out, but a fence was open.
        told = told[: told.rindex("\n")]
    assert told.rstrip(WHITE) in stripped


@given(_TEXTS)
def test_no_grapheme_is_cut(text: str) -> None:
    found = headline(text)
    stripped = text.strip(WHITE)
    if stripped.startswith(found[:-1]) and found.endswith("…") and found != stripped:
        edges = {match.end() for match in regex.finditer(r"\X", stripped)}
        assert len(found) - 1 in edges
