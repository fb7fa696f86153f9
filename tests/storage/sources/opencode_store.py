"""A database as opencode keeps it, written row by row."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Any

from compress.events import SessionEvent
from compress.messages import Message, derive_messages
from compress.surface import fold
from compress.tokens import CharsOverFour
from storage.ingest import Ingest
from storage.store import Store
from tests.derivation import content

SESSION = "ses_1"
START = 1_767_225_600_000
"""2026-01-01, in milliseconds."""

_SCHEMA = """
CREATE TABLE session (id text PRIMARY KEY, project_id text, parent_id text, directory text,
  title text, version text, revert text, model text, time_created integer, time_updated integer,
  time_archived integer);
CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL, time_created integer NOT NULL,
  time_updated integer NOT NULL, data text NOT NULL);
CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL,
  time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
CREATE INDEX part_session_idx ON part (session_id);
"""


class OpencodeStore:
    """Writes as the agent does: rows in place, in WAL mode unless told otherwise."""

    def __init__(self, path: Path, *, wal: bool = True) -> None:
        self.path = path
        self.connection = sqlite3.connect(path, isolation_level=None)
        self.connection.execute(f"PRAGMA journal_mode = {'WAL' if wal else 'DELETE'}")
        self.connection.execute("PRAGMA wal_autocheckpoint = 0")
        self.connection.executescript(_SCHEMA)
        self._clock = count(START)
        self.session(SESSION)

    def session(self, name: str, **more: Any) -> None:
        now = next(self._clock)
        known: dict[str, Any] = {"directory": "/home/u/demo", "title": "T", "version": "1.18.33"}
        row = {"id": name, **known, "time_created": now, "time_updated": now, **more}
        self._write("session", row)

    def revert(self, name: str, point: dict[str, str] | None) -> None:
        self.connection.execute(
            "UPDATE session SET revert = ?, time_updated = ? WHERE id = ?",
            (json.dumps(point) if point else None, next(self._clock), name),
        )

    def message(self, name: str, role: str, session: str = SESSION, **data: Any) -> None:
        """Makes the row or writes it anew."""
        found = self.connection.execute("SELECT time_created FROM message WHERE id = ?", (name,))
        now = next(self._clock)
        created = (found.fetchone() or (now,))[0]
        if role == "assistant":
            data = {"modelID": "m", "providerID": "mock", **data}
        told = json.dumps({"role": role, "time": {"created": created}, **data})
        row = {"id": name, "session_id": session, "time_created": created, "time_updated": now}
        self._write("message", {**row, "data": told})

    def part(self, name: str, message: str, kind: str, session: str = SESSION, **data: Any) -> None:
        """Makes the row or writes it anew."""
        now = next(self._clock)
        row = {"id": name, "message_id": message, "session_id": session}
        told = json.dumps({"type": kind, **data})
        self._write("part", {**row, "time_created": now, "time_updated": now, "data": told})

    def remove(self, name: str) -> None:
        """A message with its parts."""
        self.connection.execute("DELETE FROM part WHERE message_id = ?", (name,))
        self.connection.execute("DELETE FROM message WHERE id = ?", (name,))

    def ask(self, name: str, text: str, session: str = SESSION) -> None:
        """A message of the user's, of one text."""
        self.message(name, "user", session)
        self.part(f"p{name}", name, "text", session, text=text)

    def answer(self, name: str, text: str, session: str = SESSION, **data: Any) -> None:
        """A finished answer, of one text."""
        self.message(name, "assistant", session, finish="stop", **data)
        self.part(f"p{name}", name, "text", session, text=text)

    def _write(self, table: str, row: dict[str, Any]) -> None:
        names, places = ", ".join(row), ", ".join("?" * len(row))
        question = f"INSERT OR REPLACE INTO {table} ({names}) VALUES ({places})"
        self.connection.execute(question, tuple(row.values()))


def tool(status: str, output: str = "", call: str = "c1", **more: Any) -> dict[str, Any]:
    """The fields of a part that is a call."""
    state: dict[str, Any] = {"status": status, "input": {"command": "ls"}, **more}
    if status == "completed":
        state = {**state, "output": output, "time": {"start": START, "end": START + 1, **more}}
    return {"tool": "bash", "callID": call, "state": state}


def row(table: str, name: str, message: str, **data: Any) -> dict[str, Any]:
    """The record of a row."""
    place = {"session_id": SESSION, "message_id": message} if table != "session" else {}
    own = SESSION if table == "session" else name
    return {"table": table, "id": own, **place, "time_created": START, "data": data}


def exported(rows: Sequence[Any]) -> dict[str, Any]:
    """The newest versions of these rows as ``opencode export`` prints them."""
    newest = {(one["table"], one["id"]): one for one in rows if "data" in one}
    messages = []
    for (table, name), one in newest.items():
        if table == "message":
            parts = [
                {"id": part, **found["data"]}
                for (kind, part), found in newest.items()
                if kind == "part" and found["message_id"] == name
            ]
            messages.append({"info": {"id": name, **one["data"]}, "parts": parts})
    return {"info": {"id": SESSION, **newest["session", SESSION]["data"]}, "messages": messages}


def read(store: Store, path: Path) -> int:
    """Reads what is new; the number of records."""
    ingest = Ingest(store, counter_for=lambda _: CharsOverFour())
    try:
        return ingest.run([path]).records
    finally:
        ingest.close()


def events(store: Store, session: str = SESSION) -> list[SessionEvent]:
    """The events of a session with their content."""
    record = next(s for s in store.sessions() if s.native_id == session)
    return list(store.events(record, [int(e.seq) for e in store.entries(record)]))


def sent(store: Store, session: str = SESSION) -> list[tuple[str, str, str]]:
    """(role, kind, text or name) of every block that would be sent."""
    log = events(store, session)
    messages: list[Message] = derive_messages(content(fold(log), log), "opencode")
    return [(m.role, b.kind, b.text or b.name or "") for m in messages for b in m.blocks]
