"""Real sessions that their agents compacted: what was pinned before comes back byte for byte."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from inspector.hooks import LARGEST_CONTEXT, answer
from inspector.usecases import UseCases
from storage.resources import counter
from tests.inspector.logs import rows, usecases

pytestmark = pytest.mark.corpus


def words(log: Path, event: str) -> bytes:
    said = {
        "session_id": log.stem,
        "transcript_path": str(log),
        "hook_event_name": event,
        "trigger": "auto",
        "source": "compact",
    }
    return json.dumps(said).encode()


def pinned(cases: UseCases, session: str, count: int) -> list[str]:
    """Pins the user's first words; gives their texts."""
    seqs = [row.seq for row in rows(cases, session) if row.type == "user/message"][:count]
    cases.pin(session, seqs)
    messages = cases.messages(session).messages
    return [
        block.text
        for message in messages
        for seq, block in zip(message.seqs, message.blocks, strict=False)
        if seq in seqs and block.kind == "text" and message.role == "user"
    ]


@pytest.mark.parametrize(
    "name",
    [
        "entire-2.0.76-compact",
        "entire-2.1.5-apierrors-compact2",
        "entire-2.1.7-compact3-interrupts",
    ],
)
def test_pins_come_back_over_a_real_compaction(corpus: Path, tmp_path: Path, name: str) -> None:
    lines = (corpus / "claude" / f"{name}.jsonl").read_bytes().splitlines(keepends=True)
    cut = next(at for at, line in enumerate(lines) if b'"compact_boundary"' in line)
    log = tmp_path / f"{name}.jsonl"
    log.write_bytes(b"".join(lines[:cut]))
    cases = usecases(tmp_path / "store.db", tmp_path, hook_budget=2_000)
    assert answer(cases, "claude", "pre-compact", words(log, "PreCompact")) == b""
    session = cases.find(str(log))
    kept = [text for text in pinned(cases, session, 2) if len(text) < 1_500]
    assert kept
    for part in (lines[:cut], lines):
        log.write_bytes(b"".join(part))
        made = json.loads(answer(cases, "claude", "session-start", words(log, "SessionStart")))
        text = made["hookSpecificOutput"]["additionalContext"]
        assert all(f"\n{said}\n" in text for said in kept)
        assert counter().count(text) <= 2_100  # the session's own counter is another one
        assert len(text.encode()) <= LARGEST_CONTEXT
    cases.close()
