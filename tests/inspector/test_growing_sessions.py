"""A preview that stays open while the agent goes on writing its log."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from threading import Thread

import pytest

from compress.compaction.errors import ChangedError
from compress.events import NodeId
from compress.pins import PinError
from inspector.compactions import CancelledError, PreviewHandle
from inspector.reports import CompactionReport, NodeFate, fate_runs
from inspector.usecases import UseCases
from tests.inspector.logs import NAME, Log, rows, usecases


@pytest.fixture
def log(tmp_path: Path) -> Log:
    made = Log(tmp_path)
    made.user("Fix the parser. Never touch the lexer.")
    for number in range(12):
        made.step(number)
    return made


@pytest.fixture
def cases(log: Log, tmp_path: Path) -> Iterator[UseCases]:
    opened = usecases(tmp_path / "store.db", tmp_path)
    opened.ingest([log.path])
    yield opened
    opened.close()


def surface(cases: UseCases) -> list[NodeId]:
    return [row.seq for row in rows(cases)]


def of_the_first(cases: UseCases, count: int, **wanted: object) -> PreviewHandle:
    """The preview of so many nodes from the head on."""
    nodes = surface(cases)
    return cases.preview(NAME, start=nodes[0], end=nodes[count - 1], **wanted)  # type: ignore[arg-type]


def test_what_came_behind_a_preview_is_counted_and_said(cases: UseCases, log: Log) -> None:
    made = of_the_first(cases, 9)
    before = surface(cases)
    log.step(12)
    log.user("And the tests?")
    cases.ingest([log.path])
    new = surface(cases)[len(before) :]
    assert len(new) == 3
    done = cases.commit(made)
    assert done.warnings[-1] == "3 nodes were appended since the preview."
    assert [fate.seq for fate in done.nodes] == [*before, *new]
    assert {fate.rule for fate in done.nodes[-3:]} == {"appended since the preview"}
    assert surface(cases) == [surface(cases)[0], *before[9:], *new]
    gauge = cases.pressure(NAME, track="plan").used
    assert abs(done.tokens_after - gauge) <= 1


def test_a_result_behind_the_region_leaves_it_as_it_was(cases: UseCases, log: Log) -> None:
    call = {"type": "tool_use", "id": "late", "name": "Read", "input": {"file_path": "/p/z.py"}}
    log.assistant(call)
    cases.ingest([log.path])
    made = of_the_first(cases, 9)
    log.result("late", "came after the preview")
    cases.ingest([log.path])
    assert cases.commit(made).operation is not None


def test_a_pin_within_the_region_is_told_and_one_behind_it_is_not(cases: UseCases) -> None:
    nodes = surface(cases)
    made = of_the_first(cases, 9)
    cases.pin(NAME, [nodes[-1]])
    again = of_the_first(cases, 9)
    cases.pin(NAME, [nodes[2]])
    with pytest.raises(ChangedError):
        cases.commit(again)
    cases.unpin(NAME, [nodes[2]])
    assert cases.commit(made).operation is not None


def test_each_step_of_a_growing_log_keeps_the_preview_committable(
    cases: UseCases, log: Log
) -> None:
    made = of_the_first(cases, 9)
    for number in range(12, 20):
        log.step(number)
        cases.ingest([log.path])
        fresh = of_the_first(cases, 9)
        assert fresh.preview.fingerprint == made.preview.fingerprint
        assert fresh.preview.summary == made.preview.summary
    assert cases.commit(made).nodes[0].fate == "shadowed"


def test_edits_of_a_preview_equal_previews_of_a_store_just_opened(
    cases: UseCases, log: Log, tmp_path: Path
) -> None:
    nodes = surface(cases)
    for _ in range(2):
        for wanted in ({}, {"budget": 512}, {"pins": [nodes[3]]}):
            kept = of_the_first(cases, 9, **wanted)
            fresh = usecases(tmp_path / "store.db", tmp_path)
            try:
                assert kept.report == of_the_first(fresh, 9, **wanted).report
            finally:
                fresh.close()
        log.step(len(nodes))
        cases.ingest([log.path])


def test_a_preview_that_nobody_waits_for_is_given_up(cases: UseCases) -> None:
    asked = []

    def cancelled() -> bool:
        asked.append(True)
        return len(asked) > 2

    with pytest.raises(CancelledError):
        of_the_first(cases, 9, cancelled=cancelled)
    assert of_the_first(cases, 9).report.region is not None


def test_previews_in_several_threads_are_those_of_one(cases: UseCases) -> None:
    nodes = surface(cases)
    alone = [of_the_first(cases, count).report for count in (3, 5, 7, 9)]
    found: dict[int, CompactionReport] = {}

    def work(count: int) -> None:
        made = cases.preview(NAME, start=nodes[0], end=nodes[count - 1])
        found[count] = made.report

    threads = [Thread(target=work, args=(count,)) for count in (3, 5, 7, 9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [found[count] for count in (3, 5, 7, 9)] == alone


def test_the_fates_of_a_report_are_the_rows_of_the_surface(cases: UseCases) -> None:
    report = of_the_first(cases, 9).report
    assert [fate.seq for fate in report.nodes] == surface(cases)
    assert [(run.start, run.stop, run.fate) for run in fate_runs(report.nodes)] == [
        (0, 9, "shadowed"),
        (9, 25, "kept"),
    ]
    printed = report.model_dump(mode="json")["nodes"]
    assert printed == [fate.model_dump(mode="json") for fate in report.nodes]
    again = CompactionReport.model_validate(report.model_dump())
    assert fate_runs(tuple(NodeFate(**dict(fate)) for fate in again.nodes))[0].fate == "shadowed"


class TestTwoAtOnce:
    """Another process operates between the check and the commit: the clock, which is read there,
    plays it."""

    @pytest.fixture
    def other(self, log: Log, tmp_path: Path) -> Iterator[UseCases]:
        opened = usecases(tmp_path / "store.db", tmp_path)
        opened.ingest([log.path])
        yield opened
        opened.close()

    def racing(self, tmp_path: Path, *acts: Callable[[], object]) -> UseCases:
        left = list(acts)

        def clock() -> float:
            if left:
                left.pop()()
            return 1.7e9

        return usecases(tmp_path / "store.db", tmp_path, clock=clock)

    def test_a_pin_that_came_first_refuses_the_commit(
        self, other: UseCases, tmp_path: Path
    ) -> None:
        nodes = surface(other)
        with closing(self.racing(tmp_path, lambda: other.pin(NAME, [nodes[2]]))) as cases:
            with pytest.raises(ChangedError):
                cases.commit(of_the_first(cases, 9))
            assert surface(cases) == nodes

    def test_one_elsewhere_does_not(self, other: UseCases, tmp_path: Path) -> None:
        nodes = surface(other)
        with closing(self.racing(tmp_path, lambda: other.pin(NAME, [nodes[-1]]))) as cases:
            done = cases.commit(of_the_first(cases, 9))
            assert done.operation == "o2"
            assert surface(cases) == ["o4", *nodes[9:]]

    def test_the_same_pin_twice_is_refused(self, other: UseCases, tmp_path: Path) -> None:
        nodes = surface(other)
        with (
            closing(self.racing(tmp_path, lambda: other.pin(NAME, [nodes[2]]))) as cases,
            pytest.raises(PinError, match="pinned already"),
        ):
            cases.pin(NAME, [nodes[2]])
