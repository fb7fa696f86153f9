"""Bytes of a log → events → surface → messages, without a store. Shared by the adapters' tests."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from compress.events import SURFACE_TYPES, SessionEvent
from compress.messages import NodeContent, derive_messages
from compress.surface import Surface, View, fold
from inspector.reports import MessageBlock, MessageReport, MessagesReport, SessionHeader
from storage.records import parse_record
from storage.sources.base import FileReader, Record, SourceAdapter


def records(data: bytes) -> list[Record]:
    """The records of a whole file, split on ``\\n`` only."""
    found, offset = [], 0
    for number, line in enumerate(data.split(b"\n"), 1):
        record = parse_record(number, offset, line)
        offset += len(line) + 1
        if record is not None:
            found.append(record)
    return found


def read(
    adapter: SourceAdapter, path: Path, rows: Iterable[Record] | None = None
) -> tuple[FileReader, dict[str, list[SessionEvent]]]:
    """A reader that was fed these records (default: the whole file), and the events by session."""
    reader = adapter.open(path)
    events: dict[str, list[SessionEvent]] = {}
    for record in records(path.read_bytes()) if rows is None else rows:
        for derived in reader.feed(record):
            events.setdefault(derived.session, []).extend(derived.events)
    return reader, events


def content(surface: Surface, events: Iterable[SessionEvent]) -> list[NodeContent]:
    """The standing nodes with their events."""
    by_seq = {event.seq: event for event in events if event.type in SURFACE_TYPES}
    return [
        NodeContent(node, tuple(by_seq[seq] for seq in surface.members[node]))
        for node in surface.nodes
    ]


def messages_report(
    adapter: SourceAdapter, path: Path, view: View = "resume", session: str = ""
) -> MessagesReport:
    """What ``ullage show PATH --messages --json`` prints, made without a store."""
    reader, events = read(adapter, path)
    log = events.get(session, [])
    surface = fold(log, view)
    facts = reader.sessions[session]
    return MessagesReport(
        session=SessionHeader(id=facts.native_id or path.stem, agent=adapter.agent),
        track="agent",
        at_seq=surface.last_seq,
        view=view,
        messages=tuple(
            MessageReport(
                role=message.role,
                seqs=message.seqs,
                blocks=tuple(
                    MessageBlock(
                        kind=block.kind,
                        id=block.id,
                        name=block.name,
                        input=block.input,
                        text=block.text,
                    )
                    for block in message.blocks
                ),
            )
            for message in derive_messages(content(surface, log), adapter.agent)
        ),
    )


def check_surface(corpus: Path, agent: str, name: str, report: MessagesReport, tmp: Path) -> str:
    """Run the corpus' own judge. Returns what it printed; empty when every block matches."""
    actual = tmp / f"{name}.json"
    actual.write_text(report.model_dump_json(), encoding="utf-8")
    expected = corpus / "surfaces" / agent / f"{name}.json"
    judge = subprocess.run(
        [sys.executable, str(corpus / "check_surface.py"), str(expected), str(actual)],
        capture_output=True,
        text=True,
        check=False,
    )
    return "" if judge.returncode == 0 else judge.stdout + judge.stderr
