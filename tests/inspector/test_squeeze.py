"""``ullage squeeze``, end to end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest

from inspector.squeeze_reports import SqueezeReport
from tests.conftest import REPOSITORY
from tests.inspector.conftest import Ullage
from tests.inspector.program import PYTHON, pointer_of, ran

TESTS = """
import pytest

@pytest.mark.parametrize("n", range(120))
def test_well(n):
    assert n >= 0

def test_sum():
    assert sum([1, 2, 3]) == 7, "the sum is off"

def test_keys():
    assert {"ada": 1} == {"bob": 1}

class TestLedger:
    def test_open(self):
        raise LookupError("no ledger here")
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "test_bank.py").write_text(TESTS)
    return folder


PYTEST = (PYTHON, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:randomly")


def test_a_failing_test_run_is_told_with_names_assertions_and_totals(
    project: Path, tmp_path: Path
) -> None:
    db = tmp_path / "store.db"
    done = ran("squeeze", "--", *PYTEST, "-v", db=db, cwd=project)
    text = done.stdout.decode()
    assert done.returncode == 1
    for name in ("test_bank.py::test_sum", "test_bank.py::test_keys", "TestLedger::test_open"):
        assert name in text
    assert "AssertionError: the sum is off" in text
    assert "assert 6 == 7" in text
    assert "{'ada': 1} == {'bob': 1}" in text
    assert "LookupError: no ledger here" in text
    assert "3 failed, 120 passed" in text
    header, receipt = text.splitlines()[0], done.stderr.decode()
    assert "exit 1" in header
    assert "exit 1" in receipt
    assert pointer_of(receipt) in header
    whole = ran("raw", pointer_of(receipt), db=db).stdout
    assert whole.count(b"PASSED") == 120
    assert len(text) < len(whole) / 3


def test_the_raw_is_the_output_byte_for_byte(ullage: Ullage, tmp_path: Path) -> None:
    db = tmp_path / "store.db"
    data = bytes(range(256)) * 40 + b"no newline at the end"
    (tmp_path / "data").write_bytes(data)
    outcome = ullage("squeeze", "--", "cat", "data", db=db)
    done = ran("raw", pointer_of(outcome.err), db=db)
    assert done.stdout == data


def test_both_streams_come_in_the_order_in_which_they_were_written(
    ullage: Ullage, tmp_path: Path
) -> None:
    script = "for i in 1 2 3; do echo out $i; echo err $i >&2; done"
    outcome = ullage("squeeze", "--", "sh", "-c", script, db=tmp_path / "s.db")
    assert outcome.out == "out 1\nerr 1\nout 2\nerr 2\nout 3\nerr 3\n"


@pytest.mark.parametrize(
    ("script", "code"),
    [("exit 0", 0), ("exit 3", 3), ("kill -TERM $$", 143), ("kill -KILL $$", 137)],
)
def test_the_exit_code_is_the_command_s(
    ullage: Ullage, tmp_path: Path, script: str, code: int
) -> None:
    outcome = ullage("squeeze", "--", "sh", "-c", script, db=tmp_path / "s.db")
    assert outcome.code == code
    assert f"exit {code}" in outcome.err
    report = ullage("squeeze", "--json", "--", "sh", "-c", script, db=tmp_path / "s.db")
    assert (report.code, report.value["exit_code"]) == (code, code)


def test_a_command_that_is_not_there_is_exit_code_127(ullage: Ullage) -> None:
    outcome = ullage("squeeze", "--", "no-such-command-here")
    assert (outcome.code, outcome.out) == (127, "")
    assert outcome.err == "ullage: There is no command no-such-command-here.\n"


def test_a_file_that_cannot_be_run_is_exit_code_126(ullage: Ullage, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("not a program")
    assert ullage("squeeze", "--", "./notes.txt").code == 126


def test_flags_of_the_command_are_the_command_s(ullage: Ullage) -> None:
    assert ullage("squeeze", "printf", "%s-%s", "--json", "-h").out == "--json--h"


def test_the_report_is_one_document_of_the_published_model(ullage: Ullage, tmp_path: Path) -> None:
    db = tmp_path / "s.db"
    outcome = ullage("squeeze", "--json", "--budget", "200", "--", "seq", "1", "3000", db=db)
    report = SqueezeReport.model_validate_json(outcome.out)
    assert report.tokens_after <= 200 < report.tokens_before
    assert report.lines_before == 3000
    assert report.bytes == len("".join(f"{n}\n" for n in range(1, 3001)))
    assert [stage.name for stage in report.stages] == [
        "filter",
        "group",
        "deduplicate",
        "truncate",
    ]
    assert report.raw is not None
    assert report.raw in report.text
    listed = ullage("raw", "--json", db=db).value
    assert [(row["pointer"], row["command"]) for row in listed] == [(report.raw, "seq 1 3000")]


def test_short_outputs_pass_untouched(ullage: Ullage) -> None:
    outcome = ullage("squeeze", "--", "printf", "one\\ntwo")
    assert outcome.out == "one\ntwo"


def test_raw_and_verbose_filter_nothing_and_keep_all_the_same(
    ullage: Ullage, tmp_path: Path
) -> None:
    db = tmp_path / "s.db"
    whole = "".join(f"{n}\n" for n in range(1, 3001))
    for flag in ("--raw", "--verbose"):
        outcome = ullage("squeeze", flag, "--", "seq", "1", "3000", db=db)
        assert outcome.out == whole
        assert ran("raw", pointer_of(outcome.err), db=db).stdout.decode() == whole


def test_a_pipe_is_read_to_its_end(tmp_path: Path) -> None:
    data = (
        b"".join(b"unit %d is well\r\n" % n for n in range(2_000)) + b"ERROR: unit x\xff lost\r\n"
    )
    done = ran("squeeze", "--as", "generic", db=tmp_path / "s.db", given=data)
    assert done.returncode == 0
    assert b"ERROR: unit x\xef\xbf\xbd lost" in done.stdout
    assert b"exit" not in done.stdout
    assert len(done.stdout) < len(data) / 4
    assert ran("raw", pointer_of(done.stderr), db=tmp_path / "s.db").stdout == data


def test_what_was_squeezed_once_is_not_squeezed_again(tmp_path: Path) -> None:
    data = b"".join(b"unit %d is well\n" % (n * n) for n in range(2_000))
    once = ran("squeeze", db=tmp_path / "s.db", given=data).stdout
    assert ran("squeeze", db=tmp_path / "s.db", given=once).stdout == once


def test_what_is_no_text_is_one_line_with_its_pointer(tmp_path: Path) -> None:
    data = os.urandom(50_000)
    done = ran("squeeze", db=tmp_path / "s.db", given=data)
    assert done.stdout.count(b"\n") == 1
    assert b"50000 bytes that are no text" in done.stdout
    assert ran("raw", pointer_of(done.stderr), db=tmp_path / "s.db").stdout == data


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--budget", "much", "--", "true"), "neither a number of tokens (2000) nor a share (25%)"),
        (("--as", "no-such-tool", "--", "true"), "There is no profile no-such-tool"),
        (("--raw", "--json", "--", "true"), "exclude each other"),
        (("--pty",), "--pty is for a command"),
    ],
)
def test_what_cannot_be_done_is_refused_before_anything_runs(
    tmp_path: Path, arguments: tuple[str, ...], said: str
) -> None:
    done = ran("squeeze", *arguments[:-1], arguments[-1], db=tmp_path / "s.db", given=b"")
    assert done.returncode in (1, 2)
    assert said in done.stderr.decode()
    assert done.stdout == b""


def test_a_store_that_cannot_keep_it_is_no_reason_not_to_run(
    ullage: Ullage, tmp_path: Path
) -> None:
    (tmp_path / "notes.db").write_text("this is no store")
    outcome = ullage("squeeze", "--", "sh", "-c", "echo said; exit 4", db=tmp_path / "notes.db")
    assert (outcome.code, outcome.out) == (4, "said\n")
    assert "the whole output is not kept" in outcome.err
    assert "ullage raw" not in outcome.err


CATCHING = """
import signal, sys, time
def caught(number, frame):
    print("caught", number, flush=True)
    sys.exit(9)
signal.signal(signal.{name}, caught)
print("ready", flush=True)
open("ready", "w").close()
time.sleep(100)
"""


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_a_signal_is_the_command_s_and_its_last_words_are_printed(
    tmp_path: Path, name: str
) -> None:
    number = signal.Signals[name]
    command = [PYTHON, "-m", "inspector.cli", "squeeze", "--", PYTHON, "-c"]
    with subprocess.Popen(
        [*command, CATCHING.format(name=name)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY), "ULLAGE_DB": str(tmp_path / "s.db")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,  # no terminal that would tell the command by itself
    ) as process:
        wait_for(tmp_path / "ready", process)
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
    assert out.decode() == f"ready\ncaught {int(number)}\n"
    assert process.returncode == 9
    assert b"Traceback" not in err


def test_a_key_on_the_terminal_reaches_the_command_once(tmp_path: Path) -> None:
    pexpect = pytest.importorskip("pexpect")
    child = pexpect.spawn(
        PYTHON,
        ["-m", "inspector.cli", "squeeze", "--", PYTHON, "-c", CATCHING.format(name="SIGINT")],
        cwd=str(tmp_path),
        env={**os.environ, "PYTHONPATH": str(REPOSITORY), "ULLAGE_DB": str(tmp_path / "s.db")},
        timeout=60,
        encoding="utf-8",
    )
    while not (tmp_path / "ready").exists():
        assert child.isalive()
        child.expect(pexpect.TIMEOUT, timeout=0.1)
    child.sendintr()
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 9
    assert child.before.count(f"caught {int(signal.SIGINT)}\r\n") == 1


def test_a_reader_who_leaves_does_not_change_the_exit_code(tmp_path: Path) -> None:
    script = (
        f"'{PYTHON}' -m inspector.cli squeeze --raw -- sh -c 'seq 1 200000; exit 5' | head -1;"
        'echo "${PIPESTATUS[0]}"'
    )
    done = subprocess.run(
        ["bash", "-c", script],
        env={**os.environ, "PYTHONPATH": str(REPOSITORY), "ULLAGE_DB": str(tmp_path / "s.db")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.split() == ["1", "5"]
    whole = ran("raw", pointer_of(done.stderr), db=tmp_path / "s.db").stdout
    assert whole.endswith(b"\n200000\n")


def test_a_program_left_behind_is_not_waited_for(ullage: Ullage) -> None:
    outcome = ullage("squeeze", "--", "sh", "-c", "sleep 300 & echo $!")
    os.kill(int(outcome.out), signal.SIGKILL)
    assert "still running" in outcome.err


def test_a_command_may_be_told_that_it_is_on_a_terminal(ullage: Ullage) -> None:
    script = "import sys; print(sys.stdout.isatty(), sys.stderr.isatty())"
    assert ullage("squeeze", "--", PYTHON, "-c", script).out == "False False\n"
    assert ullage("squeeze", "--pty", "--", PYTHON, "-c", script).out == "True True\n"


def test_stream_shows_the_output_while_it_comes(ullage: Ullage) -> None:
    outcome = ullage("squeeze", "--stream", "--", "seq", "1", "3000")
    assert outcome.err.startswith("1\n2\n3\n")
    assert len(outcome.out) < len(outcome.err)


FLOOD = """
import sys
row = b"worker %d has done batch %d in %d ms" + b", all fine" * 40 + b"\\n"
out = sys.stdout.buffer
for start in range(0, 460_000, 1000):
    out.write(b"".join(row % (n % 17, n, n % 313) for n in range(start, start + 1000)))
    if start == 200_000:
        out.write(b"ERROR: the needle in the haystack\\n")
"""


@pytest.mark.slow
def test_200_megabytes_take_a_bounded_memory_and_lose_no_failure(tmp_path: Path) -> None:
    measuring = (
        "import resource, sys; from inspector import cli;"
        "code = cli.run(sys.argv[1:]);"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)"
    )
    # A process begins with the peak of the one that it was forked from: not with that of the tests.
    between = "import subprocess, sys; sys.exit(subprocess.run(sys.argv[1:]).returncode)"
    flood = tmp_path / "flood.py"
    flood.write_text(FLOOD)
    squeeze = [PYTHON, "-c", measuring, "squeeze", "--json", "--", PYTHON, str(flood)]
    done = subprocess.run(
        [PYTHON, "-c", between, *squeeze],
        env={**os.environ, "PYTHONPATH": str(REPOSITORY), "ULLAGE_DB": str(tmp_path / "s.db")},
        capture_output=True,
        check=False,
    )
    report = json.loads(done.stdout)
    assert report["bytes"] > 200_000_000
    assert report["lines_before"] == 460_001
    assert report["estimated"]
    assert "ERROR: the needle in the haystack" in report["text"]
    assert report["tokens_after"] <= 16_000
    kilobytes = int(done.stderr.split()[-1])
    assert kilobytes < 300_000


def wait_for(path: Path, process: subprocess.Popen[bytes]) -> None:
    while not path.exists():
        assert process.poll() is None
        try:
            process.wait(0.05)
        except subprocess.TimeoutExpired:
            continue
