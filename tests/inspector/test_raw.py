"""``ullage raw``: byte for byte to a pipe, harmless to a terminal."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY
from tests.inspector.conftest import SESSION, Ullage
from tests.inspector.program import PYTHON, pointer_of, ran


def test_raw_prints_a_result_of_a_session(ullage: Ullage, store: Path) -> None:
    shown = ullage("show", SESSION, "--messages", "--json", db=store).value
    blocks = [
        (message["seqs"], block)
        for message in shown["messages"]
        for block in message["blocks"]
        if block["kind"] == "tool_result" and len(message["seqs"]) == 1
    ]
    (seq,), block = blocks[0]
    outcome = ullage("raw", f"{SESSION[:8]}:{seq}", db=store)
    assert outcome.out == block["text"]


def test_raw_prints_the_record_of_any_other_event(ullage: Ullage, store: Path) -> None:
    outcome = ullage("raw", "last:1", db=store)
    assert json.loads(outcome.out)


@pytest.mark.parametrize("pointer", ["12345678", "nonsense", "last:99999", "none:1"])
def test_raw_refuses_what_it_does_not_have(ullage: Ullage, store: Path, pointer: str) -> None:
    outcome = ullage("raw", pointer, db=store)
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err.startswith("ullage: ")


def test_to_a_terminal_an_output_is_shown_and_not_obeyed(tmp_path: Path) -> None:
    pexpect = pytest.importorskip("pexpect")
    db = tmp_path / "s.db"
    hostile = b"\x1b]0;owned\x07\x1b[31mred\n"
    pointer = pointer_of(ran("squeeze", db=db, given=hostile).stderr)
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY), "ULLAGE_DB": str(db)}

    def on_terminal(*arguments: str) -> str:
        shown, _ = pexpect.run(
            " ".join([PYTHON, "-m", "inspector.cli", *arguments]),
            env=environment,
            withexitstatus=True,
            timeout=60,
        )
        return str(shown.decode())

    assert "\x1b" not in on_terminal("raw", pointer)
    assert "␛]0;owned" in on_terminal("raw", pointer)
    assert "\x1b[31mred" in on_terminal("raw", pointer, "--force")
