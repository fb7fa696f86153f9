"""Lists for a person: ids that can be typed, numbers that can be read, what an operation did."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.cli_gauges import composition_lines
from inspector.cli_growth import Growth
from inspector.cli_output import shortened
from inspector.cli_paint import Paint, counted, size
from inspector.demo import demo_home
from inspector.reports import Composition, PressureReport, SessionHeader, SessionRow
from inspector.schemas import OperationDocument
from tests.inspector.conftest import SESSION, Ullage


def means(printed: str, name: str) -> bool:
    beginning, dots, end = printed.partition("…")
    return name == printed or (
        name.startswith(beginning)
        and (not dots or (name.endswith(end) and len(name) >= len(printed) - 1))
    )


@given(
    st.lists(
        st.text("ab-", max_size=14) | st.text("ab", max_size=3).map(lambda end: "a" * 30 + end),
        max_size=12,
    )
)
def test_a_printed_id_means_one_session(ids: list[str]) -> None:
    """Typed as it is printed, it is the id itself, or the beginning, or beginning and end, of no
    other."""
    for name, short in shortened(ids).items():
        assert len(short) >= min(8, len(name))
        assert short == name or [n for n in set(ids) if means(short, n)] == [name]


def test_long_ids_that_differ_late_are_printed_by_both_ends() -> None:
    ids = ["019cabb7-e893-7e40-ad43-9853b24907f2", "019cabb7-e893-7e40-ad43-9853b24907f6"]
    assert shortened(ids) == {ids[0]: "019cabb7…2", ids[1]: "019cabb7…6"}


def test_ids_of_one_moment_are_printed_as_far_as_they_differ() -> None:
    one, two, other = "01997a3c-41aa-7000", "01997a3c-41ab-7000", "f3aa0011-9999-4000"
    assert shortened([one, two, other]) == {one: one[:13], two: two[:13], other: other[:8]}


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1_000, "1.0 kB"),
        (999_940, "999.9 kB"),
        (999_950, "1.0 MB"),
        (2_500_000_000, "2.5 GB"),
    ],
)
def test_sizes(count: int, text: str) -> None:
    assert size(count) == text


def test_one_is_not_many() -> None:
    assert [counted(n, "session") for n in (0, 1, 1_503)] == [
        "0 sessions",
        "1 session",
        "1,503 sessions",
    ]


@pytest.mark.parametrize(("window", "title", "share"), [(1_000, "OF WINDOW", "20 %"),
                                                        (None, "OF USED", "40 %")])  # fmt: skip
def test_a_share_is_of_the_window_and_of_what_is_used_where_no_window_is_known(
    window: int | None, title: str, share: str
) -> None:
    report = PressureReport(
        session=SessionHeader(id="s", agent="claude"),
        window=window,
        used=500,
        composition=Composition(user=300, assistant=200),
    )
    heading, _, assistant = composition_lines(report, Paint(width=80))
    assert title in heading
    assert share in assistant


def test_pressure_is_the_running_agents_unless_a_resume_is_asked_for(
    ullage: Ullage, store: Path
) -> None:
    assert ullage("pressure", SESSION, "--json", db=store).value["view"] == "live"
    assert ullage("pressure", SESSION, "--resume", "--json", db=store).value["view"] == "resume"


def test_an_operation_says_what_it_did_and_to_what(ullage: Ullage, tmp_path: Path) -> None:
    db = tmp_path / "own.db"
    ullage("ingest", demo_home(tmp_path), db=db)
    assert ullage("pin", SESSION, 127, 133, db=db).out.startswith("o2: pinned 127, 133\n")
    assert ullage("unpin", SESSION, 127, db=db).out.startswith("o3: unpinned 127\n")
    made = ullage("compact", SESSION, "--from", 127, "--to", 138, "--commit", "--json", db=db)
    name = made.value["operation"]
    undone = ullage("undo", SESSION, "--json", db=db).value
    assert undone["targets"] == [name]
    assert f": redid {name} (compact)\n" in ullage("redo", SESSION, db=db).out
    assert f": undid {name} (compact)\n" in ullage("undo", SESSION, db=db).out
    assert f"{SESSION[:8]}   o1  pin" in ullage("audit", db=db).out
    rows = [json.loads(text) for text in ullage("audit", "--jsonl", db=db).out.splitlines()]
    assert {row["session"] for row in rows} == {SESSION}
    shown = ullage("audit", SESSION, "--show", name, "--json", db=db).out
    document = OperationDocument.model_validate_json(shown)
    assert document.operation.operation == name
    assert "[127]" in document.diff


def test_the_help_of_undo_tells_how_a_pin_is_undone(ullage: Ullage) -> None:
    said = " ".join(ullage("undo", "--help").out.split())
    assert "A pin is undone by its name" in said
    assert "ullage unpin" in said


def test_hits_say_of_which_session_they_are(
    ullage: Ullage, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    heading, first, *_ = ullage("search", "harbour", db=store).out.splitlines()
    assert heading.split() == ["SESSION", "PROJECT", "TITLE", "AGE", "SEQ", "TYPE", "TEXT"]
    assert "tidepool" in first
    assert "In /home/sam/tidepool" in first or "Find out why the nightly" in first


def test_doctor_gives_sizes_with_a_unit_to_a_person_and_bytes_to_a_program(
    ullage: Ullage, store: Path
) -> None:
    count = ullage("doctor", "--json", db=store).value["store"]["raw_bytes"]
    assert isinstance(count, int)
    assert f"raw size              {size(count)}\n" in ullage("doctor", db=store).out


@pytest.mark.parametrize("text", ["shall I compare thee\n", '{"a": 1}\n', ""])
def test_reading_what_nobody_understands_is_refused_each_time(
    ullage: Ullage, tmp_path: Path, text: str
) -> None:
    poem, db = tmp_path / "poem.jsonl", tmp_path / "own.db"
    poem.write_text(text)
    said = [ullage("ingest", poem, db=db) for _ in range(2)]
    assert [(outcome.code, outcome.out) for outcome in said] == [(1, ""), (1, "")]
    assert said[0].err == said[1].err
    assert said[0].err.startswith(f"ullage: Nothing was read: {poem}: ")
    assert said[0].err.count("\n") == 1
    document = ullage("ingest", poem, "--json", db=db).value
    assert document["error"]["code"] == "nothing_understood"


def test_a_folder_without_logs_is_refused_and_a_known_log_is_not(
    ullage: Ullage, tmp_path: Path
) -> None:
    db = tmp_path / "own.db"
    (tmp_path / "none").mkdir()
    assert "holds no log" in ullage("ingest", tmp_path / "none", db=db).err
    home = demo_home(tmp_path)
    assert ullage("ingest", home, db=db).out.startswith("2 files, 141 records, ")
    again = ullage("ingest", home, db=db)
    assert (again.code, again.err) == (0, "")
    assert again.out.startswith("2 files, nothing new in ")


def row(name: str, events: int) -> SessionRow:
    return SessionRow(id=name, agent="claude", path="x", title="T", events=events, pressure=0.5)


def test_watching_tells_which_session_grew_by_how_much() -> None:
    rows = [row("a", 5), row("b", 1)]
    growth = Growth(lambda: list(rows))
    assert list(growth.lines(backlog=False)) == []
    rows[0] = row("a", 6)
    rows.append(row("c", 3))
    assert list(growth.lines(backlog=False)) == [
        "a  1 new event, 50 % full  T",
        "c  3 new events, 50 % full  T",
    ]
    assert list(growth.lines(backlog=False)) == []


def test_a_backlog_is_told_in_one_line_at_its_end() -> None:
    rows: list[SessionRow] = []
    growth = Growth(lambda: list(rows))
    rows.append(row("a", 5))
    assert list(growth.lines(backlog=True)) == []
    assert list(growth.lines(backlog=False)) == ["read: 1 session, 5 events in all"]


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("→ ***", "A search needs a letter or a digit."),
        ("no-such-name", "No event holds all of these words."),
        ("harbour no-such-name", "No event holds all of these words; these hold some of them."),
    ],
)
def test_a_search_that_finds_not_what_was_asked_for_says_so(
    ullage: Ullage, store: Path, query: str, said: str
) -> None:
    assert ullage("search", query, db=store).out.splitlines()[0] == said
    assert all(hit["partial"] for hit in ullage("search", query, "--json", db=store).value)
