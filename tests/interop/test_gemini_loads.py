"""Gemini CLI itself, resuming chats: it sends exactly what the surface shows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from compress.surface import fold
from storage.sources.gemini import GeminiAdapter
from storage.tail import Tail
from tests.derivation import read
from tests.interop.agents import PROBE, GeminiHome, load_with_gemini
from tests.interop.provider import SNAPSHOT, provider
from tests.storage.sources.gemini_logs import HEADER, answer, data, random_log, response, tool, user
from tests.storage.sources.gemini_reference import Line, of_contents
from tests.storage.sources.test_gemini_surface import blocks

pytestmark = pytest.mark.interop

INTERRUPTED = "[The previous response was interrupted before it completed.]"


def ours(path: Path) -> list[Line]:
    """What the surface of a log says would be sent again."""
    with Tail(path) as tail:
        records = tail.read(final=True).records
    return blocks(read(GeminiAdapter(), path, records)[1].get("", []))


def test_its_loader_gives_the_same_for_random_chats(tmp_path: Path, gemini: Path) -> None:
    paths = []
    for seed in range(400):
        rows = random_log(seed)
        paths.append(tmp_path / f"session-{seed}.jsonl")
        paths[-1].write_bytes(data(rows))
    told = load_with_gemini(gemini, paths, tmp_path)
    for path, contents in zip(paths, told, strict=True):
        assert ours(path) == of_contents(contents), path.name


@pytest.mark.corpus
def test_its_loader_gives_the_same_for_the_chats_of_the_corpus(
    corpus: Path, tmp_path: Path, gemini: Path
) -> None:
    names = ("agent-sessions_jsonl_v040.jsonl", "agent-sessions_large.json",
             "letta_tool-calls.json", "own_0.61_rewind_resumed.jsonl")  # fmt: skip
    paths = [corpus / "gemini" / name for name in names]
    for path, contents in zip(paths, load_with_gemini(gemini, paths, tmp_path), strict=True):
        assert ours(path) == of_contents(contents), path.name


def asked(body: dict[str, Any]) -> list[Line]:
    """What a request holds between the CLI's own context and the new prompt."""
    lines = of_contents(body["contents"])
    assert lines[0][3].startswith("<session_context>")
    assert lines[-1][1:] == ("text", None, PROBE)
    lines = lines[1:-1]
    return lines[:-1] if lines and lines[-1][3] == INTERRUPTED else lines


def rows(name: str) -> list[dict[str, Any]]:
    session = {**HEADER, "sessionId": name}
    first = answer("g1", "so", thoughts=[{"subject": "S", "description": "D"}])
    calls = [tool("read_file__fc-1", "one"), tool("read_file__fc-2", "two")]
    results = [response(call["id"], out) for call, out in zip(calls, ("one", "two"), strict=True)]
    return [
        session,
        user("u1", "Ünd weiter 😀"),
        first,
        {**first, "toolCalls": calls},
        user("u2", *results),
        answer("g2", "done"),
        user("u3", "left"),
        {"$rewindTo": "u3"},
        user("u4", "again"),
        answer("g3", "", toolCalls=[tool("c9", status="cancelled")]),
        user("u5", "/compress"),
    ]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["lines", "document", "results at the end", "resumed"])
def test_the_program_sends_what_the_surface_shows(tmp_path: Path, gemini: Path, kind: str) -> None:
    name = "aaaaaaaa-4982-4224-9701-796520c580a0"
    log = rows(name)
    if kind == "results at the end":
        log = log[:5]
    with provider() as running:
        home = GeminiHome(tmp_path, running.root)
        path = home.chats / "session-2026-01-01T10-00-aaaaaaaa.jsonl"
        if kind == "document":
            path = path.with_suffix(".json")
            messages = {row["id"]: row for row in log if "id" in row and row["id"] != "u3"}
            whole = {**log[0], "messages": list(messages.values())}
            path.write_text(json.dumps(whole, indent=2), encoding="utf-8")
        else:
            path.write_bytes(data(log))
        if kind == "resumed":
            home.resume(name, "once before")
        said = ours(path)
        running.requests.clear()
        home.resume(name)
    assert len(running.requests) == 1
    assert asked(running.requests[0]) == said
    assert len(said) > 4


@pytest.mark.slow
def test_its_own_compression_is_told_and_what_it_kept_keeps_its_nodes(
    tmp_path: Path, gemini: Path
) -> None:
    name = "bbbbbbbb-4982-4224-9701-796520c580a0"
    log: list[dict[str, Any]] = [{**HEADER, "sessionId": name}]
    for number in range(12):
        log.append(user(f"u{number}", f"question {number} " + "word " * 800))
        log.append(answer(f"g{number}", f"answer {number} " + "reply " * 800))
    with provider() as running:
        home = GeminiHome(tmp_path, running.root, threshold=0.01)
        path = home.chats / "session-2026-01-01T10-00-bbbbbbbb.jsonl"
        path.write_bytes(data(log))
        home.resume(name)
    (request,) = running.requests
    assert asked(request) == ours(path)[:-2]
    with Tail(path) as tail:
        told = read(GeminiAdapter(), path, tail.read(final=True).records)[1][""]
    (summary,) = [event for event in told if event.meta.get("checkpoint")]
    assert summary.blocks[0].text == SNAPSHOT
    standing = fold(told).nodes
    assert standing.index(summary.seq) == 1
    first = {event.blocks[0].text: event.seq for event in reversed(told) if event.blocks}
    kept = [first[text] for role, _, _, text in asked(request)[2:]]
    assert kept == list(standing[3:-2])
    assert max(kept) < summary.seq
    assert [event.type for event in told if event.type.startswith("compact/")] == [
        "compact/start",
        "compact/summary",
        "compact/end",
    ]
