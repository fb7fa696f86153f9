"""Reading logs and going on reading them: the backlog newest first, what changes before it."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TypeVar

from storage.errors import StoreBusyError, StoreLookOnlyError, StoreUnusableError
from storage.ingest import Ingest, Totals
from storage.watch import Stop, watch

Watch = Callable[[Iterable[Path], Stop, Callable[[str], None]], Iterable[set[Path]]]
"""Folders, when to stop, whom to tell why there is nothing but polling → changed files."""

T = TypeVar("T")
_REFUSED = 1.0
"""Seconds until a store is tried again that took nothing; a busy one was waited for already."""
_PAUSE = 0.02
"""Seconds between two pieces of what can wait, so that the app is not slow meanwhile."""
_TOGETHER, _TOGETHER_BYTES = 64, 8 << 20
"""Files of the backlog, and their bytes, that are read in one go: while one is counted the next is
read, and small ones share a transaction."""


class Follower:
    """Reads a backlog and follows folders, in the thread that calls :meth:`run`.

    A file that changes is read before the rest of the backlog, so a running session is live while
    old ones are still being read. ``read`` is called after each read that brought something, and
    when the store takes nothing; ``progress`` is (files done, files in all, a note). ``idle`` does
    a little of what can wait, when there is nothing to read, and tells whether there is more.
    """

    def __init__(
        self,
        ingest: Ingest,
        *,
        read: Callable[[Totals], None] = lambda _: None,
        watching: Watch = watch,
        idle: Callable[[], bool] = lambda: False,
    ) -> None:
        self._late = ""
        """The watcher's: the system reports no changes (R36)."""
        self._refusal = ""
        """The store's, as long as it takes nothing."""
        self._done = self._in_all = 0
        self._ingest = ingest
        self._read_something = read
        self._watching = watching
        self._idle = idle
        self._changed: set[Path] = set()
        self._lock = threading.Lock()
        self._wake = threading.Event()

    @property
    def note(self) -> str:
        """Why changes come late: the store takes none, or the system reports none."""
        return self._refusal or self._late

    @property
    def progress(self) -> tuple[int, int, str]:
        """(files done, files in all, a note)."""
        return self._done, self._in_all, self.note

    def run(
        self,
        backlog: Sequence[Path],
        folders: Sequence[Path],
        wanted: Callable[[Path], bool],
        stop: threading.Event,
    ) -> None:
        """Returns when ``stop`` is set, or after the backlog where there is no folder to follow.

        ``wanted`` tells which of the changed paths are logs to read.
        """
        waiting = deque(backlog)
        self._done, self._in_all = 0, len(waiting)
        watcher: threading.Thread | None = None
        if folders:
            watcher = threading.Thread(
                target=self._watch, args=(folders, wanted, stop), name="ullage-watch", daemon=True
            )
            watcher.start()
        while not stop.is_set():
            changed = self._take_changed()
            if changed:
                self._read(changed, stop)
            elif waiting:
                self._read_backlog(waiting, stop)
            elif self._attempt(self._idle, stop):
                self._wake.wait(_PAUSE)
            elif watcher is None:
                return
            else:
                self._wake.wait(1.0)
                self._wake.clear()
        if watcher is not None:
            watcher.join()

    def _read(self, paths: Sequence[Path], stop: threading.Event) -> None:
        totals = self._attempt(lambda: self._ingest.run(paths, stop=stop.is_set), stop)
        if totals is not None:
            self._tell_read(totals)
            return
        with self._lock:
            self._changed.update(paths)

    def _attempt(self, work: Callable[[], T], stop: threading.Event) -> T | None:
        """``None`` where the store takes nothing now, which is told: what was to be done waits."""
        try:
            done = work()
        except StoreLookOnlyError:
            raise
        except (StoreBusyError, StoreUnusableError) as refusal:
            if self._refusal != str(refusal):
                self._refusal = str(refusal)
                self._read_something(Totals())
            stop.wait(_REFUSED)
            return None
        self._refusal = ""
        return done

    def _read_backlog(self, waiting: deque[Path], stop: threading.Event) -> None:
        """Reads the next files: the newest one by one, so that a session is there at once, then as
        many together as were read before, until something else changes."""
        group = self._next_group(waiting)
        before = self._done
        broken_off = False

        def changes_wait() -> bool:
            nonlocal broken_off
            broken_off = broken_off or bool(self._changed)
            return broken_off or stop.is_set()

        def read(done: int, _in_all: int, _path: Path) -> None:
            if not broken_off:  # else it may have been left in its middle
                self._done = before + done

        totals = self._attempt(lambda: self._ingest.run(group, read, changes_wait), stop)
        if totals is None:
            self._done = before
            waiting.extendleft(reversed(group))
            return
        self._tell_read(totals)
        if broken_off:
            waiting.extendleft(reversed(group[self._done - before :]))

    def _next_group(self, waiting: deque[Path]) -> list[Path]:
        group = [waiting.popleft()]
        size = size_of(group[0])
        while waiting and len(group) < min(self._done, _TOGETHER):
            size += size_of(waiting[0])
            if size > _TOGETHER_BYTES:
                break
            group.append(waiting.popleft())
        return group

    def _tell_read(self, totals: Totals) -> None:
        if totals.records or totals.notes:
            self._read_something(totals)

    def _watch(
        self, folders: Sequence[Path], wanted: Callable[[Path], bool], stop: threading.Event
    ) -> None:
        for paths in self._watching(folders, stop, self._tell):
            logs = {self._ingest.log_of(path) for path in paths}
            with self._lock:
                self._changed.update(path for path in logs if wanted(path))
            if self._changed:
                self._wake.set()
            if stop.is_set():
                return

    def _tell(self, note: str) -> None:
        self._late = note

    def _take_changed(self) -> list[Path]:
        with self._lock:
            paths = sorted(self._changed)
            self._changed.clear()
        return paths


def size_of(path: Path) -> int:
    """Bytes of a file; 0 for one that cannot be looked at."""
    try:
        return path.stat().st_size
    except OSError:
        return 0  # the ingest says why it cannot be read
