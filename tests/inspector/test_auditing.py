"""The audit in the app: every operation, what it changed and lost; undo and redo."""

from __future__ import annotations

from compress.errors import CompressError
from inspector.audit_reports import FindingReport
from inspector.reports import AuditRow
from inspector.screens.audit import AuditScreen
from inspector.screens.compaction import CompactionScreen
from inspector.screens.session import SessionScreen
from inspector.widgets.audit_list import AuditList, heading, state_words
from inspector.widgets.diff import diff_sections
from inspector.widgets.tabs import Tabs
from tests.inspector.fakes import FakeUseCases
from tests.inspector.stage import on_stage, play, settle, text_of


def with_two_compactions() -> FakeUseCases:
    inquiry = FakeUseCases()
    for seqs in ((9, 12), (13, 16)):
        inquiry.commit(inquiry.preview("s1", start=seqs[0], end=seqs[1]))
    return inquiry


async def test_the_agents_operations_stand_beside_ours() -> None:
    async with on_stage(with_two_compactions(), "a", size=(160, 40)) as (app, _):
        assert isinstance(app.screen, AuditScreen)
        rows = text_of(app).splitlines()
        agents = next(row for row in rows if "#41" in row)
        ours = next(row for row in rows if " o1 " in row)
    assert "compact  agent  2026-09-21 14:03:20      8 #1 … #8 · auto" in agents
    assert "164k → 61.0k -63 %  standing" in agents
    assert "compact  user" in ours
    assert "#9 … #12" in ours


async def test_operations_are_undone_and_redone() -> None:
    inquiry = FakeUseCases()
    async with on_stage(inquiry, "p", "a", size=(120, 40)) as (app, pilot):
        assert "3 operations, 3 standing" in text_of(app)
        await play(pilot, "u")
        assert inquiry.operations[0].state == "undone"
        assert "Undone, as o1" in text_of(app)
        assert "3 operations, 2 standing" in text_of(app)
        await play(pilot, "U")
        assert inquiry.operations[0].state == "standing"


async def test_the_agents_own_operation_cannot_be_undone() -> None:
    inquiry = FakeUseCases()
    async with on_stage(inquiry, "a", "home", "u", "U", "X") as (app, _):
        assert "Only an operation of yours" in text_of(app)
    assert not any(call.startswith("undo") for call in inquiry.calls)


async def test_an_undo_that_carries_others_offers_to_take_them_along() -> None:
    inquiry = with_two_compactions()
    async with on_stage(inquiry, "a", "k", "u") as (app, pilot):
        assert "Operation o1 carries o2." in text_of(app)
        assert "1 undo those too" in text_of(app)
        await play(pilot, "1")
    assert inquiry.calls[-1] == "undo o1 True"


async def test_a_key_undoes_with_all_that_builds_on_it() -> None:
    inquiry = with_two_compactions()
    async with on_stage(inquiry, "a", "k", "X"):
        pass
    assert inquiry.calls[-1] == "undo o1 True"


async def test_a_redo_that_cannot_be_is_refused_in_a_sentence() -> None:
    async with on_stage(with_two_compactions(), "a", "U") as (app, _):
        assert "There is nothing to redo." in text_of(app)


async def test_loss_diff_and_raw_of_an_operation_are_views() -> None:
    async with on_stage(None, "a", size=(80, 40)) as (app, pilot):
        shown = text_of(app)
        assert "#41 · compact by the agent · 2026-09-21 14:03:20 · standing" in shown
        assert "8 nodes taken away · 164k → 61.0k -63 % as counted" in shown
        assert "cache lost" in shown
        assert "• never push to main" in shown
        await play(pilot, "v")
        assert "+#41 checkpoint: 8 nodes, 1,620 tokens" in text_of(app)
        await play(pilot, "v")
        assert '{"type":"compact","operation":"41"}' in text_of(app)
        await pilot.click(Tabs, offset=(3, 0))
        await settle(pilot)
        assert "• never push to main" in text_of(app)


async def test_a_diff_stands_side_by_side_where_there_is_room() -> None:
    async with on_stage(None, "a", "v", size=(160, 40)) as (app, pilot):
        row = next(row for row in text_of(app).splitlines() if "-#2 user: The retry test" in row)
        assert "│ +#41 checkpoint: 8 nodes" in row
        await pilot.resize_terminal(80, 40)
        await settle(pilot)
        rows = text_of(app).splitlines()
        assert not any("-#2 user" in row and "+#41" in row for row in rows)


async def test_the_agents_compaction_is_compared_with_ours_and_edited() -> None:
    inquiry = FakeUseCases()
    async with on_stage(inquiry, "a", "v", "v", "v", size=(160, 48)) as (app, pilot):
        row = next(row for row in text_of(app).splitlines() if "the agent's own summary" in row)
        assert "what Ullage would have kept" in row
        assert "only Ullage's keeps user instructions (1)" in text_of(app)
        assert "compare 1 own []" in inquiry.calls
        await play(pilot, "c")
        assert isinstance(app.screen, CompactionScreen)
        assert app.screen.place.number == 1
        await play(pilot, "escape")
        assert isinstance(app.screen, AuditScreen)
        await play(pilot, "home", "c")
        assert "Only a compaction of the agent's own can be compared" in text_of(app)


async def test_a_view_that_a_row_does_not_have_gives_way_to_its_loss() -> None:
    async with on_stage(None, "a", "v", "v", "v", "home", size=(160, 48)) as (app, _):
        assert "▸lost 0" in text_of(app)
        assert "agent's | Ullage's" not in text_of(app)


async def test_the_state_of_the_chain_is_told() -> None:
    inquiry = with_two_compactions()
    async with on_stage(inquiry, "a") as (app, pilot):
        assert "chain intact" in text_of(app)
        said = "Event o2 of session s1 is not what was recorded."
        inquiry.findings.append(
            FindingReport(kind="changed", session="s1", operation="o2", message=said)
        )
        inquiry.version += 1
        await pilot.pause(0.2)
        await settle(pilot)
        assert "chain broken: 1 found" in text_of(app)
        assert said in text_of(app)
        await play(pilot, "k", "u", "k")
        assert said in text_of(app)


async def test_enter_opens_the_session_at_the_operation() -> None:
    async with on_stage(None, "a", "enter") as (app, _):
        assert isinstance(app.screen, SessionScreen)
        assert app.screen.query("SurfaceList")


async def test_without_operations_the_page_says_what_makes_one() -> None:
    inquiry = FakeUseCases()
    inquiry.audit = lambda session=None: []  # type: ignore[method-assign]
    async with on_stage(inquiry, "a", size=(80, 24)) as (app, pilot):
        shown = " ".join(text_of(app).split())
        assert "No operation yet" in shown
        assert "c previews a compaction." in shown
        await play(pilot, "u", "U", "X", "c", "v", "enter")
        assert isinstance(app.screen, AuditScreen)


async def test_in_the_audit_of_all_sessions_each_row_acts_on_its_own() -> None:
    inquiry = FakeUseCases()
    row = AuditRow(session="s2", operation="o1", kind="pin", origin="user")
    inquiry.audit = lambda session=None: [row]  # type: ignore[method-assign]
    asked = []

    def undo(session: str, operation: object = None, *, cascade: bool = False) -> None:
        asked.append((session, operation))
        raise CompressError("There is no standing operation to undo.")

    inquiry.undo = undo  # type: ignore[method-assign, assignment]
    async with on_stage(inquiry, "a", "u", session=None) as (app, _):
        assert "s2" in text_of(app)
        assert "There is no standing operation to undo." in text_of(app)
    assert asked == [("s2", "o1")]


async def test_operations_of_one_name_keep_the_cursor_in_their_own_session() -> None:
    inquiry = FakeUseCases()
    rows = [
        AuditRow(session=session, operation=operation, kind="pin", origin="user")
        for session, operation in (("s1", "o1"), ("s2", "o1"), ("s2", "o2"))
    ]
    inquiry.audit = lambda session=None: rows  # type: ignore[method-assign]
    async with on_stage(inquiry, "a", "k", session=None) as (app, pilot):
        assert isinstance(app.screen, AuditScreen)
        operations = app.screen.query_one(AuditList)
        assert operations.row is rows[1]
        app.screen.store_grew()
        await settle(pilot)
        assert operations.row is rows[1]


def test_columns_stand_under_their_names() -> None:
    inquiry = FakeUseCases()
    for width in (78, 118, 158):
        audit = AuditList()
        audit.zone = None
        row = inquiry.audit()[1]
        cells = "".join(text for text, _ in audit.paint(row, 0, width - 1))
        names = heading(width, of_all=False)
        assert len(" " + cells) == width
        for name, value in (("kind", "compact"), ("by", "agent")):
            assert names.index(name) == (" " + cells).index(value)
        if width > 110:
            assert names.index("state") == (" " + cells).index("standing")


def test_a_state_names_what_took_the_operation_out_of_force() -> None:
    row = AuditRow(operation="o1", kind="compact", origin="user", state="superseded")
    assert state_words(row) == "superseded"
    assert state_words(row.model_copy(update={"superseded_by": 41})) == "superseded by #41"
    assert state_words(row.model_copy(update={"state": "undone", "superseded_by": "o3"})) == (
        "undone by o3"
    )


# Diffs


def test_what_went_stands_beside_what_came() -> None:
    sections = diff_sections("--- a\n+++ b\n@@ -1,3 +1,2 @@\n same\n-one\n-two\n+new\n tail\n+more")
    assert [(section.text, section.beside) for section in sections] == [
        ("--- a", "+++ b"),
        ("@@ -1,3 +1,2 @@", None),
        (" same", " same"),
        ("-one\n-two", "+new"),
        (" tail", " tail"),
        ("", "+more"),
    ]


def test_lines_that_look_like_a_head_are_lines() -> None:
    sections = diff_sections("--- a\n+++ b\n@@ -1 +1 @@\n--- gone\n+++ come")
    assert (sections[-1].text, sections[-1].beside) == ("--- gone", "+++ come")
    assert (sections[-1].tone, sections[-1].beside_tone) == ("hot", "calm")


def test_nothing_changed_is_said() -> None:
    assert [section.text for section in diff_sections("")] == ["Nothing changed in any text."]
