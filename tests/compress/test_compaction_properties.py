"""The invariants of compaction, over generated logs (design, section 7)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from compress.compaction.micro import preview_micro
from compress.compaction.preview import check_commit
from compress.compaction.service import preview_auto, preview_region
from compress.compaction.values import PressureInputs, Preview
from compress.errors import CompressError
from compress.events import NodeId
from compress.operations import OperationDraft
from compress.pairing import pairing
from compress.pins import pin_draft
from compress.plan import PlanState
from compress.undo import redo_draft, undo_draft
from tests.compress.logs import Log, attempt, logs

FULL = PressureInputs(used=1_000, window=1_000)


def pairs(state: PlanState) -> list[tuple[NodeId, NodeId]]:
    """(caller, answer) of every pair on a surface, by the nearest earlier call with the id."""
    waiting: dict[str, NodeId] = {}
    found = []
    for node in state.surface.nodes:
        for seq in state.surface.members[node]:
            for call in state.entries[seq].results:
                if call in waiting:
                    found.append((waiting.pop(call), node))
            for call, _ in state.entries[seq].calls:
                waiting[call] = node
    return found


def orphans(state: PlanState) -> int:
    problems = pairing(state.surface, state.entries).problems
    return sum(1 for problem in problems if problem.kind == "orphan_result")


def some_preview(draw: st.DataObject, log: Log) -> Preview | None:
    session = log.session(window=1_000)
    nodes = session.plan.surface.nodes
    way = draw.draw(st.sampled_from(["region", "auto", "micro"]))
    try:
        if way == "auto":
            return preview_auto(session, FULL)
        if way == "micro":
            return preview_micro(session, FULL)
        if not nodes:
            return None
        start, end = sorted(draw.draw(st.integers(0, len(nodes) - 1)) for _ in range(2))
        return preview_region(session, nodes[start], nodes[end])
    except CompressError:
        return None


def some_draft(draw: st.DataObject, log: Log) -> OperationDraft | None:
    state = log.plan()
    kind = draw.draw(st.sampled_from(["compact", "compact", "pin", "undo", "redo"]))
    if kind == "pin":
        known = list(state.surface.members)
        return pin_draft(state, draw.draw(st.sampled_from(known))) if known else None
    if kind == "undo":
        return undo_draft(state, cascade=draw.draw(st.booleans()))
    if kind == "redo":
        return redo_draft(state)
    preview = some_preview(draw, log)
    return None if preview is None else preview.draft


@settings(max_examples=30, deadline=None)
@given(logs(), st.data())
def test_no_operation_splits_a_pair_or_makes_an_orphan(log: Log, data: st.DataObject) -> None:
    for _ in range(4):
        before = log.plan()
        preview = some_preview(data, log)
        if preview is None:
            continue
        known = pairs(before)
        log.commit(preview.draft)
        after = log.plan()
        standing = set(after.surface.nodes)
        receipts = {
            op.meta["stands_for"] for op in after.events.values() if "stands_for" in op.meta
        }
        for caller, answer in known:
            if preview.kind == "compact":
                assert (caller in standing) == (answer in standing)
            else:
                assert caller in standing
                assert answer in standing or answer in receipts
        assert orphans(after) <= orphans(before)


@settings(max_examples=30, deadline=None)
@given(logs(), st.data())
def test_a_preview_says_exactly_what_the_commit_does(log: Log, data: st.DataObject) -> None:
    preview = some_preview(data, log)
    if preview is None:
        return
    assert check_commit(preview, log.session(window=1_000)) == preview
    log.commit(preview.draft)
    session = log.session(window=1_000)
    assert session.plan.states["o1"].state == "standing"
    assert [str(n).replace("o", "+") for n in session.plan.surface.nodes] == [
        str(n) for n in preview.surface
    ]
    assert sum(session.tokens(n) for n in session.plan.surface.nodes) == preview.tokens_after
    assert sum(fate.tokens_before for fate in preview.fates) == preview.tokens_before
    brought = preview.region_after if preview.kind == "compact" else 0
    assert sum(f.tokens_after for f in preview.fates) + brought == preview.tokens_after


@settings(max_examples=30, deadline=None)
@given(logs(), st.data())
def test_nothing_grows(log: Log, data: st.DataObject) -> None:
    preview = some_preview(data, log)
    if preview is not None:
        assert preview.tokens_after < preview.tokens_before
        assert preview.region_after < preview.region_before


@settings(max_examples=25, deadline=None)
@given(logs(), st.data())
def test_pins_survive_compactions_and_undo_byte_for_byte(log: Log, data: st.DataObject) -> None:
    standing = log.nodes()
    if not standing:
        return
    chosen = data.draw(st.lists(st.sampled_from(standing), min_size=1, max_size=3, unique=True))
    content = {}
    for node in chosen:
        content[node] = log.bytes_of(node)
        log.commit(pin_draft(log.plan(), node))

    def all_stand() -> None:
        now = log.nodes()
        assert set(chosen) <= set(now)
        assert len(set(now)) == len(now)
        assert {node: log.bytes_of(node) for node in chosen} == content

    for round_ in range(3):
        preview = some_preview(data, log)
        if preview is not None:
            log.commit(preview.draft)
        all_stand()
        log.user(f"round {round_} " * 30)
        fold = log.fold().nodes
        log.compact(fold[0], fold[-1])  # type: ignore[arg-type]
        all_stand()
    attempt(log, lambda: undo_draft(log.plan()))
    all_stand()


@settings(max_examples=30, deadline=None)
@given(logs(), st.data())
def test_undoing_all_gives_back_the_identical_surface(log: Log, data: st.DataObject) -> None:
    before = log.nodes()
    for _ in range(data.draw(st.integers(1, 5))):
        preview = some_preview(data, log)
        if preview is not None:
            log.commit(preview.draft)
    while attempt(log, lambda: undo_draft(log.plan())) is not None:
        pass
    assert log.nodes() == before


@settings(max_examples=25, deadline=None)
@given(logs(), st.data())
def test_an_undo_gives_back_what_stood_before_and_a_redo_what_stood_after(
    log: Log, data: st.DataObject
) -> None:
    for _ in range(4):
        before = log.nodes()
        preview = some_preview(data, log)
        if preview is None:
            continue
        log.commit(preview.draft)
        after = log.nodes()
        log.commit(undo_draft(log.plan()))
        assert log.nodes() == before
        log.commit(redo_draft(log.plan()))
        assert log.nodes() == after


@settings(max_examples=25, deadline=None)
@given(logs(), st.data())
def test_compacting_twice_is_compacting_once(log: Log, data: st.DataObject) -> None:
    preview = some_preview(data, log)
    if preview is None or preview.kind != "compact":
        return
    log.commit(preview.draft)
    session = log.session(window=1_000)
    again = attempt(log, lambda: preview_region(session, "o3", "o3").draft)
    assert again is None


@settings(max_examples=25, deadline=None)
@given(logs(), st.data())
def test_any_sequence_of_operations_leaves_a_surface_without_doubles(
    log: Log, data: st.DataObject
) -> None:
    for _ in range(8):
        attempt(log, lambda: some_draft(data, log))
        if data.draw(st.booleans()):
            log.user("more " * 20)
        if data.draw(st.integers(0, 4)) == 0:
            fold = log.fold().nodes
            if fold:
                log.compact(fold[0], fold[-1])  # type: ignore[arg-type]
        state = log.plan()
        assert len(set(state.surface.nodes)) == len(state.surface.nodes)
        assert all(state.surface.members[node] for node in state.surface.nodes)
        for op, standing in state.states.items():
            assert standing.state in ("standing", "undone", "superseded"), op


@settings(max_examples=25, deadline=None)
@given(logs(), st.data())
def test_superseded_by_the_agents_op_and_standing_again_when_that_is_rewound(
    log: Log, data: st.DataObject
) -> None:
    preview = some_preview(data, log)
    if preview is None:
        return
    log.commit(preview.draft)
    before, agent = log.nodes(), log.fold().nodes
    theirs = log.compact(agent[0], agent[-1])  # type: ignore[arg-type]
    standing = log.plan().states["o1"]
    assert (standing.state, standing.by) == ("superseded", theirs)
    log.rebase(agent)  # type: ignore[arg-type]
    assert log.plan().states["o1"].state == "standing"
    assert log.nodes() == before


SCRIPT = """
from compress.compaction.service import preview_region
from tests.compress.test_plan import talk
log = talk()
print(preview_region(log.session(), 1, 5))
"""


def test_the_same_bytes_under_any_hash_seed() -> None:
    outputs = set()
    for seed in ("0", "1", "4242"):
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT],
            capture_output=True,
            text=True,
            check=True,
            cwd=Path(__file__).parents[2],
            env={"PYTHONHASHSEED": seed, "PATH": ""},
        )
        outputs.add(done.stdout)
    assert len(outputs) == 1
    assert "Preview(" in outputs.pop()
