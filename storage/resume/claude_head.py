"""What the whole log of Claude Code says for a copy: the project that it belongs to, its title."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from storage.resume.base import Original
from storage.sources.values import mapping, string

_NOT_PLAIN = re.compile(r"[^A-Za-z0-9]")
_TITLES = ("summary", "ai-title", "custom-title")
"""Record types that hold a title, from the weakest to the strongest."""


@dataclass(frozen=True, slots=True)
class LogFacts:
    """Of one log."""

    project: str | None
    """The folder in which the agent must be started to find the session."""
    title: Original | None
    """The record of its title."""
    prompt: str
    """What the person asked last, as the log's newest pointer has it; it may be empty."""

    @property
    def folder(self) -> str:
        """The project's folder among the agent's logs."""
        return folder_of(self.project or "")


def folder_of(project: str) -> str:
    """How the agent names the folder of a project's sessions."""
    return _NOT_PLAIN.sub("-", project)


def read_facts(records: Iterable[Original], beside: str) -> LogFacts:
    """``beside`` is the name of the folder that the log lies in. A session may move on to another
    folder: the project is the one that the log's own folder is named after, else the first."""
    folders: dict[str, None] = {}
    uuids: set[str] = set()
    titles: list[tuple[int, str, Original]] = []
    prompt = ""
    for record in records:
        value = mapping(record.value)
        cwd, uuid, kind = value.get("cwd"), string(value.get("uuid")), value.get("type")
        if isinstance(cwd, str) and cwd:
            folders.setdefault(cwd)
        if uuid:
            uuids.add(uuid)
        if kind == "last-prompt":
            prompt = string(value.get("lastPrompt"))
        elif isinstance(kind, str) and kind in _TITLES:
            titles.append((_TITLES.index(kind), string(value.get("leafUuid")), record))
    # An older summary may be the title of another file.
    own = [title for title in titles if title[0] or title[1] in uuids]
    newest = max(enumerate(own), key=lambda pair: (pair[1][0], pair[0]), default=None)
    named = (folder for folder in folders if folder_of(folder) == beside)
    return LogFacts(
        project=next(named, next(iter(folders), None)),
        title=None if newest is None else newest[1][2],
        prompt=prompt,
    )
