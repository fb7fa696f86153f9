"""The files of the invented project, as the agent of the story reads them."""

# Long because: it is the text of eight files.

from __future__ import annotations

RULES = """# tidepool

Collects tide gauge readings for the north shelf harbours. Python 3.12, SQLite, no web framework.

## Rules

- Times are UTC everywhere; convert at the edge of the export only.
- `data/production.db` is a live mirror. Nothing in this repository may write to it. Work on
  `data/copy.db`, made by `make copy`.
- Readings are facts: they are added, never changed. A correction is a new row with a newer
  `source_revision`.
- Public functions of `tidepool.merge` and `tidepool.store` are used by the harbour offices' own
  scripts. Their signatures do not change without a deprecation.
- Every fix comes with a test that fails without it.

## Commands

- `make test-fast` runs the tests that need no network (5 s); `make test` all of them (9 min).
- `make lint` must be clean before a commit.
- `make copy` refreshes `data/copy.db` from last night's backup.

## Layout

- `tidepool/gauges.py` talks to the gauges; one connection a gauge, replies are parsed here.
- `tidepool/merge.py` joins the replies of one round into one list of readings.
- `tidepool/store.py` is the only module that knows SQL.
- `tidepool/sync.py` runs a round every six minutes and closes gaps.
- `tidepool/backfill.py` reads raw replies from disk again.
"""

MERGE = '''"""Join the replies of one round into one list of readings."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

LATE = timedelta(minutes=30)


@dataclass(frozen=True, slots=True)
class Reading:
    """One level at one gauge, in metres above chart datum."""

    gauge: str
    taken_at: datetime
    level_m: float
    quality: str
    source_revision: int
    batch: str = ""

    @property
    def suspect(self) -> bool:
        return self.quality != "ok"


def merge_readings(batches: Iterable[list[Reading]], *, now: datetime) -> list[Reading]:
    """All readings of the batches in order of time, each once.

    A reading that comes twice is kept in its newest revision. Readings older than ``LATE`` are
    marked as late but kept: the harbour offices plot them.
    """
    newest: dict[datetime, Reading] = {}
    for batch in batches:
        for reading in batch:
            key = reading.taken_at.replace(microsecond=0)
            known = newest.get(key)
            if known is None or reading.source_revision >= known.source_revision:
                newest[key] = reading
    merged = sorted(newest.values(), key=lambda reading: reading.taken_at)
    return [_mark_late(reading, now) for reading in merged]


def _mark_late(reading: Reading, now: datetime) -> Reading:
    if now - reading.taken_at > LATE and reading.quality == "ok":
        return replace(reading, quality="late")
    return reading


def gaps(
    readings: list[Reading], *, gauge: str, longest: timedelta
) -> list[tuple[datetime, datetime]]:
    """Spans in which a gauge gave nothing for longer than ``longest``."""
    own = [reading.taken_at for reading in readings if reading.gauge == gauge]
    return [(a, b) for a, b in zip(own, own[1:]) if b - a > longest]


def interpolate(before: Reading, after: Reading, at: datetime) -> Reading:
    """A reading between two others, linear in time; always of quality ``filled``."""
    span = (after.taken_at - before.taken_at).total_seconds()
    share = (at - before.taken_at).total_seconds() / span if span else 0.0
    level = before.level_m + (after.level_m - before.level_m) * share
    return Reading(before.gauge, at, round(level, 3), "filled", before.source_revision)
'''

STORE = '''"""The only module that knows SQL."""

from __future__ import annotations

import csv
import sqlite3
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TextIO

from tidepool.merge import Reading

SCHEMA = """
CREATE TABLE IF NOT EXISTS readings (
    id INTEGER PRIMARY KEY,
    gauge TEXT NOT NULL,
    taken_at TEXT NOT NULL,
    received_at TEXT NOT NULL,
    level_m REAL NOT NULL,
    quality TEXT NOT NULL,
    batch TEXT NOT NULL,
    source_revision INTEGER NOT NULL,
    UNIQUE (gauge, taken_at, source_revision)
);
CREATE INDEX IF NOT EXISTS readings_by_time ON readings (taken_at);
CREATE TABLE IF NOT EXISTS runs (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    began_at TEXT NOT NULL,
    ended_at TEXT,
    readings_in INTEGER NOT NULL DEFAULT 0,
    readings_out INTEGER NOT NULL DEFAULT 0
);
"""


class Store:
    """Readings on disk. One writer at a time; readers see whole batches."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._connection = sqlite3.connect(path, isolation_level=None)
        self._connection.execute("PRAGMA journal_mode=WAL")
        self._connection.executescript(SCHEMA)

    def write(self, readings: Iterable[Reading], *, received_at: datetime) -> int:
        """Add readings; those that stand already are left alone. The number of new rows."""
        rows = [
            (
                reading.gauge,
                _text(reading.taken_at),
                _text(received_at),
                reading.level_m,
                reading.quality,
                reading.batch,
                reading.source_revision,
            )
            for reading in readings
        ]
        with self._transaction():
            before = self._count()
            self._connection.executemany(
                "INSERT OR IGNORE INTO readings (gauge, taken_at, received_at, level_m, quality,"
                " batch, source_revision) VALUES (?, ?, ?, ?, ?, ?, ?)",
                rows,
            )
            return self._count() - before

    def between(self, start: datetime, end: datetime) -> list[Reading]:
        """Readings of a span, in order of time."""
        cursor = self._connection.execute(
            "SELECT gauge, taken_at, level_m, quality, source_revision, batch FROM readings"
            " WHERE taken_at >= ? AND taken_at < ? ORDER BY taken_at, id",
            (_text(start), _text(end)),
        )
        return [_reading(row) for row in cursor]

    def export(self, file: TextIO, start: datetime, end: datetime) -> int:
        """Write a span as CSV, in the order in which the readings were received."""
        writer = csv.writer(file, lineterminator="\\n")
        writer.writerow(["gauge", "taken_at", "level_m", "quality"])
        count = 0
        for count, row in enumerate(self._exported(start, end), 1):
            writer.writerow(row)
        return count

    def _exported(self, start: datetime, end: datetime) -> Iterator[tuple[str, str, float, str]]:
        yield from self._connection.execute(
            "SELECT gauge, taken_at, level_m, quality FROM readings"
            " WHERE taken_at >= ? AND taken_at < ? ORDER BY received_at, id",
            (_text(start), _text(end)),
        )

    def _count(self) -> int:
        return int(self._connection.execute("SELECT count(*) FROM readings").fetchone()[0])


def _text(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def _reading(row: tuple[str, str, float, str, int, str]) -> Reading:
    gauge, taken_at, level, quality, revision, batch = row
    return Reading(gauge, datetime.fromisoformat(taken_at), level, quality, revision, batch)
'''

SYNC = '''"""Run a round every six minutes: ask all gauges, merge, write, close gaps."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from tidepool.gauges import Gauge, GaugeError
from tidepool.merge import Reading, gaps, interpolate, merge_readings
from tidepool.store import Store

log = logging.getLogger(__name__)
ROUND = timedelta(minutes=6)
LONGEST_GAP = timedelta(minutes=10)


async def ask_all(gauges: Sequence[Gauge], batch: str) -> list[list[Reading]]:
    """The replies of all gauges, in the order of their names; a silent one gives nothing."""
    replies = await asyncio.gather(*(ask(gauge, batch) for gauge in gauges))
    return [reply for reply in replies if reply]


async def ask(gauge: Gauge, batch: str) -> list[Reading]:
    """One gauge, three tries."""
    for attempt in range(1, 4):
        try:
            return await gauge.readings(batch=batch)
        except GaugeError as error:
            log.warning("gauge=%s attempt=%d %s", gauge.code, attempt, error)
    return []


async def run_round(gauges: Sequence[Gauge], store: Store, *, batch: str, now: datetime) -> int:
    """One round. The number of new readings."""
    replies = await ask_all(gauges, batch)
    merged = merge_readings(replies, now=now)
    log.info("batch=%s in=%d out=%d", batch, sum(map(len, replies)), len(merged))
    written = store.write(merged, received_at=now)
    written += close_gaps(gauges, store, now=now)
    return written


def close_gaps(gauges: Sequence[Gauge], store: Store, *, now: datetime) -> int:
    """Fill what the last two hours lack by interpolation, so that plots have no holes."""
    recent = store.between(now - timedelta(hours=2), now)
    filled: list[Reading] = []
    for gauge in gauges:
        own = [reading for reading in recent if reading.gauge == gauge.code]
        by_time = {reading.taken_at: reading for reading in own}
        for start, end in gaps(own, gauge=gauge.code, longest=LONGEST_GAP):
            log.error("gauge=%s gap of %d min closed", gauge.code, (end - start).seconds // 60)
            at = start + ROUND
            while at < end:
                filled.append(interpolate(by_time[start], by_time[end], at))
                at += ROUND
    return store.write(filled, received_at=now)


def main() -> None:
    """The nightly entry point: `python -m tidepool.sync`."""
    logging.basicConfig(level=logging.DEBUG)
    log.info("begin %s", datetime.now(UTC))
'''

GAUGES = '''"""Talk to the gauges; parse what they answer."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol

from tidepool.merge import Reading


class GaugeError(Exception):
    """A gauge that did not answer, or not in its own format."""


class Link(Protocol):
    """A connection to one gauge."""

    async def request(self, line: str, *, timeout: float) -> str: ...


@dataclass(frozen=True, slots=True)
class Calibration:
    """What the service department measured last."""

    offset_m: float
    scale: float
    revision: int


@dataclass(slots=True)
class Gauge:
    """One gauge. Replies carry whole seconds; the shelf's gauges share one radio clock."""

    code: str
    link: Link
    calibration: Calibration

    async def readings(self, *, batch: str) -> list[Reading]:
        """What the gauge measured since it was last asked."""
        reply = await self.link.request(f"READ {self.code}", timeout=2.0)
        return [self._parsed(line, batch) for line in reply.splitlines() if line.strip()]

    def _parsed(self, line: str, batch: str) -> Reading:
        try:
            value = json.loads(line)
            raw, moment = float(value["level"]), int(value["t"])
        except (ValueError, KeyError, TypeError) as error:
            raise GaugeError(f"{self.code} answered {line[:80]!r}") from error
        level = raw * self.calibration.scale + self.calibration.offset_m
        return Reading(
            gauge=self.code,
            taken_at=datetime.fromtimestamp(moment, UTC),
            level_m=round(level, 3),
            quality="ok" if -1.0 < level < 9.0 else "suspect",
            source_revision=self.calibration.revision,
            batch=batch,
        )
'''

BACKFILL = '''"""Read raw replies from disk again, and add what the store lacks."""

from __future__ import annotations

import argparse
import hashlib
import json
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path

from tidepool.merge import Reading, merge_readings
from tidepool.store import Store


def raw_readings(folder: Path, since: date) -> Iterator[list[Reading]]:
    """The raw replies since a day, one list a round. A file whose checksum differs is passed
    over and named."""
    for day in sorted(folder.iterdir()):
        if day.name < since.isoformat():
            continue
        for file in sorted(day.glob("*.json")):
            text = file.read_text()
            body, _, digest = text.rpartition("\\n#")
            if digest and hashlib.sha256(body.encode()).hexdigest() != digest.strip():
                print(f"  skip  raw={file}: checksum differs, left for inspection")
                continue
            yield [Reading(**item) for item in json.loads(body)]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--raw", type=Path, default=Path("/srv/tidepool/raw"))
    parser.add_argument("--db", type=Path, default=Path("data/production.db"))
    parser.add_argument("--since", type=date.fromisoformat, required=True)
    parser.add_argument("--dry-run", action="store_true")
    options = parser.parse_args()
    now = datetime.now(UTC)
    merged = merge_readings(raw_readings(options.raw, options.since), now=now)
    if options.dry_run:
        for reading in merged:
            print(f"would insert {reading}")
        return
    print(Store(options.db).write(merged, received_at=now))
'''

TESTS = """from datetime import UTC, datetime, timedelta

from tidepool.merge import LATE, Reading, gaps, interpolate, merge_readings

NOW = datetime(2026, 4, 20, 12, 0, tzinfo=UTC)


def reading(gauge="SKP", minutes=0, level=2.0, revision=1, **more):
    at = NOW - timedelta(minutes=minutes)
    return Reading(gauge, at, level, more.get("quality", "ok"), revision)


def test_a_reading_that_comes_twice_is_kept_once():
    assert merge_readings([[reading()], [reading()]], now=NOW) == [reading()]


def test_the_newest_revision_wins():
    old, new = reading(level=2.0, revision=1), reading(level=2.4, revision=2)
    assert merge_readings([[new], [old]], now=NOW) == [new]


def test_readings_come_in_order_of_time():
    batch = [reading(minutes=0), reading(minutes=12), reading(minutes=6)]
    merged = merge_readings([batch], now=NOW)
    assert [r.taken_at for r in merged] == sorted(r.taken_at for r in merged)


def test_a_late_reading_is_marked():
    late = reading(minutes=LATE.seconds // 60 + 1)
    assert merge_readings([[late]], now=NOW)[0].quality == "late"


def test_gaps_are_found_by_gauge():
    readings = [reading(minutes=30), reading(minutes=0)]
    assert gaps(readings, gauge="SKP", longest=timedelta(minutes=10))


def test_interpolation_is_linear():
    a, b = reading(minutes=12, level=2.0), reading(minutes=0, level=3.0)
    assert interpolate(a, b, NOW - timedelta(minutes=6)).level_m == 2.5
"""

NEW_TEST = """def test_two_gauges_that_answer_in_the_same_second_are_both_kept():
    here, there = reading(gauge="SKP", level=2.1), reading(gauge="HVN", level=1.7)
    assert merge_readings([[here], [there]], now=NOW) == [there, here]
"""


def numbered(text: str, first: int = 1) -> str:
    """A file as the agent's Read tool returns it."""
    return "\n".join(f"{number:>6}\t{row}" for number, row in enumerate(text.splitlines(), first))
