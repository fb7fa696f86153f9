"""Two sessions of Codex, read by hand, record by record. Numbers are lines of the log."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.storage.decisions.expected import Point, Told, check, harvest_log

pytestmark = pytest.mark.corpus


def test_a_session_that_writes_a_file_and_is_cut_off_at_a_commit(corpus: Path) -> None:
    check(harvest_log(corpus / "codex" / "entire-skills-0.118.0.jsonl", "codex"), CUT_OFF)


def test_a_session_that_goes_from_failing_to_passing_tests(corpus: Path) -> None:
    check(harvest_log(corpus / "codex" / "yt-0.106.0.jsonl", "codex"), RED_TO_GREEN)


CUT_OFF = [
    Point(
        "turn",
        Told("plugins/entire/skills/search/SKILL.md fill out search skill", [6]),
        "success",
        first=2,
        end=114,
        summary=Told("Filled out [SKILL.md]", [113]),
        # The search that found nothing (45, 50) is no failure.
        decided=[105, 110],
        evidence=[("exit_code", 0, [105, 110]), ("status", "completed", [115])],
        files={"SKILL.md": ("changed", [87, 90])},
    ),
    Point(
        "turn",
        Told("commit", [118]),
        "unknown",
        first=116,
        end=None,
        summary=Told("The staged file is the intended search-skill content.", [146]),
        evidence=[("exit_code", 0, [148, 153])],
    ),
]


def talk(title: str, first: int, said: int, end: int, status: int, words: str) -> Point:
    return Point(
        "turn",
        Told(title, [first + 1]),
        "unknown",
        first=first,
        end=end,
        summary=Told(words, [said]),
        evidence=[("status", "completed", [status])],
    )


RED_TO_GREEN = [
    Point(
        "turn",
        Told("User Input", [6]),
        "unknown",
        first=4,
        end=181,
        summary=Told("Updated successfully.", [180]),
        decided=[36, 42],
        evidence=[
            ("exit_code", 1, [36, 42]),
            ("error", "No such file or directory", [42]),
            ("status", "completed", [182]),
        ],
        files={
            "constitution.md": ("changed", [67, 69, 137, 139]),
            "plan-template.md": ("changed", [75, 77]),
            "spec-template.md": ("changed", [83, 85]),
            "tasks-template.md": ("changed", [91, 93, 113, 115]),
            "speckit.tasks.md": ("changed", [121, 123]),
            "README.md": ("changed", [143, 145]),
        },
    ),
    Point(
        "turn",
        Told("User Input", [184]),
        "unknown",
        first=183,
        end=315,
        summary=Told("Read and scoped from both docs:", [314]),
        decided=[234, 240],
        evidence=[
            ("exit_code", 2, [195, 200]),
            ("error", "rg: specs: No such file or directory", [200]),
            ("exit_code", 1, [210, 215]),
            ("error", "README.md: No such file or directory", [215]),
            ("flag", 1, [234, 240]),
            ("error", "exec_command failed", [240]),
            ("flag", 1, [249, 251]),
            ("error", "exec_command failed", [251]),
            ("status", "completed", [316]),
        ],
        files={"spec.md": ("changed", [281, 283])},
    ),
    # The sandbox refused the first attempt; the second ran with more rights.
    Point(
        "retry",
        Told("exec_command .specify/scripts/bash/create-new-feature.sh", [249]),
        "retry",
        first=249,
        end=261,
        summary=Told("2 attempts, 1 failed", [249, 261]),
        decided=[259, 261],
        evidence=[
            ("flag", 1, [249, 251]),
            ("error", "exec_command failed", [251]),
            ("exit_code", 0, [259, 261]),
        ],
    ),
    Point(
        "turn",
        Told("User Input", [318]),
        "success",
        first=317,
        end=421,
        summary=Told("Planning for `FND-001` is complete", [420]),
        decided=[411, 413],
        evidence=[("exit_code", 0, [411, 413]), ("status", "completed", [422])],
        files={"plan.md": ("changed", [411, 413])},
    ),
    Point(
        "turn",
        Told("User Input", [424]),
        "success",
        first=423,
        end=483,
        summary=Told("Generated `FND-001` task plan", [482]),
        decided=[469, 475],
        evidence=[("exit_code", 0, [469, 475]), ("status", "completed", [484])],
    ),
    Point(
        "turn",
        Told("User Input", [486]),
        "success",
        first=485,
        end=710,
        summary=Told("Implemented `FND-001` end-to-end", [709]),
        # Earlier failures were left, but the newest totals are good.
        decided=[692, 698],
        evidence=[
            ("exit_code", 127, [545, 547]),
            ("error", "pytest: command not found", [547]),
            ("exit_code", 1, [553, 555]),
            ("error", "No module named pytest", [555]),
            ("exit_code", 1, [571, 573]),
            ("error", "Retrying", [573]),
            ("exit_code", 5, [605, 607]),
            ("totals", "Ran 0 tests", [607]),
            ("exit_code", 1, [613, 615]),
            ("error", "ERROR: test_error_response_shape", [615]),
            ("totals", "FAILED (errors=10)", [615]),
            ("totals", "Ran 10 tests", [662]),
            ("totals", "Ran 4 tests", [663]),
            ("totals", "Ran 1 test", [664]),
            ("totals", "Ran 15 tests", [672]),
            ("totals", "Ran 15 tests", [698]),
            ("status", "completed", [711]),
        ],
        files={
            ".gitignore": ("changed", [581, 583]),
            "envelope.py": ("changed", [623, 625]),
            "dispatcher.py": ("changed", [629, 631]),
            "methods.py": ("changed", [636, 638]),
            "http.py": ("changed", [642, 644]),
        },
    ),
    Point(
        "retry",
        Told("exec_command cd /Users/", [605]),
        "retry",
        first=605,
        end=672,
        summary=Told("2 attempts, 1 failed", [605, 672]),
        decided=[670, 672],
        evidence=[
            ("exit_code", 5, [605, 607]),
            ("totals", "Ran 0 tests", [607]),
            ("totals", "Ran 15 tests", [672]),
            ("exit_code", 0, [670, 672]),
        ],
    ),
    Point(
        "retry",
        Told("exec_command cd /Users/", [613]),
        "retry",
        first=613,
        end=662,
        summary=Told("2 attempts, 1 failed", [613, 662]),
        decided=[658, 662],
        evidence=[
            ("exit_code", 1, [613, 615]),
            ("error", "ERROR: test_error_response_shape", [615]),
            ("totals", "FAILED (errors=10)", [615]),
            ("totals", "Ran 10 tests", [662]),
            ("exit_code", 0, [658, 662]),
        ],
    ),
    talk("How do I run the tests", 712, 719, 720, 721, "From repo root"),
    talk("Did you not run the tests", 722, 729, 730, 731, "Yes. I ran them repeatedly"),
]
