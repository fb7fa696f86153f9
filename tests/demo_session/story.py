"""The story: what the person asks, what the agent does, in order."""

from __future__ import annotations

from dataclasses import dataclass

from tests.demo_session import outputs, project
from tests.demo_session.calls import bash, edit, read, task
from tests.demo_session.texts import (
    ASK,
    EXPLORE_PROMPT,
    EXPLORE_REPORT,
    FAILURE,
    GREP,
    HISTORY,
    NOTES,
    PLAN,
    STOP,
    SUMMARY,
    WISH,
)
from tests.demo_session.writer import Call, Count, SessionLog

SESSION = "7c1de4a2-3b5f-4d0e-9a68-52f0c7b91e34"
AGENT = "a3f9c20"
NEW_NAME = "tests/test_merge.py::test_two_gauges_that_answer_in_the_same_second_are_both_kept"
NEW_NAMES = (NEW_NAME, "tests/test_store.py::test_export_keeps_the_order_of_receipt")
TASKS = (
    "Find where readings are lost",
    "Write a test that fails without the fix",
    "Fix merge_readings, signatures unchanged",
    "Backfill data/copy.db and count what came back",
)
PLAN_FILE = "/home/sam/.claude/plans/quiet-drifting-gauge.md"


@dataclass(frozen=True, slots=True)
class Story:
    """The session's file and its sub-agent's."""

    main: SessionLog
    side: SessionLog


def tell(count: Count) -> Story:
    """Write both files' records. ``count`` gives the tokens of a text."""
    log = SessionLog(SESSION, count)
    side = SessionLog(SESSION, count, agent=AGENT)
    _find(log, side)
    _fix(log)
    _refuse(log)
    _fill(log)
    log.compact(SUMMARY)
    _finish(log)
    return Story(log, side)


def _find(log: SessionLog, side: SessionLog) -> None:
    log.note("permission-mode", permissionMode="default")
    hook = {
        "type": "hook_additional_context",
        "content": [NOTES],
        "hookName": "SessionStart",
        "toolUseID": "SessionStart",
        "hookEvent": "SessionStart",
    }
    log.attachment(hook, NOTES)
    log.user(ASK)
    log.note("custom-title", customTitle="Find out why the nightly sync loses readings")
    log.assistant(
        "I'll start with the project's rules and the two modules that a reading passes on its way"
        " into the store.",
        [
            read("CLAUDE.md", project.RULES),
            read("tidepool/merge.py", project.MERGE),
            read("tidepool/sync.py", project.SYNC),
        ],
        thinking="Readings vanish between the gauges and the store. Candidates: the parser, the"
        " merge, the INSERT OR IGNORE. The rules say production.db is off limits; I must only work"
        " on data/copy.db.",
    )
    log.assistant(
        "",
        [
            bash("git log --oneline -25 -- tidepool", HISTORY, "Recent changes"),
            Call(
                "Grep",
                {"pattern": "merge_readings", "output_mode": "content", "-n": True},
                GREP,
                0.4,
            ),
        ],
    )
    log.assistant(
        "The merge log line counts what comes in and goes out. Let me look at a whole night.",
        [bash("cat logs/nightly-2026-04-25.log", outputs.nightly_log(25, 52), "One night", 0.6)],
    )
    log.assistant(
        "Every third batch has `in=8 out=7 duplicates=1`. Nothing should be a duplicate in a round"
        " in which each gauge answers once.",
        [read("tidepool/gauges.py", project.GAUGES), read("tidepool/store.py", project.STORE)],
        thinking="duplicates=1 comes from merge. The key there is the time alone, cut to seconds."
        " gauges.py says: the shelf's gauges share one radio clock and reply in whole seconds. So"
        " two gauges in the same second collide, and the one with the newer revision wins.",
    )
    log.assistant(
        "That explains it: `merge_readings` keys by `taken_at` alone, and the gauges share one"
        " clock. Before I touch it I'll note the steps.",
        [
            Call(
                "TaskCreate",
                {"subject": subject, "description": subject, "activeForm": subject},
                f"Task #{number} created successfully: {subject}",
                0.1,
                ui={"task": {"id": str(number), "subject": subject}},
            )
            for number, subject in enumerate(TASKS, 1)
        ],
    )
    _explore(log, side)
    log.assistant(
        "Who depends on it is clear now. The copy should show the same loss as the log.",
        [
            task(1, "in_progress"),
            bash(
                "sqlite3 -header -csv data/copy.db 'select * from readings where batch like"
                ' "b25%" order by id\'',
                outputs.readings_csv(880_412, 360),
                "Readings of that night in the copy",
                1.2,
            ),
        ],
    )


def _explore(log: SessionLog, side: SessionLog) -> None:
    side.now = log.now
    side.user(EXPLORE_PROMPT, 5.0)
    side.assistant("", [Call("Grep", {"pattern": "merge_readings|Store\\("}, GREP, 0.4)])
    side.assistant("", [read("tidepool/backfill.py", project.BACKFILL)])
    side.assistant(EXPLORE_REPORT)
    given = {
        "description": "Map callers of merge_readings",
        "prompt": EXPLORE_PROMPT,
        "subagent_type": "Explore",
    }
    took = (side.now - log.now).total_seconds()
    ui = {
        "status": "completed",
        "prompt": EXPLORE_PROMPT,
        "agentId": AGENT,
        "totalDurationMs": round(took * 1000),
        "totalToolUseCount": 2,
    }
    log.assistant("", [Call("Agent", given, EXPLORE_REPORT, took, ui=ui)])


def _fix(log: SessionLog) -> None:
    log.assistant(
        "The copy lacks exactly the readings that the log calls duplicates. First the test.",
        [
            task(1, "completed"),
            task(2, "in_progress"),
            read("tests/test_merge.py", project.TESTS),
        ],
    )
    log.assistant(
        "",
        [
            edit(
                "tests/test_merge.py",
                "def test_the_newest",
                project.NEW_TEST + "\n\ndef test_the_newest",
            )
        ],
    )
    failing = outputs.pytest_run(NEW_NAME, FAILURE, (NEW_NAME,))
    log.assistant("", [bash("make test-fast", failing, "Run the fast tests", 6.1, failed=True)])
    log.assistant(
        "It fails for the right reason: the reading of SKP is gone. Here is what I propose.",
        [
            Call(
                "ExitPlanMode",
                {"plan": PLAN, "planFilePath": PLAN_FILE},
                "User has approved your plan. You can now start coding. Start with updating your"
                f" todo list if applicable\n\nYour plan has been saved to: {PLAN_FILE}\n\n"
                f"## Approved Plan:\n{PLAN}",
                31.0,
                ui={"plan": PLAN, "isAgent": False, "filePath": PLAN_FILE},
            )
        ],
        thinking="The key must be (gauge, second). Nothing else may change: signatures are public."
        " Sorting by time alone leaves the order of equal times to the dict; make it explicit.",
    )
    log.assistant(
        "",
        [
            task(2, "completed"),
            task(3, "in_progress"),
            edit(
                "tidepool/merge.py",
                "    newest: dict[datetime, Reading] = {}",
                "    newest: dict[tuple[str, datetime], Reading] = {}",
            ),
            edit(
                "tidepool/merge.py",
                "            key = reading.taken_at.replace(microsecond=0)",
                "            key = (reading.gauge, reading.taken_at.replace(microsecond=0))",
            ),
        ],
    )
    log.assistant(
        "",
        [
            edit(
                "tidepool/merge.py",
                "    merged = sorted(newest.values(), key=lambda reading: reading.taken_at)",
                "    merged = sorted(newest.values(), key=lambda reading: (reading.taken_at,"
                " reading.gauge))",
            ),
            bash("make test-fast", outputs.pytest_run(None, "", (NEW_NAME,)), "Run the tests", 5.9),
        ],
        typed=WISH,
    )
    log.retry(2)
    log.assistant(
        "Noted: the CSV export stays in order of `received_at`. The new sort is in the merge only;"
        " `Store._exported` orders by `received_at, id`, and equal times now get their ids in order"
        " of the gauge's code. I'll hold that with a test, and check another night.",
        [
            edit(
                "tests/test_store.py",
                "def test_migrates",
                "def test_export_keeps_the_order_of_receipt(store, round_of_eight):\n"
                "    store.write(round_of_eight, received_at=NOW)\n"
                "    assert exported_gauges(store) == [r.gauge for r in round_of_eight]\n\n\n"
                "def test_migrates",
            ),
            bash("cat logs/nightly-2026-04-26.log", outputs.nightly_log(26, 42), "Another night"),
        ],
    )
    log.assistant(
        "",
        [
            bash(
                "make lint && make test-fast | tail -3",
                "ruff check tidepool tests\nAll checks passed!\n"
                "tests/test_merge.py::test_two_gauges_that_answer_in_the_same_second_are_both_kept"
                " PASSED [100%]\n\n============================= 177 passed in 4.66s ============",
                "Lint and tests",
                8.0,
            ),
            bash(
                "git commit -qam 'Key merged readings by gauge and second (TP-214)' && git"
                " rev-parse --short HEAD",
                "9e41c7d",
                "Commit",
                0.5,
            ),
            task(3, "completed"),
        ],
    )
    log.assistant(
        "Readings were lost where two gauges answered in the same second: `merge_readings` keyed by"
        " time alone, and all gauges share one radio clock. It keys by gauge and second now; the"
        " signatures are as they were, the export keeps its order, and a test fails without the"
        " fix. Commit 9e41c7d on fix/tp-214-lost-readings. Next is the backfill of data/copy.db."
    )
    log.turn_end()


def _refuse(log: SessionLog) -> None:
    log.user("Good. Now run the backfill since the 18th and tell me how many come back.", 190.0)
    log.assistant("", [task(4, "in_progress"), read("tidepool/backfill.py", project.BACKFILL)])
    log.assistant(
        "",
        [
            Call(
                "Bash",
                {
                    "command": "python -m tidepool.backfill --since 2026-04-18",
                    "description": "Backfill",
                },
                "The user doesn't want to proceed with this tool use. The tool use was rejected"
                " (eg. if it was a file edit, the new_string was NOT written to the file). STOP"
                " what you are doing and wait for the user to tell you how to proceed.",
                9.0,
                failed=True,
                ui="User rejected tool use",
            )
        ],
    )
    log.interrupt()


def _fill(log: SessionLog) -> None:
    log.user(STOP, 16.0)
    log.assistant(
        "You are right, and I'm sorry: `--db` defaults to data/production.db and I did not look."
        " Nothing ran. I'll name data/copy.db every time, and begin with a dry run.",
        [
            bash(
                "python -m tidepool.backfill --since 2026-04-18 --db data/copy.db --dry-run",
                outputs.backfill_log("data/copy.db", 208, dry=True),
                "Dry run on the copy",
                14.0,
            )
        ],
    )
    log.assistant(
        "208 readings, most of them from Skerry Point. Some raw files are passed over because of"
        " their checksum; their gauges' revisions may tell why.",
        [
            bash(
                "curl -s localhost:8410/stations.json",
                outputs.stations_json(44),
                "The network's description",
                0.9,
            )
        ],
    )
    log.assistant(
        "",
        [
            bash("cat logs/nightly-2026-04-24.log", outputs.nightly_log(24, 74), "The first night"),
            bash(
                "make copy && sha256sum data/copy.db",
                "data/copy.db refreshed from backup 2026-04-27T02:00Z\n"
                "5b0c1d0e7f3a92c41de8a6b7c05f4d93e2718a4c6b9d0f1e2a3b4c5d6e7f8091  data/copy.db",
                "Refresh the copy",
                21.0,
            ),
        ],
    )
    log.assistant("The skipped files are all of revision 4107. I'll read their raw form next.")


def _finish(log: SessionLog) -> None:
    log.assistant(
        "Going on with the backfill of the copy. First I look at the merge again, since its text is"
        " no longer in front of me.",
        [
            read("tidepool/merge.py", project.MERGE),
            read("tidepool/backfill.py", project.BACKFILL),
        ],
    )
    log.assistant(
        "",
        [
            bash(
                "python -m tidepool.backfill --since 2026-04-18 --db data/copy.db",
                outputs.backfill_log("data/copy.db", 208, dry=False),
                "Backfill the copy",
                33.0,
            )
        ],
    )
    log.assistant(
        "208 inserted, no conflicts. Now I check that the copy holds them, then the tests again.",
        [
            bash(
                "sqlite3 -header -csv data/copy.db 'select * from readings where batch like"
                ' "b18%" order by id\'',
                outputs.readings_csv(884_120, 250),
                "Check the copy",
                1.1,
            ),
            bash("make test-fast", outputs.pytest_run(None, "", NEW_NAMES), "Run the tests", 5.8),
        ],
    )
    log.assistant(
        "Last, one dry round over the copy with the fix in place, to see that nothing is dropped.",
        [
            bash(
                "python -m tidepool.sync --db data/copy.db --replay 2026-04-27 --dry-run",
                outputs.nightly_log(27, 32, lossy=False),
                "Replay one night",
                7.4,
            ),
            task(4, "completed"),
        ],
    )
    log.assistant(
        "The backfill brought back 208 readings since the 18th, 163 of them at Skerry Point; 3 raw"
        " files of revision 4107 were passed over because their checksum differs, and are left for"
        " inspection. data/copy.db holds all of it; data/production.db was not touched. All 177"
        " tests pass."
    )
    log.turn_end()
