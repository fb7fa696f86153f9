"""Trajectories in the Agent Trajectory Interchange Format (Harbor's ATIF)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from compress.events import ContentBlock
from storage.sources.atif_document import blocks_at, is_trajectory
from storage.sources.atif_reader import AtifReader
from storage.sources.base import FileReader, Json, Numbering, SourceAdapter


class AtifAdapter(SourceAdapter):
    """Has no place of its own: it reads what it is pointed at."""

    agent: ClassVar[str] = "atif"
    revision: ClassVar[int] = 1

    def recognises(self, path: Path, head: Sequence[Json]) -> bool:
        return any(map(is_trajectory, head))

    def open(self, path: Path, numbering: Mapping[str, Numbering] | None = None) -> FileReader:
        return AtifReader(path, numbering)

    def blocks(self, value: Json, block: int) -> tuple[ContentBlock, ...]:
        return blocks_at(value, block)
