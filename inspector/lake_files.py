"""Rows → the Parquet files of one commit of a lake, by *pyarrow*, which only who wants it installs.

Rows wait in memory until enough bytes of text came together, and few files are open at once, so
that neither the length of a session nor the number of its days matters.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from inspector.decision_parquet import MissingExtraError, fields
from inspector.lake_rows import DECISION_OWN, EVENTS, OPERATIONS, Columns, Row
from storage.lake_folder import LakeFolder

NO_DAY = "__HIVE_DEFAULT_PARTITION__"
"""Hive's name for the partition of rows without a value."""
ROWS = 200_000
"""Rows of one commit, from which on it is closed."""
_WAITING = 16 << 20
"""Bytes of text that wait for their row groups."""
_OPEN = 24
"""Files that are written at once."""


def columns() -> Mapping[str, list[tuple[str, Any]]]:
    """Table → name and Arrow type of each column; agent and day stand in the folders' names.

    Raises :class:`inspector.decision_parquet.MissingExtraError`.
    """
    try:
        points = [column for column in fields() if column[0] != "agent"]
    except ImportError as error:
        raise MissingExtraError(
            "A lake needs pyarrow, which is not installed: pip install 'ullage[parquet]' brings it."
        ) from error
    own = [column for column in _typed(DECISION_OWN) if column[0] not in dict(points)]
    return {
        "events": _typed(EVENTS),
        "operations": _typed(OPERATIONS),
        "decisions": [*own, *points],
    }


def _typed(found: Columns) -> list[tuple[str, Any]]:
    import pyarrow as pa  # noqa: PLC0415 - 50 MB that only this needs

    text = pa.string()
    call = pa.struct([("id", text), ("name", text)])
    block = pa.struct(
        [
            *(("kind", text), ("text", text), ("id", text), ("name", text), ("input", text)),
            ("is_error", pa.bool_()),
        ]
    )
    kinds = {
        "text": text,
        "whole": pa.int64(),
        "flag": pa.bool_(),
        "time": pa.timestamp("us", tz="UTC"),
        "texts": pa.list_(text),
        "calls": pa.list_(call),
        "blocks": pa.list_(block),
    }
    return [(name, kinds[kind]) for name, (kind, _) in found.items()]


class LakeFiles:
    """The files of the next commit, as drafts. The same rows in the same order give the same
    files, byte for byte."""

    def __init__(self, lake: LakeFolder) -> None:
        import pyarrow as pa  # noqa: PLC0415

        self._lake = lake
        self._schemas = {table: pa.schema(found) for table, found in columns().items()}
        self._waiting: OrderedDict[str, list[Row]] = OrderedDict()
        self._bytes = 0
        self._numbers: dict[str, int] = {}
        """Partition → how many files it has so far."""
        self._open: OrderedDict[str, tuple[str, Any]] = OrderedDict()
        """Partition → place of its newest file, and the writer."""
        self.rows: dict[str, int] = {}
        """Place of each file → its rows so far."""

    @property
    def count(self) -> int:
        """Rows so far."""
        return sum(self.rows.values()) + sum(map(len, self._waiting.values()))

    def add(self, table: str, agent: str, day: str | None, row: Row, weight: int) -> None:
        """Takes a row whose texts are about ``weight`` bytes."""
        partition = f"{table}/agent={quote(agent, safe='')}/day={day or NO_DAY}"
        self._waiting.setdefault(partition, []).append(row)
        self._bytes += weight + 1_000
        if self._bytes > _WAITING:
            self._write()

    def close(self) -> Mapping[str, int]:
        """Finishes all files: the place of each, and its rows."""
        self._write()
        while self._open:
            self._close_oldest()
        return self.rows

    def _write(self) -> None:
        import pyarrow as pa  # noqa: PLC0415

        for partition, rows in self._waiting.items():
            place, writer = self._writer(partition)
            schema = self._schemas[partition.partition("/")[0]]
            writer.write_table(pa.Table.from_pylist(rows, schema=schema))
            self.rows[place] += len(rows)
        self._waiting.clear()
        self._bytes = 0

    def _writer(self, partition: str) -> tuple[str, Any]:
        import pyarrow.parquet as pq  # noqa: PLC0415

        if partition not in self._open:
            if len(self._open) == _OPEN:
                self._close_oldest()
            number = self._numbers[partition] = self._numbers.get(partition, 0) + 1
            place = f"{partition}/part-{self._lake.commits + 1:08}-{number:04}.parquet"
            schema = self._schemas[partition.partition("/")[0]]
            writer = pq.ParquetWriter(self._lake.draft(place), schema, compression="zstd")
            self._open[partition] = place, writer
            self.rows[place] = 0
        self._open.move_to_end(partition)
        return self._open[partition]

    def _close_oldest(self) -> None:
        _, (_, writer) = self._open.popitem(last=False)
        writer.close()
