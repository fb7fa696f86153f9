"""The command line, from its arguments to what it prints, on the bundled session."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from inspector import cli, mishaps
from inspector.demo import demo_home
from inspector.reports import (
    AuditRow,
    CompactionReport,
    DoctorReport,
    IngestReport,
    MessagesReport,
    OperationReport,
    PressureReport,
    SearchHit,
    SessionRow,
    SurfaceReport,
)
from inspector.sanitize import clean
from tests.conftest import REPOSITORY
from tests.inspector.conftest import BEFORE_COMPACTION, SESSION, Ullage


def test_a_log_can_be_shown_without_a_store(ullage: Ullage, tmp_path: Path) -> None:
    log = next(demo_home(tmp_path).rglob(f"{SESSION}.jsonl"))
    outcome = ullage("show", log, "--json")
    assert outcome.code == 0
    report = SurfaceReport.model_validate_json(outcome.out)
    assert report.session.id == SESSION
    assert report.nodes[0].checkpoint is not None
    assert not list(tmp_path.glob("**/*.db"))


def test_an_unreadable_log_is_refused_with_its_reason(ullage: Ullage, tmp_path: Path) -> None:
    (tmp_path / "poem.jsonl").write_text("shall I compare thee\n")
    outcome = ullage("show", tmp_path / "poem.jsonl")
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err.startswith("ullage: ")
    assert "poem.jsonl" in outcome.err


@pytest.mark.parametrize(
    ("arguments", "model"),
    [
        (("sessions",), list[SessionRow]),
        (("show", "last"), SurfaceReport),
        (("show", SESSION, "--at", "80", "--track", "plan"), SurfaceReport),
        (("show", SESSION, "--messages"), MessagesReport),
        (("pressure", SESSION), PressureReport),
        (("compact", SESSION, "--before-compaction", "1", "--budget", "own"), CompactionReport),
        (("audit",), list[AuditRow]),
        (("search", "harbour"), list[SearchHit]),
        (("doctor",), DoctorReport),
    ],
)
def test_json_is_one_document_of_the_published_model(
    ullage: Ullage, store: Path, arguments: tuple[str, ...], model: Any
) -> None:
    outcome = ullage(*arguments, "--json", db=store)
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.isascii()
    assert TypeAdapter(model).validate_json(outcome.out)


def test_json_lines_are_the_elements_of_the_document(ullage: Ullage, store: Path) -> None:
    for command, key in (
        (("show", SESSION), "nodes"),
        (("show", SESSION, "--messages"), "messages"),
    ):
        whole = ullage(*command, "--json", db=store).value[key]
        lines = ullage(*command, "--jsonl", db=store).out.splitlines()
        assert [json.loads(line) for line in lines] == whole
    whole = ullage("sessions", "--json", db=store).value
    lines = ullage("sessions", "--jsonl", db=store).out.splitlines()
    assert [json.loads(line) for line in lines] == whole


def test_a_unique_prefix_names_a_session(ullage: Ullage, store: Path) -> None:
    assert ullage("pressure", SESSION[:5], "--json", db=store).value["session"]["id"] == SESSION


def test_an_unknown_session_is_a_refusal_in_both_forms(ullage: Ullage, store: Path) -> None:
    plain = ullage("show", "nothing", db=store)
    assert (plain.code, plain.out) == (1, "")
    assert plain.err.count("\n") == 1
    assert "nothing" in plain.err
    document = ullage("show", "nothing", "--json", db=store)
    assert document.code == 1
    assert document.value["error"]["code"] == "unknown_session"
    assert document.value["error"]["message"] in document.err


@pytest.mark.parametrize(
    "arguments",
    [
        ("show",),
        ("show", "last", "--at", "soon"),
        ("show", "last", "--track", "both"),
        ("compact", "last", "--auto", "--micro"),
        ("compact", "last", "--from", "3"),
        ("compact", "last", "--budget", "own"),
        ("compact", "last", "--budget", "0"),
        ("pin", "last"),
        ("audit", "--show", "o1"),
        ("sessions", "--set", "retries"),
        ("shwo", "last"),
    ],
)
def test_wrong_usage_is_exit_code_2_and_prints_no_data(
    ullage: Ullage, store: Path, arguments: tuple[str, ...]
) -> None:
    outcome = ullage(*arguments, db=store)
    assert (outcome.code, outcome.out) == (2, "")
    assert "Error: " in outcome.err


@pytest.mark.parametrize(
    ("word", "meant"), [("shwo", "show"), ("help", "--help"), ("version", "--version")]
)
def test_a_mistyped_command_names_the_nearest(ullage: Ullage, word: str, meant: str) -> None:
    refused = ullage(word, "last")
    assert f"{word} is neither a command nor a file or folder" in refused.err
    assert f"did you mean `ullage {meant}`?" in refused.err
    assert "Usage: ullage [OPTIONS] COMMAND" in refused.err
    assert "did you mean" not in ullage("quux").err


@pytest.mark.parametrize(
    ("arguments", "right"),
    [
        (("--db", "x y.db", "sessions"), "ullage sessions --db 'x y.db'"),
        (("--json", "show", "last"), "ullage show --json last"),
        (("--set", "retries=2", "--db", "sessions", "doctor"), "doctor --set retries=2 --db"),
    ],
)
def test_options_before_a_command_are_told_their_place(
    ullage: Ullage, arguments: tuple[str, ...], right: str
) -> None:
    refused = ullage(*arguments)
    assert refused.code == 2
    assert "options stand behind the command" in refused.err
    assert right in " ".join(refused.err.split())


def test_the_app_takes_options_without_a_command_and_no_empty_path(ullage: Ullage) -> None:
    assert "needs a terminal" in ullage("--db", "sessions").err
    assert "the name is empty" in ullage("").err


def test_the_app_is_refused_without_a_terminal(ullage: Ullage) -> None:
    outcome = ullage()
    assert outcome.code == 1
    assert "needs a terminal" in outcome.err
    assert "ullage sessions" in outcome.err


def test_a_wrong_setting_is_a_refusal_that_names_it(ullage: Ullage, tmp_path: Path) -> None:
    (tmp_path / ".ullage.toml").write_text("retain_ratio = 0.9")
    outcome = ullage("sessions", "--json")
    assert outcome.code == 1
    assert outcome.value["error"]["code"] == "settings"
    assert "retain_ratio = 0.9" in outcome.err
    assert "threshold_ratio = 0.8" in outcome.err


def test_doctor_says_which_value_came_from_where(
    ullage: Ullage, store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".ullage.toml").write_text("last_messages = 4")
    monkeypatch.setenv("ULLAGE_RETRIES", "3")
    settings = ullage("doctor", "--set", "window=150000", "--json", db=store).value["settings"]
    assert settings["last_messages"] == {"value": 4, "from": str(tmp_path / ".ullage.toml")}
    assert settings["retries"] == {"value": 3, "from": "ULLAGE_RETRIES"}
    assert settings["window"] == {"value": 150_000, "from": "--set window"}
    assert settings["db"] == {"value": str(store), "from": "--db"}


def test_doctor_names_each_place_once_for_an_agent(ullage: Ullage, store: Path) -> None:
    sources = ullage("doctor", "--json", db=store).value["sources"]
    places = [(source["agent"], source["root"]) for source in sources]
    assert len(places) == len(set(places))


def test_a_window_that_is_set_is_the_denominator(ullage: Ullage, store: Path) -> None:
    report = ullage("pressure", SESSION, "--set", "window=100000", "--json", db=store).value
    assert (report["window"], report["window_source"]) == (100_000, "user")
    assert report["thresholds"] == {"micro": 70_000, "compact": 80_000}


def test_pin_compact_undo_redo_go_round(ullage: Ullage, tmp_path: Path) -> None:
    db = tmp_path / "own.db"
    assert ullage("ingest", demo_home(tmp_path), "--json", db=db).value["damaged"] == []
    begin = ullage("show", SESSION, "--track", "plan", "--json", db=db).value["nodes"]
    pinned = OperationReport.model_validate_json(ullage("pin", SESSION, 133, "--json", db=db).out)
    assert pinned.state == "standing"
    region = ("compact", SESSION, "--from", "127", "--to", "138")
    preview = ullage(*region, "--json", db=db).value
    assert preview["operation"] is None
    assert {n["seq"]: n["fate"] for n in preview["nodes"]}[133] == "pinned"
    done = ullage(*region, "--commit", "--json", db=db).value
    assert done["operation"] is not None
    after = ullage("show", SESSION, "--track", "plan", "--json", db=db).value["nodes"]
    assert len(after) < len(begin)
    assert 133 in [node["seq"] for node in after]
    assert ullage("undo", SESSION, db=db).code == 0
    restored = ullage("show", SESSION, "--track", "plan", "--json", db=db).value["nodes"]
    assert [node["seq"] for node in restored] == [node["seq"] for node in begin]
    assert ullage("redo", SESSION, db=db).code == 0
    again = ullage("show", SESSION, "--track", "plan", "--json", db=db).value["nodes"]
    assert [node["seq"] for node in again] == [node["seq"] for node in after]
    rows = ullage("audit", SESSION, "--json", db=db).value
    assert {"agent", "user"} == {row["origin"] for row in rows}
    diff = ullage("audit", SESSION, "--show", done["operation"], db=db)
    assert diff.code == 0
    assert "[127]" in diff.out


def test_a_boundary_inside_a_step_is_refused_with_choices(ullage: Ullage, store: Path) -> None:
    outcome = ullage("compact", SESSION, "--from", "127", "--to", "132", "--json", db=store)
    assert outcome.code == 1
    assert outcome.value["error"]["choices"]


def test_reading_twice_reads_nothing_new(ullage: Ullage, store: Path) -> None:
    again = ullage("ingest", store.parent / "claude", "--json", db=store).out
    assert IngestReport.model_validate_json(again).records == 0


@pytest.mark.parametrize(
    "arguments",
    [
        ("sessions",),
        ("show", SESSION),
        ("show", SESSION, "--at", BEFORE_COMPACTION),
        ("pressure", SESSION),
        ("compact", SESSION, "--before-compaction", "1", "--budget", "own"),
        ("audit", SESSION),
        ("search", "harbour"),
    ],
)
@pytest.mark.parametrize("columns", ["60", "80", "160"])
def test_lines_for_a_person_fit_the_width_and_hold_no_control_character(
    ullage: Ullage,
    store: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[object, ...],
    columns: str,
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    outcome = ullage(*arguments, db=store)
    assert outcome.code == 0
    assert outcome.out == clean(outcome.out)
    assert max(map(len, outcome.out.splitlines())) <= max(int(columns), 80)


def test_what_nobody_foresaw_goes_to_a_log_that_the_message_names(
    ullage: Ullage, tmp_path: Path
) -> None:
    def broken(_: object) -> Any:
        raise ZeroDivisionError("unforeseen")

    outcome = ullage("sessions", "--json", opener=broken)
    assert outcome.code == 1
    assert outcome.value["error"]["code"] == "unexpected"
    assert "Traceback" not in outcome.err
    log = next((tmp_path / "state").rglob("errors.log"))
    assert str(log) in outcome.err
    assert "ZeroDivisionError: unforeseen" in log.read_text()
    assert log.stat().st_mode & 0o777 == 0o600


def test_a_log_folder_that_cannot_be_written_is_no_second_failure(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert mishaps.record(ValueError("x"), tmp_path / "file" / "folder") is None


def test_a_reader_who_leaves_early_is_no_error(store: Path) -> None:
    command = f"{sys.executable} -m inspector.cli show {SESSION} --messages --db {store}"
    script = f"set -o pipefail; {command} | head -c 10"
    done = subprocess.run(
        ["bash", "-c", script], cwd=REPOSITORY, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_help_is_fast_because_it_loads_nothing_heavy() -> None:
    script = (
        "import sys; from inspector import cli; cli.run(['--help']);"
        "heavy = {'asyncio', 'textual', 'rich', 'tiktoken', 'sqlite_utils', 'sqlite3', 'pydantic'};"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=REPOSITORY, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize("name", sorted(cli.cli.commands))
def test_every_command_has_help_with_an_example(ullage: Ullage, name: str) -> None:
    outcome = ullage(name, "--help")
    assert outcome.code == 0
    called = "ullage" if name == "open" else f"ullage {name}"
    assert f"Example:\n    {called}" in outcome.out


def test_completion_is_offered_by_click() -> None:
    environment = os.environ | {"_ULLAGE_COMPLETE": "bash_source"}
    done = subprocess.run(
        [sys.executable, "-m", "inspector.cli"],
        cwd=REPOSITORY,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "complete" in done.stdout


def test_watching_ends_quietly_at_ctrl_c_and_keeps_what_was_read(
    ullage: Ullage, tmp_path: Path
) -> None:
    home, db = demo_home(tmp_path), tmp_path / "watched.db"
    command = [sys.executable, "-m", "inspector.cli", "watch", str(home), "--db", str(db)]
    with subprocess.Popen(
        command, cwd=REPOSITORY, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        deadline = time.monotonic() + 60
        while not (db.exists() and ullage("sessions", "--json", db=db).out.startswith("[{")):
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "Traceback" not in err
    assert set(out.splitlines()) <= {"read: 2 sessions, 154 events in all"}
    assert ullage("sessions", "--json", db=db).value[0]["agent"] == "claude"
