"""Compaction and audit in the app over a real store: what is shown is what the store holds."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import UTC
from pathlib import Path

import pytest
from textual.pilot import Pilot

from inspector.app import UllageApp
from inspector.screens.audit import AuditScreen
from inspector.screens.compaction import CompactionScreen
from inspector.usecases import UseCases
from inspector.widgets import figures
from inspector.widgets.fate_list import AfterList, BeforeList
from inspector.widgets.loss_list import LossList
from inspector.widgets.tabs import Tabs
from storage.errors import UnknownEventError
from tests.inspector.logs import NAME, Log, rows, usecases
from tests.inspector.stage import play, settle, text_of

SUMMARY = "The user asked to fix the parser; the lexer stays."


@pytest.fixture
def log(tmp_path: Path) -> Log:
    made = Log(tmp_path)
    made.user("Fix the parser. Never touch the lexer.")
    for number in range(4):
        made.step(number)
    made.compact("\n".join([SUMMARY, *(f"Step {n} read f{n}.py and held it." for n in range(60))]))
    made.user("Go on with `src/parser_tables.py`, port 40817.")
    for number in range(4, 12):
        made.step(number)
    made.assistant({"type": "text", "text": "Done so far."})
    return made


@pytest.fixture
def cases(log: Log, tmp_path: Path) -> Iterator[UseCases]:
    opened = usecases(tmp_path / "store.db", tmp_path)
    opened.ingest([log.path])
    yield opened
    opened.close()


@asynccontextmanager
async def on_stage(cases: UseCases, *keys: str) -> AsyncIterator[tuple[UllageApp, Pilot[None]]]:
    app = UllageApp(cases, session=NAME, clock=lambda: 1.8e9, zone=UTC, rest=0.01)
    async with app.run_test(size=(160, 48), notifications=True) as pilot:
        await play(pilot, *keys)
        yield app, pilot


REGION = ("home", "j", "space", *["j"] * 8, "c")
"""From the user's second message over four steps."""


async def test_a_compaction_shows_and_commits_what_the_engine_says(cases: UseCases) -> None:
    standing = [row.seq for row in rows(cases)]
    async with on_stage(cases, *REGION) as (app, pilot):
        assert isinstance(app.screen, CompactionScreen)
        assert app.screen.edits.span == (standing[1], standing[9])
        report = cases.preview(NAME, start=standing[1], end=standing[9]).report
        shown = text_of(app)
        assert f"of a {report.window:,}-token window" in shown
        assert f"cannot go below {figures.tokens(report.floor)}" in shown
        assert f"cache loses {figures.tokens(report.cache_invalidated_tokens)}" in shown
        assert len(app.screen.query_one(AfterList).source) == len(standing) - 9 + 1
        await play(pilot, "y", "y")
    after = [row.seq for row in rows(cases)]
    assert after[0] == standing[0]
    assert after[2:] == standing[10:]
    ours = cases.audit(NAME)[-1]
    assert (ours.origin, ours.kind) == ("user", "compact")
    assert ours.shadowed_seqs == tuple(standing[1:10])


async def test_edits_ask_the_engine_for_what_they_say(cases: UseCases) -> None:
    standing = [row.seq for row in rows(cases)]
    async with on_stage(cases, *REGION, "p", "right", "b", *"600", "enter") as (app, _):
        assert isinstance(app.screen, CompactionScreen)
        answer = app.screen.answer
        assert answer is not None
        kept = cases.preview(
            NAME, start=standing[1], end=standing[9], budget=600, pins=[standing[1]]
        ).report
        span = app.screen.edits.span
        assert span is not None
        asked = cases.preview(
            NAME, start=span[0], end=span[1], budget=600, pins=app.screen.edits.keep
        ).report
        assert answer.report == asked
        assert asked.summary is not None
        assert asked.summary.tokens <= 600
        assert kept.region is not None


async def test_the_log_may_grow_behind_a_region_that_is_looked_at(
    cases: UseCases, log: Log
) -> None:
    async with on_stage(cases, *REGION) as (app, pilot):
        before = app.screen.query_one(BeforeList)
        count = len(before.source)
        log.user("And one more thing.")
        cases.ingest([log.path])
        await pilot.pause(0.3)
        await settle(pilot)
        assert len(before.source) == count + 1
        await play(pilot, "y", "y")
        assert not isinstance(app.screen, CompactionScreen)
    assert cases.audit(NAME)[-1].kind == "compact"
    assert rows(cases)[-1].headline.startswith("And one more thing")


async def test_the_changes_are_a_diff_of_the_regions_texts(cases: UseCases) -> None:
    standing = [row.seq for row in rows(cases)]
    diff = cases.preview_diff(cases.preview(NAME, start=standing[1], end=standing[9]))
    assert diff.startswith("--- stands now\n+++ would stand\n")
    assert "-  content of file 4" in diff
    assert f"-[{standing[2]}] assistant/message" in diff
    async with on_stage(cases, *REGION, "v") as (app, _):
        shown = text_of(app)
    assert "--- stands now" in shown
    assert "+[new]" in shown


async def test_a_receipt_stands_beside_the_result_that_it_replaces(
    cases: UseCases, log: Log
) -> None:
    for number in range(20, 24):
        log.step(number, size=9_000)
    log.assistant({"type": "text", "text": "Nearly full."}, tokens=160_000)
    cases.ingest([log.path])
    preview = cases.preview(NAME, mode="micro")
    diff = cases.preview_diff(preview)
    assert "+  [Cleared: the result of Read" in diff
    stands_for = ("receipt", "reduced")
    assert diff.count("\n+[new]") == sum(f.fate in stands_for for f in preview.report.nodes)


async def test_something_lost_leads_to_where_it_stood(cases: UseCases) -> None:
    standing = [row.seq for row in rows(cases)]
    ends = {"start": standing[1], "end": standing[9]}
    assert cases.whereabouts(NAME, "src/parser_tables.py", **ends) == standing[1]
    assert cases.whereabouts(NAME, "content of file 5", **ends) == standing[5]
    assert cases.whereabouts(NAME, f"Go on [event {standing[1]}]", **ends) == standing[1]
    with pytest.raises(UnknownEventError, match="word for word"):
        cases.whereabouts(NAME, "content of file 11", **ends)
    async with on_stage(cases, *REGION, "minus", "minus", "minus", "minus") as (app, pilot):
        losses = app.screen.query_one(LossList)
        report = cases.preview(NAME, start=standing[1], end=standing[9], budget=512).report
        texts = [thing.text for thing in losses.source.rows(0, 99) if thing.kind == "error"]
        assert texts == list(report.lost.errors)
        assert f"lost {len(losses.source):,}" in text_of(app)
        if len(losses.source):
            losses.focus()
            await play(pilot, "enter")
            row = app.screen.query_one(BeforeList).row
            assert row is not None
            assert row.node is not None
            assert row.node.seq in standing[1:10]


async def test_the_audit_shows_both_and_takes_ours_back(cases: UseCases) -> None:
    standing = [row.seq for row in rows(cases)]
    cases.commit(cases.preview(NAME, start=standing[1], end=standing[9]))
    own, ours = cases.audit(NAME)
    async with on_stage(cases, "a") as (app, pilot):
        assert isinstance(app.screen, AuditScreen)
        shown = text_of(app)
        assert "2 operations, 2 standing · chain intact" in shown
        for row in (own, ours):
            assert row.tokens_before is not None
            assert f"{figures.tokens(row.tokens_before)} → " in shown
        await play(pilot, "v")
        assert f"[{standing[2]}] assistant/message" in text_of(app)
        await play(pilot, "u")
        assert [row.seq for row in rows(cases)] == standing
        assert "1 standing" not in text_of(app).splitlines()[0]
        await play(pilot, "home", "j", "U")
        assert len(rows(cases)) < len(standing)


async def test_the_agents_compaction_is_compared_over_the_store(cases: UseCases) -> None:
    report = cases.compare(NAME, 1)
    assert report.theirs is not None
    assert report.theirs.summary is not None
    async with on_stage(cases, "a", "home", "v", "v", "v") as (app, pilot):
        shown = text_of(app)
        assert SUMMARY in shown
        assert f"{report.theirs.summary.tokens:,} counted" in shown
        await play(pilot, "c")
        assert isinstance(app.screen, CompactionScreen)
        assert app.screen.query_one(Tabs).chosen == "both"
        assert SUMMARY in text_of(app)
        assert len(app.screen.query_one(BeforeList).source) == 9
