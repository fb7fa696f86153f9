"""Text from a log is shown, never obeyed."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from inspector.sanitize import MARKS_PER_LETTER, clean, line, page, path_line, safe, wrap

# Characters that no terminal shows and many obey: by Unicode's own properties, not by our list.
ACTING = {
    chr(code)
    for code in range(0x110000)
    if unicodedata.category(chr(code)) in ("Cc", "Cs", "Zl", "Zp")
    or unicodedata.bidirectional(chr(code)) in ("LRE", "RLE", "LRO", "RLO", "PDF")
    or unicodedata.bidirectional(chr(code)) in ("LRI", "RLI", "FSI", "PDI")
} | {chr(code) for code in (*range(0x200B, 0x2010), 0xFEFF, 0xAD, *range(0xE0000, 0xE0080))}

# Mostly the characters that matter, in company of what surrounds them.
nasty = st.text(
    alphabet=st.one_of(
        st.sampled_from(sorted(ACTING)),
        st.sampled_from("a[]/@=\t\n\r\x1b 日é́אا\u0301\ufe0f👍"),
        st.characters(),
    ),
    max_size=200,
)


@given(nasty)
@settings(max_examples=300)
def test_no_control_or_bidi_character_passes(text: str) -> None:
    assert not ACTING & set(clean(text).replace("\n", ""))
    assert not ACTING & set(clean(text, newline="↵"))
    assert not ACTING & set(line(text, 40))
    assert not ACTING & set(page(text).text.replace("\n", ""))
    assert not ACTING & set(safe(text).plain)


def test_every_acting_character_alone_leaves_a_visible_mark() -> None:
    for char in sorted(ACTING - {"\n", "\t"}):
        marked = clean(f"a{char}b")
        assert len(marked) > 2, hex(ord(char))
        assert not ACTING & set(marked), hex(ord(char))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b]52;c;aGVsbG8=\x07", "␛]52;c;aGVsbG8=␇"),
        ("a\x00b\x7f", "a␀b␡"),
        ("\x9b31m", "‹U+009B›31m"),
        ("harmless\rEVIL", "harmless␍EVIL"),
        ("abc\b\bxy", "abc␈␈xy"),
        ("user\u202egpj.exe", "user‹U+202E›gpj.exe"),
        ("pa\u200bss", "pa‹U+200B›ss"),
        ("hi\U000e0068", "hi‹U+E0068›"),
        ("\ud800", "‹U+D800›"),
        ("one\r\ntwo\nthree", "one\ntwo\nthree"),
        ("⚠\ufe0f ok", "⚠ ok"),
        ("a\ufe0f\ufe01", "a‹U+FE01›"),
        ("[/] [@click=app.quit]x[/]", "[/] [@click=app.quit]x[/]"),
    ],
)
def test_what_acts_is_shown(text: str, shown: str) -> None:
    assert clean(text) == shown


@pytest.mark.parametrize(
    "text", ["שלום עולם", "مرحبا بالعالم", "สวัสดี", "नमस्ते", "日本語", "e\u0301", "→✓█⠿"]
)
def test_real_writing_is_left_alone(text: str) -> None:
    assert clean(text) == text


def test_a_storm_of_combining_marks_is_capped_and_counted() -> None:
    assert clean("e" + "\u0301" * 300) == "e" + "\u0301" * MARKS_PER_LETTER + "‹+296›"


def test_tabs_go_to_the_next_stop_in_cells() -> None:
    assert clean("a\tb\t\tc") == "a   b       c"
    assert clean("日\tx") == "日  x"
    assert clean("ab\tc\nd\te") == "ab  c\nd   e"


@given(nasty, st.integers(-1, 50))
@settings(max_examples=200)
def test_a_line_never_exceeds_its_cells(text: str, width: int) -> None:
    assert cell_len(line(text, width)) <= max(width, 0)
    assert "\n" not in line(text, width)


def test_a_cut_line_says_so() -> None:
    assert line("abcdef", 6) == "abcdef"
    assert line("abcdefg", 6) == "abcde…"
    assert line("日本語日本語", 5) == "日本…"
    assert line("one\ntwo", 9) == "one↵two"
    assert line("x" * 5_000_000, 4) == "xxx…"


@given(nasty, st.sampled_from(["", "/", "/a/b.py"]), st.integers(-1, 50))
@settings(max_examples=100)
def test_a_line_with_a_path_never_exceeds_its_cells(text: str, end: str, width: int) -> None:
    shown = path_line(text + end, width)
    assert cell_len(shown) <= max(width, 0)
    assert "\n" not in shown


def test_a_path_is_cut_where_paths_are_alike() -> None:
    assert path_line("src/app.py", 10) == "src/app.py"
    assert path_line("/home/me/shop/src/app.py", 18) == "/home/…/src/app.py"
    assert path_line("sed -n '1,5p' docs/plan.md (2/7)", 24) == "sed -n '1…/plan.md (2/7)"
    assert path_line("a/very_long_name_of_a_file.py", 12) == "a/v…_file.py"
    assert path_line("no path in it at all", 10) == "no path i…"
    assert path_line("and/or what else one may say", 12) == "and/or what…"
    assert path_line("/a" * 2_000_000 + "/b.py", 10) == "/a/a…/b.py"


def test_pages_cover_the_text_once() -> None:
    text = "0123456789" * 10
    pages = [page(text, number, size=30) for number in range(4)]
    assert "".join(p.text for p in pages) == text
    assert {p.count for p in pages} == {4}
    assert page(text, 99, size=30).number == 3
    assert page("", 0).count == 1


def test_a_huge_line_costs_one_page() -> None:
    shown = page("x" * 5_000_000)
    assert len(shown.text) <= 20_000
    assert (shown.count, shown.total) == (306, 5_000_000)


@given(nasty, st.integers(2, 40))
@settings(max_examples=200)
def test_wrapped_lines_fit_and_lose_only_the_blanks_at_their_ends(text: str, width: int) -> None:
    cleaned = clean(text)
    rows = wrap(cleaned, width)
    assert all(cell_len(row) <= width for row in rows)
    assert "".join(rows).replace(" ", "") == cleaned.replace("\n", "").replace(" ", "")


def test_markup_is_never_parsed() -> None:
    text = safe("[bold red on white]APPROVED[/] [@click=app.quit]x[/]", style="dim")
    assert text.plain == "[bold red on white]APPROVED[/] [@click=app.quit]x[/]"
    assert text.spans == []


@pytest.mark.hard
def test_every_payload_is_harmless(hard_inputs: Path) -> None:
    payloads = json.loads((hard_inputs / "D01" / "payloads.json").read_text("utf-8"))
    for payload in payloads.values():
        assert not ACTING & set(clean(payload, newline=" "))
