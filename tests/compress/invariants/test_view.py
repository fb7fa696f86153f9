"""The log is never written; compaction is a view. Compacting twice changes nothing the second time;
undo gives back the identical surface."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings

from compress.compaction.errors import ChangedError
from compress.compaction.micro import preview_micro
from compress.compaction.preview import check_commit
from compress.compaction.service import preview_auto, preview_region
from compress.compaction.values import PressureInputs, Preview
from compress.errors import CompressError
from compress.operations import OperationDraft
from compress.pins import pin_draft
from compress.undo import redo_draft, undo_draft
from tests.compress.histories import History, histories, sources
from tests.compress.invariants.acting import by_receipts, full, some_preview
from tests.compress.logs import attempt


@settings(max_examples=25, deadline=None)
@given(histories(), sources())
def test_the_log_is_never_written(history: History, random: Random) -> None:
    log = history.log
    log_before = [event.model_dump_json() for event in log.events]
    agent_before = log.fold().snapshot()
    for _ in range(4):
        rows = [row.event.model_dump_json() for row in log.rows]
        preview = some_preview(history, random)
        assert [row.event.model_dump_json() for row in log.rows] == rows
        if preview is not None:
            log.commit(preview.draft)
        attempt(log, lambda: random.choice([undo_draft, redo_draft])(log.plan()))
        assert [row.event.model_dump_json() for row in log.rows[: len(rows)]] == rows
    assert [event.model_dump_json() for event in log.events] == log_before
    agent = log.fold().snapshot()
    assert (agent.nodes, agent.shadowed) == (agent_before.nodes, agent_before.shadowed)


@settings(max_examples=30, deadline=None)
@given(histories(), sources())
def test_a_preview_says_exactly_what_its_commit_does(history: History, random: Random) -> None:
    preview = some_preview(history, random)
    if preview is None:
        return
    session, _ = full(history)
    assert check_commit(preview, session) == preview
    first = len(history.log.rows)
    operation = history.log.commit(preview.draft)
    state = history.log.plan()
    assert state.states[operation].state == "standing"
    named = {f"+{index}": row.event.seq for index, row in enumerate(history.log.rows[first:], 1)}
    assert state.surface.nodes == tuple(named.get(str(node), node) for node in preview.surface)
    after = history.log.session()
    assert sum(after.tokens(node) for node in state.surface.nodes) == preview.tokens_after
    assert sum(fate.tokens_before for fate in preview.fates) == preview.tokens_before


@settings(max_examples=25, deadline=None)
@given(histories(), sources())
def test_what_is_appended_behind_never_invalidates_a_preview(
    history: History, random: Random
) -> None:
    preview = some_preview(history, random)
    if preview is None:
        return
    session, _ = full(history)
    if session.measure().paired.open_from is not None:
        for call in ("late", "later"):
            history.log.result(call, "word " * 30)
    new = [history.log.user("one more " * 20)]
    now = check_commit(preview, full(history)[0])
    assert now.draft == preview.draft
    assert now.surface[-1:] == tuple(new)
    assert now.tokens_after - preview.tokens_after == now.tokens_before - preview.tokens_before
    assert "appended" in now.warnings[-1]


@settings(max_examples=25, deadline=None)
@given(histories(), sources())
def test_a_region_that_changed_is_not_committed(history: History, random: Random) -> None:
    preview = some_preview(history, random)
    if preview is None:
        return
    log, state = history.log, history.log.plan()
    gone = [fate.node for fate in preview.fates if fate.fate in ("shadowed", "receipt", "reduced")]
    victim = random.choice(gone)
    if random.random() < 0.5 or not isinstance(victim, int):
        if victim in state.held:
            return
        log.commit(pin_draft(state, victim))
    elif random.random() < 0.5:
        entry = state.entries[victim]
        log.add(entry.type, node=victim, role=entry.role, step=entry.step)
    else:
        log.rebase(node for node in log.fold().nodes if node != victim)  # type: ignore[misc]
    with pytest.raises(ChangedError):
        check_commit(preview, full(history)[0])


@settings(max_examples=30, deadline=None)
@given(histories(), sources())
def test_undo_gives_back_the_identical_surface_and_redo_what_stood_after(
    history: History, random: Random
) -> None:
    log = history.log
    for _ in range(4):
        before = log.plan().surface
        preview = some_preview(history, random)
        if preview is None:
            continue
        operation = log.commit(preview.draft)
        after = log.nodes()
        log.commit(undo_draft(log.plan(), operation))
        undone = log.plan().surface
        assert undone.nodes == before.nodes
        assert [undone.members[node] for node in undone.nodes] == [
            before.members[node] for node in before.nodes
        ]
        log.commit(redo_draft(log.plan(), operation))
        assert log.nodes() == after


@settings(max_examples=20, deadline=None)
@given(histories(), sources())
def test_undoing_all_gives_back_the_agents_own_surface(history: History, random: Random) -> None:
    log = history.log
    for _ in range(3):
        preview = some_preview(history, random)
        if preview is not None:
            log.commit(preview.draft)
    while attempt(log, lambda: undo_draft(log.plan())) is not None:
        pass
    assert log.nodes() == tuple(log.fold().nodes)


@settings(max_examples=30, deadline=None)
@given(histories(), sources())
def test_compacting_twice_changes_nothing_the_second_time(history: History, random: Random) -> None:
    log = history.log
    session, pressure = full(history)
    way = random.choice(["region", "auto"])

    def compact() -> Preview | None:
        return preview_auto(log.session(window=session.window), pressure)

    if way == "auto":
        if attempt(log, lambda: _draft(compact())) is None:
            return
        again = attempt(log, lambda: _draft(compact()))
        assert again is None
        return
    preview = some_preview(history, random)
    if preview is None or preview.kind != "compact":
        return
    log.commit(preview.draft)
    own = next(row.event.seq for row in reversed(log.rows) if row.event.op is not None)
    kept = [fate.node for fate in preview.fates if fate.fate == "pinned"]
    with pytest.raises(CompressError):
        preview_region(log.session(), own, [own, *kept][-1])


@settings(max_examples=25, deadline=None)
@given(histories(), sources())
def test_clearing_twice_changes_nothing_the_second_time(history: History, random: Random) -> None:
    """The second time the pressure is what the first one left."""
    try:
        preview = by_receipts(history, random)
    except CompressError:
        return
    if preview is None:
        return
    window = history.total
    history.log.commit(preview.draft)
    session = history.log.session(window=window)
    assert preview_micro(session, PressureInputs(history.total, window)) is None


def _draft(preview: Preview | None) -> OperationDraft | None:
    return None if preview is None else preview.draft
