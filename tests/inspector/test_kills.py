"""kill -9 amid operations: the store is whole, and each operation is there or is not."""

from __future__ import annotations

import random
from pathlib import Path

from tests.inspector.killing import killed, prepared, strand
from tests.inspector.kilns import packed
from tests.inspector.logs import NAME, usecases


def test_s03_killed_amid_operations_none_is_lost_or_half_there(tmp_path: Path) -> None:
    db = prepared(tmp_path)
    before = strand(db, tmp_path)
    chance = random.Random(20261130)
    kills = 0
    while kills < 10:
        kills += killed(db, tmp_path, chance)
        after = strand(db, tmp_path)
        assert after[: len(before)] == before
        before = after
    cases = usecases(db, tmp_path)
    report = cases.commit_pack(cases.pack(NAME, "kiln"), NAME)
    assert packed(report)
    assert report.operation is not None, "what a kill left behind is in nobody's way"
    cases.close()
