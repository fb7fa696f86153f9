"""A lake: events, operations and decision points of the whole store as partitioned Parquet.

Rows are only ever appended. What changed since comes again as a new row: an event with a greater
``revision``, a log that was begun anew with a greater ``generation``, a decision point with a
greater ``version``. The lake's own page says how a query takes the newest.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from compress.decisions.values import DecisionPoint
from inspector.decision_choice import time_of
from inspector.decisions import current_points, rules_of
from inspector.lake_files import ROWS, LakeFiles, columns
from inspector.lake_page import page
from inspector.lake_reports import LakeReport
from inspector.lake_rows import (
    Row,
    day_of,
    decision_row,
    event_row,
    operation_row,
    withdrawn_row,
)
from inspector.lake_texts import Cleaner
from inspector.masking import Masker
from inspector.settings import Settings
from storage import lake
from storage.ingest import Progress
from storage.lake import Found, Kept, Mark
from storage.lake_folder import LakeFolder, noted, opened
from storage.store import Store

_WITHDRAWN = ""
"""Stands for the digest of a record that is withdrawn."""


def export_lake(
    store: Store,
    folder: Path,
    settings: Settings,
    *,
    now: float,
    masked: bool = True,
    progress: Progress | None = None,
    rows: int = ROWS,
) -> LakeReport:
    """Brings the lake in ``folder`` up to the store: what it has already is left alone. ``rows``:
    from how many on a commit is closed.

    Raises :class:`inspector.decision_parquet.MissingExtraError`, and the errors of
    :func:`storage.lake_folder.opened` and :func:`storage.lake.check`.
    """
    columns()
    with opened(folder, lake.identity(store), page(), masked=masked) as found:
        masker = Masker() if masked else None
        export = _Export(store, found, settings, now, masker=masker, rows=rows)
        sessions = lake.sessions(store)
        lake.check(sessions, found.marks)
        for done, one in enumerate(sessions):
            if progress is not None:
                progress(done, len(sessions), Path(one.session.path))
            export.session(one)
        export.commit()
        if progress is not None and sessions:
            progress(len(sessions), len(sessions), Path(sessions[-1].session.path))
        return export.report()


class _Export:
    """One run: rows into the files of the next commit, marks beside them."""

    def __init__(
        self,
        store: Store,
        found: LakeFolder,
        settings: Settings,
        now: float,
        *,
        masker: Masker | None,
        rows: int,
    ) -> None:
        self._store, self._lake, self._settings, self._now = store, found, settings, now
        self._rows = rows
        self._masker = masker
        self._clean = Cleaner(masker)
        self._files = LakeFiles(found)
        self._added = {"events": 0, "operations": 0, "decisions": 0}
        self._written = 0
        self._touched: dict[str, tuple[Mark, dict[int, int], dict[str, Kept]]] = {}
        """Session name → its mark, and what of it the next commit brings."""
        self._sessions: set[str] = set()

    def session(self, found: Found) -> None:
        session = found.session
        mark = self._lake.marks.setdefault(session.name, Mark())
        rules = f"{rules_of(session).revision}:{self._settings.memory_tokens}"
        is_read = found.is_read(mark)
        if is_read and mark.rules == rules and mark.operations == found.operations:
            return
        # Before the operations are read: a record that graduates is one.
        points = current_points(self._store, session, self._settings, now=self._now)
        if not is_read:
            self._events(found, mark)
        self._decisions(found, mark, points)
        for row in self._store.operations(session, after=mark.operations):
            mark.operations = row.number
            self._add("operations", found, day_of(row.at), operation_row(session, row, self._clean))
        mark.read, mark.rules = found.read, rules
        self._brings(session.name, mark)
        if self._files.count >= self._rows:
            self.commit()

    def commit(self) -> None:
        """What was added so far comes into the lake; without rows nothing is written."""
        files = self._files.close()
        if files:
            sessions = {
                name: noted(mark, revised, decisions)
                for name, (mark, revised, decisions) in self._touched.items()
            }
            self._lake.commit(files, sessions)
            self._written += len(files)
            self._touched.clear()
            self._files = LakeFiles(self._lake)

    def report(self) -> LakeReport:
        return LakeReport(
            lake=str(self._lake.root),
            sessions=len(self._sessions),
            files=self._written,
            masked=self._masker.masked if self._masker else 0,
            **self._added,
        )

    def _brings(self, name: str, mark: Mark) -> tuple[dict[int, int], dict[str, Kept]]:
        _, revised, decisions = self._touched.setdefault(name, (mark, {}, {}))
        return revised, decisions

    def _events(self, found: Found, mark: Mark) -> None:
        session = found.session
        for events in lake.new_events(self._store, session, mark):
            for one in events:
                row = event_row(session, one, self._clean)
                self._add("events", found, day_of(one.entry.time), row)
            brings, _ = self._brings(session.name, mark)
            brings.update(lake.passed(mark, events))
            if self._files.count >= self._rows:
                self.commit()

    def _decisions(self, found: Found, mark: Mark, points: list[DecisionPoint]) -> None:
        for point in points:
            digest = hashlib.sha256(point.model_dump_json().encode()).hexdigest()[:16]
            known = mark.decisions.get(point.id)
            if known is not None and known.digest == digest:
                continue
            shown = point if self._masker is None else self._masker.point(point)
            kept = Kept(1 if known is None else known.version + 1, digest, day_of(time_of(point)))
            row = decision_row(found.session, shown, kept.version, self._clean)
            self._decision(found, mark, point.id, kept, row)
        standing = {point.id for point in points}
        for name in sorted(mark.decisions.keys() - standing):
            known = mark.decisions[name]
            if known.digest != _WITHDRAWN:
                kept = Kept(known.version + 1, _WITHDRAWN, known.day)
                row = withdrawn_row(found.session, name, kept.version, self._clean)
                self._decision(found, mark, name, kept, row)

    def _decision(self, found: Found, mark: Mark, name: str, kept: Kept, row: Row) -> None:
        self._add("decisions", found, kept.day, row)
        mark.decisions[name] = kept
        self._brings(found.session.name, mark)[1][name] = kept

    def _add(self, table: str, found: Found, day: str | None, row: Row) -> None:
        self._files.add(table, found.session.agent, day, row, _weight(row))
        self._added[table] += 1
        self._sessions.add(found.session.name)


def _weight(row: Mapping[str, Any]) -> int:
    """About how many bytes of text a row holds."""
    texts = [row.get("meta"), row.get("op_json"), row.get("summary"), row.get("headline")]
    for block in row.get("content") or ():
        texts += [block["text"], block["input"]]
    return sum(len(text) for text in texts if text)
