"""Where the logs are: a walk below the adapters' roots that ends, whatever links it meets.

Links to folders are followed (a project folder may well be one); each real folder is entered once
for each part of a pattern, each real file is listed once. What cannot be a log is named with the
reason and skipped alone.
"""

from __future__ import annotations

import fnmatch
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from storage.refusals import kind_of, refusal
from storage.sources.base import Registry, Root


@dataclass(frozen=True, slots=True)
class Candidate:
    """A file that an adapter's root promises to be a log."""

    path: Path
    agent: str
    """Of the adapter whose root it lies in; its content has the last word."""
    root: Root
    size: int
    mtime_ns: int
    device: int
    inode: int


@dataclass(frozen=True, slots=True)
class Skipped:
    """A path that matches a pattern but cannot be read as a log."""

    path: Path
    reason: str


@dataclass(frozen=True, slots=True)
class Discovery:
    """What one look at all roots found, newest first."""

    candidates: tuple[Candidate, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    roots: tuple[Root, ...] = ()
    """All roots that were looked at, those that do not exist included."""
    owners: tuple[str, ...] = ()
    """The agent of each root."""


def discover(registry: Registry, environment: Mapping[str, str], home: Path) -> Discovery:
    """The files below all adapters' roots, with their ``stat``, newest first. Opens none."""
    found: list[Candidate] = []
    skipped: list[Skipped] = []
    roots: list[Root] = []
    owners: list[str] = []
    listed: set[tuple[int, int]] = set()
    for adapter in registry.adapters:
        for root in adapter.roots(environment, home):
            roots.append(root)
            owners.append(adapter.agent)
            here: list[Candidate] = []
            for path in _walk(root, skipped):
                facts = _facts(path)
                if isinstance(facts, str):
                    skipped.append(Skipped(path, facts))
                elif (facts.st_dev, facts.st_ino) not in listed:
                    listed.add((facts.st_dev, facts.st_ino))
                    here.append(_candidate(path, adapter.agent, root, facts))
            counting = set(adapter.select([candidate.path for candidate in here]))
            found.extend(candidate for candidate in here if candidate.path in counting)
    found.sort(key=lambda candidate: (-candidate.mtime_ns, str(candidate.path)))
    return Discovery(tuple(found), tuple(skipped), tuple(roots), tuple(owners))


def variables(registry: Registry, home: Path) -> frozenset[str]:
    """The environment variables by which the adapters find their roots."""
    asked = _Asked()
    for adapter in registry.adapters:
        list(adapter.roots(asked, home))
    return frozenset(asked.names)


class _Asked(Mapping[str, str]):
    """An empty environment that keeps what it was asked for."""

    def __init__(self) -> None:
        self.names: set[str] = set()

    def __getitem__(self, name: str) -> str:
        self.names.add(name)
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


def readable(path: Path) -> str | None:
    """Why this path cannot be read as a log; ``None`` where it can be tried."""
    facts = _facts(path)
    return facts if isinstance(facts, str) else None


def _candidate(path: Path, agent: str, root: Root, facts: os.stat_result) -> Candidate:
    return Candidate(
        path, agent, root, facts.st_size, facts.st_mtime_ns, facts.st_dev, facts.st_ino
    )


def _facts(path: Path) -> os.stat_result | str:
    try:
        facts = path.stat()
    except OSError as error:
        return refusal(path, error)
    if not stat.S_ISREG(facts.st_mode):
        return f"is {kind_of(facts.st_mode)}, not a file"
    return facts if os.access(path, os.R_OK) else "may not be read by this user"


def _walk(root: Root, skipped: list[Skipped]) -> Iterator[Path]:
    """The paths that match, in a fixed order. Each (real folder, part of the pattern) once."""
    parts = tuple(part for part in root.pattern.split("/") if part)
    entered: set[tuple[int, int, int]] = set()
    stack = [(root.path, 0)]
    while stack:
        folder, index = stack.pop()
        try:
            facts = folder.stat()
            if not stat.S_ISDIR(facts.st_mode):
                continue
            if (key := (facts.st_dev, facts.st_ino, index)) in entered:
                continue
            entered.add(key)
            entries = sorted(_scan(folder), key=lambda entry: (entry.is_symlink(), entry.name))
        except OSError as error:
            if folder != root.path or not isinstance(error, FileNotFoundError):
                skipped.append(Skipped(folder, refusal(folder, error)))
            continue
        matches, below = _match(folder, entries, parts, index)
        yield from matches
        stack.extend(reversed(below))


def _scan(folder: Path) -> list[os.DirEntry[str]]:
    with os.scandir(folder) as entries:
        return list(entries)


def _match(
    folder: Path, entries: Sequence[os.DirEntry[str]], parts: Sequence[str], index: int
) -> tuple[list[Path], list[tuple[Path, int]]]:
    """The files of one folder that match, and the folders to look into."""
    deep = parts[index] == "**"
    matches: list[Path] = []
    below: list[tuple[Path, int]] = []
    at = index + 1 if deep else index
    for entry in entries:
        path = folder / entry.name
        fits = at < len(parts) and fnmatch.fnmatchcase(entry.name, parts[at])
        if fits and at == len(parts) - 1:
            matches.append(path)
        elif fits and _enters(entry):
            below.append((path, at + 1))
        if deep and _enters(entry):
            below.append((path, index))
    return matches, below


def _enters(entry: os.DirEntry[str]) -> bool:
    try:
        # A link to nothing is entered, so that the walk names it.
        return entry.is_dir() or (entry.is_symlink() and not Path(entry.path).exists())
    except OSError:
        return True
