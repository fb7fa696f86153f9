"""The invariants of compaction on every real session, at ten moments of each: no split pair, no
lost pin, no growth, compacting twice as once, undo identical, the same bytes in any process."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from compress.compaction.preview import check_commit
from compress.compaction.values import Preview
from compress.errors import CompressError
from compress.operations import OperationRow
from compress.undo import undo_draft
from tests.compress.invariants.acting import orphans, pairs, receipts
from tests.compress.invariants.cuts import WAYS, Cut, attempt, cuts, sessions, told

pytestmark = [pytest.mark.corpus, pytest.mark.slow]


def holds(cut: Cut, way: str, preview: Preview) -> None:
    """Commit a preview, look at all that must hold, and take it back."""
    log = cut.log
    before = log.plan()
    known, alone, row_count = pairs(before), orphans(before), len(log.rows)
    assert check_commit(preview, cut.session()) == preview
    assert preview.tokens_after < preview.tokens_before
    assert preview.region_after < preview.region_before
    operation = log.commit(preview.draft)
    after = log.plan()
    assert after.states[operation].state == "standing"
    standing, cleared = set(after.surface.nodes), receipts(after)
    session = log.session()
    assert sum(session.tokens(node) for node in after.surface.nodes) == preview.tokens_after
    for caller, answer in known:
        stays = answer in standing or cleared.get(answer) in standing
        assert (caller in standing) == stays, (caller, answer)
    assert orphans(after) <= alone | {cleared[node] for node in alone & cleared.keys()}
    assert before.held <= standing
    assert all(after.surface.members[n] == before.surface.members[n] for n in before.held)
    assert not twice(cut, way, preview)
    log.commit(undo_draft(log.plan(), operation))
    undone = log.plan().surface
    assert undone.nodes == before.surface.nodes
    assert all(undone.members[n] == before.surface.members[n] for n in undone.nodes)
    del log.rows[row_count:]


def twice(cut: Cut, way: str, preview: Preview) -> bool:
    """Whether the same again would change anything."""
    left = cut.window if way != "micro" else preview.tokens_after
    checkpoint: list[OperationRow] = [row for row in cut.log.rows if row.event.op is not None]
    again = cut
    if way == "region":
        own = checkpoint[-1].event.seq
        again = replace(cut, ends=(own, own))
    try:
        return again.preview(way, left) is not None
    except CompressError:
        return False


def test_every_real_session_holds_the_invariants_at_ten_cuts_in_every_process(
    corpus: Path,
) -> None:
    other = subprocess.Popen(
        [sys.executable, "-m", "tests.compress.invariants.cuts", str(corpus)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[1],
        env={"PYTHONHASHSEED": "4242", "PATH": ""},
    )
    here: list[str] = []
    made: Counter[str] = Counter()
    names = set()
    for name, events in sessions(corpus):
        names.add(name)
        for cut in cuts(name, events):
            for way in WAYS:
                preview = attempt(cut, way)
                here.append(f"{cut.name} {way} {told(preview)}")
                if isinstance(preview, Preview):
                    made[way] += 1
                    holds(cut, way, preview)
    there, _ = other.communicate()
    assert other.returncode == 0
    assert there.splitlines() == here
    assert len(names) >= 30
    assert all(made[way] >= 100 for way in WAYS), made
