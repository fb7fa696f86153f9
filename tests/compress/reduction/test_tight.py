"""Budgets of a few dozen tokens, worked by hand."""

from __future__ import annotations

from compress.reduction.critical import Assessor
from compress.reduction.evidence import evidence
from compress.reduction.items import Item
from compress.reduction.pipeline import reduce
from compress.reduction.profile import Profile
from compress.reduction.render import is_reduced
from compress.reduction.values import Budget
from compress.tokens import TokenCounter
from tests.compress.reduction.outputs import shown


def odds(lines: list[str], generic: Profile) -> list[float]:
    marks = Assessor([generic]).assess(lines)
    return evidence([Item(i, 0, text, marks[i]) for i, text in enumerate(lines)], tail=2)


def test_what_is_said_of_a_place_outweighs_what_is_not(generic: Profile) -> None:
    lines = ["b.x:3: the lever is jammed", "Offenses:", "    lever = 1;", "            ^"]
    said, heading, source, caret = odds([*lines, *["and so on"] * 4], generic)[:4]
    assert said > max(heading, source)
    assert caret == 0


def test_a_line_that_a_place_leaves_the_word_to_is_the_message(generic: Profile) -> None:
    lines = ['"b.x", line 3: nr4:', "    der Hebel klemmt", "noch etwas", *["x y z"] * 5]
    found = odds(lines, generic)
    assert found[1] > 3 * found[2]


def test_what_was_said_before_is_worth_little(generic: Profile) -> None:
    lines = [
        "a.x:3: the lever is jammed",
        "b.x:9: the lever is jammed",
        "c.x:4: E7: lever is jammed",
    ]
    first, again, _ = odds(lines, generic)
    assert again < first / 10


def test_three_messages_fit_without_their_folders(count: TokenCounter, generic: Profile) -> None:
    lines = [
        "make: entering the folder of the build, which is a long way down",
        "/home/build/workspace/component/one/lever.c:12:3: error: the lever is jammed",
        "/home/build/workspace/component/two/wheel.c:7:1: error: the wheel is flat",
        "make: leaving the folder of the build, which is a long way down",
    ]
    budget = 33
    # Either line with its folders, and the header, would leave no room for the other.
    assert count.count("\n".join(lines[1:3])) > budget
    result = reduce("\n".join(lines) + "\n", generic, count, Budget(tokens=budget))
    assert "error: the lever is jammed" in result.text
    assert "error: the wheel is flat" in result.text
    assert result.tokens_after <= budget
    assert result.header == "…"
    assert result.kept == (1, 2)


def test_the_header_grows_with_the_budget(count: TokenCounter, generic: Profile) -> None:
    lines = [
        f"{c}.x:{i}: error: part {c * 4} is broken in two" for i, c in enumerate("abcdefghijklmnop")
    ]
    text = "\n".join(lines)
    headers = {
        tokens: reduce(text, generic, count, Budget(tokens=tokens), pointer="ab12cd34").header
        for tokens in (40, 120, 199, 210)
    }
    assert headers[40] == "…"
    assert headers[120].startswith("…")
    assert headers[120].endswith("/16")
    assert headers[210].endswith("/16 ab12cd34")


def test_an_exit_code_stands_in_every_header(count: TokenCounter, generic: Profile) -> None:
    text = "a.c:1:2: error: bad thing\n" + "nothing of interest here\n" * 8
    for tokens in (6, 12, 30):
        result = reduce(text, generic, count, Budget(tokens=tokens), exit_code=3)
        assert result.header == "… exit 3"
        assert result.tokens_after <= tokens


def test_a_message_goes_before_the_time_and_the_place(
    count: TokenCounter, generic: Profile
) -> None:
    text = "2026-01-02 10:00:04 /srv/app/shop/lever.py:12:3: error: the lever is jammed again\n"
    result = reduce(text + "fine\n" * 3, generic, count, Budget(tokens=13))
    assert "error: the lever is jammed again" in result.text
    assert result.tokens_after <= 13


def test_a_small_text_under_the_sign_is_a_reduction(count: TokenCounter) -> None:
    assert is_reduced("…\nwhat was kept", 6)
    assert is_reduced("…… exit 1\nwhat … was kept", 9)
    assert not is_reduced("…\n" + "what was not reduced\n" * 90, 400)
    assert not is_reduced("… and so on\nmore", 9)
    assert is_reduced("…2/9\n…a.c:1: odd\n…4\nodd too", 20)


def test_a_shortened_line_is_no_mark(count: TokenCounter, generic: Profile) -> None:
    lines = [
        f"/home/build/a/long/way/down/unit{i}.c:{i}: error: thing {i} is odd" for i in range(40)
    ]
    once = reduce("\n".join(lines), generic, count, Budget(share=0.4))
    assert "…unit" in once.text
    assert reduce(once.text, generic, count, Budget(share=0.4)).unchanged
    assert len(shown(once.text)) == len(once.kept)
