"""Another session of Claude Code, with plans, read by hand, record by record. Numbers are lines of
the log."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.storage.decisions.claude_points import done_item, refused
from tests.storage.decisions.expected import Point, Told, check, harvest_log

pytestmark = pytest.mark.corpus

SCRIPT, README = "extract-coderabbit-feedback.py", "README.md"


def test_a_session_with_a_rejected_plan_and_second_attempts(corpus: Path) -> None:
    read = harvest_log(corpus / "claude" / "ccl-2.0.37-main-with-agents.jsonl", "claude")
    check(read, REJECTED_PLAN)


PYPROJECT = [32, 33, 35, 36, 38, 39]
INSTALL_FAILED: list[tuple[str, str | int, list[int]]] = [
    ("exit_code", 1, [45, 46]),
    ("error", "Failed to build", [46]),
]
HELP_FAILED: list[tuple[str, str | int, list[int]]] = [
    ("exit_code", 1, [57, 58]),
    ("error", "ModuleNotFoundError", [58]),
]
NO_PULL_REQUEST: list[tuple[str, str | int, list[int]]] = [
    ("exit_code", 1, [176, 177]),
    ("error", "No PR found for the current branch.", [177]),
]
NOT_READ: list[tuple[str, str | int, list[int]]] = [
    ("flag", 1, [194, 195]),
    ("error", "File has not been read yet.", [195]),
]
README_EDITS = [200, 201, 206, 207, 212, 213, 218, 219, 221, 222]

REJECTED_PLAN = [
    Point(
        "turn",
        Told("How can I make this possible to install as a library", [3]),
        "unknown",
        first=3,
        end=76,
        summary=Told("Perfect! Your project is now installable with UV", [76]),
        # A call that failed, and that nothing made good.
        decided=[10, 11],
        steering=[("rejection", "Let's keep the name of the py file", [15])],
        evidence=[
            ("flag", 1, [10, 11]),
            ("error", "No such tool available: AskUserQuestion", [11]),
            *INSTALL_FAILED,
            *HELP_FAILED,
            ("status", "completed", [79]),
        ],
        files={"pyproject.toml": ("changed", [*PYPROJECT, 49, 50, 61, 62])},
    ),
    Point(
        "plan",
        Told("Plan: Make Project Installable as UV Tool", [14]),
        "aborted",
        first=14,
        end=15,
        summary=Told("## Plan: Make Project Installable as UV Tool\n\n### Issues Found", [14]),
        decided=[15],
        steering=[("rejection", "Let's keep the name of the py file", [15])],
        evidence=[("decision", "rejected", [15])],
    ),
    Point(
        "plan",
        Told("Plan: Make Project Installable as UV Tool", [18]),
        "success",
        first=18,
        end=19,
        summary=Told("## Plan: Make Project Installable as UV Tool\n\n### Changes to", [18]),
        decided=[19],
        evidence=[("decision", "approved", [19])],
    ),
    done_item(
        "Read current pyproject.toml configuration", 22, 28, {}, Told("Read /Users/usea/", [25])
    ),
    done_item(
        "Update pyproject.toml to use Hatchling and fix module references",
        28,
        41,
        {"pyproject.toml": ("changed", PYPROJECT)},
        Told("Now I'll update the pyproject.toml", [31]),
    ),
    Point(
        "plan_item",
        Told("Test UV tool installation", [41]),
        "success",
        first=41,
        end=73,
        summary=Told("Excellent! The installation is working perfectly.", [72]),
        decided=[69, 70],
        evidence=[
            *INSTALL_FAILED,
            *HELP_FAILED,
            ("flag", 0, [69, 70]),
            ("status", "completed", [73]),
        ],
        files={"pyproject.toml": ("changed", [49, 50, 61, 62])},
    ),
    Point(
        "retry",
        Told("Bash uv tool install .", [45]),
        "retry",
        first=45,
        end=54,
        summary=Told("2 attempts, 1 failed", [45, 54]),
        why=Told("Install project as UV tool", [45]),
        decided=[53, 54],
        evidence=[*INSTALL_FAILED, ("flag", 0, [53, 54])],
    ),
    Point(
        "retry",
        Told("Bash cd /tmp && coderabbit-extract --help", [57]),
        "retry",
        first=57,
        end=70,
        summary=Told("2 attempts, 1 failed", [57, 70]),
        why=Told("Test coderabbit-extract from different directory", [57]),
        decided=[69, 70],
        evidence=[*HELP_FAILED, ("flag", 0, [69, 70])],
    ),
    Point(
        "turn",
        Told("Please add these in @README.md", [79]),
        "unknown",
        first=79,
        end=88,
        summary=Told("Perfect! I've updated the [README.md]", [88]),
        evidence=[("status", "completed", [91])],
        files={README: ("changed", [82, 83, 85, 86])},
    ),
    Point(
        "turn",
        Told("Can you please change the default command behaviour", [91]),
        "aborted",
        first=91,
        end=259,
        summary=Told("The changes work when running the script directly!", [250]),
        decided=[259],
        steering=[("rejection", "", [258]), ("interruption", "", [259])],
        evidence=[*NO_PULL_REQUEST, *NOT_READ, ("status", "interrupted", [259])],
        files={
            SCRIPT: (
                "changed",
                [110, 111, 118, 119, 125, 126, 129, 130, 133, 134, 137, 138, 184, 185, 187, 188],
            ),
            README: ("changed", README_EDITS),
        },
    ),
    done_item(
        "Add function to get current branch PR URL",
        107,
        121,
        {SCRIPT: ("changed", [110, 111, 118, 119])},
        Told("I see that `os` is not imported.", [117]),
    ),
    done_item(
        "Make pr_input argument optional",
        121,
        140,
        {SCRIPT: ("changed", [125, 126, 129, 130, 133, 134, 137, 138])},
        Told("Let me fix the type issue by being more explicit:", [136]),
    ),
    done_item("Update argument handling logic to auto-detect PR", 140, 140, {}),
    Point(
        "plan_item",
        Told("Test the new default behavior", [140]),
        "unknown",
        first=140,
        end=190,
        summary=Told("Perfect! Now let me update the help text", [183]),
        # The newest command with a verdict failed; what ran after it is cut off by a pipe.
        decided=[176, 177],
        evidence=[*NO_PULL_REQUEST, ("status", "completed", [190])],
        files={SCRIPT: ("changed", [184, 185, 187, 188])},
    ),
    Point(
        "plan_item",
        Told("Update README to document auto-detect feature", [190]),
        "unknown",
        first=190,
        end=224,
        summary=Told("Now let me update the README", [193]),
        evidence=[*NOT_READ, ("status", "completed", [224])],
        files={README: ("changed", README_EDITS)},
    ),
    Point(
        "retry",
        Told("Edit /Users/usea/workspace/coderabbit-review-helper/README.md", [194]),
        "retry",
        first=194,
        end=201,
        summary=Told("2 attempts, 1 failed", [194, 201]),
        decided=[200, 201],
        evidence=[*NOT_READ],
        files={README: ("changed", [200, 201])},
    ),
    refused("Bash find . -type d", 257, 258, "Remove Python cache and reinstall"),
    Point(
        "turn",
        Told("We need to find a cleaner way to reinstall", [262]),
        "success",
        first=262,
        end=280,
        summary=Told("Perfect! Everything is working beautifully.", [280]),
        decided=[265, 266],
        steering=[("correction", "We need to find a cleaner way", [262])],
        evidence=[("flag", 0, [265, 266]), ("status", "completed", [283])],
    ),
    Point(
        "turn",
        Told("Let's update readme with the working reinstall", [283]),
        "unknown",
        first=283,
        end=None,
        summary=Told("Perfect! I've updated the README to include", [292]),
        files={README: ("changed", [289, 290])},
    ),
]
