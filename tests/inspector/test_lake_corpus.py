"""A lake of real logs holds what their store holds."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import REPOSITORY
from tests.inspector.lakes import exported, queries, rows, stored, views
from tests.inspector.logs import usecases


@pytest.mark.corpus
def test_real_sessions_come_into_a_lake_whole(corpus: Path, tmp_path: Path) -> None:
    cases = usecases(tmp_path / "own.db", tmp_path)
    cases.ingest([corpus / "claude", corpus / "dsh"])
    report = exported(cases, tmp_path / "lake", masked=False)
    assert exported(cases, tmp_path / "lake", masked=False).files == 0
    assert rows(tmp_path / "lake", "events", "session, generation, seq") == stored(cases)
    assert report.decisions == len(cases.decisions().rows)
    asked = queries((REPOSITORY / "README.md").read_text())
    with views(tmp_path / "lake") as connection:
        spent = connection.execute(asked[0]).fetchall()
    usage = cases.usage("agent", zone="UTC")
    for agent, total in {row.key: row.total for row in usage.rows}.items():
        own = [row for row in spent if row[1] == agent]
        assert sum(row[2] for row in own) == total.requests
        assert sum(row[4] or 0 for row in own) == total.cache_read
        assert sum(row[5] or 0 for row in own) == total.output
    cases.close()
