"""The writers of resumable copies, by agent."""

from __future__ import annotations

from storage.resume.base import ResumeRefusedError, Writer
from storage.resume.claude import ClaudeWriter
from storage.resume.codex import CodexWriter
from storage.resume.pi import PiWriter


def writers() -> dict[str, Writer]:
    """One instance of every writer, by the agent's short name."""
    found: tuple[Writer, ...] = (ClaudeWriter(), CodexWriter(), PiWriter())
    return {writer.agent: writer for writer in found}


def writer_for(agent: str, session: str) -> Writer:
    """The writer of an agent. Raises :class:`ResumeRefusedError` where there is none."""
    known = writers()
    if agent not in known:
        labels = ", ".join(writer.label for writer in known.values())
        raise ResumeRefusedError(
            f"{session} is a session of {agent}, whose format no copy can be written in (but in "
            f"those of {labels}): take its messages with ullage show {session} --track plan "
            "--messages."
        )
    return known[agent]
