"""A session of Claude Code, read by hand, record by record. Numbers are lines of the log."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.storage.decisions.claude_points import done_item, refused
from tests.storage.decisions.expected import Point, Told, check, harvest_log

pytestmark = pytest.mark.corpus


def test_a_session_with_refused_calls_and_to_do_lists(corpus: Path) -> None:
    read = harvest_log(corpus / "claude" / "ccl-2.0.42-queue.jsonl", "claude")
    check(read, REFUSED_CALLS)


REFUSED_CALLS = [
    Point(
        "turn",
        Told("init is analyzing your codebase…", [3]),
        "success",
        first=3,
        end=44,
        summary=Told("I've created a [CLAUDE.md](CLAUDE.md)", [44]),
        decided=[36, 37],
        evidence=[("flag", 0, [36, 37]), ("status", "completed", [47])],
        files={"CLAUDE.md": ("created", [41, 42])},
    ),
    Point(
        "turn",
        Told("OK, so this was just so you know", [47]),
        "aborted",
        first=47,
        end=56,
        summary=Told("Great! Let's modernise this project.", [49]),
        decided=[56],
        steering=[
            ("rejection", "", [53]),
            ("rejection", "", [54]),
            ("rejection", "", [55]),
            ("interruption", "", [56]),
        ],
        evidence=[("status", "interrupted", [56])],
    ),
    refused("Bash which python3 &&", 50, 53, "Check for Python 3"),
    refused("Bash which node &&", 51, 54, "Check for Node.js"),
    refused("Edit /Users/usea/workspace/JSSoundRecorder/CLAUDE.md", 52, 55, None),
    Point(
        "turn",
        Told("I have both Node and Python", [59]),
        "unknown",
        first=59,
        end=61,
        summary=Told("Good point! The most cross-platform approach", [61]),
        steering=[("correction", "I have both Node and Python", [59])],
        evidence=[("status", "completed", [64])],
    ),
    Point(
        "turn",
        Told("ok, fine, let's do vite", [64]),
        "success",
        first=64,
        end=96,
        summary=Told("Excellent! Vite is all set up and working.", [96]),
        decided=[88, 91],
        steering=[("rejection", "use pnpm", [77])],
        evidence=[("flag", 0, [88, 91]), ("status", "completed", [99])],
        files={
            "package.json": ("created", [67, 69]),
            ".gitignore": ("created", [72, 75]),
            "CLAUDE.md": ("changed", [73, 76, 80, 82]),
        },
    ),
    refused("Bash npm install", 74, 77, "Install Vite", "use pnpm"),
    Point(
        "turn",
        Told("yes please, and let's make it cross-browser", [99]),
        "unknown",
        first=99,
        end=166,
        summary=Told("Perfect! I've successfully modernized", [166]),
        decided=[161, 163],
        evidence=[
            ("flag", 1, [161, 163]),
            ("error", "Shell dce0af is not running", [163]),
            ("status", "completed", [169]),
        ],
        files={
            "recordLive.js": ("changed", [107, 109]),
            "drone.js": ("changed", [116, 119]),
            "filedropbox.js": ("changed", [135, 138]),
            "binarytoolkit.js": ("changed", [136, 139]),
            "recorder.js": ("changed", [137, 140]),
            "index.html": ("changed", [143, 146]),
            "CLAUDE.md": ("changed", [144, 147, 149, 152]),
        },
    ),
    done_item(
        "Update getUserMedia to modern Promise-based API",
        106,
        111,
        {"recordLive.js": ("changed", [107, 109])},
    ),
    done_item(
        "Modernize drone.js AudioContext initialization",
        111,
        117,
        {"drone.js": ("changed", [116, 119])},
    ),
    # Listed as "Remove vendor prefixes (AudioContext, URL)" until it was begun.
    done_item(
        "Remove vendor prefixes from app/js files",
        123,
        142,
        {
            "filedropbox.js": ("changed", [135, 138]),
            "binarytoolkit.js": ("changed", [136, 139]),
            "recorder.js": ("changed", [137, 140]),
        },
    ),
    # Never in progress: ticked off together with the one before it.
    done_item("Modernize recorder.js AudioContext initialization", 142, 142, {}),
    done_item(
        "Update browser requirements in index.html",
        142,
        150,
        {
            "index.html": ("changed", [143, 146]),
            # Called before the item was ticked off, answered after it.
            "CLAUDE.md": ("changed", [144, 147, 149, 152]),
        },
    ),
    Point(
        "plan_item",
        Told("Test the application works in modern browsers", [150]),
        "unknown",
        first=150,
        end=162,
        summary=Told("Bash sleep 2", [156]),
        decided=[161, 163],
        evidence=[
            ("status", "completed", [162]),
            ("flag", 1, [161, 163]),
            ("error", "Shell dce0af is not running", [163]),
        ],
    ),
    Point(
        "turn",
        Told("Let's also Migrate to AudioWorklet", [169]),
        "unknown",
        first=169,
        end=None,
        summary=Told("Perfect! The AudioWorklet migration is complete.", [211]),
        evidence=[
            ("flag", 1, [205, 208]),
            ("error", "String to replace not found in file.", [208]),
        ],
        files={
            "recorder-worklet.js": ("created", [176, 178]),
            "recorder.js": ("changed", [181, 182, 184, 185]),
            "noise-worklet.js": ("created", [188, 190]),
            "drone.js": ("changed", [193, 195]),
            "CLAUDE.md": ("changed", [198, 199, 201, 202, 204, 207]),
        },
    ),
    done_item(
        "Create RecorderWorklet processor for microphone capture",
        175,
        180,
        {"recorder-worklet.js": ("created", [176, 178])},
    ),
    done_item(
        "Update recorder.js to use AudioWorklet instead of ScriptProcessor",
        180,
        187,
        {"recorder.js": ("changed", [181, 182, 184, 185])},
    ),
    done_item(
        "Create NoiseWorklet processor for drone synth",
        187,
        192,
        {"noise-worklet.js": ("created", [188, 190])},
    ),
    done_item(
        "Update drone.js to use AudioWorklet instead of ScriptProcessor",
        192,
        197,
        {"drone.js": ("changed", [193, 195])},
    ),
    Point(
        "plan_item",
        Told("Update CLAUDE.md to reflect AudioWorklet migration", [197]),
        "unknown",
        first=197,
        end=206,
        summary=Told("changed ", [198, 199, 201, 202, 204, 207]),
        decided=[205, 208],
        evidence=[
            ("status", "completed", [206]),
            ("flag", 1, [205, 208]),
            ("error", "String to replace not found in file.", [208]),
        ],
        files={"CLAUDE.md": ("changed", [198, 199, 201, 202, 204, 207])},
    ),
    Point(
        "plan_item",
        Told("Test recording with new AudioWorklet implementation", [206]),
        "unknown",
        first=206,
        end=None,
        summary=Told("Perfect! The AudioWorklet migration is complete.", [211]),
    ),
]
