"""What a person can do, end to end over a store: the promises that must hold together."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from compress.compaction.errors import ChangedError
from compress.compaction.policy import PolicyError
from compress.errors import CompressError, UnbalancedBoundaryError
from compress.events import NodeId
from inspector.compactions import NothingToDoError
from inspector.usecases import UseCases
from storage.errors import UnknownEventError
from tests.inspector.logs import NAME, Log, rows, usecases


@pytest.fixture
def log(tmp_path: Path) -> Log:
    made = Log(tmp_path)
    made.user("Fix the parser. Never touch the lexer.")
    for number in range(12):
        made.step(number)
    made.user("PIN-ME: the port is 40817.")
    for number in range(12, 20):
        made.step(number)
    made.assistant({"type": "text", "text": "Done so far."})
    return made


@pytest.fixture
def cases(log: Log, tmp_path: Path) -> Iterator[UseCases]:
    opened = usecases(tmp_path / "store.db", tmp_path)
    opened.ingest([log.path])
    yield opened
    opened.close()


def node(cases: UseCases, words: str) -> NodeId:
    return next(row.seq for row in rows(cases) if words in row.headline)


def content(cases: UseCases, seq: NodeId) -> list[str]:
    return [block.text for block in cases.detail(NAME, seq, track="plan").blocks]


def surface(cases: UseCases) -> list[NodeId]:
    return [row.seq for row in rows(cases)]


def compact(cases: UseCases, first: str, last: str) -> NodeId:
    made = cases.preview(NAME, start=node(cases, first), end=_unit_end(cases, last))
    operation = cases.commit(made).operation
    assert operation is not None
    return operation


def _unit_end(cases: UseCases, words: str) -> NodeId:
    """The result behind the message that says so, or the message itself."""
    found = list(rows(cases))
    place = next(i for i, row in enumerate(found) if words in row.headline)
    unit = found[place].unit
    return [row.seq for row in found if row.unit == unit][-1]


def test_a_boundary_that_splits_a_call_from_its_result_is_refused_with_the_nearest_ones(
    cases: UseCases,
) -> None:
    found = list(rows(cases))
    message = next(i for i, row in enumerate(found) if "file 5" in row.headline)
    with pytest.raises(UnbalancedBoundaryError) as refusal:
        cases.preview(NAME, start=found[0].seq, end=found[message].seq)
    before, after = found[message - 1].seq, found[message + 1].seq
    assert set(refusal.value.choices) == {before, after}
    cases.preview(NAME, start=found[0].seq, end=after)


def test_a_pin_survives_three_compactions_an_undo_a_restart_and_a_second_ingest(
    cases: UseCases, log: Log, tmp_path: Path
) -> None:
    pinned = node(cases, "PIN-ME")
    cases.pin(NAME, [pinned])
    before = content(cases, pinned)
    compact(cases, "Fix the parser", "file 5")
    compact(cases, "file 6", "file 11")
    last = compact(cases, "PIN-ME", "file 15")
    assert pinned in surface(cases)
    assert content(cases, pinned) == before
    cases.undo(NAME, last)
    assert content(cases, pinned) == before
    cases.close()

    again = usecases(tmp_path / "store.db", tmp_path)
    # The log is rewritten by its agent: same records, another inode.
    log.path.with_suffix(".tmp").write_bytes(log.path.read_bytes())
    log.path.with_suffix(".tmp").replace(log.path)
    again.ingest([log.path])
    assert pinned in surface(again)
    assert next(row for row in rows(again) if row.seq == pinned).pinned
    assert content(again, pinned) == before
    again.close()


def test_a_node_that_is_named_twice_is_pinned_and_unpinned_once(cases: UseCases) -> None:
    asked, other = node(cases, "PIN-ME"), node(cases, "Fix the parser")
    assert cases.pin(NAME, [asked, other, asked]).targets == (asked, other)
    assert cases.unpin(NAME, [asked, asked, other]).targets == (asked, other)
    assert [row.kind for row in cases.audit(NAME)] == ["pin", "pin", "unpin", "unpin"]


def test_a_pin_in_a_step_keeps_the_whole_step(cases: UseCases) -> None:
    result = next(row for row in rows(cases) if row.type == "tool/result" and row.unit == 4)
    cases.pin(NAME, [result.seq])
    compact(cases, "Fix the parser", "file 9")
    kept = surface(cases)
    unit = [row.seq for row in rows(cases) if row.seq == result.seq or "file 3." in row.headline]
    assert len(unit) == 2
    assert set(unit) <= set(kept)


def test_when_the_agent_compacts_the_pin_comes_back_and_the_operation_is_superseded(
    cases: UseCases, log: Log
) -> None:
    pinned = node(cases, "PIN-ME")
    text = content(cases, pinned)
    cases.pin(NAME, [pinned])
    operation = compact(cases, "Fix the parser", "file 5")
    log.compact("This session is being continued from a previous conversation.")
    log.user("Go on.")
    cases.ingest([log.path])
    audit = {row.operation: row for row in cases.audit(NAME)}
    summary = next(row.seq for row in rows(cases) if row.checkpoint is not None)
    assert audit[operation].state == "superseded"
    assert audit[operation].superseded_by == summary
    assert surface(cases)[:2] == [summary, pinned], "directly after the head checkpoint"
    assert content(cases, pinned) == text
    restored = next(row for row in rows(cases) if row.seq == pinned)
    assert restored.restored
    assert pinned not in [row.seq for row in rows(cases, track="agent")]


def test_a_preview_may_be_committed_while_the_session_grows(cases: UseCases, log: Log) -> None:
    preview = cases.preview(NAME, start=surface(cases)[0], end=_unit_end(cases, "file 5"))
    log.step(99)
    cases.ingest([log.path])
    report = cases.commit(preview)
    assert report.operation is not None
    assert any(row.seq == surface(cases)[-1] and "file 99" in _text(cases) for row in rows(cases))


def _text(cases: UseCases) -> str:
    return "\n".join(row.headline for row in rows(cases))


def test_a_preview_whose_region_got_a_pin_must_be_made_again(cases: UseCases) -> None:
    preview = cases.preview(NAME, start=surface(cases)[0], end=_unit_end(cases, "file 15"))
    cases.pin(NAME, [node(cases, "PIN-ME")])
    with pytest.raises(ChangedError):
        cases.commit(preview)


def test_a_preview_writes_nothing_and_the_log_is_never_touched(cases: UseCases, log: Log) -> None:
    raw, version = log.path.read_bytes(), cases.data_version()
    cases.preview(NAME, start=surface(cases)[0], end=_unit_end(cases, "file 5"))
    assert cases.data_version() == version
    compact(cases, "Fix the parser", "file 5")
    assert log.path.read_bytes() == raw


def test_the_agent_track_never_shows_the_users_operations(cases: UseCases) -> None:
    before = [row.seq for row in rows(cases, track="agent")]
    compact(cases, "Fix the parser", "file 5")
    assert [row.seq for row in rows(cases, track="agent")] == before


def test_the_past_can_be_asked_for_in_both_tracks(cases: UseCases) -> None:
    whole = surface(cases)
    newest = cases.events(NAME)
    operation = compact(cases, "Fix the parser", "file 5")
    half = cases.view(NAME, track="plan", at=newest // 2)
    assert all(int(row.seq) <= newest // 2 for row in half.rows(0, len(half)))
    assert str(operation) == "o1"
    then = cases.view(NAME, track="plan", at=operation)
    assert [row.seq for row in then.rows(0, len(then))] == surface(cases)
    before = cases.view(NAME, track="plan", at=newest)
    assert [row.seq for row in before.rows(0, len(before))] == surface(cases)
    cases.undo(NAME)
    assert surface(cases) == whole


@settings(
    max_examples=12,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(acts=st.lists(st.tuples(st.sampled_from("cmpux"), st.integers(0, 30)), max_size=8))
def test_undoing_everything_gives_back_the_identical_surface(
    tmp_path: Path, acts: list[tuple[str, int]]
) -> None:
    folder = Path(str(tmp_path)) / str(abs(hash(tuple(acts))))
    folder.mkdir(exist_ok=True)
    log = Log(folder)
    if not log.path.exists():
        log.user("Start.")
        for number in range(10):
            log.step(number, size=60)
    cases = usecases(":memory:", folder)
    cases.ingest([log.path])
    whole = cases.messages(NAME, track="plan").messages
    for act, place in acts:
        try:
            _do(cases, act, place)
        except CompressError:
            continue
    standing = [r for r in cases.audit(NAME) if r.origin == "user" and r.state == "standing"]
    for row in reversed(standing):
        if row.kind in ("compact", "micro"):
            cases.undo(NAME, row.operation, cascade=True)
    assert cases.messages(NAME, track="plan").messages == whole
    cases.close()


def _do(cases: UseCases, act: str, place: int) -> None:
    found = surface(cases)
    seq = found[place % len(found)]
    if act == "p":
        cases.pin(NAME, [seq])
    elif act == "u":
        cases.undo(NAME)
    elif act == "x":
        cases.redo(NAME)
    else:
        other = found[(place * 7 + 11) % len(found)]
        start, end = sorted((seq, other), key=found.index)
        cases.commit(cases.preview(NAME, start=start, end=end))


def test_settings_name_the_tail_in_tokens_and_the_tools_whose_results_stay(
    log: Log, tmp_path: Path
) -> None:
    log.assistant({"type": "text", "text": "Read."}, tokens=90_000)

    def cleared(**settings: Any) -> int:
        with closing(usecases(":memory:", tmp_path, window=100_000, **settings)) as opened:
            opened.ingest([log.path])
            made = opened.preview(NAME, mode="micro")
            return sum(fate.fate == "receipt" for fate in made.report.nodes)

    assert cleared() > 0
    with pytest.raises(NothingToDoError):
        cleared(unclearable_tools=("Read",))
    table = {"*": 100_000}
    with closing(usecases(":memory:", tmp_path, window=table, retain_tokens=80_000)) as opened:
        opened.ingest([log.path])
        with pytest.raises(PolicyError, match=r"80,000.*80,000"):
            opened.preview(NAME, mode="auto")


@pytest.mark.parametrize(("auto", "kinds"), [("off", []), ("micro", ["micro"])])
def test_a_policy_acts_alone_only_where_the_setting_allows_it(
    tmp_path: Path, auto: str, kinds: list[str]
) -> None:
    log = Log(tmp_path)
    log.user("Read everything.")
    for number in range(30):
        log.step(number, size=900)
    log.assistant({"type": "text", "text": "Read."}, tokens=90_000)
    cases = usecases(tmp_path / "store.db", tmp_path, auto=auto, window="100000")
    stop = threading.Event()
    cases.watch([log.path], stop, notify=stop.set)
    rows_ = cases.audit(NAME)
    assert [(row.kind, row.origin) for row in rows_] == [(kind, "policy") for kind in kinds]
    cases.close()


def test_a_pin_is_told_once(cases: UseCases) -> None:
    cases.pin(NAME, [node(cases, "PIN-ME")])
    detail = cases.detail(NAME, node(cases, "PIN-ME"), track="plan")
    assert detail.node.pinned
    assert detail.operations == ()


def test_the_audit_of_all_sessions_is_in_the_order_of_time(cases: UseCases, tmp_path: Path) -> None:
    other = Log(tmp_path, "another")
    other.user("Also this.")
    cases.ingest([other.path])
    for session in (NAME, "another", NAME):
        free = [row.seq for row in rows(cases, session) if not row.pinned]
        cases.pin(session, free[:1])
    assert [row.session for row in cases.audit()] == [NAME, "another", NAME]


def test_a_node_to_keep_must_exist(cases: UseCases) -> None:
    with pytest.raises(CompressError, match="99999"):
        cases.preview(NAME, start=1, end=5, pins=[99_999])


def test_the_preview_and_the_gauge_have_one_denominator(cases: UseCases) -> None:
    before = cases.pressure(NAME, track="plan")
    made = cases.preview(NAME, start=surface(cases)[0], end=_unit_end(cases, "file 9"))
    assert made.report.tokens_before == before.used
    assert before.window is not None
    assert made.report.pressure_before == pytest.approx(before.used / before.window)
    assert made.report.floor <= made.report.tokens_after
    cases.commit(made)
    after = cases.pressure(NAME, track="plan")
    assert after.used_source == "estimated"
    assert after.used == made.report.tokens_after


@pytest.mark.corpus
def test_what_a_resume_would_send_again_is_estimated_not_the_providers_figure(
    corpus: Path, tmp_path: Path
) -> None:
    cases = usecases(":memory:", tmp_path)
    session = cases.find(str(corpus / "claude" / "entire-2.1.12-microcompact.jsonl"))
    running, resumed = cases.pressure(session), cases.pressure(session, live=False)
    assert (running.used_source, resumed.used_source) == ("provider", "estimated")
    cleared = cases.view(session).tokens - cases.view(session, live=True).tokens
    assert cleared > 20_000
    assert cleared < resumed.used - running.used < 1.4 * cleared, "calibrated, so a little more"
    assert resumed.overhead == pytest.approx(running.overhead, abs=2)
    cases.close()


def test_a_narrowed_list_shows_only_what_was_asked_for(cases: UseCases, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    made = Log(other, "bbbbbbbb-bbbb-cccc-dddd-eeeeeeeeeeee")
    made.user("Another.")
    cases.ingest([made.path])
    assert len(cases.sessions()) == 2
    cases.narrow([other])
    assert [row.title for row in cases.sessions()] == ["Another."]
    cases.narrow([])
    assert len(cases.sessions()) == 2


def test_the_window_of_the_settings_counts(log: Log, tmp_path: Path) -> None:
    cases = usecases(":memory:", tmp_path, window="50000")
    cases.ingest([log.path])
    report = cases.pressure(NAME)
    assert (report.window, report.window_source) == (50_000, "user")
    assert report.used == sum(report.composition.model_dump().values())
    cases.close()


def test_an_unknown_model_has_no_window_no_pressure_and_no_threshold(tmp_path: Path) -> None:
    log = Log(tmp_path)
    log.user("hello")
    data = log.path.read_text()
    reply = json.loads(data) | {"type": "assistant", "uuid": "u9", "parentUuid": "u1"}
    reply["message"] = {
        "role": "assistant",
        "id": "m",
        "model": "mystery-model-9",
        "content": [{"type": "text", "text": "hi"}],
        "usage": {"input_tokens": 5000, "output_tokens": 1},
    }
    log.path.write_text(data + json.dumps(reply) + "\n")
    cases = usecases(":memory:", tmp_path)
    cases.ingest([log.path])
    report = cases.pressure(NAME)
    assert (report.window, report.window_source) == (None, "unknown")
    assert report.thresholds.compact is None
    assert cases.sessions()[0].pressure is None
    with pytest.raises(CompressError, match="unknown"):
        cases.preview(NAME, mode="auto")
    cases.close()


def test_a_moment_that_has_not_come_is_refused(cases: UseCases) -> None:
    newest = cases.events(NAME)
    assert cases.surface(NAME, at=newest).at_seq == newest
    with pytest.raises(UnknownEventError, match=f"its newest is {newest}"):
        cases.surface(NAME, at=newest + 1)


def test_a_session_that_its_agent_never_compacted_says_so(cases: UseCases) -> None:
    with pytest.raises(CompressError, match="never compacted this session itself"):
        cases.preview(NAME, before_compaction=1)


def test_damage_is_told_of_the_files_that_were_read(cases: UseCases, tmp_path: Path) -> None:
    for name in ("one", "other"):
        log = Log(tmp_path, name)
        log.user("Hello.")
        with log.path.open("a", encoding="utf-8") as file:
            file.write('{"type": "user"\n')
        damaged = cases.ingest([log.path]).damaged
        assert [(line.file, line.line) for line in damaged] == [(str(log.path.resolve()), 2)]
