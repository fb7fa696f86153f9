"""SWE-agent's trajectories (``.traj``) and mini-SWE-agent's (``.traj.json``)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from compress.events import ContentBlock
from storage.sources.base import FileReader, Json, Numbering, Root, SourceAdapter
from storage.sources.sweagent_document import blocks_at, runs_of
from storage.sources.sweagent_reader import SweAgentReader

_NAMES = (".traj", ".traj.json")
"""How their files end: the oldest ones of mini-SWE-agent hold a bare list of messages."""


class SweAgentAdapter(SourceAdapter):
    """Reads one document a run."""

    agent: ClassVar[str] = "sweagent"
    revision: ClassVar[int] = 2

    def roots(self, environment: Mapping[str, str], home: Path) -> Iterator[Root]:
        # SWE-agent's own default lies in the folder that it was installed in.
        if folder := environment.get("SWE_AGENT_TRAJECTORY_DIR"):
            yield Root(Path(folder), "**/*.traj", "SWE_AGENT_TRAJECTORY_DIR")
        mini = environment.get("MSWEA_GLOBAL_CONFIG_DIR")
        if mini:
            yield Root(Path(mini), "*.traj.json", "MSWEA_GLOBAL_CONFIG_DIR")
        else:
            shared = environment.get("XDG_CONFIG_HOME")
            base, source = (Path(shared), "XDG_CONFIG_HOME") if shared else (home / ".config", "")
            yield Root(base / "mini-swe-agent", "*.traj.json", source or "default")

    def recognises(self, path: Path, head: Sequence[Json]) -> bool:
        runs = [run for value in head for run in runs_of(value)]
        bare = any(isinstance(value, list) for value in head)
        return bool(runs) and (not bare or path.name.endswith(_NAMES))

    def open(self, path: Path, numbering: Mapping[str, Numbering] | None = None) -> FileReader:
        return SweAgentReader(path, numbering)

    def blocks(self, value: Json, block: int) -> tuple[ContentBlock, ...]:
        return blocks_at(value, block)
