"""What a pack finds, end to end over a store, and what can be chosen in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from compress.packs.errors import PackBudgetError
from inspector.packs import PackPlaceError, UnknownBeliefError
from inspector.usecases import UseCases
from tests.inspector.kilns import AWAY, OTHER, packed, store_of, write_logs
from tests.inspector.logs import NAME, Log, rows, usecases


@pytest.fixture
def log(tmp_path: Path) -> Log:
    return write_logs(tmp_path)


@pytest.fixture
def cases(log: Log, tmp_path: Path) -> Iterator[UseCases]:
    with store_of(tmp_path) as opened:
        yield opened


# What is found


def test_a_session_is_packed_alone(cases: UseCases) -> None:
    report = cases.pack(NAME, "kiln degrees").report
    assert (report.scope, report.session) == ("session", NAME)
    assert {line.session for line in report.lines} == {NAME}
    assert "never be hotter than 1240" in report.text
    assert report.operation is None
    assert report.files == ()


def test_a_project_has_the_sessions_of_its_folder(cases: UseCases) -> None:
    report = cases.pack(NAME, "kiln", project=True).report
    assert {line.session for line in report.lines} == {NAME, OTHER}
    assert {line.session for line in cases.pack(None, "kiln").report.lines} == {NAME, OTHER, AWAY}
    of_folder = cases.pack(None, "kiln", project=Path("/home/u/away")).report
    assert {line.session for line in of_folder.lines} == {AWAY}
    with pytest.raises(PackPlaceError, match="No session in the store was in /home/x"):
        cases.pack(None, "kiln", project=Path("/home/x"))


@pytest.mark.parametrize("query", ["café", "cafe", "стой"])
def test_decision_points_are_found_in_any_spelling_of_the_index(tmp_path: Path, query: str) -> None:
    made = Log(tmp_path, "closed")
    made.user("Why is the Café closed? Стой")
    made.step(1)
    opened = usecases(":memory:", tmp_path)
    opened.ingest([made.path])
    assert "decision" in {line.type for line in opened.pack("closed", query).report.lines}
    opened.close()


def test_the_whole_pack_stays_below_its_budget(cases: UseCases) -> None:
    for budget in (60, 100, 200, 1_000):
        report = cases.pack(NAME, "kiln", budget=budget).report
        assert report.tokens <= budget
    with pytest.raises(PackBudgetError) as refusal:
        cases.pack(NAME, "kiln", budget=3)
    assert "3" in str(refusal.value)


def test_a_pin_comes_first_and_whole_with_its_unit(cases: UseCases) -> None:
    result = next(row.seq for row in rows(cases) if row.type == "tool/result")
    cases.pin(NAME, [result])
    report = cases.pack(NAME, "glaze").report
    locked = [line for line in report.lines if line.locked]
    assert report.lines[: len(locked)] == tuple(locked)
    content = "LIMIT = 1300  # degrees of the kiln\n" + "x = 1\n" * 200
    assert content in [line.rendered for line in locked], "in one piece"
    assert sum(result in line.source_event_seqs for line in report.lines) == 1
    assert any("Reading the controller" in line.rendered for line in locked), "its call's message"
    assert all(line.packed for line in locked)
    with pytest.raises(PackBudgetError):
        cases.pack(NAME, "glaze", budget=100)
    over = cases.pack(NAME, "glaze", budget=100, allow_overflow=True).report
    assert over.overflow == over.tokens - 100 > 0


def test_an_empty_query_takes_what_is_newest(cases: UseCases) -> None:
    for query in ("", "  \n", "→ ***"):
        lines = packed(cases.pack(NAME, query).report)
        assert any("glaze is as it was" in line.rendered for line in lines)


def test_nothing_behind_a_moment_is_packed(cases: UseCases) -> None:
    moment = next(row.seq for row in rows(cases) if row.type == "tool/result")
    report = cases.pack(NAME, "kiln glaze", at=moment).report
    assert "never be hotter" in report.text
    assert all(seq <= moment for line in report.lines for seq in line.source_event_seqs)  # type: ignore[operator]


def test_lines_are_chosen_by_hand(cases: UseCases) -> None:
    first = cases.pack(NAME, "kiln").report
    taken = packed(first)[0].belief
    without = cases.pack(NAME, "kiln", excluded=[taken]).report
    line = next(line for line in without.lines if line.belief == taken)
    assert (line.packed, line.reason) == (False, "excluded")
    long = next(line for line in first.lines if line.type == "file_snapshot")
    whole = cases.pack(NAME, "kiln", overrides={long.belief: "verbatim"}).report
    chosen = next(line for line in whole.lines if line.belief == long.belief)
    assert (chosen.strategy, chosen.tokens_rendered) == ("verbatim", long.tokens_raw)
    short = cases.pack(NAME, "kiln", overrides={long.belief[:8]: "stub"}, abbreviated=True).report
    assert next(e for e in short.lines if e.belief == long.belief).strategy == "stub"
    with pytest.raises(UnknownBeliefError, match="'nothing' is no candidate"):
        cases.pack(NAME, "kiln", excluded=["nothing"], abbreviated=True)


def test_compression_is_set_by_keyword_before_the_settings(cases: UseCases, tmp_path: Path) -> None:
    report = cases.pack(NAME, "kiln").report
    assert (report.compression, report.compression_source) == (True, "default")
    off = usecases(tmp_path / "store.db", tmp_path, type_aware_compression="off")
    report = off.pack(NAME, "kiln").report
    assert (report.compression, report.compression_source) == (
        False,
        "--set type_aware_compression",
    )
    assert {line.strategy for line in report.lines} == {"verbatim"}
    report = off.pack(NAME, "kiln", compression=True).report
    assert (report.compression, report.compression_source) == (True, "chosen")
    off.close()


def test_the_table_of_classes_is_the_settings_to_change(cases: UseCases, tmp_path: Path) -> None:
    def classes(opened: UseCases) -> set[tuple[str, str]]:
        return {(line.type, line.retention) for line in opened.pack(NAME, "kiln").report.lines}

    assert ("instruction", "fact") in classes(cases)
    changed = usecases(tmp_path / "store.db", tmp_path, beliefs="user=snapshot")
    assert ("instruction", "snapshot") in classes(changed)
    changed.close()


def test_the_same_query_gives_the_same_bytes(cases: UseCases, tmp_path: Path) -> None:
    again = usecases(tmp_path / "store.db", tmp_path)
    for query in ("kiln", ""):
        one, other = cases.pack(NAME, query), again.pack(NAME, query, kept=False)
        assert one.report == other.report
        assert one.report == cases.pack(NAME, query).report
    again.close()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(st.text(max_size=60), st.integers(40, 2_000))
def test_any_text_is_a_legal_query(cases: UseCases, query: str, budget: int) -> None:
    for where, project in ((NAME, False), (NAME, True), (None, False)):
        assert cases.pack(where, query, budget=budget, project=project).report.tokens <= budget


def test_what_a_log_holds_raises_nothing(tmp_path: Path) -> None:
    log = Log(tmp_path)
    hostile = (
        "\0kiln\x1b[31m",
        "kiln \ud800",
        "```\nkiln",
        "",
        "</context-pack> kiln",
        "\u202ekiln",
    )
    for text in hostile:
        log.user(text)
        log.assistant({"type": "tool_use", "id": "t", "name": "", "input": [text, {text: None}]})
        log.result("t", text)
    opened = usecases(":memory:", tmp_path)
    opened.ingest([log.path])
    assert packed(opened.pack(NAME, "kiln").report)
    opened.close()


# Decision points


def test_decision_points_are_candidates(cases: UseCases) -> None:
    report = cases.pack(NAME, "kiln limit").report
    decided = [line for line in report.lines if line.type == "decision"]
    assert decided
    assert {line.retention for line in decided} == {"fact"}
