"""Stores in trouble: a disk that is full, a place that takes nothing; and packs of hostile ones."""

from __future__ import annotations

import json
import os
import re
import resource
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from compress.continuation.errors import LocksExceedBudgetError
from compress.packs.errors import PackBudgetError
from inspector.export_files import ExportFileError
from inspector.usecases import UseCases
from storage.errors import StoreUnusableError
from tests.inspector.asking import ODD, hostile_log
from tests.inspector.conftest import Ullage
from tests.inspector.kilns import packed, write_logs
from tests.inspector.logs import NAME, Log, usecases


@pytest.mark.parametrize("left", [False, True], ids=["closed", "with a log left beside it"])
def test_s06_on_a_full_disk_all_can_be_looked_at_and_nothing_is_added(
    tmp_path: Path, left: bool
) -> None:
    write_logs(tmp_path)
    db = tmp_path / "store.db"
    opened = usecases(db, tmp_path)
    opened.ingest([tmp_path])
    expected = _looked_at(opened)
    if not left:
        opened.close()
    before = db.read_bytes()
    with os.fdopen(_on_a_full_disk(db, tmp_path)) as told:
        looked, *refusals = told.read().splitlines()
    assert looked == expected
    assert len(refusals) == 2
    pinned, rebuilt = refusals
    assert re.search(r"cannot be written.*make room on its disk", pinned)
    assert re.search(r"context-.* cannot be written.*Name another place", rebuilt)
    assert db.read_bytes() == before
    if left:
        assert not opened.audit(NAME)
        opened.close()


def _looked_at(cases: UseCases) -> str:
    return (
        f"{len(cases.sessions())} {len(cases.search('kiln'))} {len(cases.decisions(NAME).rows)} "
        f"{cases.pack(NAME, 'kiln').report.tokens} {cases.rebuild(NAME).report.tokens}"
    )


def _on_a_full_disk(db: Path, folder: Path) -> int:
    """Where a process that can make no file any longer tells what it saw, and its refusals."""
    heard, tells = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
            cases = usecases(db, folder)
            told = [_looked_at(cases)]
            for change in (
                lambda: cases.pin(NAME, [2]),
                lambda: cases.commit_rebuild(cases.rebuild(NAME)),
            ):
                try:
                    change()
                except (StoreUnusableError, ExportFileError) as refusal:
                    told.append(str(refusal))
        except BaseException as error:  # noqa: BLE001 - told to the test
            told = [repr(error)]
        os.write(tells, "\n".join(told).encode())
        os._exit(0)
    os.close(tells)
    os.waitpid(child, 0)
    return heard


# Packs and rebuilt contexts of a hostile log


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[UseCases]:
    folder = tmp_path_factory.mktemp("hostile")
    hostile_log(folder)
    opened = usecases(":memory:", folder)
    opened.ingest([folder])
    opened.pin("asked", [15])
    yield opened
    opened.close()


_QUERIES = st.sampled_from(ODD) | st.text(max_size=30)


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(_QUERIES, st.integers(1, 3_000), st.booleans())
def test_s11_any_text_is_a_query_and_no_context_is_above_its_budget(
    hostile: UseCases, query: str, budget: int, compression: bool
) -> None:
    asked = {"budget": budget, "compression": compression}
    makers = (
        lambda: hostile.pack("asked", query, **asked).report,
        lambda: hostile.rebuild("asked", query=query, **asked).report,
    )
    for make in makers:
        try:
            report = make()
        except (PackBudgetError, LocksExceedBudgetError) as error:
            least = error.least
        else:
            least = report.tokens
            printed = json.dumps(report.model_dump(mode="json"))
            assert json.loads(printed)["tokens"] == least <= budget
            continue
        assert least > budget


def test_e02_e03_nothing_of_a_log_ends_the_pack_or_its_fences(hostile: UseCases) -> None:
    report = hostile.pack("asked", "needle look boom", compression=False).report
    assert any("</context-pack>" in line.rendered for line in packed(report))
    opening = report.text.partition("\n")[0]
    assert opening == "<context-pack-2>"
    assert report.text.count("</context-pack-2>") == 1
    assert report.text.endswith("</context-pack-2>")
    headings = [t for t in MarkdownIt().parse(report.text) if t.type == "heading_open"]
    assert not headings, "a line of a log that looks like a heading is none"


@pytest.mark.parametrize("name", ["~nobody-here/x", "x" * 300, "a\0b", "no/such/folder/x"])
def test_e04_what_is_no_place_is_refused_in_one_sentence(
    hostile: UseCases, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    handle = hostile.pack("asked", "needle")
    with pytest.raises(ExportFileError, match="cannot be written") as refusal:
        hostile.save_pack(handle, Path(name))
    assert len(str(refusal.value)) < 500
    assert not list(tmp_path.iterdir())


def test_e06_a_link_planted_at_the_place_of_a_pack_is_not_followed(
    hostile: UseCases, tmp_path: Path
) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine")
    for ending in (".md", ".json"):
        place = tmp_path / f"pack{ending}"
        place.symlink_to(victim)
        with pytest.raises(ExportFileError, match="is a link"):
            hostile.save_pack(hostile.pack("asked", "needle"), tmp_path / "pack.md")
        place.unlink()
        assert sorted(path.name for path in tmp_path.iterdir()) == ["victim"]
    assert victim.read_text() == "mine"


# A store that another process holds, or that a newer version made


def test_s01_a_store_that_is_held_can_be_looked_at_and_refuses_in_a_sentence(
    ullage: Ullage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("storage.connection._BUSY_SECONDS", 0.2)
    write_logs(tmp_path)
    db = tmp_path / "store.db"
    assert ullage("ingest", tmp_path, db=db).code == 0
    expected = ullage("show", NAME, "--json", db=db).out
    holder = sqlite3.connect(db, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    Log(tmp_path, "dddddddd").user("written meanwhile", uuid="d")
    for command in (("pin", NAME, "2"), ("ingest", str(tmp_path))):
        refused = ullage(*command, db=db)
        assert refused.code == 1
        assert "Another process has been writing to" in refused.err
        assert "try again when it is done" in refused.err
        assert "Traceback" not in refused.err
    assert ullage("show", NAME, "--json", db=db).out == expected
    holder.execute("ROLLBACK")
    holder.close()
    assert ullage("pin", NAME, "2", db=db).code == 0
    assert ullage("ingest", tmp_path, db=db).code == 0
    assert len(ullage("sessions", "--json", db=db).value) == 4


def test_s09_every_command_refuses_a_store_of_a_newer_version_and_touches_nothing(
    ullage: Ullage, tmp_path: Path
) -> None:
    write_logs(tmp_path)
    db = tmp_path / "store.db"
    assert ullage("ingest", tmp_path, db=db).code == 0
    newer = sqlite3.connect(db)
    newer.execute("PRAGMA user_version = 99999")
    newer.execute("PRAGMA journal_mode = DELETE")
    newer.close()
    before = db.read_bytes()
    for command in (
        ("sessions",), ("show", NAME), ("ingest", str(tmp_path)), ("pin", NAME, "2"),
        ("pack", NAME, "kiln"), ("decisions",), ("usage",), ("audit",),
        ("export", "--lake", str(tmp_path / "lake")),
    ):  # fmt: skip
        refused = ullage(*command, db=db)
        assert refused.code == 1, command
        assert "newer" in refused.err, command
        assert "Traceback" not in refused.err
    assert db.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir() if path.name.startswith("store")) == [
        "store.db"
    ]
