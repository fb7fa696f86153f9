"""Logs into the store: once, or on and on in a thread of its own. Of a large backlog the newest
sessions can be told before anything is read."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path

from inspector.locations import Locations
from inspector.reports import Damage, IngestReport
from storage.arenas import use_one_arena
from storage.catalog import SessionRecord
from storage.follow import Follower, size_of
from storage.glimpse import glimpse
from storage.ingest import Ingest, Progress, Totals
from storage.reindexing import index_anew
from storage.store import Store
from storage.watch import watch as follow_folders

GLIMPSES, _FIRST = 64, 12
"""Logs whose beginnings are looked at, more than a screen shows; and after how many it is told."""
LARGE = 16 << 20
"""Bytes that wait to be read from which it is worth it: seconds of work."""


class Reading:
    """``grew`` is told, while watching, the paths of the files that brought something new.
    ``poll_interval`` is in seconds, ``clock`` gives seconds since 1970; ``large`` is how many
    unread bytes are glimpsed at first."""

    def __init__(
        self,
        store: Store,
        locations: Locations,
        *,
        poll_interval: float,
        clock: Callable[[], float],
        grew: Callable[[Iterable[str]], None],
        large: int = LARGE,
    ) -> None:
        use_one_arena()  # before threads have theirs
        self._store = store
        self._locations = locations
        self._poll_interval = poll_interval
        self._clock = clock
        self._grew = grew
        self._one_at_a_time = threading.Lock()
        self._large = large
        self._glimpsed: tuple[SessionRecord, ...] = ()
        self._follower: Follower | None = None
        self._following: tuple[threading.Thread, threading.Event] | None = None

    @property
    def progress(self) -> tuple[int, int, str]:
        """(files done, files in all, a note) of the watching."""
        return (0, 0, "") if self._follower is None else self._follower.progress

    @property
    def waiting(self) -> tuple[SessionRecord, ...]:
        """Of a large backlog the newest sessions, those that were read meanwhile included, by what
        the beginnings of their logs say; none once all is read."""
        done, in_all, _ = self.progress
        return self._glimpsed if done < in_all or not in_all else ()

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

        self._glimpsed = ()
        ingest = Ingest(self._store, clock=self._clock)
        watching = partial(follow_folders, seconds=self._poll_interval)
        follower = self._follower = Follower(
            ingest, read=read, watching=watching, idle=partial(index_anew, self._store)
        )
        found = self._locations.files(paths)
        self._glimpse(found.paths, stop, notify)
        try:
            follower.run(found.paths, found.folders, self._locations.is_log(paths), stop)
        finally:
            ingest.close()

    def _glimpse(
        self, paths: Sequence[Path], stop: threading.Event, notify: Callable[[], None]
    ) -> None:
        known = {s.path for s in self._store.sources() if s.position or s.note}
        unread = [path for path in map(Path.resolve, paths) if str(path) not in known]
        if sum(map(size_of, unread)) < self._large:
            return
        for number, path in enumerate(unread[:GLIMPSES], 1):
            if stop.is_set():
                return
            seen = glimpse(self._store.registry, path)
            if seen is not None:
                self._glimpsed = (*self._glimpsed, seen)
            if number == _FIRST:
                notify()
        notify()

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
