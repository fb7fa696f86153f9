"""Reading logs and going on reading them: the backlog newest first, what changes before it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from storage.ingest import Ingest, Totals
from storage.watch import Stop, watch

Watch = Callable[[Iterable[Path], Stop, Callable[[str], None]], Iterable[set[Path]]]
"""Folders, when to stop, whom to tell why there is nothing but polling → changed files."""

_PAUSE = 0.02
"""Seconds between two pieces of what can wait, so that the app is not slow meanwhile."""


class Follower:
    """Reads a backlog and follows folders, in the thread that calls :meth:`run`.

    A file that changes is read before the rest of the backlog, so a running session is live while
    old ones are still being read. ``read`` is called after each read that brought something;
    ``progress`` is (files done, files in all, a note). ``idle`` does a little of what can wait,
    when there is nothing to read, and tells whether there is more.
    """

    def __init__(
        self,
        ingest: Ingest,
        *,
        read: Callable[[Totals], None] = lambda _: None,
        watching: Watch = watch,
        idle: Callable[[], bool] = lambda: False,
    ) -> None:
        self.note = ""
        """Why changes come late, where the system reports none (R36)."""
        self._done = self._in_all = 0
        self._ingest = ingest
        self._read_something = read
        self._watching = watching
        self._idle = idle
        self._changed: set[Path] = set()
        self._lock = threading.Lock()
        self._wake = threading.Event()

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
        waiting = list(reversed(backlog))
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
                self._read([waiting.pop()], stop)
                self._done += 1
            elif self._idle():
                self._wake.wait(_PAUSE)
            elif watcher is None:
                return
            else:
                self._wake.wait(1.0)
                self._wake.clear()
        if watcher is not None:
            watcher.join()

    def _read(self, paths: Sequence[Path], stop: threading.Event) -> None:
        totals = self._ingest.run(paths, stop=stop.is_set)
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
        self.note = note

    def _take_changed(self) -> list[Path]:
        with self._lock:
            paths = sorted(self._changed)
            self._changed.clear()
        return paths
