"""What changed below some folders: hints from the system, and a sweep that needs none.

Events are hints, ``stat`` is the truth: a file that appears together with its folder, a network
drive, a removed and remade root give no event. So every few seconds the whole of it is looked at,
and where the system has no watches left, looking is all there is.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, Protocol

from storage.refusals import kind_of, refusal

DEBOUNCE = 100
"""Milliseconds in which changes are gathered."""
STEP = 20
"""Milliseconds without a new change that end the gathering early."""
SWEEP_SECONDS = 3.0
POLL_SECONDS = 1.0
"""Between two sweeps where there are no events at all."""


class Stop(Protocol):
    """What ends the watching; a ``threading.Event`` is one."""

    def is_set(self) -> bool: ...


class Facts(NamedTuple):
    """What a sweep compares of a file."""

    device: int
    inode: int
    size: int
    mtime_ns: int


Sweep = Callable[[Path], Iterable[Path]]
"""A root → the files below it that matter."""
Events = Callable[[list[Path], Stop, int], Iterator[set[Path]]]
"""Folders, the stop, and a timeout in milliseconds → sets of changed paths; an empty set when the
timeout passed. Raises ``OSError`` where the system gives no (more) watches."""


def watchfiles_events(folders: list[Path], stop: Stop, timeout: int) -> Iterator[set[Path]]:
    """Changes as ``watchfiles`` reports them."""
    # Here, where the first screen does not wait for it.
    from watchfiles import watch as watch_files  # noqa: PLC0415

    for changes in watch_files(
        *folders,
        watch_filter=None,
        debounce=DEBOUNCE,
        step=STEP,
        rust_timeout=timeout,
        yield_on_timeout=True,
        stop_event=stop,
        raise_interrupt=True,
        ignore_permission_denied=True,
    ):
        yield {Path(path) for _, path in changes}


def files_below(
    root: Path, passed_over: Callable[[Path, str], None] = lambda _path, _why: None
) -> Iterator[Path]:
    """All regular files below a folder; links to folders are followed, each real folder once.
    ``passed_over`` is told what is neither file nor folder, or cannot be opened, and why."""
    entered: set[tuple[int, int]] = set()
    stack = [root]
    while stack:
        folder = stack.pop()
        try:
            facts = folder.stat()
            if (facts.st_dev, facts.st_ino) in entered:
                continue
            entered.add((facts.st_dev, facts.st_ino))
            with os.scandir(folder) as entries:
                found = list(entries)
        except OSError as error:
            passed_over(folder, refusal(folder, error))
            continue
        for entry in found:
            path = Path(entry.path)
            try:
                if entry.is_dir():
                    stack.append(path)
                elif entry.is_file():
                    yield path
                else:
                    passed_over(path, f"is {kind_of(path.stat().st_mode)}, not a file")
            except OSError as error:
                passed_over(path, refusal(path, error))


@dataclass(slots=True)
class Watcher:
    """Watches roots; roots may be missing, and may come and go.

    Clock, sleep, sweep and events are parameters, so that tests need neither time nor a disk.
    """

    roots: list[Path]
    sweep: Sweep = files_below
    events: Events = watchfiles_events
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    sweep_seconds: float = SWEEP_SECONDS
    poll_seconds: float = POLL_SECONDS
    note: str | None = None
    """Why there is nothing but polling, if that is so. For the person who watches."""
    tell: Callable[[str], None] = lambda _note: None
    """Is handed the note."""
    _known: dict[Path, Facts] = field(default_factory=dict)
    _identities: dict[Path, tuple[int, int] | None] = field(default_factory=dict)

    def changes(self, stop: Stop) -> Iterator[set[Path]]:
        """Sets of files that were made, changed or removed, until ``stop`` is set.

        What stands at the start is taken as known. An empty set comes now and then: a chance for
        the caller to do what waits.
        """
        self._look()
        while not stop.is_set():
            folders = self._folders()
            if not folders or self.note is not None:
                self.sleep(self.poll_seconds)
                yield self._look()
                continue
            yield from self._hinted(folders, stop)

    def _hinted(self, folders: list[Path], stop: Stop) -> Iterator[set[Path]]:
        """One run of events, until the folders to watch are others."""
        due = self.clock() + self.sweep_seconds
        try:
            for paths in self.events(folders, stop, round(self.sweep_seconds * 1000)):
                changed = self._changed(paths)
                if self.clock() >= due:
                    changed |= self._look()
                    due = self.clock() + self.sweep_seconds
                yield changed
                if stop.is_set():
                    return
                if self._folders_changed(folders):
                    break
        except (OSError, RuntimeError) as error:
            # watchfiles passes an exhausted inotify on as one of these, by its version.
            if not self._folders_changed(folders):
                self.note = (
                    f"no change events from the system ({error}); "
                    f"looking every {self.poll_seconds:g} s instead"
                )
                self.tell(self.note)
        yield self._look()

    def _folders(self) -> list[Path]:
        self._identities = {root: _identity(root) for root in self.roots}
        return [root for root, identity in self._identities.items() if identity is not None]

    def _folders_changed(self, folders: list[Path]) -> bool:
        before = dict(self._identities)
        return self._folders() != folders or self._identities != before

    def _changed(self, paths: Iterable[Path]) -> set[Path]:
        """The files behind these hints that really differ from what is known. Of a folder, all
        files in it."""
        changed: set[Path] = set()
        for path in paths:
            facts = _facts(path)
            if facts is None and path.is_dir():
                inside = {file: _facts(file) for file in self.sweep(path)}
                changed.update(file for file, seen in inside.items() if self._note(file, seen))
            elif self._note(path, facts):
                changed.add(path)
        return changed

    def _look(self) -> set[Path]:
        """Look at everything; the files that differ from what is known."""
        standing = {file: _facts(file) for root in self.roots for file in self.sweep(root)}
        changed = {file for file, facts in standing.items() if self._note(file, facts)}
        for file in [file for file in self._known if file not in standing]:
            if self._note(file, _facts(file)):
                changed.add(file)
        return changed

    def _note(self, file: Path, facts: Facts | None) -> bool:
        if self._known.get(file) == facts:
            return False
        if facts is None:
            del self._known[file]
        else:
            self._known[file] = facts
        return True


def watch(
    roots: Iterable[Path],
    stop: Stop,
    tell: Callable[[str], None] = lambda _note: None,
    seconds: float | None = None,
) -> Iterator[set[Path]]:
    """The changed files below these folders, set by set, until ``stop`` is set. ``seconds`` lie
    between two sweeps, with events of the system or without; ``tell`` is handed the reason where
    there are none."""
    watcher = Watcher(list(roots), tell=tell)
    if seconds is not None:
        watcher.sweep_seconds = watcher.poll_seconds = seconds
    return watcher.changes(stop)


def _facts(path: Path) -> Facts | None:
    """``None`` for what is no regular file (any more)."""
    try:
        facts = path.stat()
    except OSError:
        return None
    if not stat.S_ISREG(facts.st_mode):
        return None
    return Facts(facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtime_ns)


def _identity(folder: Path) -> tuple[int, int] | None:
    try:
        facts = folder.stat()
    except OSError:
        return None
    return (facts.st_dev, facts.st_ino) if stat.S_ISDIR(facts.st_mode) else None
