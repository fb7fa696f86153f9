"""OpenHands: what reading a long log costs, in steps; a log may name anything."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from compress.events import Replace
from compress.messages import openhands as messages
from storage.sources import openhands_events, openhands_tree
from storage.sources.openhands_events import Entry
from storage.sources.openhands_session import step_to
from storage.sources.openhands_view import Conversation, Forgotten, Item
from tests.storage.sources.openhands_logs import ADAPTER, Json, action, events, lines, result, sent
from tests.storage.sources.openhands_old_logs import of, old, response, seen
from tests.storage.sources.test_openhands_folder import spent, taken, written

MANY = 200


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Callable[[Any, str], list[Any]]:
    """Counts the calls of a module's function: gives the list that they are noted in."""

    def count(module: Any, name: str) -> list[Any]:
        calls: list[Any] = []
        plain = getattr(module, name)

        def noting(value: Any) -> Any:
            calls.append(name)
            return plain(value)

        monkeypatch.setattr(module, name, noting)
        return calls

    return count


def test_a_condensation_may_forget_more_numbers_than_there_is_room_for() -> None:
    edges: Json = {"forgotten_events_start_id": 2, "forgotten_events_end_id": 2**53}
    said = [old(number, "message", "user", content=f"m{number}") for number in range(1, 5)]
    others = [
        {**old(0, "message", "user", content=name), "id": name} for name in ("03", "٣", "9" * 5000)
    ]
    log = events([*said, *others, old(6, "condensation", **edges)])
    told = [text.strip() for _, _, _, text in lines(log)]
    assert told == ["m1", "03", "٣", "9" * 5000]


def test_ranges_that_meet_are_one() -> None:
    forgotten, wanted = Forgotten(), set[int]()
    for start, stop in ((5, 7), (20, 25), (7, 9), (3, 3), (30, 31), (1, 6), (22, 40), (50, 51)):
        forgotten.add(range(start, stop))
        wanted |= set(range(start, stop))
        assert {number for number in range(60) if str(number) in forgotten} == wanted
    assert (forgotten._starts, forgotten._stops) == ([1, 20, 50], [9, 40, 51])


def test_answers_that_nothing_answers_are_not_looked_at_again(
    counted: Callable[[Any, str], list[Any]],
) -> None:
    rows: list[Any] = []
    for number in range(MANY):
        rows.append(of(old(number, "run", command="ls"), response(f"r{number}", f"c{number}"), ""))
        rows[-1]["tool_call_metadata"]["tool_call_id"] = f"c{number}"
    last = of(seen(MANY, "run", "out", 0), response("r0", "c0"), "c0")
    log = events([*rows, last])
    looked = counted(messages, "_calls")
    assert [[b.id for b in message.blocks if b.id] for message in sent(log)] == [["c0"], ["c0"]]
    assert len(looked) < 5 * MANY


def test_the_figures_of_a_state_are_taken_apart_once(
    tmp_path: Path, counted: Callable[[Any, str], list[Any]]
) -> None:
    path = written(tmp_path / "c0ffee", [], stats=spent(*map(str, range(MANY))))
    looked = counted(openhands_tree, "_usages")
    records = taken(path, [])
    assert [r.value["table"] for r in records].count("usage") == MANY
    assert len(looked) <= 2


def test_figures_of_a_state_that_changed_are_taken_anew(tmp_path: Path) -> None:
    path = written(tmp_path / "c0ffee", [], stats=spent("r1"))
    first = taken(path, [])
    path.write_text(json.dumps({"id": "c0ffee", "stats": spent("r1", "r2")}))
    new = taken(path, first)[len(first) :]
    assert [r.value["data"]["response_id"] for r in new if r.value["table"] == "usage"] == ["r2"]


class Counted(int):
    """A node that counts how often it is looked up."""

    looked = 0

    def __hash__(self) -> int:
        Counted.looked += 1
        return super().__hash__()


def test_what_a_condensation_keeps_is_told_in_one_walk() -> None:
    before = [Counted(number) for number in range(MANY)]
    kept = before[2::2]
    Counted.looked = 0
    op, sources = step_to(before, [before[0], MANY, *kept], MANY)
    assert op == Replace(start=1, end=MANY - 1, keep=tuple(kept))
    assert sources == (*before[1::2], MANY)
    assert Counted.looked < 10 * MANY


class Watched(list[Item]):
    """A view that must not be walked."""

    def __iter__(self) -> Iterator[Item]:
        raise AssertionError("the whole view is walked")


def test_calls_that_wait_are_known_without_a_walk() -> None:
    conversation = Conversation()
    for call in ("c", "d", "e"):
        conversation.add(Item(f"a{call}", Entry("action", call=call)), None)
    conversation.add(Item("rd", Entry("result", call="d")), None)
    conversation.view = Watched(conversation.view)
    assert conversation.waiting() == ["c", "e"]


def test_a_call_whose_result_was_forgotten_waits_again() -> None:
    conversation = Conversation()
    conversation.add(Item("a", Entry("action", call="c")), None)
    conversation.add(Item("r", Entry("result", call="c")), None)
    assert conversation.waiting() == []
    conversation.add(Item("k", Entry("condensation", forgets=["r"])), None)
    assert conversation.waiting() == ["c"]
    conversation.go_to(conversation.items["r"])
    assert conversation.waiting() == []


def test_a_block_of_a_list_costs_the_way_to_its_action(
    counted: Callable[[Any, str], list[Any]],
) -> None:
    rows: list[Any] = []
    for number in range(MANY):
        seen_ = result(f"o{number}", "", "out", of=f"a{number}")
        del seen_["tool_call_id"]
        rows += [action(f"a{number}", f"c{number}", f"r{number}"), seen_]
    log = [event for event in events([rows]) if event.type == "tool/result"]
    looked = counted(openhands_events, "call_of")
    blocks = [ADAPTER.blocks(rows, event.block) for event in log]
    assert [each[0].id for each in blocks] == [f"c{number}" for number in range(MANY)]
    assert blocks == [event.blocks for event in log]
    assert len(looked) < 5 * MANY


def test_of_actions_with_one_id_a_result_belongs_to_the_nearest_before_it() -> None:
    def given(name: str, of_: str) -> Any:
        row = result(name, "", "out", of=of_)
        del row["tool_call_id"]
        return row

    rows = [given("o0", "b"), action("a", "c1", "r1"), given("o1", "a"), action("a", "c2", "r2")]
    rows += [given("o2", "a"), action("b", "c3", "r3"), given("o3", "gone")]
    log = [event for event in events([rows]) if event.type == "tool/result"]
    assert [event.blocks[0].id for event in log] == ["c3", "c1", "c2", "gone"]
    assert [ADAPTER.blocks(rows, event.block) for event in log] == [e.blocks for e in log]
