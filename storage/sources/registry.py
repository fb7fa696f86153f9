"""All adapters, in the order in which they are asked to recognise a file."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from storage.sources.atif import AtifAdapter
from storage.sources.base import Json, LogTail, Registry, SourceAdapter
from storage.sources.batch import BatchAdapter
from storage.sources.chat import ChatAdapter
from storage.sources.claude import ClaudeAdapter
from storage.sources.cline import ClineAdapter
from storage.sources.codex import CodexAdapter
from storage.sources.copilot import CopilotAdapter
from storage.sources.dsh import DshAdapter
from storage.sources.gemini import GeminiAdapter
from storage.sources.opencode import OpencodeAdapter
from storage.sources.openhands import OpenhandsAdapter
from storage.sources.pi import PiAdapter
from storage.sources.sweagent import SweAgentAdapter
from storage.tail import Tail

HEAD_RECORDS = 20


@cache
def approximation(agent: str) -> str | None:
    """Why what is shown of this agent is not just what it sends; ``None`` where it is, or where
    the agent is not known."""
    found = (a.approximate for a in registry().adapters if a.agent == agent)
    return next(found, None)


def registry() -> Registry:
    """One instance of every adapter. Plain chat comes last: it takes what has roles. SWE-agent
    comes before OpenHands: an item of its history may name an action as that one does."""
    return Registry(
        [
            ClaudeAdapter(),
            CodexAdapter(),
            PiAdapter(),
            DshAdapter(),
            GeminiAdapter(),
            OpencodeAdapter(),
            CopilotAdapter(),
            ClineAdapter(),
            SweAgentAdapter(),
            OpenhandsAdapter(),
            AtifAdapter(),
            BatchAdapter(),
            ChatAdapter(),
        ]
    )


def head(path: Path, keeper: SourceAdapter | None = None) -> list[Json]:
    """The values of the file's first records, at most :data:`HEAD_RECORDS`; damaged lines and
    lines above the cap left out. Empty for a file that cannot be read. ``keeper``: the adapter
    that reads it itself."""
    if keeper is None:
        tail: LogTail = Tail(path, batch_rows=HEAD_RECORDS)
    else:
        tail = keeper.tail(path, None, lambda: iter(()))
    with tail:
        batch = tail.read(final=True)
    return [record.value for record in batch.records if record.value is not None]


def adapter_of(adapters: Registry, path: Path) -> SourceAdapter | None:
    """The adapter that knows this file by its content, or ``None``."""
    return adapters.recognise(path, head(path, adapters.keeper(path)))
