"""Lakes as DuckDB and the file system see them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb

from inspector.lake import export_lake
from inspector.lake_reports import LakeReport
from inspector.usecases import UseCases

NOW = 1_777_300_000.0


def exported(cases: UseCases, folder: Path, **options: Any) -> LakeReport:
    """One export of all that the store of these use-cases holds."""
    return export_lake(cases._store, folder, cases.settings, now=NOW, **options)


def files(folder: Path) -> dict[str, bytes]:
    """Every file of a folder, with its bytes."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def rows(folder: Path, table: str, columns: str = "*") -> list[tuple[Any, ...]]:
    """All rows of a table, in no order that matters."""
    query = f"SELECT {columns} FROM read_parquet('{folder}/{table}/*/*/*.parquet')"
    return sorted(duckdb.sql(query).fetchall(), key=repr)


def queries(page: str) -> list[str]:
    """The SQL that a page of Markdown shows."""
    return re.findall(r"```sql\n(.*?)```", page, re.DOTALL)


@contextmanager
def views(folder: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection with the views that the lake's own page shows, over this lake."""
    with duckdb.connect() as connection:
        for query in queries((folder / "README.md").read_text()):
            connection.execute(query.replace("'lake/", f"'{folder}/"))
        yield connection


def stored(cases: UseCases) -> list[tuple[Any, ...]]:
    """(session, generation, seq) of every event that stands in its file and is no copy."""
    with cases._store.connections.read() as connection:
        found = connection.execute(
            "SELECT s.name, e.generation, e.id & 4294967295 FROM events e "
            "JOIN sessions s ON s.id = e.id >> 32 JOIN sources f ON f.id = s.source_id "
            "WHERE e.generation = f.generation AND NOT e.copied"
        ).fetchall()
    return sorted(found, key=repr)
