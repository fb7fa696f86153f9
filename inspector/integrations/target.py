"""What installing for an agent means: which file, and what it holds with Ullage and without."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from inspector.integrations.program import Program


@dataclass(frozen=True, slots=True)
class Place:
    """``project``: the folder, where the project's own settings are meant."""

    home: Path
    environment: Mapping[str, str] = field(default_factory=dict)
    project: Path | None = None

    def folder(self, variable: str, default: str) -> Path:
        """An agent's folder: what the variable names, else a name in the user's home."""
        named = self.environment.get(variable)
        return Path(named).expanduser().absolute() if named else self.home / default


class Target(Protocol):
    """One agent. Every method raises :class:`compress.errors.CompressError` with the reason where
    a file is to be left alone; texts are those of the file, ``None`` where there is none."""

    agent: str
    title: str

    def path(self, place: Place) -> Path:
        """The file that is changed."""
        ...

    def check(self, place: Place) -> None:
        """Refuses where the agent would not load it."""
        ...

    def installed(self, text: str | None, program: Program) -> str:
        """With Ullage in it."""
        ...

    def removed(self, text: str) -> str | None:
        """Without; ``None``: without the file."""
        ...

    def notes(self, place: Place, text: str) -> tuple[str, ...]:
        """What a person should know of the installed text."""
        ...
