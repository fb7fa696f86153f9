"""OpenHands: a conversation is a folder, one file an event."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from storage.sources.base import Record, Stand
from storage.sources.registry import adapter_of, registry
from tests.derivation import read
from tests.storage.sources.openhands_logs import ADAPTER, action, answer, result, user
from tests.storage.sources.openhands_old_logs import made_old
from tests.storage.sources.test_openhands_records import only


def written(folder: Path, rows: list[Any], **more: Any) -> Path:
    """A conversation's folder, as the agent keeps it."""
    (folder / "events").mkdir(parents=True, exist_ok=True)
    for number, row in enumerate(rows):
        name = f"event-{number:05d}-{number:08x}.json"
        (folder / "events" / name).write_text(json.dumps(row))
    llm = {"model": "m", "api_key": "a secret"}
    told = {"id": "c0ffee", "agent": {"llm": llm}, "workspace": {"working_dir": "/repo"}, **more}
    path = folder / "base_state.json"
    path.write_text(json.dumps(told))
    return path


def spent(*answers: str) -> dict[str, Any]:
    """The figures of answers, as the state holds them."""
    usages = [{"prompt_tokens": 9, "completion_tokens": 1, "response_id": a} for a in answers]
    return {"usage_to_metrics": {"agent": {"token_usages": usages}}}


def taken(path: Path, known: list[Record]) -> list[Record]:
    """What is new in a folder, the earlier records known."""
    tail = ADAPTER.tail(path, None, lambda: iter(()))
    records = list(tail.read(final=True).records)
    new = [r for r in records if r.raw not in {old_.raw for old_ in known}]
    return [*known, *new]


def test_a_folder_is_a_conversation_whose_secrets_are_not_read(tmp_path: Path) -> None:
    rows = [user("u", "a"), action("x", "c", "r1"), result("o", "c", "out")]
    path = written(tmp_path / "c0ffee", rows, stats=spent("r1"))
    own = registry()
    assert adapter_of(own, path) is own.for_agent("openhands")
    assert own.log_of(next((path.parent / "events").iterdir())) == path
    records = taken(path, [])
    assert [r.value["table"] for r in records] == [
        "conversation",
        "usage",
        "event",
        "event",
        "event",
        "head",
    ]
    assert not any(b"a secret" in r.raw for r in records)
    reader, found = read(ADAPTER, path, records)
    assert reader.sessions[""].cwd == "/repo"
    assert next(e for e in found[""] if e.native_id == "x").usage is not None


def test_a_folder_that_grows_is_read_on(tmp_path: Path) -> None:
    folder = tmp_path / "c0ffee"
    rows = [user("u", "a"), action("x", "c", "r1")]
    path = written(folder, rows, leaf_event_id="x")
    known = taken(path, [])
    before = ADAPTER.stand(path)
    rows += [result("o", "c", "out"), answer("s", "done")]
    written(folder, rows, leaf_event_id="u", stats=spent("r1"))
    assert isinstance(before, Stand)
    assert before != ADAPTER.stand(path)
    records = taken(path, known)
    assert [r.value["table"] for r in records[len(known) :]] == ["usage", "event", "event", "head"]
    _, found = read(ADAPTER, path, records)
    late = only(found[""], "usage")
    assert late.request == next(e.seq for e in found[""] if e.native_id == "x")
    # Its user went back to the first message.
    assert found[""][-1].meta == {"marker": "rewind"}


def test_a_folder_from_before_the_sdk(tmp_path: Path) -> None:
    folder = tmp_path / "sessions" / "s1" / "events"
    folder.mkdir(parents=True)
    for row in made_old()[:12]:
        (folder / f"{row['id']}.json").write_text(json.dumps(row))
    path = folder / "0.json"
    own = registry()
    assert adapter_of(own, path) is own.for_agent("openhands")
    assert own.log_of(folder / "7.json") == path
    assert adapter_of(own, folder / "7.json") is None
    records = taken(path, [])
    assert [r.value["data"]["id"] for r in records] == list(range(12))
    reader, _ = read(ADAPTER, path, records)
    assert reader.sessions[""].native_id == "s1"


def test_a_sub_agents_folder_names_its_parent(tmp_path: Path) -> None:
    path = written(tmp_path / "c0ffee" / "subagents" / "beef", [user("u", "a")])
    reader, _ = read(ADAPTER, path, taken(path, []))
    facts = reader.sessions[""]
    assert (facts.relation, facts.parent_native_id) == ("subagent", "c0ffee")


def test_where_conversations_are() -> None:
    home = Path("/home/me")
    plain = [(root.path, root.source) for root in ADAPTER.roots({}, home)]
    assert plain == [
        (home / ".openhands/conversations", "default"),
        (home / ".openhands/conversations", "default"),
        (home / ".openhands/sessions", "default"),
    ]
    named = {"OPENHANDS_PERSISTENCE_DIR": "/p", "FILE_STORE_PATH": "/f"}
    assert [str(root.path) for root in ADAPTER.roots(named, home)] == [
        "/p/conversations",
        "/p/conversations",
        "/f/sessions",
    ]
    own = {**named, "OPENHANDS_CONVERSATIONS_DIR": "/c"}
    assert {str(root.path) for root in ADAPTER.roots(own, home)} == {"/c", "/f/sessions"}
