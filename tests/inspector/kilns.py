"""Small logs about kilns, for packs and rebuilt contexts, and a store of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from inspector.pack_reports import PackLineReport, PackReport
from inspector.usecases import UseCases
from tests.inspector.logs import NAME, Log, usecases

OTHER = "bbbbbbbb-bbbb-cccc-dddd-eeeeeeeeeeee"
AWAY = "cccccccc-bbbb-cccc-dddd-eeeeeeeeeeee"


def write_kiln(folder: Path) -> Log:
    """A session about kilns: read, changed, answered, and the next request."""
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
    return made


def write_logs(folder: Path) -> Log:
    """The same, and two other sessions, one of the same project."""
    made = write_kiln(folder)
    other = Log(folder, OTHER)
    other.user("The kiln of the other shop is broken.", uuid="other")
    away = Log(folder, AWAY)
    away.user("A kiln far away.", cwd="/home/u/away", uuid="away")
    return made


def packed(report: PackReport) -> list[PackLineReport]:
    return [line for line in report.lines if line.packed]


@contextmanager
def store_of(folder: Path) -> Iterator[UseCases]:
    """The use-cases on a store of the logs in a folder."""
    opened = usecases(folder / "store.db", folder)
    opened.ingest([folder])
    yield opened
    opened.close()


def plan_texts(cases: UseCases) -> list[str]:
    """Of the session's plan, as it would be sent."""
    found = cases.messages(NAME, track="plan")
    return [block.text for message in found.messages for block in message.blocks]
