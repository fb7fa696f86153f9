"""Small logs about kilns, for packs."""

from __future__ import annotations

from pathlib import Path

from inspector.pack_reports import PackLineReport, PackReport
from tests.inspector.logs import Log

OTHER = "bbbbbbbb-bbbb-cccc-dddd-eeeeeeeeeeee"
AWAY = "cccccccc-bbbb-cccc-dddd-eeeeeeeeeeee"


def write_logs(folder: Path) -> Log:
    """A session about kilns, with a call and its result; two others, one of the same project."""
    made = Log(folder)
    made.user("The kiln must never be hotter than 1240 degrees.")
    made.assistant(
        {"type": "text", "text": "Reading the controller of the kiln."},
        {"type": "tool_use", "id": "t1", "name": "Read", "input": {"file_path": "/p/kiln.py"}},
    )
    made.result("t1", "LIMIT = 1300  # degrees of the kiln\n" + "x = 1\n" * 200)
    made.assistant({"type": "text", "text": "The limit of the kiln was 1300; it is 1240 now."})
    made.user("And the glaze?")
    made.assistant({"type": "text", "text": "The glaze is as it was."})
    other = Log(folder, OTHER)
    other.user("The kiln of the other shop is broken.", uuid="other")
    away = Log(folder, AWAY)
    away.user("A kiln far away.", cwd="/home/u/away", uuid="away")
    return made


def packed(report: PackReport) -> list[PackLineReport]:
    return [line for line in report.lines if line.packed]
