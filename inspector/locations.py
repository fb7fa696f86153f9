"""From what a person names (paths, or nothing) to the log files to read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from storage.bytesource import ZSTD_SUFFIXES
from storage.sources.base import Registry
from storage.sources.discovery import Discovery, discover, readable, variables
from storage.watch import files_below

LOG_SUFFIXES = (".jsonl", ".json", ".traj", *ZSTD_SUFFIXES)
"""Of files that are meant as logs; a log of another name is one that an adapter keeps."""


@dataclass(frozen=True, slots=True)
class Found:
    """Files to read, the newest first; folders to follow; what was passed over, a line each."""

    paths: tuple[Path, ...]
    folders: tuple[Path, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Place:
    """A place where logs were looked for."""

    agent: str
    """Whose logs lie there; empty for a path that a person named."""
    folder: str
    """``~`` for the home folder."""
    there: bool
    files: int
    """Logs below it, by their names."""
    variables: tuple[str, ...] = ()
    """Environment variables that would name another place."""


class Locations:
    """Finds logs: below the agents' own folders, or below the paths that are given."""

    def __init__(self, registry: Registry, environment: Mapping[str, str], home: Path) -> None:
        self._registry = registry
        self._environment = environment
        self._home = home

    def discovery(self) -> Discovery:
        """All agents' logs on this machine."""
        return discover(self._registry, self._environment, self._home)

    def places(self, paths: Sequence[Path]) -> tuple[Place, ...]:
        """Where logs are looked for, whether there are any or not: ``paths``, or each agent's own
        folders where there are none."""
        if paths:
            return tuple(
                Place("", self._shown(path), path.exists(), len(self.files([path]).paths))
                for path in paths
            )
        counts = Counter(candidate.root for candidate in self.discovery().candidates)
        return tuple(
            Place(
                adapter.agent,
                self._shown(root.path),
                root.path.is_dir(),
                counts[root],
                tuple(sorted(variables(Registry([adapter]), self._home))),
            )
            for adapter in self._registry.adapters
            for root in adapter.roots(self._environment, self._home)
        )

    def _shown(self, path: Path) -> str:
        inside = path.is_relative_to(self._home)
        return f"~/{path.relative_to(self._home)}" if inside else str(path)

    def roots(self, agent: str) -> list[Path]:
        """The folders of one agent's logs, whether they exist or not."""
        adapter = self._registry.for_agent(agent)
        return [root.path for root in adapter.roots(self._environment, self._home)]

    def files(self, paths: Sequence[Path]) -> Found:
        """The logs below ``paths``; every agent's own ones where there are none."""
        if not paths:
            found = self.discovery()
            return Found(
                tuple(candidate.path for candidate in found.candidates),
                tuple(dict.fromkeys(root.path for root in found.roots)),
                tuple(f"{skipped.path}: {skipped.reason}" for skipped in found.skipped),
            )
        files: dict[Path, int] = {}
        notes: list[str] = []

        def passed_over(path: Path, why: str) -> None:
            if path.suffix in LOG_SUFFIXES or path.is_symlink() or path.is_dir():
                notes.append(f"{path}: {why}")

        for path in paths:
            if path.is_dir():
                for file in files_below(path, passed_over):
                    if self._is_named_like_a_log(file):
                        real = file.resolve() if file.is_symlink() else file
                        # Of a log that is a tree of files, the one that stands for it.
                        log = self._registry.log_of(real)
                        files[log] = _mtime(log)
            elif (reason := readable(path)) is not None:
                notes.append(f"{path}: {reason}")
            else:
                log = self._registry.log_of(path)
                files[log] = _mtime(log)
        newest = sorted(files, key=lambda file: (-files[file], str(file)))
        folders = tuple(path if path.is_dir() else path.parent for path in paths)
        return Found(tuple(newest), tuple(dict.fromkeys(folders)), tuple(notes))

    def is_log(self, paths: Sequence[Path]) -> Callable[[Path], bool]:
        """Which changed paths to read: of single files that were named, only those."""
        named = {path.resolve() for path in paths if not path.is_dir()}
        folders = [path.resolve() for path in paths if path.is_dir()]

        def wanted(path: Path) -> bool:
            if not self._is_named_like_a_log(path):
                return False
            if not paths:
                return True
            here = path.resolve()
            return here in named or any(here.is_relative_to(folder) for folder in folders)

        return wanted

    def _is_named_like_a_log(self, path: Path) -> bool:
        if path.suffix in LOG_SUFFIXES:
            return not self._registry.passes_over(path)
        return self._registry.keeper(path) is not None


def _mtime(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0
