"""Logs into the store: once, or on and on in a thread of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path

from inspector.locations import Locations
from inspector.reports import Damage, IngestReport
from storage.follow import Follower
from storage.ingest import Ingest, Progress, Totals
from storage.reindexing import index_anew
from storage.store import Store
from storage.watch import watch as follow_folders


class Reading:
    """``grew`` is told, while watching, the paths of the files that brought something new.
    ``poll_interval`` is in seconds, ``clock`` gives seconds since 1970."""

    def __init__(
        self,
        store: Store,
        locations: Locations,
        *,
        poll_interval: float,
        clock: Callable[[], float],
        grew: Callable[[Iterable[str]], None],
    ) -> None:
        self._store = store
        self._locations = locations
        self._poll_interval = poll_interval
        self._clock = clock
        self._grew = grew
        self._one_at_a_time = threading.Lock()
        self._follower: Follower | None = None
        self._following: tuple[threading.Thread, threading.Event] | None = None

    @property
    def progress(self) -> tuple[int, int, str]:
        """(files done, files in all, a note) of the watching."""
        return (0, 0, "") if self._follower is None else self._follower.progress

    def ingest(self, paths: Sequence[Path], progress: Progress | None) -> IngestReport:
        """Reads files or folders (none: every agent's logs on this machine) into the store."""
        begun = self._clock()
        found = self._locations.files(paths)
        with self._one_at_a_time:
            ingest = Ingest(self._store, clock=self._clock)
            try:
                totals = ingest.run(found.paths, progress, final=True)
                while not paths and index_anew(self._store):
                    pass
            finally:
                ingest.close()
        notes = [*found.notes, *(f"{path}: {why}" for path, why in sorted(totals.notes.items()))]
        wanted = {str(path.resolve()) for path in found.paths}
        return IngestReport(
            files=totals.looked_at,
            records=totals.records,
            events=totals.events,
            damaged=tuple(
                Damage(file=line.path, line=line.line, offset=line.offset, reason=line.reason)
                for line in self._store.damaged_lines(wanted)
            ),
            notes=tuple(notes),
            seconds=max(0.0, self._clock() - begun),
        )

    def watch(
        self, paths: Sequence[Path], stop: threading.Event, notify: Callable[[], None]
    ) -> None:
        """Reads what is there, newest first, and goes on until ``stop`` is set."""

        def read(totals: Totals) -> None:
            self._grew(totals.touched)
            notify()

        ingest = Ingest(self._store, clock=self._clock)
        watching = partial(follow_folders, seconds=self._poll_interval)
        follower = self._follower = Follower(
            ingest, read=read, watching=watching, idle=partial(index_anew, self._store)
        )
        found = self._locations.files(paths)
        try:
            follower.run(found.paths, found.folders, self._locations.is_log(paths), stop)
        finally:
            ingest.close()

    def start(self, paths: Sequence[Path], notify: Callable[[], None]) -> None:
        """Watches in a thread, in place of an earlier one."""
        self.stop()
        stop = threading.Event()
        thread = threading.Thread(
            target=self.watch, args=(paths, stop, notify), name="ullage-ingest", daemon=True
        )
        self._following = (thread, stop)
        thread.start()

    def stop(self) -> None:
        """Returns when the thread has ended; what was committed stays."""
        if self._following is not None:
            thread, stop = self._following
            stop.set()
            thread.join()
            self._following = None
