"""Two sessions of pi, read by hand, record by record. Numbers are lines of the log."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.storage.decisions.expected import Point, Told, check, harvest_log

pytestmark = pytest.mark.corpus


def test_a_session_of_mere_words(corpus: Path) -> None:
    check(harvest_log(corpus / "pi" / "sandcastle-resumed-v3.jsonl", "pi"), WORDS)


def test_the_first_fourteen_turns_of_a_long_session(corpus: Path) -> None:
    path = corpus / "pi" / "pimono-large-session-v1.jsonl"
    check(harvest_log(path, "pi", last_line=336), LONG)


def test_every_turn_of_the_long_session_has_its_record(corpus: Path) -> None:
    read = harvest_log(corpus / "pi" / "pimono-large-session-v1.jsonl", "pi")
    turns = [point for point in read.points if point.stage.kind == "turn"]
    # 88 messages of the person; two of them (lines 462 and 836) while a turn ran, the first of
    # which the agent answered after it had ended the turn.
    assert len(turns) == 87
    assert [point.stage.index for point in turns] == list(range(1, 88))
    by_the_way = [s for p in read.points for s in p.steering if s.kind == "message"]
    assert [read.at(item.source_event_seqs) for item in by_the_way] == [[462], [836]]


WORDS = [
    Point(
        "turn",
        Told("remember the number 42", [4]),
        "unknown",
        first=4,
        end=5,
        summary=Told("Got it", [5]),
        evidence=[("status", "stop", [5])],
    ),
    Point(
        "turn",
        Told("what number did I ask you to remember?", [6]),
        "unknown",
        first=6,
        end=7,
        summary=Told("42", [7]),
        evidence=[("status", "stop", [7])],
    ),
]


def broken_off(title: str, first: int, end: int, words: Told | None, *, corrects: bool) -> Point:
    """A turn that the person broke off."""
    correction = [("correction", title, [first])] if corrects else []
    return Point(
        "turn",
        Told(title, [first]),
        "aborted",
        first=first,
        end=end,
        summary=words,
        decided=[end],
        steering=[*correction, ("interruption", "", [end])],
        evidence=[("status", "aborted", [end])],
    )


def worked(
    title: str,
    first: int,
    end: int,
    words: str,
    last: list[int],
    files: dict[str, tuple[str, list[int]]],
    *,
    corrects: bool = False,
) -> Point:
    """A turn whose newest result is a good one."""
    return Point(
        "turn",
        Told(title, [first]),
        "success",
        first=first,
        end=end,
        summary=Told(words, [end]),
        decided=last,
        steering=[("correction", title, [first])] if corrects else [],
        evidence=[("flag", 0, last), ("status", "stop", [end])],
        files=files,
    )


LONG = [
    broken_off("/mode", 2, 3, None, corrects=False),
    worked(
        "read packages/coding-agent/docs/theme.md",
        5,
        17,
        "Perfect! I've ported",
        [15, 16],
        {"user-message-selector.ts": ("changed", [15, 16])},
        corrects=True,
    ),
    worked(
        "you f",
        18,
        25,
        "Done. I've properly ported",
        [21, 24],
        {"user-message-selector.ts": ("changed", [21, 22, 23, 24])},
    ),
    # The provider broke the answer off, and pi did not try again.
    Point(
        "turn",
        Told("alright, i think there's only one file left", [26]),
        "failure",
        first=26,
        end=33,
        summary=Told("There are 77 `chalk` usages.", [33]),
        decided=[33],
        evidence=[("error", "terminated", [33])],
    ),
    # Two checks failed; what ran after them stands behind pipes.
    Point(
        "turn",
        Told("ok, i manually removed almost all chalk uses", [34]),
        "unknown",
        first=34,
        end=69,
        summary=Told("Great! It builds successfully.", [69]),
        decided=[63, 64],
        evidence=[
            ("exit_code", 2, [61, 62]),
            ("error", "chat-simple.ts(28,2): error TS2739", [62]),
            ("exit_code", 2, [63, 64]),
            ("error", "chat-simple.ts(28,2): error TS2739", [64]),
            ("status", "stop", [69]),
        ],
        files={
            "theme.ts": ("changed", [53, 54]),
            "tui-renderer.ts": ("changed", [55, 56, 59, 60]),
        },
    ),
    Point(
        "turn",
        Told("we need to fix the tui test sources.", [70]),
        "unknown",
        first=70,
        end=215,
        summary=Told("Excellent! Everything is working.", [215]),
        decided=[117, 118],
        evidence=[
            ("exit_code", 2, [117, 118]),
            ("error", "packages/tui/src/wrap-ansi.ts: No such file", [118]),
            ("status", "stop", [215]),
        ],
        files={
            "test-themes.ts": ("created", [75, 76, 131, 132]),
            "chat-simple.ts": (
                "changed",
                [77, 78, 79, 80, 81, 82, 155, 156, 171, 172, 173, 174],
            ),
            "editor.test.ts": ("changed", [85, 86]),
            "markdown.test.ts": (
                "changed",
                [
                    *(93, 94, 107, 108, 109, 110, 143, 144, 181, 182, 183, 184),
                    *(199, 200, 201, 202, 207, 208),
                ],
            ),
            "wrap-ansi.test.ts": ("changed", [125, 126]),
        },
    ),
    broken_off(
        "ok, i think our themes need explicit tokens",
        231,
        234,
        Told("You're right. Having explicit tokens", [232]),
        corrects=False,
    ),
    worked(
        "continue",
        235,
        262,
        "Perfect! Let's create a summary",
        [260, 261],
        {
            "theme.md": ("changed", [236, 237, 260, 261]),
            "theme.ts": ("changed", [238, 239, 240, 241, 242, 243]),
            "dark.json": ("changed", [246, 247]),
            "light.json": ("changed", [250, 251]),
        },
        corrects=True,
    ),
    broken_off("/them", 273, 274, None, corrects=False),
    broken_off("ok, i think the queued messages component", 275, 276, None, corrects=True),
    Point(
        "turn",
        Told("continue", [277]),
        "aborted",
        first=277,
        end=298,
        summary=Told("Now let's run the tests:", [296]),
        decided=[298],
        steering=[("correction", "continue", [277]), ("interruption", "", [298])],
        evidence=[
            ("flag", 1, [296, 297]),
            ("error", "", [297]),
            ("status", "aborted", [298]),
        ],
        files={
            "truncated-text.ts": ("changed", [286, 287, 288, 289]),
            "truncated-text.test.ts": ("created", [294, 295]),
        },
    ),
    worked(
        "truncated text must stop when it encounters a new line",
        299,
        308,
        "Perfect! Let me create a summary",
        [302, 303],
        {
            "truncated-text.ts": ("changed", [300, 301]),
            "truncated-text.test.ts": ("changed", [302, 303]),
        },
        corrects=True,
    ),
    broken_off(
        "i don't tink the component invalidate works correctly.",
        309,
        320,
        Told("So `this.ui.invalidate()` is called", [320]),
        corrects=False,
    ),
    # Neither the search without a hit (332, 333) nor the one behind a pipe (334) says anything.
    worked(
        "i don't understand, does it capture the theme variable",
        321,
        336,
        "So the `bgColor` function",
        [330, 331],
        {},
        corrects=True,
    ),
]
