"""What is summed over a surface: kept and extended, it equals what is computed whole."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from compress.compaction.facts import FactsCache
from compress.compaction.preview import check_commit
from compress.compaction.service import preview_region
from compress.compaction.values import Preview
from compress.errors import CompressError
from compress.events import ContentBlock
from compress.measured import CHECKPOINT, RESULT, USER, Measured, Measuring, measure
from compress.operations import OperationDraft
from compress.pairing import pairing
from compress.pins import pin_draft
from compress.plan import plan
from compress.surface import SurfaceFold
from compress.undo import redo_draft, undo_draft
from tests.compress.logs import Log, attempt, logs


def values(measured: Measured) -> dict[str, object]:
    """Everything that a consumer can ask of them."""
    paired = measured.paired
    return {
        **{name: list(found) for name, found in vars(measured.arrays).items()},
        "nodes": measured.nodes,
        "balance": list(paired.balance),
        "problems": paired.problems,
        "unanswered": paired.unanswered,
        "unasked": paired.unasked,
        "open": paired.open_from,
    }


def a_step() -> Log:
    log = Log()
    log.user("look")
    log.assistant("I look.", "a", "b")
    log.result("a", "one")
    log.result("b", "two")
    log.assistant("done")
    return log


def test_a_figure_of_a_region_is_a_difference_of_sums() -> None:
    log = a_step()
    measured = measure(log.plan())
    entries = log.entries
    assert list(measured.tokens) == [entries[seq].tokens for seq in (1, 2, 3, 4, 5)]
    assert measured.weight(1, 4) == sum(entries[seq].tokens for seq in (2, 3, 4))
    assert measured.total == sum(entry.tokens for entry in entries.values())
    assert list(measured.units) == [0, 1, 4]
    assert list(measured.unit_tokens) == [
        measured.weight(0, 1),
        measured.weight(1, 4),
        measured.weight(4, 5),
    ]
    assert measured.kinds[0] == USER
    assert measured.kinds[2] == RESULT


def test_a_checkpoint_is_found_at_its_place_and_marked() -> None:
    log = a_step()
    preview = preview_region(_long(log).session(), 1, 5)
    name = log.commit(preview.draft)
    measured = measure(log.plan())
    node = measured.nodes[0]
    assert str(node).startswith("o"), name
    assert measured.place(node) == 0
    assert measured.kinds[0] & CHECKPOINT
    assert measured.place(1) is None


@settings(max_examples=30, deadline=None)
@given(order=st.permutations(range(1, 61)), left=st.integers(0, 60))
def test_a_node_is_found_wherever_it_stands(order: list[int], left: int) -> None:
    log = Log()
    for number in range(1, 61):
        log.user("word " * (number % 7))
    log.rebase(order[left:])
    measured = measure(log.plan())
    assert [measured.place(node) for node in order[left:]] == list(range(60 - left))
    assert [measured.place(node) for node in (*order[:left], "o1", 99)] == [None] * (left + 2)
    assert measured.heaviest == max(measured.unit_tokens, default=0)


def test_an_undo_brings_the_measures_back_and_growth_goes_on_from_them() -> None:
    log, measuring = _long(a_step()), Measuring()
    measuring.of(log.plan())
    log.commit(preview_region(log.session(), 1, 5).draft)
    measuring.of(log.plan())
    log.assistant("more", "c")
    log.commit(undo_draft(log.plan()))
    assert values(measuring.of(log.plan())) == values(measure(log.plan()))
    log.result("c", "three")
    assert values(measuring.of(log.plan())) == values(measure(log.plan()))
    log.commit(redo_draft(log.plan()))
    assert values(measuring.of(log.plan())) == values(measure(log.plan()))
    assert measuring.rebuilds == 2


def test_growth_extends_and_a_replace_measures_anew() -> None:
    log, measuring = a_step(), Measuring()
    measuring.of(log.plan())
    log.assistant("more", "c")
    log.result("c", "three")
    log.fact("turn/end")
    measuring.of(log.plan())
    assert measuring.rebuilds == 1
    log.rebase([1, 2, 3, 4])
    measuring.of(log.plan())
    assert measuring.rebuilds == 2


@settings(max_examples=150, deadline=None)
@given(log=logs(), draw=st.data())
def test_kept_measures_equal_those_computed_whole(log: Log, draw: st.DataObject) -> None:
    fold, measuring, taken = SurfaceFold("resume"), Measuring(), 0
    cache = FactsCache()
    for _ in range(draw.draw(st.integers(1, 6))):
        move = draw.draw(st.sampled_from(["grow", "grow", "late", "operate"]))
        if move == "late":
            late(draw, log)
        elif move == "operate" and taken == len(log.events):
            attempt(log, lambda: some_draft(draw, log))
        upto = draw.draw(st.integers(taken, len(log.events)))
        for event in log.events[taken:upto]:
            fold.apply_leniently(event)
        taken = max(taken, upto)
        rows = [row for row in log.rows if row.after <= taken]
        state = plan(fold.snapshot(), log.entries, rows)
        whole = plan(log.fold(taken).snapshot(), log.entries, rows)
        assert state.surface.nodes == whole.surface.nodes
        assert dict(state.surface.members) == dict(whole.surface.members)
        measured = measuring.of(state)
        assert values(measured) == values(measure(whole))
        fresh = pairing(whole.surface, whole.entries)
        assert list(measured.units) == [c for c in range(len(measured)) if fresh.is_edge(c)]
        if taken == len(log.events) and measured.nodes:
            the_same_preview(draw, log, measured, cache)


def the_same_preview(draw: st.DataObject, log: Log, measured: Measured, cache: FactsCache) -> None:
    """Kept measures and facts change no byte of a preview."""
    first, last = sorted(draw.draw(st.integers(0, len(measured) - 1)) for _ in range(2))
    ends = measured.nodes[first], measured.nodes[last]
    answers = []
    for kept in ({"measured": measured, "cache": cache}, {}):
        try:
            answers.append(preview_region(log.session(window=1_000, **kept), *ends))
        except CompressError as refusal:
            answers.append(str(refusal))
    assert answers[0] == answers[1]


@settings(max_examples=150, deadline=None)
@given(log=logs(), draw=st.data())
def test_what_is_appended_never_invalidates_a_preview_whose_region_stands(
    log: Log, draw: st.DataObject
) -> None:
    preview = some_region(draw, log)
    if preview is None:
        return
    before = log.plan()
    for _ in range(draw.draw(st.integers(1, 3))):
        grow(draw, log)
    now = log.session(window=1_000)
    start, stop = (now.plan.surface.nodes.index(n) for n in _ends(preview))
    region = now.plan.surface.nodes[start : stop + 1]
    same = all(now.plan.surface.members[n] == before.surface.members[n] for n in region)
    paired = pairing(now.plan.surface, now.plan.entries)
    if same and paired.legal(start) and paired.legal(stop + 1):
        checked = check_commit(preview, now)
        entries = now.plan.entries
        weight = sum(
            entries[seq].tokens
            for node in now.plan.surface.nodes
            for seq in now.plan.surface.members[node]
        )
        assert checked.tokens_before == weight
        assert [fate.node for fate in checked.fates] == list(now.plan.surface.nodes)
        log.commit(checked.draft)
        assert len(log.nodes()) == len(checked.surface)
        assert [node for node in checked.surface if node != "+3"] == [
            node
            for node in log.nodes()
            if node not in log.plan().operations[log.rows[-1].operation].own
        ]
    else:
        assert attempt(log, lambda: check_commit(preview, now).draft) is None


def test_fates_are_runs_and_still_a_sequence() -> None:
    log = _long(a_step())
    session = log.session()
    preview = preview_region(session, 1, 5)
    fates = preview.fates
    assert [(run.start, run.stop, run.fate) for run in fates.runs] == [
        (0, 5, "shadowed"),
        (5, len(fates), "kept"),
    ]
    assert len(fates) == len(session.plan.surface.nodes)
    assert [fate.node for fate in fates] == list(session.plan.surface.nodes)
    assert fates[-1].fate == "kept"
    assert fates[1:3] == (fates[1], fates[2])
    assert fates.shadowed == 5
    assert {fates[1].rule, fates[2].rule} == {
        "calls, closing words, names",
        "outcome, errors, names",
    }


def _ends(preview: Preview) -> tuple[object, object]:
    return preview.region.start, preview.region.end


def _long(log: Log) -> Log:
    """With texts that are worth a summary, behind and in front."""
    log.events[0] = log.events[0].model_copy(
        update={"blocks": (ContentBlock(kind="text", text="look at it " * 400),)}
    )
    log.user("and now?")
    log.assistant("nothing")
    return log


def late(draw: st.DataObject, log: Log) -> None:
    """A further block of a message that others stand behind already."""
    messages = [e for e in log.events if e.type == "assistant/message" and e.node == e.seq]
    if not messages:
        return
    message = draw.draw(st.sampled_from(messages))
    call = draw.draw(st.sampled_from(["again", "", "c0", f"late{len(log.events)}"]))
    block = ContentBlock(kind="tool_call", id=call, name="Bash", input={"command": call})
    log.add("assistant/message", [block], node=message.seq, role="assistant", step=message.step)
    if draw.draw(st.booleans()):
        log.result(call, "late answer")


def grow(draw: st.DataObject, log: Log) -> None:
    """What an agent appends while a preview is open."""
    kind = draw.draw(st.sampled_from(["user", "step", "answer", "late"]))
    if kind == "user":
        log.user("and more")
    elif kind == "step":
        log.assistant("I go on.", f"grown{len(log.events)}")
        log.result(f"grown{len(log.events) - 1}", "grown")
    elif kind == "answer":
        log.result(draw.draw(st.sampled_from(["again", "c0", "c1", ""])), "an answer")
    else:
        late(draw, log)


def some_region(draw: st.DataObject, log: Log) -> Preview | None:
    session = log.session(window=1_000)
    nodes = session.plan.surface.nodes
    if not nodes:
        return None
    first, last = sorted(draw.draw(st.integers(0, len(nodes) - 1)) for _ in range(2))
    try:
        return preview_region(session, nodes[first], nodes[last])
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
    preview = some_region(draw, log)
    return None if preview is None else preview.draft
