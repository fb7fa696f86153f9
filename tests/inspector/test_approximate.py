"""Of an agent whose log tells too little, every view says that it is approximate."""

from __future__ import annotations

import json
from pathlib import Path

from inspector.cli_lists import doctor_text
from inspector.cli_output import heading, sessions_text
from inspector.cli_paint import Paint
from inspector.usecases import UseCases
from storage.sources.registry import approximation
from tests.inspector.logs import Log
from tests.storage.sources.copilot_logs import answer, start, user

WHY = approximation("copilot")


def copilot(folder: Path) -> Path:
    path = folder / "events.jsonl"
    rows = [start(), user("u", "hello"), answer("a", "hi")]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_the_list_the_session_and_the_doctor_say_so(cases: UseCases, tmp_path: Path) -> None:
    cases.ingest([copilot(tmp_path)])
    (row,) = cases.sessions()
    assert (row.title, row.note) == ("hello", WHY)
    assert "≈copilot" in "\n".join(sessions_text([row], 0.0, Paint(width=120)))
    header = cases.messages(row.id).session
    assert header.approximate == WHY
    assert WHY in " ".join(heading(header, Paint(width=300)))
    report = cases.doctor()
    assert [source.approximate for source in report.sources if source.files] == [WHY]
    assert WHY in " ".join(doctor_text(report, Paint(width=300)))


def test_what_is_shown_exactly_has_no_such_note(cases: UseCases, tmp_path: Path) -> None:
    log = Log(tmp_path)
    log.user("hello")
    cases.ingest([log.path])
    (row,) = cases.sessions()
    assert row.note is None
    assert cases.messages(row.id).session.approximate is None
    assert all(source.approximate is None for source in cases.doctor().sources)
