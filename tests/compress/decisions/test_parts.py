"""Commands, commit messages, results, and lists of items, each by itself."""

from __future__ import annotations

import pytest

from compress.decisions.calls import commit_body, is_masked
from compress.decisions.items import Item, compare
from compress.markup import behind_elements, is_wrapped
from tests.compress.decisions.story import JUDGE


@pytest.mark.parametrize(
    ("command", "masked"),
    [
        ("make all", False),
        ("cd src && make", False),
        ("make 2>&1", False),
        ("make &> log", False),
        ("make | tail", True),
        ("make || true", True),
        ("make; echo done", True),
        ("make\necho done", True),
        ("serve &", True),
        ("grep 'a|b;c' x", False),
        ('grep "a\\"|b" x', False),
        ("find . -exec rm {} \\;", False),
        ("cat > x <<'EOF'\na | b; c\nEOF", False),
        ("a | cat <<EOF", True),
        ("", False),
    ],
)
def test_an_exit_code_that_does_not_tell_of_the_command(command: str, masked: bool) -> None:
    assert is_masked(command) is masked


@pytest.mark.parametrize(
    ("command", "body"),
    [
        ("git commit -m 'Fix' -m 'Because of x.'", "Because of x."),
        ('git add . && git -C p commit -am "Fix" -m "Because \\"x\\"."', 'Because \\"x\\".'),
        (
            "git commit -m \"$(cat <<'EOF'\nFix\n\nBecause of x.\nAnd y.\nEOF\n)\"",
            "Because of x.\nAnd y.",
        ),
        (
            (
                "git commit -m \"$(cat <<'EOF'\nFix\n\nWhy.\n\n🤖 Generated with [X](y)\n\n"
                'Co-Authored-By: X <x@y>\nEOF\n)"'
            ),
            "Why.",
        ),
        ("git commit -m 'Fix'", ""),
        ("git log -m 'Fix' -m 'Because'", ""),
        ("echo git; commit -m a -m b", ""),
        ("make -m 'a' -m 'b'", ""),
    ],
)
def test_the_body_of_a_commits_message(command: str, body: str) -> None:
    assert commit_body(command) == body


@pytest.mark.parametrize(
    ("text", "flag", "failed", "worked", "exit_code"),
    [
        ("Exit code 2\nx", True, True, False, 2),
        ("x\n\nCommand exited with code 2", True, True, False, 2),
        ("Chunk ID: 1\nProcess exited with code 3\nOutput:\nx", None, True, False, 3),
        ('{"output":"x","metadata":{"exit_code":4}}', None, True, False, 4),
        ("x\n[exit code: 1]\n", False, False, False, 1),
        ("error\n[exit code: 1]\n", False, True, False, 1),
        ("all good, exit code 7 was fixed", False, False, True, None),
        ("x", None, False, False, None),
        ("x", True, True, False, None),
        ("", False, False, True, None),
        ('{"output": 3', None, False, False, None),
        ('{"output":"x","metadata":{"exit_code":true}}', None, False, False, None),
    ],
)
def test_how_a_result_ended(
    text: str, flag: bool | None, failed: bool, worked: bool, exit_code: int | None
) -> None:
    reading = JUDGE.read("tool", text, flag)
    assert (reading.failed, reading.worked, reading.exit_code) == (failed, worked, exit_code)


def test_the_head_of_a_failure_is_the_line_that_says_so() -> None:
    assert (
        JUDGE.read("x", "Exit code 2\n----\nstep 1\nTypeError: no\n", None).head == "TypeError: no"
    )
    assert JUDGE.read("x", "Exit code 2\n----\nstep 1\n", None).head == "step 1"
    patch = "Exit code 1\n@@ -1 +1 @@\n-error\n+Error"
    assert not JUDGE.read("compare", patch, None).failed


def test_totals_are_read_of_tools_that_count_only() -> None:
    counted = JUDGE.read("runner -q", "Exit code 0\n2 failed, 3 passed\n", False)
    assert (counted.totals, counted.failed) == ("2 failed, 3 passed", True)
    quoted = JUDGE.read("cat notes.txt", "2 failed, 3 passed\n", False)
    assert (quoted.totals, quoted.failed) == (None, False)


def test_items_are_known_by_text_then_by_place() -> None:
    before = [Item("a", "pending"), Item("b", "in_progress", "id-b"), Item("c", "pending")]
    after = [Item("c", "pending"), Item("b, more exactly", "in_progress"), Item("a", "in_progress")]
    changes, gone = compare(before, after)
    assert [item.stage for item in after] == ["", "id-b", ""]
    assert [(change.item.text, change.began) for change in changes] == [("a", True)]
    assert gone == []


def test_text_in_tags_is_a_programs() -> None:
    assert is_wrapped("<a>x</a>\n<b c='d'>y</b> ")
    assert not is_wrapped("<a>x</a> and more")
    assert not is_wrapped("<a>x")
    assert not is_wrapped("x")
    assert not is_wrapped("<a>x</a>" * 4_000 + "!")


def test_words_behind_elements_are_a_persons() -> None:
    assert behind_elements("<a>x</a>\n<b c='d'>y</b> words <i>mine</i> ") == "words <i>mine</i>"
    assert behind_elements("<a>x</a>\n<b>y</b>") == ""
    assert behind_elements("<a>x and more") == "<a>x and more"
    assert behind_elements("x <a>y</a>") == "x <a>y</a>"
    assert behind_elements("<a>" * 50_000 + "x").endswith("x")
