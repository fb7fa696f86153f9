"""Cline: the files of its tasks and sessions, where they are, and those of the corpus."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from compress.messages import derive_messages
from compress.surface import fold
from storage.row_tail import RowTail
from storage.sources.cline import ClineAdapter
from storage.sources.cline_tail import ClineTail
from storage.sources.registry import adapter_of, registry
from storage.store import Store
from storage.tail import Tail
from tests.derivation import content, read
from tests.storage.sources import opencode_store
from tests.storage.sources.cline_cases import random_session, random_task, sent, shown
from tests.storage.sources.cline_logs import (
    MANIFEST,
    SESSION,
    TASK,
    compaction,
    document,
    screen,
    summary,
    talk,
    write,
)

ADAPTER = ClineAdapter()


def task(folder: Path, told: list[Any]) -> Path:
    path = folder / "tasks" / "7" / "api_conversation_history.json"
    write(path, told)
    return path


def test_a_task_is_followed_by_what_changed(tmp_path: Path, store: Store) -> None:
    path = task(tmp_path, talk(2))
    assert opencode_store.read(store, path) == 2
    assert opencode_store.read(store, path) == 0
    task(tmp_path, talk(3))
    assert opencode_store.read(store, path) == 1
    write(path.with_name("ui_messages.json"), [screen("task", "x", at=-1)])
    assert opencode_store.read(store, path) == 1


def test_a_file_that_is_half_written_changes_nothing(tmp_path: Path, store: Store) -> None:
    path = task(tmp_path, talk(6))
    entries = [screen("text", "x", at=5, deleted=[2, 3])]
    write(path.with_name("ui_messages.json"), entries)
    opencode_store.read(store, path)
    before = shown(path)
    path.with_name("ui_messages.json").write_text("[{", encoding="utf-8")
    assert opencode_store.read(store, path) == 0
    path.write_text("[{", encoding="utf-8")
    assert opencode_store.read(store, path) == 0
    with ClineTail(path) as tail:
        assert (tail.read().state, tail.read().reason) == ("skipped", "not a whole document")
    task(tmp_path, talk(6))
    write(path.with_name("ui_messages.json"), entries)
    assert opencode_store.read(store, path) == 0
    assert shown(path) == before


def test_a_compaction_is_followed_and_survives_a_restart(tmp_path: Path, store: Store) -> None:
    path = tmp_path / "s" / "s.messages.json"
    write(path, document(SESSION[:4]))
    opencode_store.read(store, path)
    state = compaction(SESSION[:4], [summary("in short"), SESSION[3]])
    write(path.with_name("s.compaction.json"), state)
    assert opencode_store.read(store, path) == 1
    write(path, document(SESSION))
    assert opencode_store.read(store, path) == 2
    log = opencode_store.events(store, "s-1")
    messages = derive_messages(content(fold(log), log), "cline")
    followed = [[block.text for block in message.blocks] for message in messages]
    assert followed == [[words for *_, words in blocks] for _, blocks in shown(path)]
    assert [texts[0] for texts in followed[:3]] == ["be good", "in short", "done"]


@pytest.mark.parametrize("seed", range(24))
def test_a_conversation_that_is_followed_is_the_one_that_is_read_anew(
    seed: int, tmp_path: Path
) -> None:
    """Messages come and go, ranges are left out, texts replaced, lists compacted, in any order."""
    draw = Random(seed)
    is_task = bool(seed % 2)
    told = (random_task if is_task else random_session)(seed)["messages"]
    path = tmp_path / ("7/api_conversation_history.json" if is_task else "s/s.messages.json")
    reader, events = ADAPTER.open(path), []
    with ClineTail(path) as tail:
        number = 1
        for step in range(8):
            number = max(1, min(len(told), number + draw.choice((-2, 0, 1, 2, 3))))
            (change_task if is_task else change_session)(path, told[:number], draw, step)
            more = True
            while more:
                batch = tail.read()
                more = batch.more
                for record in batch.records:
                    events += [e for derived in reader.feed(record) for e in derived.events]
            assert sent(events) == shown(path)


def change_task(path: Path, told: list[Any], draw: Random, step: int) -> None:
    """Writes the files of a task that has these messages now."""
    ends = range(3, len(told), 2)
    deleted = [2, draw.choice(ends)] if ends and draw.random() < 0.5 else None
    write(path, told)
    write(path.with_name("ui_messages.json"), [screen("text", "", at=0, deleted=deleted)] * step)
    index = draw.randrange(len(told))
    change = [[step, "text", [f"edit {step}"], []]]
    edits = [[index, [0, [[0, change]]]]] if draw.random() < 0.5 else []
    write(path.with_name("context_history.json"), edits)


def change_session(path: Path, told: list[Any], draw: Random, step: int) -> None:
    """Writes the files of a session that has these messages now."""
    write(path, document(told))
    state = path.with_name("s.compaction.json")
    replaced = draw.randint(0, len(told))
    kept = told[draw.randint(0, replaced) : replaced]
    match draw.choice("awr"):
        case "w":
            write(state, compaction(told[:replaced], [summary(f"in short {step}"), *kept]))
        case "r":
            state.unlink(missing_ok=True)


def test_the_list_of_tasks_says_what_is_left_out(tmp_path: Path) -> None:
    path = task(tmp_path, talk(6))
    tasks = [{"id": "6"}, {"id": "7", "task": "t", "conversationHistoryDeletedRange": [2, 3]}]
    write(tmp_path / "state" / "taskHistory.json", tasks)
    assert [blocks[0][2] for _, blocks in shown(path)] == [
        "<task>u0</task>",
        "a1",
        "<task>u4</task>",
        "a5",
    ]


def test_files_beside_belong_to_their_conversation(tmp_path: Path) -> None:
    path = task(tmp_path, TASK)
    session = tmp_path / "sessions" / "s" / "s.messages.json"
    write(session, document())
    write(session.with_name("s.json"), MANIFEST)
    assert ADAPTER.log_of(path.with_name("ui_messages.json")) == path
    assert ADAPTER.log_of(session.with_name("s.json")) == session
    assert ADAPTER.log_of(session.with_name("s.compaction.json")) == session
    assert ADAPTER.log_of(tmp_path / "other.json") == tmp_path / "other.json"
    assert ADAPTER.keeps(path)
    assert ADAPTER.keeps(session)
    chat = tmp_path / "chat.messages.json"
    write(chat, {"messages": talk(2)})
    assert not ADAPTER.keeps(chat)
    for log in (path, session):
        found = adapter_of(registry(), log)
        assert found is not None
        assert found.agent == "cline"
        assert isinstance(ADAPTER.tail(log, None, lambda: iter(())), RowTail)


def test_forks_that_send_the_same_files_otherwise_are_left_alone(tmp_path: Path) -> None:
    roo = tmp_path / "rooveterinaryinc.roo-cline" / "tasks" / "7" / "api_conversation_history.json"
    write(roo, talk(4))
    kilo = task(tmp_path, talk(4))
    write(kilo.with_name("history_item.json"), {"id": "7"})
    for path in (roo, kilo):
        assert not ADAPTER.keeps(path)
        found = adapter_of(registry(), path)
        assert found is not None
        assert found.agent == "chat"


def test_a_copy_of_a_document_is_the_same_conversation(tmp_path: Path) -> None:
    path = tmp_path / "copy.json"
    write(path, document())
    assert adapter_of(registry(), path) is not None
    with Tail(path) as tail:
        reader, events = read(ADAPTER, path, tail.read(final=True).records)
    assert reader.recognised == 1
    messages = derive_messages(content(fold(events[""]), events[""]), "cline")
    copied = [(m.role, [b.text for b in m.blocks]) for m in messages]
    original = tmp_path / "s" / "s.messages.json"
    write(original, document())
    assert copied == [(role, [words for *_, words in blocks]) for role, blocks in shown(original)]


# -------------------------------------------------------------------------------- where they are


def roots(environment: dict[str, str], home: Path) -> list[tuple[str, str]]:
    return [(str(root.path), root.source) for root in ADAPTER.roots(environment, home)]


def test_its_folders_are_those_of_its_own_variables(tmp_path: Path) -> None:
    assert roots({"CLINE_DATA_DIR": "/d", "CLINE_DIR": "/c"}, tmp_path)[:2] == [
        ("/d/sessions", "CLINE_DATA_DIR"),
        ("/d/tasks", "CLINE_DATA_DIR"),
    ]
    assert roots({"CLINE_DIR": "/c"}, tmp_path)[0] == ("/c/data/sessions", "CLINE_DIR")
    own = roots({"CLINE_SESSION_DATA_DIR": "/s"}, tmp_path)
    assert own[0] == ("/s", "CLINE_SESSION_DATA_DIR")
    assert own[1] == (str(tmp_path / ".cline" / "data" / "tasks"), "default")


def test_each_editor_that_has_used_it_is_looked_into(tmp_path: Path) -> None:
    never = roots({}, tmp_path)[2:]
    default = tmp_path / ".config/Code/User/globalStorage/saoudrizwan.claude-dev/tasks"
    assert never == [(str(default), "default")]
    for place in (".config/Cursor/User", ".vscode-server/data/User"):
        (tmp_path / place / "globalStorage/saoudrizwan.claude-dev").mkdir(parents=True)
    found = [path for path, _ in roots({}, tmp_path)[2:]]
    assert [Path(path).relative_to(tmp_path).parts[:2] for path in found] == [
        (".config", "Cursor"),
        (".vscode-server", "data"),
    ]


# ------------------------------------------------------------------------------------- the corpus


@pytest.mark.corpus
@pytest.mark.parametrize("name", ["sdk_session.messages.json", "sdk_agentic.compaction.json"])
def test_sessions_of_the_corpus(corpus: Path, name: str) -> None:
    path = corpus / "cline" / name
    adapters = registry()
    found = adapter_of(adapters, path)
    assert found is not None
    assert found.agent == "cline"
    with found.tail(path, None, lambda: iter(())) if found.keeps(path) else Tail(path) as tail:
        records = tail.read(final=True).records
    reader, events = read(ADAPTER, path, records)
    assert (reader.recognised, reader.unknown_types) == (len(records), {})
    told = json.loads(path.read_text(encoding="utf-8"))
    expected = [("system", ["text"])]
    for message in told["messages"]:
        kinds = [_KINDS.get(part["type"], part["type"]) for part in message["content"]]
        expected.append((message["role"], kinds))
    messages = derive_messages(content(fold(events[""]), events[""]), "cline")
    assert [(m.role, [b.kind for b in m.blocks]) for m in messages] == expected
    spoken = [b.text for m in messages if m.role == "assistant" for b in m.blocks if b.text]
    assert spoken == [
        part["text"]
        for message in told["messages"]
        for part in message["content"]
        if message["role"] == "assistant" and part["type"] == "text"
    ]
    figures = [m["metrics"] for m in told["messages"] if "metrics" in m]
    costs = [event.usage for event in events[""] if event.usage is not None]
    assert [usage.total_input for usage in costs] == [m["inputTokens"] for m in figures]
    assert reader.sessions[""].native_id == told["sessionId"]


_KINDS = {"tool_use": "tool_call", "file": "context"}
