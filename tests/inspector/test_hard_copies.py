"""Copies of sessions that are made to be refused, or to be raced, by the number of their case."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from inspector.reports import Track
from inspector.usecases import UseCases
from storage.resume.base import ResumeRefusedError
from tests.inspector.logs import NAME, Log, usecases
from tests.storage.sources import codex_logs as codex
from tests.storage.sources.made_logs import PI

THINKING = ("thinking", "redacted_thinking")


def lines_of(path: str | Path) -> list[dict[str, Any]]:
    data = Path(path).read_bytes()
    assert data.endswith(b"\n")
    return [json.loads(line) for line in data.splitlines()]


def blocks_of(rows: list[dict[str, Any]], role: str) -> Iterator[dict[str, Any]]:
    for row in rows:
        content = row.get("message", {}).get("content")
        if row.get("type") == role and isinstance(content, list):
            yield from content


@pytest.mark.hard
@pytest.mark.parametrize("change", ["none", "pin"])
def test_c04_thinking_goes_whole_or_stays_whole(
    cases: UseCases, hard_inputs: Path, tmp_path: Path, change: str
) -> None:
    log = hard_inputs / "C04" / "thinking.jsonl"
    cases.ingest([log])
    (session,) = [row.id for row in cases.sessions()]
    nodes = [row.seq for row in cases.view(session, track="plan").rows(0, 20)]
    if change == "pin":
        cases.pin(session, [nodes[1]])
    # The log ends in thinking without a word, which no provider takes from anybody.
    with pytest.raises(ResumeRefusedError, match="in thinking without a word") as refusal:
        cases.resume(session, out=tmp_path / "copies")
    (before,) = refusal.value.choices
    track: Track = "agent" if change == "none" else "plan"
    report = cases.resume(session, track=track, at=before, out=tmp_path / "copies")
    original = [b for b in blocks_of(lines_of(log), "assistant") if b["type"] in THINKING]
    rows = lines_of(report.path)
    copied = [b for b in blocks_of(rows, "assistant") if b["type"] in THINKING]
    assert copied == original[:2], "no byte of a signature is another one"
    last = [row for row in rows if row["type"] == "assistant"][-1]
    assert last["message"]["content"][-1]["type"] == "tool_use"


def test_c10_the_original_is_only_read_while_its_agent_writes_it(
    cases: UseCases, tmp_path: Path
) -> None:
    log = Log(tmp_path)
    for number in range(4):
        log.user(f"question {number}")
        log.assistant({"type": "text", "text": f"answer {number}"})
    cases.ingest([log.path])
    written = bytearray(log.path.read_bytes())
    inode = log.path.stat().st_ino
    enough = threading.Event()

    def write_on() -> None:
        number = 100
        last = "u8"
        while not enough.wait(0.002):
            row = {
                **json.loads(written.splitlines()[0]),
                "uuid": f"w{number}",
                "parentUuid": last,
                "message": {"role": "user", "content": f"meanwhile {number}"},
            }
            last = f"w{number}"
            line = json.dumps(row).encode() + b"\n"
            for part in (line[:40], line[40:]):  # a record in two writes
                written.extend(part)
                with log.path.open("ab") as file:
                    file.write(part)
            number += 1

    writer = threading.Thread(target=write_on)
    writer.start()
    out = tmp_path / "copies"
    made = []
    try:
        for _ in range(4):
            cases.ingest([log.path])
            # A moment that is named is whole, whatever goes on behind it.
            report = cases.resume(NAME, at=cases.events(NAME), out=out)
            said = [row["message"]["content"] for row in lines_of(report.path) if "message" in row]
            assert said[:8:2] == [f"question {number}" for number in range(4)]
            assert said[8:] == [f"meanwhile {100 + n}" for n in range(len(said) - 8)]
            made.append(report)
    finally:
        enough.set()
        writer.join()
    assert log.path.read_bytes() == bytes(written)
    assert log.path.stat().st_ino == inode
    assert sorted(path.name for path in out.iterdir() if path.suffix == ".jsonl") == sorted(
        Path(report.path).name for report in made
    ), "nothing half-made is left"


@pytest.mark.parametrize("agent", ["claude", "codex", "pi"])
def test_c11_a_copy_has_an_id_of_its_own_wherever_an_id_stands(
    agent: str, cases: UseCases, tmp_path: Path
) -> None:
    log = tmp_path / f"{NAME}.jsonl"
    if agent == "claude":
        made = Log(tmp_path)
        made.user("question")
        made.assistant({"type": "text", "text": "answer"})
    else:
        rows = PI if agent == "pi" else [codex.meta(), *codex.turn("1", "u1", "a1")]
        log.write_text("".join(json.dumps(row) + "\n" for row in rows))
    cases.ingest([log])
    (session,) = [row.id for row in cases.sessions()]
    report = cases.resume(session, out=tmp_path / "copies")
    rows = lines_of(report.path)
    stated = {
        "claude": lambda: {row["sessionId"] for row in rows if "sessionId" in row},
        "codex": lambda: {row["payload"]["id"] for row in rows if row["type"] == "session_meta"},
        "pi": lambda: {row["id"] for row in rows if row["type"] == "session"},
    }[agent]()
    assert stated == {report.session_id}
    assert report.session_id not in log.read_text()
    assert Path(report.path).stem.endswith(report.session_id), "the file is called what it says"
    assert report.session_id in report.command
    # By the same rules that find the agent's own logs, the copy is a further session.
    listed = usecases(":memory:", tmp_path)
    listed.ingest([log, Path(report.path)])
    assert len(listed.sessions()) == 2
    assert listed.find(report.path) != listed.find(str(log))
    listed.close()


@pytest.mark.hard
def test_c11_an_agent_that_would_open_another_session_gets_no_copy(
    cases: UseCases, hard_inputs: Path, tmp_path: Path
) -> None:
    """A sub-agent's log is no session that can be resumed."""
    cases.ingest([hard_inputs / "T08"])
    helpers = [row.id for row in cases.sessions() if row.relation == "subagent"]
    assert helpers
    for helper in helpers:
        with pytest.raises(ResumeRefusedError):
            cases.resume(helper, out=tmp_path / "copies")
