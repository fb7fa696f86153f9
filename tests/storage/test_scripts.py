"""Full text in every script: what is found of a text, worked by hand, and by property."""

from __future__ import annotations

import sqlite3
import unicodedata
from collections.abc import Callable, Iterator

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from storage.script_table import BARE, MARKED, PAIRED
from storage.scripts import TOKENIZER, all_of, any_of, index_text, is_searchable

Finds = Callable[[str, str], bool]


@pytest.fixture(scope="module")
def finds() -> Iterator[Finds]:
    """Whether a query finds a text that stands alone in an index."""
    connection = sqlite3.connect(":memory:")
    connection.execute(
        f"CREATE VIRTUAL TABLE search USING fts5(text, content='', tokenize=\"{TOKENIZER}\")"
    )

    def found(query: str, text: str) -> bool:
        connection.execute("INSERT INTO search (search) VALUES ('delete-all')")
        connection.execute("INSERT INTO search (rowid, text) VALUES (1, ?)", (index_text(text),))
        asked = "SELECT 1 FROM search WHERE search MATCH ?"
        return connection.execute(asked, (all_of(query),)).fetchone() is not None

    yield found
    connection.close()


@pytest.mark.parametrize(
    ("query", "text"),
    [
        # Han and kana: every run, from one character on, wherever it stands.
        ("苹果", "我喜欢吃苹果和香蕉"),
        ("喜欢吃苹", "我喜欢吃苹果和香蕉"),
        ("我", "我喜欢吃苹果"),
        ("欢", "我喜欢吃苹果"),
        ("果", "我喜欢吃苹果"),
        ("蕉 苹果", "我喜欢吃苹果和香蕉"),
        ("ファイル", "設定ファイルを読む"),
        ("ル", "設定ファイル"),
        ("ーバ", "サーバーを再起動"),
        ("ファイル", "設定ﾌｧｲﾙ"),
        ("ガラス", "ｶﾞﾗｽの板"),
        # Hangul: syllables within a word, with and without what is attached to it; decomposed too.
        ("파일", "설정 파일을 읽는다"),
        ("파일을", "설정 파일을 읽는다"),
        ("일", "설정 파일을 읽는다"),
        ("다", "설정 파일을 읽는다"),
        ("파일", unicodedata.normalize("NFD", "설정 파일을")),
        # Thai, without blanks.
        ("ภาษา", "ฉันเรียนภาษาไทยทุกวัน"),
        ("ไทย", "ฉันเรียนภาษาไทยทุกวัน"),
        ("วัน", "ฉันเรียนภาษาไทยทุกวัน"),
        ("ทุ", "ฉันเรียนภาษาไทยทุกวัน"),
        ("น้ำ", "ดื่มน้ำมาก"),
        ("ភាសា", "ខ្ញុំរៀនភាសាខ្មែរ"),
        # Cyrillic and Greek: other forms of a word, any case; accents are not told apart.
        ("настройк", "Прочитай Настройки сервера"),
        ("НАСТРОЙКИ", "прочитай настройки"),
        ("ки", "настройки"),
        ("и", "настройки"),
        ("ёлка", "елка"),
        ("елка", "Ёлка"),
        ("мир труд", "труд, мир"),
        ("мир,", "мир и труд"),
        ("αρχειο", "το αρχείο ρυθμίσεων"),
        ("ΟΔΟΣ", "η οδός"),
        # Arabic: with tashkeel and without, the line filler, hamza; Persian's joiner; Hebrew.
        ("محمد", "قال مُحَمَّدٌ ذلك"),
        ("مُحَمَّد", "قال محمد ذلك"),
        ("كتاب", "هذا كتـــاب جديد"),
        ("احمد", "أحمد"),
        ("كتاب", "والكتاب على الطاولة"),
        ("میخواهم", "می\u200cخواهم بروم"),
        ("שלום", "אמר שָׁלוֹם לכולם"),
        # Devanagari: vowel signs are part of the word.
        ("हिन्दी", "मैं हिन्दी बोलता हूँ"),
        ("बोल", "मैं हिन्दी बोलता हूँ"),
        ("में", "घर में है"),
        # Latin: words, any case, without their diacritics, composed or not.
        ("cafe", "le Café noir"),
        ("café", "le cafe noir"),
        ("cafe", "le cafe\u0301 noir"),
        ("Ærø", "på ærø"),
        ("ＡＢＣ", "abc"),
        ("abc", "ＡＢＣ"),
        # Scripts next to each other in one line.
        ("foo世界", "print foo世界bar"),
        ("世界bar", "print foo世界bar"),
        ("新世界", "foo新世界-bar"),
        ("界-bar", "foo新世界-bar"),
        ("файл.txt", "новый_файл.txt"),
        ("config файл 设置", "файл config в 设置目录"),
        ("第3章", "参照第3章"),
        # Names, whole and in part.
        ("foo-bar", "a foo-bar b"),
        ("snake_case", "call snake_case_name()"),
        ("snake", "call snake_case_name()"),
        ("case_name", "call snake_case_name()"),
        ("CamelCase", "class CamelCaseName:"),
        ("CamelCaseName", "class CamelCaseName:"),
        ("camelcasename", "class CamelCaseName:"),
        ("Camel", "class CamelCaseName:"),
        ("name", "class CamelCaseName:"),
        ("CaseName", "class CamelCaseName:"),
        ("Server", "new HTTPServer(8080)"),
        ("http", "new HTTPServer(8080)"),
        ("utf8", "utf8Decode(x)"),
        ("getUserName", "def get_user_name"),
        ("src/ws/back_off.py", "edit src/ws/back_off.py now"),
        ("ws/back_off", "edit src/ws/back_off.py now"),
        ("back_off.py", "edit /home/u/src/ws/back_off.py"),
    ],
)
def test_a_query_finds_a_text(finds: Finds, query: str, text: str) -> None:
    assert finds(query, text)


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("果苹", "我喜欢吃苹果"),
        ("苹香", "苹果和香蕉"),
        ("苹果", "苹和果"),
        ("파을", "설정 파일을"),
        ("ไทม", "ฉันเรียนภาษาไทยทุกวัน"),
        ("мур", "мир"),
        ("case_snake", "snake_case"),
        ("CaseCamel", "CamelCase"),
        ("foo世", "foo 新世界"),
        ("ガラス", "カラス"),
        ("ไหม", "ไม"),
    ],
)
def test_a_query_does_not_find_what_is_not_there(finds: Finds, query: str, text: str) -> None:
    assert not finds(query, text)


def test_a_text_of_ascii_is_indexed_as_it_stands() -> None:
    assert index_text("plain text, snake_case, 0x1F") == "plain text, snake_case, 0x1F"


@pytest.mark.parametrize(
    "text", ["caf\u00e9 → naïve ✓ “quoted” 😀", "aGVsbG8gd29ybGQ3Zm9v1Qx9", "x" * 70 + "aB"]
)
def test_neither_accents_nor_symbols_nor_encoded_data_are_split(text: str) -> None:
    assert index_text(text) == text


def test_names_are_followed_by_their_parts_each_once() -> None:
    assert index_text("getUser(getUser(HTTPServer))") == (
        "getUser(getUser(HTTPServer))\nget User HTTP Server"
    )


@pytest.mark.parametrize(
    "query", ["", "  ", "→ ✓", "***", "😀", "\u200c", "\0", "。、！", "\u0301"]
)
def test_a_query_of_symbols_asks_for_nothing(query: str) -> None:
    assert not is_searchable(query)
    assert all_of(query) is None
    assert any_of(query) is None


@pytest.mark.parametrize("query", ["foo", "foo-bar", "getUserName", "苹果", "мир", "src/a.py"])
def test_a_single_name_is_there_or_is_not(query: str) -> None:
    assert any_of(query) is None


def test_of_a_question_any_word_its_other_forms_or_any_piece_will_do() -> None:
    assert any_of("how connections") == '"how" OR "connections" OR "connecti" *'
    assert any_of("苹果多少钱") == '"苹果" OR "果多" OR "多少" OR "少钱"'


# By property

_LETTERS = {
    "paired": "漢字黑豹队的防かなカナー한국어々",
    "cyrillic": "абвгдежзийёѣ",
    "greek": "αβγδάήςΣ",
    "arabic": "ابتثجحأإـ\u064e\u0651",
    "thai": "กขคงจุูิ่้ำเแ",
    "devanagari": "कखगघािी्ंह़",
    "mixed": "аб漢字กุאab1-_. é",
}


@st.composite
def _text_and_run(draw: st.DrawFn) -> tuple[str, str]:
    """A text, and a run of it that is cut between two of its characters as a reader sees them."""
    kind = draw(st.sampled_from([k for k in _LETTERS if k != "mixed"]))
    seen = regex.findall(r"\X", draw(st.text(_LETTERS[kind], min_size=1, max_size=12)))
    start = draw(st.integers(0, len(seen) - 1))
    run = "".join(seen[start : draw(st.integers(start + 1, len(seen)))])
    around = st.text(_LETTERS["mixed"] + "\n→", max_size=6)
    behind = draw(st.sampled_from(["", " ", ", ", "-", "\n"]))
    return f"{draw(around)} {''.join(seen)}{behind}{draw(around)}", run


@given(_text_and_run())
def test_every_run_that_stands_in_a_text_is_found(finds: Finds, given_: tuple[str, str]) -> None:
    text, run = given_
    assert all_of(run) is None or finds(run, text)


@given(st.text(_LETTERS["mixed"], min_size=1, max_size=10), st.text(_LETTERS["mixed"], max_size=10))
def test_a_text_is_found_by_itself_whatever_it_mixes(finds: Finds, text: str, more: str) -> None:
    assert all_of(text) is None or finds(text, f"{more} {text} {more}")


@given(st.text(max_size=40))
def test_any_text_is_a_legal_query(finds: Finds, query: str) -> None:
    for expression in (all_of(query), any_of(query)):
        assert expression is None or expression.strip()
    if all_of(query) is not None:
        finds(query, "text")


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=60))
def test_any_text_can_be_indexed(text: str) -> None:
    assert index_text(text) == index_text(text)


# The table

_SCRIPTS = {
    PAIRED: ("Han", "Hiragana", "Katakana", "Bopomofo", "Hangul"),
    BARE: ("Greek", "Cyrillic", "Arabic", "Hebrew"),
    MARKED: ("Devanagari", "Thai", "Lao", "Khmer", "Myanmar"),
}


def test_the_table_is_what_unicode_says() -> None:
    seen: set[int] = set()
    for table, scripts in _SCRIPTS.items():
        bounds = [[int(end, 16) for end in part.split("-")] for part in table.split()]
        listed = {code for ends in bounds for code in range(ends[0], ends[-1] + 1)}
        extended = regex.compile("[" + "".join(rf"\p{{scx={name}}}" for name in scripts) + "]")
        known = {
            code
            for code in range(0x370, 0x110000)
            if not 0x1DC0 <= code < 0x1E00
            and unicodedata.category(chr(code))[0] in "LM"
            and extended.match(chr(code))
        }
        assert known - seen <= listed
        assert not any(unicodedata.category(chr(c)) != "Cn" for c in listed - known)
        seen |= listed
