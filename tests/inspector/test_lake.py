"""A lake: every row once, whatever happens between two exports; readable by others as it is."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from compress.errors import CompressError
from inspector.lake_files import columns
from inspector.usecases import UseCases
from storage import blobs, lake_folder
from storage.errors import StorageError
from storage.lake import OtherStoreError
from storage.lake_folder import LakeBusyError, LakeError
from tests.conftest import REPOSITORY
from tests.inspector.conftest import Ullage
from tests.inspector.lakes import exported, files, queries, rows, stored, views
from tests.inspector.logs import NAME, Log, usecases

KEY = "sk-" + "ant-" + "FAKEFAKEFAKEFAKEFAKE0000"


@pytest.fixture
def cases(tmp_path: Path) -> Iterator[UseCases]:
    opened = usecases(tmp_path / "own.db", tmp_path)
    yield opened
    opened.close()


@pytest.fixture
def log(tmp_path: Path) -> Log:
    """A small session of two days."""
    (tmp_path / "logs").mkdir()
    log = Log(tmp_path / "logs")
    log.user("look at two files", timestamp="2026-01-01T23:59:00.000Z")
    log.step(1, size=3)
    log.step(2, size=3)
    return log


def keys(folder: Path) -> list[tuple[Any, ...]]:
    return rows(folder, "events", "session, generation, seq, revision")


def test_every_event_is_there_once_in_the_partition_of_its_day(
    cases: UseCases, log: Log, tmp_path: Path
) -> None:
    cases.ingest([log.path])
    report = exported(cases, tmp_path / "lake")
    assert report.events == cases.events(NAME)
    assert [key[:3] for key in keys(tmp_path / "lake")] == stored(cases)
    folders = {path.parent.relative_to(tmp_path / "lake") for path in
               (tmp_path / "lake" / "events").rglob("*.parquet")}  # fmt: skip
    assert folders == {
        Path("events/agent=claude/day=2026-01-01"),
        Path("events/agent=claude/day=2026-01-02"),
    }


def test_the_content_of_an_event_is_there(cases: UseCases, log: Log, tmp_path: Path) -> None:
    cases.ingest([log.path])
    exported(cases, tmp_path / "lake")
    found = rows(tmp_path / "lake", "events", "type, calls, results, content, step, tokens, op")
    call = next(row for row in found if row[1] and row[1][0]["id"] == "toolu_1")
    assert call[0] == "assistant/message"
    assert call[1] == [{"id": "toolu_1", "name": "Read"}]
    assert json.loads(call[3][0]["input"]) == {"file_path": "/p/f1.py"}
    result = next(row for row in found if row[2] == ["toolu_1"])
    assert result[3][0]["text"].startswith("content of file 1\nline of code\n")
    assert result[6] == "append"


def test_a_second_export_changes_no_file(cases: UseCases, log: Log, tmp_path: Path) -> None:
    cases.ingest([log.path])
    exported(cases, tmp_path / "lake")
    before = files(tmp_path / "lake")
    report = exported(cases, tmp_path / "lake")
    assert (report.files, report.events, report.decisions) == (0, 0, 0)
    assert files(tmp_path / "lake") == before


def test_what_is_new_comes_to_what_is_there(cases: UseCases, log: Log, tmp_path: Path) -> None:
    cases.ingest([log.path])
    exported(cases, tmp_path / "lake")
    before, known = files(tmp_path / "lake"), stored(cases)
    log.step(3, size=3)
    cases.ingest([log.path])
    cases.pin(NAME, [2])
    report = exported(cases, tmp_path / "lake")
    assert report.events == len(stored(cases)) - len(known) >= 3
    assert report.operations == 1
    assert before.items() <= files(tmp_path / "lake").items()
    assert [key[:3] for key in keys(tmp_path / "lake")] == stored(cases)
    assert rows(tmp_path / "lake", "operations", "session, number, operation, type, meta") == [
        (NAME, 1, "o1", "pin/add", '{"node":2}')
    ]


def test_the_same_store_gives_the_same_bytes(cases: UseCases, log: Log, tmp_path: Path) -> None:
    cases.ingest([log.path])
    exported(cases, tmp_path / "one")
    exported(cases, tmp_path / "two")
    assert files(tmp_path / "one") == files(tmp_path / "two")


def test_small_commits_give_the_same_rows(cases: UseCases, log: Log, tmp_path: Path) -> None:
    cases.ingest([log.path])
    exported(cases, tmp_path / "one")
    exported(cases, tmp_path / "two", rows=2)
    for table in ("events", "decisions"):
        assert rows(tmp_path / "one", table) == rows(tmp_path / "two", table)
    assert exported(cases, tmp_path / "two", rows=2).files == 0


def test_a_log_that_was_begun_anew_comes_whole_as_a_new_generation(
    cases: UseCases, log: Log, tmp_path: Path
) -> None:
    cases.ingest([log.path])
    exported(cases, tmp_path / "lake")
    first = log.path.read_bytes().splitlines(keepends=True)
    # The last record is gone, and one that was never seen stands before those that are known.
    kept = [json.loads(line) for line in first[:-1]]
    early = dict(kept[0], uuid="early", message={"role": "user", "content": "before all"})
    kept[0]["parentUuid"] = "early"
    log.path.write_text("".join(json.dumps(row) + "\n" for row in [early, *kept]))
    cases.ingest([log.path])
    assert exported(cases, tmp_path / "lake").events == len(stored(cases))
    assert exported(cases, tmp_path / "lake").files == 0
    with views(tmp_path / "lake") as connection:
        standing = connection.sql("SELECT session, generation, seq FROM events").fetchall()
    assert sorted(standing, key=repr) == stored(cases)
    assert max(Counter(keys(tmp_path / "lake")).values()) == 1


def test_a_revised_event_comes_again_with_a_greater_revision(
    cases: UseCases, tmp_path: Path
) -> None:
    log = _revised_log(cases, tmp_path, "first words")
    exported(cases, tmp_path / "lake")
    log("later words")
    assert exported(cases, tmp_path / "lake").events == 1
    assert exported(cases, tmp_path / "lake").files == 0
    user = "WHERE type = 'user/message'"
    found = rows(tmp_path / "lake", "events", "type, revision, content[1].text")
    assert [row[1:] for row in found if row[0] == "user/message"] == [
        (1, "first words"),
        (2, "later words"),
    ]
    with views(tmp_path / "lake") as connection:
        texts = connection.sql(f"SELECT content[1].text FROM events {user}").fetchall()
    assert texts == [("later words",)]


def _revised_log(cases: UseCases, folder: Path, text: str) -> Callable[[str], None]:
    """A store whose first event can be given another content, as an agent does whose log is a
    table that it updates."""
    log = Log(folder)
    log.user(text)
    log.assistant({"type": "text", "text": "an answer"})
    cases.ingest([log.path])

    def revise(words: str) -> None:
        raw = json.dumps({"type": "user", "uuid": "u1", "message": {"role": "user",
                          "content": words}}).encode()  # fmt: skip
        with cases._store.connections.write() as connection:
            event, record = connection.execute(
                "SELECT id, record_id FROM events WHERE type = 'user/message'"
            ).fetchone()
            blob = blobs.put(connection, blobs.pack(raw))
            connection.execute(
                "INSERT INTO event_revisions SELECT ?1, count(*) + 1, ?2 FROM event_revisions "
                "WHERE event_id = ?1",
                (event, record),
            )
            new = connection.execute(
                "INSERT INTO records (source_id, generation, line, offset, size, blob_id, "
                "blob_offset) SELECT source_id, generation, line, offset, ?, ?, 0 FROM records "
                "WHERE id = ?",
                (len(raw), blob, record),
            ).lastrowid
            connection.execute("UPDATE events SET record_id = ? WHERE id = ?", (new, event))
            connection.execute("UPDATE sources SET records = records + 1")

    return revise


def test_a_decision_point_that_grew_comes_again_with_a_greater_version(
    cases: UseCases, log: Log, tmp_path: Path
) -> None:
    cases.ingest([log.path])
    exported(cases, tmp_path / "lake")
    log.user("and now the third")
    log.step(3, size=3)
    cases.ingest([log.path])
    exported(cases, tmp_path / "lake")
    versions = rows(tmp_path / "lake", "decisions", "stage_index, version, open")
    assert versions == [(1, 1, True), (1, 2, False), (2, 1, True)]
    with views(tmp_path / "lake") as connection:
        newest = connection.sql("SELECT id, open FROM decisions ORDER BY stage_index").fetchall()
    assert newest == [(row.point.id, row.point.open) for row in cases.decisions(NAME).rows]


def test_a_decision_point_that_graduates_comes_again_and_so_does_its_operation(
    log: Log, tmp_path: Path
) -> None:
    log.user("and now the third")
    log.step(3, size=3)
    with_memory(tmp_path, log, 4_000)
    with_memory(tmp_path, log, 0)
    assert rows(tmp_path / "lake", "decisions", "stage_index, version, level") == [
        (1, 1, "L2"),
        (1, 2, "L3"),
        (2, 1, "L2"),
    ]
    assert rows(tmp_path / "lake", "operations", "type, origin") == [("memory/graduate", "policy")]


def with_memory(folder: Path, log: Log, tokens: int) -> None:
    opened = usecases(folder / "own.db", folder, memory_tokens=tokens)
    opened.ingest([log.path])
    exported(opened, folder / "lake")
    assert exported(opened, folder / "lake").files == 0
    opened.close()


def test_secrets_are_masked_unless_told_otherwise(
    cases: UseCases, log: Log, tmp_path: Path
) -> None:
    log.user(f"use {KEY}")
    log.assistant({"type": "tool_use", "id": "t9", "name": "Login", "input": {
        "password": "correcthorse", "deep": [{"api_key": "batterystaple"}]}})  # fmt: skip
    cases.ingest([log.path])
    report = exported(cases, tmp_path / "lake")
    assert report.masked >= 3
    shown = repr(rows(tmp_path / "lake", "events"))
    for secret in (KEY, "correcthorse", "batterystaple"):
        assert secret not in shown
    assert KEY not in repr(rows(tmp_path / "lake", "decisions"))
    found = rows(tmp_path / "lake", "events", "calls, content[1].input, headline")
    call = next(row for row in found if row[0] and row[0][0]["id"] == "t9")
    mark = "[masked: named secret]"
    assert json.loads(call[1]) == {"password": mark, "deep": [{"api_key": mark}]}
    assert call[2] == f"Login {mark}"
    exported(cases, tmp_path / "open", masked=False)
    shown = repr(rows(tmp_path / "open", "events"))
    for secret in (KEY, "correcthorse", "batterystaple"):
        assert secret in shown


def test_half_a_surrogate_pair_does_not_stop_an_export(
    cases: UseCases, log: Log, tmp_path: Path
) -> None:
    log.user("broken \ud83d emoji")
    cases.ingest([log.path])
    exported(cases, tmp_path / "lake")
    texts = [row[0] for row in rows(tmp_path / "lake", "events", "content[1].text")]
    assert any(text and text.startswith("broken ") for text in texts)


def test_the_lake_of_another_store_is_refused(cases: UseCases, log: Log, tmp_path: Path) -> None:
    cases.ingest([log.path])
    exported(cases, tmp_path / "lake")
    other = usecases(tmp_path / "other.db", tmp_path)
    other.ingest([log.path])
    refused(other, tmp_path / "lake", OtherStoreError, "lake of another store")
    other.close()


def test_a_copy_of_the_store_goes_on_with_its_lake(
    cases: UseCases, log: Log, tmp_path: Path
) -> None:
    cases.ingest([log.path])
    exported(cases, tmp_path / "lake")
    cases.close()
    shutil.copy(tmp_path / "own.db", tmp_path / "moved.db")
    moved = usecases(tmp_path / "moved.db", tmp_path)
    assert exported(moved, tmp_path / "lake").files == 0
    moved.close()


def test_an_older_copy_of_the_store_is_refused(cases: UseCases, log: Log, tmp_path: Path) -> None:
    cases.ingest([log.path])
    cases.close()
    shutil.copy(tmp_path / "own.db", tmp_path / "older.db")
    newer, older = (usecases(tmp_path / f"{name}.db", tmp_path) for name in ("own", "older"))
    log.step(3)
    newer.ingest([log.path])
    exported(newer, tmp_path / "lake")
    refused(older, tmp_path / "lake", OtherStoreError, "older copy")
    newer.close()
    older.close()


def test_a_lake_of_another_version_is_refused(
    cases: UseCases, log: Log, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cases.ingest([log.path])
    exported(cases, tmp_path / "lake")
    monkeypatch.setattr(lake_folder, "VERSION", 2)
    refused(cases, tmp_path / "lake", LakeError, "lake of version 1, this Ullage writes version 2")


def test_masked_and_unmasked_rows_never_stand_in_one_lake(
    cases: UseCases, log: Log, tmp_path: Path
) -> None:
    cases.ingest([log.path])
    exported(cases, tmp_path / "lake")
    with pytest.raises(LakeError, match="go on without --unmasked"):
        exported(cases, tmp_path / "lake", masked=False)


@pytest.mark.parametrize("name", ["notes.txt", "events"])
def test_a_folder_that_holds_something_else_is_refused(
    cases: UseCases, tmp_path: Path, name: str
) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / name).write_text("my own")
    refused(cases, folder, LakeError, "holds something else than a lake")
    refused(cases, folder / name, LakeError, "is a file")


def test_two_exports_do_not_write_at_once(cases: UseCases, log: Log, tmp_path: Path) -> None:
    cases.ingest([log.path])
    exported(cases, tmp_path / "lake")
    with (
        lake_folder._held(tmp_path / "lake"),
        pytest.raises(LakeBusyError, match="Another export is writing"),
    ):
        exported(cases, tmp_path / "lake")


def refused(cases: UseCases, folder: Path, error: type[Exception], words: str) -> None:
    before = files(folder) if folder.is_dir() else {}
    with pytest.raises((StorageError, CompressError), match=words) as found:
        exported(cases, folder)
    assert isinstance(found.value, error)
    assert str(found.value).endswith(".")
    assert "\n" not in str(found.value)
    assert (files(folder) if folder.is_dir() else {}) == before


def test_only_this_user_can_read_a_lake(cases: UseCases, log: Log, tmp_path: Path) -> None:
    cases.ingest([log.path])
    exported(cases, tmp_path / "lake")
    for path in [tmp_path / "lake", *(tmp_path / "lake").rglob("*")]:
        assert path.stat().st_mode & 0o077 == 0, path


def test_the_page_in_a_lake_tells_each_column(cases: UseCases, log: Log, tmp_path: Path) -> None:
    cases.ingest([log.path])
    cases.pin(NAME, [2])
    exported(cases, tmp_path / "lake")
    page = (tmp_path / "lake" / "README.md").read_text()
    for table, found in columns().items():
        part = page.split(f"\n## {table}\n")[1].split("\n## ")[0]
        for name, kind in found:
            assert f"| `{name}` | {kind} | " in part
        path = next((tmp_path / "lake" / table).rglob("*.parquet"))
        assert [(f.name, f.type) for f in pq.read_schema(path)] == found


def test_the_command_tells_what_it_added(ullage: Ullage, store: Path, tmp_path: Path) -> None:
    shutil.copy(store, tmp_path / "own.db")
    outcome = ullage("export", "--lake", "lake", "--json", db=tmp_path / "own.db")
    assert outcome.code == 0, outcome.err
    assert outcome.value["events"] == len(rows(tmp_path / "lake", "events"))
    again = ullage("export", "--lake", "lake", db=tmp_path / "own.db")
    assert again.out == "lake has everything already\n"
    assert ullage("export").code == 2
    assert ullage("export", "--lake", "lake", "--otlp", "http://127.0.0.1:1").code == 2


def test_the_queries_of_the_readme_can_be_asked(
    ullage: Ullage, store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(store, tmp_path / "own.db")
    assert ullage("export", "--lake", "lake", db=tmp_path / "own.db").code == 0
    usage = ullage("usage", "--zone", "UTC", "--json", db=tmp_path / "own.db").value
    asked = queries((REPOSITORY / "README.md").read_text())
    assert len(asked) == 3
    with views(tmp_path / "lake") as connection:
        tokens, tools, outcomes = (connection.execute(query).fetchall() for query in asked)
    total = usage["total"]["total"]
    assert sum(row[2] for row in tokens) == total["requests"]
    assert sum(row[-1] or 0 for row in tokens) == total["output"]
    assert {"Bash", "Read", "Edit"} <= {row[0] for row in tools}
    points = ullage("decisions", "--json", db=tmp_path / "own.db").value
    assert sum(row[-1] for row in outcomes) == sum(not point["open"] for point in points)
