"""Logs that were made to hurt: a copy holds what stands, or is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from inspector.reports import MessagesReport
from storage.resume.base import ResumeRefusedError
from tests.inspector.logs import usecases

LARGEST = 200_000
"""Bytes of a log that is copied here."""
A_CASE = 3
"""Logs of one case that are copied here."""


def texts(report: MessagesReport) -> list[tuple[object, ...]]:
    return [
        (m.role, "text" if b.kind == "context" else b.kind, b.id, b.name, b.input, b.text)
        for m in report.messages
        for b in m.blocks
    ]


@pytest.mark.hard
def test_hard_logs_are_copied_as_they_read_or_refused(hard_inputs: Path, tmp_path: Path) -> None:
    copied = 0
    for case in sorted(hard_inputs.iterdir()):
        logs = [path for path in sorted(case.rglob("*.jsonl")) if path.stat().st_size < LARGEST]
        for number, log in enumerate(logs[:A_CASE]):
            cases = usecases(":memory:", tmp_path)
            cases.ingest([log])
            for row in cases.sessions():
                try:
                    report = cases.resume(row.id, out=tmp_path / case.name / str(number))
                except ResumeRefusedError:
                    continue
                copy = cases.find(report.path)
                assert texts(cases.messages(copy)) == texts(cases.messages(row.id, track="plan"))
                copied += 1
            cases.close()
    assert copied > 20
