"""opencode: rows that change in place become records, each once, and what it sends follows."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest

from compress.tokens import CharsOverFour
from storage.ingest import Ingest
from storage.record_sources import AdapterLogs
from storage.sources.opencode import OpencodeAdapter
from storage.sources.registry import registry
from storage.store import Store
from tests.storage.sources import kit
from tests.storage.sources.opencode_store import (
    SESSION,
    OpencodeStore,
    events,
    read,
    sent,
    tool,
)
from tests.storage.store_dump import dump

CLEARED = "[Old tool result content cleared]"
MARK = ("user", "context", "What did we do so far?")


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[OpencodeStore]:
    """An agent that runs: its database is open, and all of it stands in the log."""
    folder = tmp_path / "data" / "opencode"
    folder.mkdir(parents=True)
    running = OpencodeStore(folder / "opencode.db")
    yield running
    running.connection.close()


def looks(folder: Path) -> dict[str, tuple[str, int]]:
    return {
        path.name: (sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns)
        for path in sorted(folder.iterdir())
    }


def test_no_file_of_a_running_agent_is_touched(agent: OpencodeStore, store: Store) -> None:
    agent.ask("msg_1", "hello")
    before = looks(agent.path.parent)
    assert set(before) == {"opencode.db", "opencode.db-wal", "opencode.db-shm"}
    assert read(store, agent.path) == 3
    assert sent(store) == [("user", "text", "hello")]
    assert looks(agent.path.parent) == before


def test_no_file_is_made_beside_a_database_at_rest(tmp_path: Path, store: Store) -> None:
    at_rest = OpencodeStore(tmp_path / "opencode.db")
    at_rest.ask("msg_1", "hello")
    at_rest.connection.close()
    folder = tmp_path / "rest"
    folder.mkdir()
    path = Path(shutil.copy(tmp_path / "opencode.db", folder))
    before = looks(folder)
    assert read(store, path) == 3
    assert sent(store) == [("user", "text", "hello")]
    assert looks(folder) == before


def test_a_version_of_a_row_is_read_once(agent: OpencodeStore, store: Store) -> None:
    agent.ask("msg_1", "hello")
    agent.message("msg_2", "assistant")
    agent.part("prt_1", "msg_2", "text", text="")
    assert read(store, agent.path) == 5
    assert read(store, agent.path) == 0
    agent.part("prt_1", "msg_2", "text", text="there")
    assert read(store, agent.path) == 1
    assert sent(store)[1:] == [("assistant", "text", "there")]
    # Written, and nothing is new.
    agent.part("prt_1", "msg_2", "text", text="there")
    assert read(store, agent.path) == 1
    assert len([e for e in events(store) if e.type == "assistant/message"]) == 1


def test_what_goes_on_after_a_restart_is_what_went_on(agent: OpencodeStore, store: Store) -> None:
    whole = Store(":memory:", registry())
    steady = Ingest(whole, counter_for=lambda _: CharsOverFour())
    agent.ask("msg_1", "hello")
    agent.message("msg_2", "assistant")
    for status in ("pending", "running", "completed"):
        agent.part("prt_1", "msg_2", "tool", **tool(status, "out"))
        steady.run([agent.path])
        read(store, agent.path)
    agent.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    agent.answer("msg_3", "done")
    steady.run([agent.path])
    read(store, agent.path)
    steady.close()
    assert sent(store) == [
        ("user", "text", "hello"),
        ("assistant", "tool_call", "bash"),
        ("user", "tool_result", "out"),
        ("assistant", "text", "done"),
    ]
    assert dump(store)["events"] == dump(whole)["events"]


def test_a_call_without_a_result_was_interrupted(agent: OpencodeStore, store: Store) -> None:
    agent.ask("msg_1", "hello")
    agent.message("msg_2", "assistant")
    agent.part("prt_1", "msg_2", "tool", **tool("running"))
    agent.part("prt_2", "msg_2", "tool", **tool("completed", "out", "c2"))
    read(store, agent.path)
    assert sent(store)[1:] == [
        ("assistant", "tool_call", "bash"),
        ("assistant", "tool_call", "bash"),
        ("user", "tool_result", "out"),
        ("user", "synthetic", "[Tool execution was interrupted]"),
    ]


def test_results_stand_in_the_order_of_their_calls(agent: OpencodeStore, store: Store) -> None:
    agent.ask("msg_1", "hello")
    agent.message("msg_2", "assistant")
    agent.part("prt_1", "msg_2", "tool", **tool("running"))
    agent.part("prt_2", "msg_2", "tool", **tool("completed", "two", "c2"))
    read(store, agent.path)
    agent.part("prt_1", "msg_2", "tool", **tool("completed", "one"))
    read(store, agent.path)
    assert [text for _, kind, text in sent(store) if kind == "tool_result"] == ["one", "two"]


def test_a_pruned_result_is_replaced(agent: OpencodeStore, store: Store) -> None:
    agent.ask("msg_1", "hello")
    agent.message("msg_2", "assistant")
    agent.part("prt_1", "msg_2", "tool", **tool("completed", "out"))
    agent.answer("msg_3", "done")
    read(store, agent.path)
    agent.part("prt_1", "msg_2", "tool", **tool("completed", "out", compacted=1))
    read(store, agent.path)
    assert ("user", "tool_result", CLEARED) in sent(store)
    replaced = [e for e in events(store) if e.op is not None and e.op.op == "replace"]
    assert [e.type for e in replaced] == ["tool/result"]
    # What was sent before is still told.
    assert "out" in [b.text for e in events(store) for b in e.blocks]


@pytest.mark.parametrize("live", [False, True])
@pytest.mark.parametrize("tail", [None, "msg_3"])
def test_a_compaction(agent: OpencodeStore, store: Store, live: bool, tail: str | None) -> None:
    def look() -> None:
        if live:
            read(store, agent.path)

    agent.ask("msg_1", "one")
    agent.answer("msg_2", "two")
    agent.ask("msg_3", "three")
    agent.answer("msg_4", "four")
    look()
    agent.message("msg_5", "user")
    agent.part("prt_5", "msg_5", "compaction", auto=True, tail_start_id=tail)
    look()
    assert not live or sent(store)[-1] == MARK
    agent.message("msg_6", "assistant", summary=True, parentID="msg_5")
    agent.part("prt_6", "msg_6", "text", text="the summary")
    look()
    agent.message("msg_6", "assistant", summary=True, parentID="msg_5", finish="stop")
    look()
    agent.ask("msg_7", "seven")
    read(store, agent.path)
    kept = [("user", "text", "three"), ("assistant", "text", "four")] if tail else []
    summary = ("assistant", "text", "the summary")
    assert sent(store) == [MARK, summary, *kept, ("user", "text", "seven")]
    told = [e.type for e in events(store) if e.type.startswith("compact/")]
    assert told == ["compact/start", "compact/summary", "compact/end"]
    assert [e.type for e in events(store) if e.meta.get("checkpoint")] == ["context/message"]
    assert next(e for e in events(store) if e.type == "compact/start").meta == {"trigger": "auto"}


def test_a_compaction_that_failed_changes_nothing(agent: OpencodeStore, store: Store) -> None:
    agent.ask("msg_1", "one")
    agent.message("msg_2", "user")
    agent.part("prt_2", "msg_2", "compaction", auto=False)
    agent.message("msg_3", "assistant", summary=True, parentID="msg_2", error={"name": "X"})
    read(store, agent.path)
    assert sent(store) == [("user", "text", "one"), MARK]


def test_going_back_and_forth(agent: OpencodeStore, store: Store) -> None:
    agent.ask("msg_1", "one")
    agent.answer("msg_2", "two")
    agent.ask("msg_3", "three")
    agent.answer("msg_4", "four")
    read(store, agent.path)
    before = sent(store)
    agent.revert(SESSION, {"messageID": "msg_3"})
    read(store, agent.path)
    assert sent(store) == before[:2]
    agent.revert(SESSION, None)
    read(store, agent.path)
    assert sent(store) == before
    agent.revert(SESSION, {"messageID": "msg_3"})
    read(store, agent.path)
    agent.remove("msg_3")
    agent.remove("msg_4")
    agent.revert(SESSION, None)
    agent.ask("msg_5", "five")
    read(store, agent.path)
    assert sent(store) == [*before[:2], ("user", "text", "five")]
    assert {e.meta["marker"] for e in events(store) if "marker" in e.meta} == {"rewind"}
    assert "three" in [b.text for e in events(store) for b in e.blocks]


def test_a_failed_answer_is_not_sent_and_a_broken_off_one_is(
    agent: OpencodeStore, store: Store
) -> None:
    agent.ask("msg_1", "one")
    agent.answer("msg_2", "bad", error={"name": "APIError", "data": {"message": "no luck"}})
    agent.ask("msg_3", "two")
    agent.answer("msg_4", "half", error={"name": "MessageAbortedError", "data": {}})
    agent.ask("msg_5", "three")
    read(store, agent.path)
    assert [text for *_, text in sent(store)] == ["one", "two", "half", "three"]
    log = events(store)
    assert [e.meta["message"] for e in log if e.type == "error"] == ["no luck"]
    assert [e.meta["reason"] for e in log if e.type == "turn/end"] == ["error", "interrupted"]


def test_what_the_user_did_not_write_is_context(agent: OpencodeStore, store: Store) -> None:
    agent.message("msg_1", "user")
    agent.part("prt_1", "msg_1", "text", text="look")
    agent.part("prt_2", "msg_1", "text", text="the file's lines", synthetic=True)
    agent.part("prt_3", "msg_1", "text", text="only shown", ignored=True)
    agent.part("prt_4", "msg_1", "file", mime="text/plain", url="file:///x")
    read(store, agent.path)
    assert sent(store) == [("user", "text", "look"), ("user", "context", "the file's lines")]


def test_a_sub_agent_names_its_parent_and_its_call(agent: OpencodeStore, store: Store) -> None:
    agent.ask("msg_1", "one")
    agent.message("msg_2", "assistant")
    part = tool("completed", "found", metadata={"sessionId": "ses_2"})
    agent.part("prt_1", "msg_2", "tool", **part)
    agent.session("ses_2", parent_id=SESSION)
    agent.ask("msg_3", "look it up", "ses_2")
    read(store, agent.path)
    child = next(s for s in store.sessions() if s.native_id == "ses_2")
    assert (child.relation, child.parent_native_id) == ("subagent", SESSION)
    assert child.parent_call_id == "c1"
    assert sent(store, "ses_2") == [("user", "text", "look it up")]
    assert [e.meta for e in events(store) if e.type == "tool/result"] == [{"agent": "ses_2"}]


def test_figures_and_lists(agent: OpencodeStore, store: Store) -> None:
    agent.ask("msg_1", "one")
    agent.message("msg_2", "assistant")
    todos = [{"content": "a", "status": "in_progress"}, {"content": "b", "status": "cancelled"}]
    state = {"status": "completed", "input": {"todos": todos}, "output": ""}
    agent.part("prt_1", "msg_2", "tool", tool="todowrite", callID="c", state=state)
    tokens = {"input": 7, "output": 5, "reasoning": 2, "cache": {"read": 3, "write": True}}
    agent.part("prt_2", "msg_2", "step-finish", reason="stop", tokens=tokens)
    read(store, agent.path)
    log = events(store)
    usage = next(e for e in log if e.type == "usage")
    assert usage.usage is not None
    assert (usage.usage.total_input, usage.usage.output) == (10, 7)
    assert usage.request == next(e.seq for e in log if e.type == "assistant/message")
    items = next(e for e in log if e.type == "artifact/update").meta["items"]
    assert [item["status"] for item in items] == ["in_progress", "completed"]
    assert [e.meta for e in log if e.type == "turn/end"] == [{"reason": "completed"}]


def test_a_damaged_database_is_told_of(agent: OpencodeStore, store: Store, tmp_path: Path) -> None:
    agent.ask("msg_1", "one")
    path = tmp_path / "opencode.db"
    path.write_bytes(b"SQLite format 3\x00" + b"\xff" * 5000)
    assert read(store, path) == 0
    assert [s.native_id for s in store.sessions()] == []


def test_names_that_are_no_text_cost_themselves_alone(
    agent: OpencodeStore, store: Store, tmp_path: Path
) -> None:
    agent.ask("msg_1", "one")
    agent.connection.execute(
        "INSERT INTO part VALUES (x'ff00', 'msg_1', ?, 1, 9e18, '{}')", (SESSION,)
    )
    assert read(store, agent.path) == 3
    assert sent(store) == [("user", "text", "one")]
    agent.connection.execute("ALTER TABLE part RENAME COLUMN data TO zwoelf")
    agent.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    broken = tmp_path / "opencode.db"
    broken.write_bytes(agent.path.read_bytes().replace(b"zwoelf", b"zw\xf6lf."))
    assert read(store, broken) == 0


def test_a_title_that_comes_late_reaches_a_session_that_says_nothing_else(
    agent: OpencodeStore, store: Store
) -> None:
    agent.session("ses_2")
    agent.ask("msg_1", "one")
    agent.ask("msg_2", "two", "ses_2")
    read(store, agent.path)
    agent.session("ses_2", title="Told later")
    for _ in range(2):
        read(store, agent.path)
    assert {s.native_id: s.title for s in store.sessions()} == {SESSION: "T", "ses_2": "Told later"}


@pytest.mark.parametrize("name", ["../../elsewhere", "/etc", "a\0b", "..", "x" * 300, ""])
def test_an_id_that_names_no_folder_of_the_tree_is_not_followed(
    store: Store, tmp_path: Path, name: str
) -> None:
    root = tmp_path / "storage"
    session, message = root / "session/p/ses_1.json", root / "message/ses_1/msg_1.json"
    part, beside = root / "part/msg_1/prt_1.json", tmp_path / "elsewhere/prt_2.json"
    for path, value in (
        (session, {"id": "ses_1", "directory": "/p"}),
        (message, {"id": name, "sessionID": "ses_1", "role": "user"}),
        (part, {"id": "prt_1", "type": "text", "text": "mine"}),
        (beside, {"id": "prt_2", "type": "text", "text": "not mine"}),
    ):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(value))
    read(store, session)
    with store.connections.read() as connection:
        raws = connection.execute("SELECT count(*) FROM records").fetchone()[0]
    assert raws == 3, "the session, its message, the part that lies beside it"


def test_where_it_keeps_its_sessions(agent: OpencodeStore) -> None:
    data = agent.path.parents[1]
    agent.ask("msg_1", "one")
    held = AdapterLogs(OpencodeAdapter(), {"XDG_DATA_HOME": str(data)}, Path("/nowhere"))
    assert len(list(held.records())) == 3
    wal = agent.path.with_name("opencode.db-wal")
    assert registry().log_of(wal) == agent.path


@pytest.mark.corpus
@pytest.mark.parametrize(
    "name",
    [
        "own_1.18_opencode.db",
        "own_1.18_export_tool.json",
        "letta_tool-calls.json",
        "storage_v2/session/proj_test/ses_s_stage0_large.json",
        "storage_v2/session/proj_test/ses_s_stage0_small.json",
    ],
)
def test_real_stores_hold_to_the_laws_of_all_adapters(corpus: Path, name: str) -> None:
    path = corpus / "opencode" / name
    adapter = OpencodeAdapter()
    keeper = registry().keeper(path)
    if keeper is None:
        log = kit.rows_as_records([json.loads(path.read_text("utf-8"))])
    else:
        with keeper.tail(path, None, lambda: iter(())) as tail:
            log = list(tail.read().records)
    kit.check(adapter, path, log)


@pytest.mark.corpus
def test_a_tree_of_files_is_read_and_followed(corpus: Path, store: Store, tmp_path: Path) -> None:
    root = Path(shutil.copytree(corpus / "opencode" / "storage_v2", tmp_path / "storage"))
    for path in (root, *root.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    log = root / "session" / "proj_test" / "ses_s_stage0_small.json"
    assert read(store, log) == 6
    assert [kind for _, kind, _ in sent(store, "s_stage0_small")] == [
        "text",
        "tool_call",
        "text",
        "tool_result",
    ]
    part = root / "part" / "m_user_small" / "002.json"
    part.write_text('{"id": "p_user_2", "type": "text", "text": "and more"}', "utf-8")
    assert registry().log_of(root / "message" / "s_stage0_small" / "msg_0001.json") == log
    assert read(store, log) == 1
    assert ("user", "text", "and more") in sent(store, "s_stage0_small")
    part.write_text('{"id": "p_user', "utf-8")
    assert read(store, log) == 0
