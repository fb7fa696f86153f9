"""Hard logs through the whole program, by the number of their case: file → use-cases → reports."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from inspector.reports import IngestReport, SessionRow, SurfaceReport
from inspector.usecases import UseCases
from tests.inspector.logs import Log

pytestmark = pytest.mark.hard

TURNS = [f"{who} {n}" for n in range(3) for who in ("question", "answer")]
"""What the generator's plain log of three rounds says."""


@pytest.fixture
def read(hard_inputs: Path, cases: UseCases) -> Callable[..., IngestReport]:
    return lambda *names: cases.ingest([hard_inputs / name for name in names])


def only(cases: UseCases) -> SessionRow:
    (row,) = cases.sessions()
    return row


def surface(cases: UseCases) -> SurfaceReport:
    return cases.surface(only(cases).id)


def said(cases: UseCases) -> list[str]:
    """The texts of the surface, in order."""
    report = cases.messages(only(cases).id)
    return [block.text for message in report.messages for block in message.blocks]


def all_said(cases: UseCases, session: str) -> list[str]:
    """The texts of all messages of the log, standing or not, in its order."""
    details = [cases.detail(session, seq) for seq in range(1, cases.events(session) + 1)]
    return [
        "".join(block.text for block in detail.blocks)
        for detail in details
        if detail.node.type.endswith("/message")
    ]


def damage(report: IngestReport) -> list[tuple[int, int]]:
    return [(each.line, each.offset) for each in report.damaged]


def offset(path: Path, line: int) -> int:
    """Byte offset of a line, from 1."""
    return sum(len(each) + 1 for each in path.read_bytes().split(b"\n")[: line - 1])


def test_r01_a_half_written_record_is_awaited_and_is_no_error(
    read: Any, cases: UseCases, hard_inputs: Path, tmp_path: Path
) -> None:
    path = tmp_path / "half.jsonl"
    path.write_bytes((hard_inputs / "R01" / "half.jsonl").read_bytes())
    report = cases.ingest([path])
    assert (report.records, report.damaged, report.notes) == (3, (), ())
    assert said(cases) == ["question 0", "answer 0", "question 1"]
    with path.open("ab") as file:
        file.write(b'"}\n')
    assert cases.ingest([path]).records == 1


def test_r03_bad_lines_are_named_and_hide_nothing(
    read: Any, cases: UseCases, hard_inputs: Path
) -> None:
    report = read("R03")
    path = hard_inputs / "R03" / "mid.jsonl"
    assert damage(report) == [(3, offset(path, 3)), (5, offset(path, 5))]
    assert {each.file for each in report.damaged} == {str(path.resolve())}
    assert said(cases) == TURNS
    assert only(cases).problems == 2


def test_r04_nul_bytes_are_one_damaged_line(read: Any, cases: UseCases, hard_inputs: Path) -> None:
    report = read("R04")
    assert damage(report) == [(4, offset(hard_inputs / "R04" / "nul.jsonl", 4))]
    assert "512 NUL" in report.damaged[0].reason
    assert said(cases) == TURNS


def test_r06_half_characters_are_shown_found_and_kept_as_they_were(
    read: Any, cases: UseCases
) -> None:
    report = read("R06")
    assert [each.line for each in report.damaged] == [2, 3, 5, 6]
    session = only(cases).id
    texts = ["x", "cut \ufffd here", "\ufffd low first", "ok \U0001f600", "k", "x"]
    assert all_said(cases, session) == texts
    (hit,) = cases.search("first")
    assert "\\ude00 low first" in cases.detail(session, hit.seq).raw


def test_r07_bad_utf8_costs_no_record(read: Any, cases: UseCases) -> None:
    report = read("R07")
    assert [each.line for each in report.damaged] == [2, 3, 4]
    texts = all_said(cases, only(cases).id)
    assert len(texts) == 5
    assert (texts[0], texts[3], texts[4]) == ("question 0", "caf\ufffd 0", "question 0")


def test_r08_only_a_newline_ends_a_record(read: Any, cases: UseCases) -> None:
    assert read("R08").records == 3
    assert said(cases) == ["a\u2028b\u2029c\x85d", "lit \u2028 end", "z"]


@pytest.mark.parametrize("name", ["bom", "crlf", "blank", "rawctl"])
def test_r09_odd_line_ends_and_marks_cost_nothing(read: Any, cases: UseCases, name: str) -> None:
    report = read(f"R09/{name}.jsonl")
    assert report.records == 4
    assert [each.line for each in report.damaged] == ([1] if name == "rawctl" else [])
    first = "q\t0\x01" if name == "rawctl" else "question 0"
    assert said(cases) == [first, "answer 0", "question 1", "answer 1"]


def test_r11_an_image_has_its_size_and_a_price(read: Any, cases: UseCases) -> None:
    read("R11")
    image, after = surface(cases).nodes
    assert image.headline.startswith("[image image/png 786,435")
    assert image.tokens < 2_000, "an image is never counted as text"
    assert after.headline == "after the big line"


def test_r11_a_line_above_the_cap_is_a_stub_that_gives_its_raw_back(
    cases: UseCases, tmp_path: Path
) -> None:
    log = Log(tmp_path)
    log.user("before")
    big = b'{"type":"user","x":"' + b"B" * (17 << 20) + b'"}'
    begin = log.path.stat().st_size
    with log.path.open("ab") as file:
        file.write(big + b"\n")
    log.user("after")
    report = cases.ingest([log.path])
    assert damage(report) == [(2, begin)]
    assert f"{len(big):,} bytes" in report.damaged[0].reason
    assert said(cases) == ["before", "after"]
    record = cases._store.find(only(cases).id)
    (stub,) = [e for e in cases._store.entries(record) if e.meta.get("type") == "oversized line"]
    assert (stub.meta["size"], stub.meta["offset"]) == (len(big), begin)
    pieces = list(cases._store.raw_pieces(record, int(stub.seq)))
    assert b"".join(pieces) == big
    assert max(map(len, pieces)) < 2 << 20


def test_r14_blocks_of_one_message_are_one_node(read: Any, cases: UseCases) -> None:
    read("R14")
    go, answer, result = cases.messages(only(cases).id).messages
    assert [block.kind for block in answer.blocks] == ["thinking", "text", "tool_call"]
    assert only(cases).tokens == 10 + 20 + 1, "usage once, and the result"
    assert (go.role, result.blocks[0].kind) == ("user", "tool_result")


def test_r15_copies_are_linked_to_the_oldest_and_found_once(read: Any, cases: UseCases) -> None:
    read("R15")
    rows = {row.id: (row.relation, row.parent) for row in cases.sessions()}
    assert rows == {"a": ("main", None), "b": ("fork", "a"), "c": ("fork", "a")}
    found = [hit.headline for word in ("question", "answer", "new") for hit in cases.search(word)]
    assert sorted(found) == sorted([*TURNS[:4], "new b0", "new b1", "new c0"])


def test_r16_the_order_is_the_files_and_bad_times_are_unknown(read: Any, cases: UseCases) -> None:
    read("R16")
    assert said(cases) == [f"{who} {n}" for n in range(6) for who in ("question", "answer")]
    assert [node.time is None for node in surface(cases).nodes] == [False] * 2 + [True] * 7 + [
        False
    ] * 3
    row = only(cases)
    assert row.started_at is not None
    assert row.last_event_at is not None
    assert row.started_at <= row.last_event_at


@pytest.mark.parametrize(("name", "rounds", "kinds"), [("cycle", 3, 2), ("self", 1, 1)])
def test_r17_a_circle_of_parents_is_reported(
    read: Any, cases: UseCases, name: str, rounds: int, kinds: int
) -> None:
    read(f"R17/{name}.jsonl")
    assert said(cases) == TURNS[: 2 * rounds]
    problems = surface(cases).problems
    assert len(problems) == kinds == only(cases).problems
    assert problems[-1].kind == "cycle"


def test_r17_a_deep_chain_is_shown_whole(read: Any, cases: UseCases) -> None:
    assert read("R17/deepchain.jsonl").records >= 3_000
    assert len(surface(cases).nodes) >= 3_000


def test_r18_a_gap_is_marked_and_what_lies_behind_it_is_not_hidden(
    read: Any, cases: UseCases
) -> None:
    read("R18")
    session = only(cases).id
    assert all_said(cases, session) == TURNS
    assert [hit.headline for hit in cases.search('"question 0"')] == ["question 0"]
    report = surface(cases)
    assert [problem.kind for problem in report.problems] == ["gap", "gap"]
    assert all("is not in the file" in problem.detail for problem in report.problems)
    assert [node.headline for node in report.nodes] == TURNS[4:], "what the agent would resume"


def test_r21_orphans_are_shown_as_such(read: Any, cases: UseCases) -> None:
    read("R21")
    report = surface(cases)
    assert [(node.headline, node.orphan) for node in report.nodes] == [
        ("ok", True),
        ("hi", False),
        ("Bash true", False),
        ("ok", False),
        ("second answer", True),
    ]
    assert [problem.detail for problem in report.problems] == [
        "answers call 'toolu_gone', which is not here",
        "answers call 'toolu_a', which was answered before",
    ]


def test_r22_an_unanswered_call_does_not_run_for_ever(
    read: Any, cases: UseCases, hard_inputs: Path, tmp_path: Path
) -> None:
    read("R22")
    report = surface(cases)
    assert [node.orphan for node in report.nodes] == [False, True, False, False, True]
    assert only(cases).state == "ended"
    written = only(cases).last_event_at
    assert written is not None
    states = []
    for later in (10, 20 * 60):
        at = written + later
        then = UseCases(
            cases._store,
            cases._loaded_settings,
            environment={},
            home=tmp_path,
            clock=lambda a=at: a,
        )
        states.append(only(then).state)
    assert states == ["running", "idle"]


def test_r24_equal_and_empty_ids_pair_by_order(read: Any, cases: UseCases) -> None:
    read("R24")
    report = surface(cases)
    assert not any(node.orphan for node in report.nodes)
    results = [node for node in report.nodes if node.type == "tool/result"]
    assert [node.headline for node in results] == ["one", "two", "empty", "null"]
    assert {"reused_call_id", "empty_call_id"} == {problem.kind for problem in report.problems}


def test_r25_what_is_unknown_is_kept_raw_and_counted(read: Any, cases: UseCases) -> None:
    assert read("R25").records == 13
    session = only(cases).id
    details = [cases.detail(session, seq) for seq in range(1, cases.events(session) + 1)]
    unknown = [detail.raw for detail in details if detail.node.type == "unknown"]
    assert len(unknown) == 10
    assert {"{}", "[]", '"str"', "42", "null", "true", '{"type":null}'} <= set(unknown)
    assert any("hologram" in block.text for detail in details for block in detail.blocks)
    counted = {k: n for source in cases.doctor().sources for k, n in source.unknown_types.items()}
    assert counted["quantum-snapshot"] == 1
    assert sum(counted.values()) == 10


def test_r26_a_format_that_is_not_understood_is_said_everywhere(read: Any, cases: UseCases) -> None:
    report = read("R26")
    said_of_it = "format not understood: 1 of 31 records of codex (version 0.150.0)"
    assert said_of_it in report.notes[0]
    assert said_of_it in (only(cases).note or "")
    (source,) = [source for source in cases.doctor().sources if source.records]
    assert (source.records, source.recognised) == (31, 1)
    assert said_of_it in source.notes[0]


def test_r29_no_shape_of_a_message_breaks_a_screen(read: Any, cases: UseCases) -> None:
    report = read("R29")
    assert (report.records, report.damaged) == (15, ())
    session = only(cases).id
    details = [cases.detail(session, seq) for seq in range(1, cases.events(session) + 1)]
    assert all(detail.raw for detail in details)
    assert said(cases) == ["x"]


def test_r40_the_project_is_the_folder_that_the_records_name(read: Any, cases: UseCases) -> None:
    read("R40")
    named = {"/w/my-app", "/w/my/app", "/w/my_app", "/w/你好", "/w/再见"}
    assert {row.project for row in cases.sessions()} == named


def test_r44_the_active_path_stands_and_the_branch_is_kept(read: Any, cases: UseCases) -> None:
    read("R44/tree.jsonl")
    session = only(cases).id
    assert said(cases) == ["q", "a", "retry", "good"]
    assert all_said(cases, session) == ["q", "a", "dead end", "dead", "retry", "good"]
    assert [node.headline for node in cases.surface(session, at=5).nodes] == [
        "q",
        "a",
        "dead end",
        "dead",
    ]


def test_r44_an_old_file_without_ids_is_chained_by_order(read: Any, cases: UseCases) -> None:
    read("R44/v1.jsonl")
    assert [(node.type, node.headline) for node in surface(cases).nodes] == [
        ("user/message", "t"),
        ("assistant/message", "t"),
    ]
