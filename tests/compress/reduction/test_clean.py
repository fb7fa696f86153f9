from __future__ import annotations

from compress.reduction.clean import LONG_LINE, clean


def texts(text: str) -> list[str]:
    return [line.text for line in clean(text).lines]


def test_escape_sequences_go_and_the_words_stay() -> None:
    cleaned = clean("\x1b[1;31mFAILED\x1b[0m a.py\n\x1b]0;title\x07plain\n\x1b(Bset\n\x9b31mred")
    assert [line.text for line in cleaned.lines] == ["FAILED a.py", "plain", "set", "red"]
    assert cleaned.escaped == 4


def test_a_hyperlink_leaves_its_text() -> None:
    assert texts("\x1b]8;;https://x.example\x1b\\a.c:12\x1b]8;;\x1b\\ bad") == ["a.c:12 bad"]


def test_an_unfinished_sequence_takes_no_line_with_it() -> None:
    assert texts("one\x1b]0;title without end\ntwo\x1b[") == ["one", "two"]


def test_a_progress_display_leaves_its_last_frame() -> None:
    cleaned = clean(" 10% [=   ] loading\r 50% [==  ] loading\r100% [====] loading\ndone")
    assert [line.text for line in cleaned.lines] == ["100% [====] loading", "done"]
    assert cleaned.frames == 2
    assert cleaned.total == 2


def test_frames_that_say_something_else_are_kept() -> None:
    text = "fetch 1/9\rfetch 5/9\rerror: no such host\rfetch 9/9"
    assert texts(text) == ["fetch 5/9", "error: no such host", "fetch 9/9"]


def test_bars_and_percentages_give_way_to_words() -> None:
    assert texts("  0%\r 40%\r100%\rbuilt a.c") == ["built a.c"]


def test_a_wiped_line_counts_as_a_frame() -> None:
    assert texts("wait 1\x1b[2K\x1b[1Gwait 2\x1b[2K\x1b[1Gready") == ["wait 2", "ready"]


def test_a_bar_that_is_wiped_leaves_nothing_and_words_stay() -> None:
    assert texts(" 10%\r 50%\r\x1b[2K") == [""]
    assert texts("disk full\r\x1b[2K") == ["disk full"]
    assert texts(" 50%\r") == [" 50%"]


def test_crlf_is_a_line_end() -> None:
    assert texts("a\r\nb\r\n") == ["a", "b"]


def test_overstruck_characters_are_gone() -> None:
    assert texts("N\x08NA\x08AME") == ["NAME"]


def test_a_final_line_feed_makes_no_line() -> None:
    assert clean("a\n").total == 1
    assert clean("").total == 0
    assert clean("\n\n").total == 2


def test_a_lone_surrogate_is_replaced() -> None:
    assert texts("a\ud800b") == ["a\ufffdb"]


def test_a_long_line_comes_in_pieces_that_are_the_line() -> None:
    line = ", ".join(f'"key{i}": {i}' for i in range(400))
    cleaned = clean(line)
    assert len(line) > LONG_LINE
    assert len(cleaned.lines) > 10
    assert "".join(piece.text for piece in cleaned.lines) == line
    assert [piece.part for piece in cleaned.lines] == list(range(len(cleaned.lines)))
    assert {piece.index for piece in cleaned.lines} == {0}
