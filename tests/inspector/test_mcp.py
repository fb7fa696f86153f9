"""The server that a running agent asks, through the SDK's own client: in process, and over stdio as
an agent starts it."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

from inspector.mcp_answers import Answers
from inspector.mcp_server import server
from inspector.usecases import UseCases
from storage.resources import counter
from tests.conftest import REPOSITORY
from tests.inspector.logs import Log

FOLDER = Path("/home/u/demo")
"""Where the made sessions ran."""


@pytest.fixture
def log(tmp_path: Path) -> Log:
    logs = tmp_path / "logs"
    logs.mkdir()
    made = Log(logs, "asked")
    made.user("Why is the needle in the haystack?")
    for step in range(1, 5):
        made.step(step, size=1_000)
    return made


@pytest.fixture
def answers(cases: UseCases, log: Log) -> Answers:
    cases.ingest([log.path])
    return Answers(cases, FOLDER)


def text_of(result: Any) -> str:
    (block,) = result.content
    return str(block.text)


async def test_an_agent_may_only_look_unless_it_is_allowed_more(answers: Answers) -> None:
    looks = {"search", "fetch", "pack", "decisions", "pressure"}
    async with Client(server(answers)) as client:
        tools = (await client.list_tools()).tools
        assert {tool.name for tool in tools} == looks
        assert all(tool.annotations and tool.annotations.read_only_hint for tool in tools)
        assert all(tool.description for tool in tools)
    async with Client(server(answers, may_pin=True)) as client:
        tools = (await client.list_tools()).tools
        assert {tool.name for tool in tools} == looks | {"pin", "unpin"}


async def test_what_search_names_fetch_gives_whole_and_in_parts(answers: Answers, log: Log) -> None:
    async with Client(server(answers)) as client:
        found = text_of(await client.call_tool("search", {"query": "content of file 3"}))
        pointer = found.split("  ", 1)[0]
        whole = text_of(await client.call_tool("fetch", {"pointer": pointer}))
        assert whole.startswith("content of file 3\n")
        assert whole.count("line of code") == 1_000
        parts, offset = "", 0
        while True:
            asked = {"pointer": pointer, "offset": offset, "length": 5_000}
            part = text_of(await client.call_tool("fetch", asked))
            body, more, _ = part.partition(f"\n[more: fetch {pointer} from offset ")
            parts, offset = parts + body, offset + 5_000
            if not more:
                break
        assert parts.startswith("content of file 3\n")
        assert parts.count("line of code") == 1_000


async def test_a_pack_stays_within_its_budget(answers: Answers) -> None:
    async with Client(server(answers)) as client:
        for budget in (300, 1_000):
            asked = {"query": "needle in the haystack", "budget": budget}
            text = text_of(await client.call_tool("pack", asked))
            assert "Why is the needle in the haystack?" in text
            assert counter().count(text) <= budget


async def test_a_pack_stays_within_its_budget_whatever_is_cleaned(
    cases: UseCases, tmp_path: Path
) -> None:
    made = Log(tmp_path, "hostile")
    for at in range(60):
        made.user(f"needle {at} " + "\u202e\x07" * 20)
    cases.ingest([made.path])
    async with Client(server(Answers(cases, FOLDER))) as client:
        for budget in (300, 1_000, 3_000):
            asked = {"query": "needle", "budget": budget, "session": "hostile"}
            text = text_of(await client.call_tool("pack", asked))
            assert "needle" in text
            assert "‹U+202E›" in text
            assert counter().count(text) <= budget
        cases.pin("hostile", [2])
        least = cases.pack("hostile", "needle", budget=100_000).report
        pinned = next(row for row in least.lines if row.locked)
        result = await client.call_tool("pack", asked | {"budget": pinned.tokens_raw + 60})
        assert result.is_error
        assert "once control characters are shown by their names" in text_of(result)


async def test_a_pack_that_finds_nothing_says_so(answers: Answers) -> None:
    async with Client(server(answers)) as client:
        said = text_of(await client.call_tool("pack", {"query": "nothingholdsthis"}))
        assert said == "No event of the session holds a word of “nothingholdsthis”."
        said = text_of(await client.call_tool("pack", {"query": "?!"}))
        assert said.startswith("“?!” holds no letter and no digit")
        assert "<context-pack>" in said


async def test_its_own_session_is_the_newest_of_its_folder(answers: Answers) -> None:
    async with Client(server(answers)) as client:
        said = text_of(await client.call_tool("pressure", {}))
        assert " of 200,000" in said
        assert "user " in said
        decisions = text_of(await client.call_tool("decisions", {"limit": 1}))
        assert "Why is the needle in the haystack?" in decisions


async def test_no_session_of_another_folder_is_told_as_its_own(
    cases: UseCases, answers: Answers, tmp_path: Path
) -> None:
    async with Client(server(Answers(cases, tmp_path / "elsewhere"))) as client:
        for tool, asked in (("pressure", {}), ("decisions", {}), ("pack", {"query": "needle"})):
            result = await client.call_tool(tool, asked)
            assert result.is_error
            assert f"No session in the store was in {tmp_path / 'elsewhere'}" in text_of(result)
        assert " of 200,000" in text_of(await client.call_tool("pressure", {"session": "last"}))
        asked = {"query": "needle", "scope": "store"}
        assert "needle" in text_of(await client.call_tool("pack", asked))


async def test_pins_are_operations_and_can_be_taken_back(answers: Answers, cases: UseCases) -> None:
    async with Client(server(answers, may_pin=True)) as client:
        assert "operation o1" in text_of(await client.call_tool("pin", {"seqs": [2]}))
        assert cases.surface("asked", track="plan").nodes[0].pinned
        assert "operation o2" in text_of(await client.call_tool("unpin", {"seqs": [2]}))
    assert [row.kind for row in cases.audit("asked")] == ["pin", "unpin"]


@pytest.mark.parametrize(
    ("tool", "asked", "says"),
    [
        ("fetch", {"pointer": "no pointer"}, "is no pointer"),
        ("fetch", {"pointer": "nobody:3"}, "No session is called"),
        ("fetch", {"pointer": "asked:99999"}, "99999"),
        ("pressure", {"session": "nobody"}, "No session is called"),
        ("pack", {"query": "x", "budget": 1}, "1"),
        ("search", {"query": "x", "session": "nobody"}, "search takes no argument session"),
        ("fetch", {"pointer": "asked:2", "Session": "x"}, "it takes pointer, offset, length"),
    ],
)
async def test_a_refusal_is_one_sentence(
    answers: Answers, tool: str, asked: dict[str, Any], says: str
) -> None:
    async with Client(server(answers)) as client:
        result = await client.call_tool(tool, asked)
        assert result.is_error
        assert says in text_of(result)
        assert "Traceback" not in text_of(result)


async def test_no_control_byte_of_a_log_is_handed_on(cases: UseCases, tmp_path: Path) -> None:
    made = Log(tmp_path, "hostile")
    made.user("look \x1b[2J\x07 here \u202e now")
    cases.ingest([made.path])
    async with Client(server(Answers(cases, FOLDER))) as client:
        for tool, asked in (
            ("search", {"query": "look here"}),
            ("fetch", {"pointer": "hostile:2"}),
            ("pack", {"query": "look here"}),
            ("decisions", {"session": "hostile"}),
        ):
            said = text_of(await client.call_tool(tool, asked))
            assert not {"\x1b", "\x07", "\u202e"} & set(said), tool


async def test_no_control_byte_of_a_name_is_handed_on(cases: UseCases, tmp_path: Path) -> None:
    made = Log(tmp_path, "host\x1b[2J\u202eile\nname")
    made.user("look here")
    cases.ingest([made.path])
    async with Client(server(Answers(cases, FOLDER))) as client:
        for tool in ("search", "pack"):
            said = text_of(await client.call_tool(tool, {"query": "look here"}))
            assert not {"\x1b", "\u202e"} & set(said), tool
        rows = text_of(await client.call_tool("search", {"query": "look here"})).splitlines()
        assert len(rows) == 1


async def test_over_stdio_as_an_agent_starts_it(log: Log, tmp_path: Path) -> None:
    started = StdioServerParameters(
        command=sys.executable,
        args=["-m", "inspector.cli", "mcp", f"--db={tmp_path / 'store.db'}", str(log.path.parent)],
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        cwd=tmp_path,
    )
    async with Client(started) as client:
        said = ""
        async with asyncio.timeout(60):
            while "asked:" not in said:
                said = text_of(await client.call_tool("search", {"query": "haystack"}))
                await asyncio.sleep(0.05)
        assert "Why is the needle in the haystack?" in said
