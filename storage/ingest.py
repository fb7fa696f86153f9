"""Logs → store, exactly once.

Reading, deriving and writing happen in the caller's thread, counting and compressing in a worker:
both leave the interpreter lock. Rows and the position in the log are written in one transaction,
so that after a kill at any moment the next run goes on as if nothing had happened.
"""

from __future__ import annotations

import gc
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from compress.tokens import TokenCounter
from storage import resources, source_rows
from storage.batches import Batches, Written
from storage.catalog import SourceRecord
from storage.errors import PositionMovedError
from storage.opened import Drawn, OpenLog, known_numberings, known_trackers
from storage.record_sources import source_records
from storage.source_rows import Inodes, by_inode, has_pending, is_new, moved_to, position_of
from storage.sources.base import LogTail, SourceAdapter, Stand
from storage.sources.registry import HEAD_RECORDS
from storage.store import Store
from storage.tail import Batch as TailBatch
from storage.tail import Tail, reread, stand_of

BATCH_BYTES = 1 << 20
"""Bytes of a log that are in work at once. A batch costs some ten times as much memory."""
_ATTEMPTS = 5
"""Times that reading starts again because another process reads the same logs."""
_KEPT_OPEN = 16
_FEW = 16
"""Files up to which each is looked up by its name."""
_AT_REST = 2.0
"""Seconds without a write, by a clock that may go back, after which a line may end a file."""

Progress = Callable[[int, int, Path], None]
"""(files done, files in all, the file just read)."""


@dataclass(slots=True)
class Totals:
    """What an ingest did."""

    files: int = 0
    """Files of which something was read."""
    looked_at: int = 0
    records: int = 0
    events: int = 0
    notes: dict[str, str] = field(default_factory=dict)
    """Path → why it was passed over, or is not understood."""
    touched: set[str] = field(default_factory=set)
    """Paths of which something was read."""


class Ingest:
    """Reads logs into a store. Use from one thread; several processes may each have one."""

    def __init__(
        self,
        store: Store,
        *,
        counter_for: Callable[[str | None], TokenCounter] = resources.counter_for,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._store = store
        self._counter_for = counter_for
        self._clock = clock
        self._open: OrderedDict[Path, OpenLog] = OrderedDict()
        self._totals = Totals()
        self._batches = Batches(store.connections, self._stands)

    def log_of(self, path: Path) -> Path:
        """The log that a changed file belongs to."""
        return self._store.registry.log_of(path)

    def close(self) -> None:
        """Ends the worker and gives the files back."""
        self._batches.close()
        self._forget()

    def run(
        self,
        paths: Iterable[Path],
        progress: Progress | None = None,
        stop: Callable[[], bool] = lambda: False,
        *,
        final: bool | None = None,
    ) -> Totals:
        """Reads what is new in these files, in their order.

        ``final``: whether a last line without a newline is taken (default: when the file is at
        rest). ``stop`` is asked between batches; what was committed by then stays.
        """
        ordered = [path.resolve() for path in paths]
        totals = self._totals = Totals()
        for _ in range(_ATTEMPTS):
            try:
                return self._run(ordered, progress, stop, final=final)
            except PositionMovedError:
                # What another process has read is known now; the rest is read from there.
                totals.looked_at = 0
        return totals

    def _run(
        self,
        ordered: Sequence[Path],
        progress: Progress | None,
        stop: Callable[[], bool],
        *,
        final: bool | None,
    ) -> Totals:
        totals = self._totals
        known = self._known(ordered)
        known.update(self._enter(ordered, known))
        inodes = cache(lambda: by_inode(self._store.sources()))
        # A batch is made of thousands of values that all live until it is written: looking among
        # them for garbage all the time costs an eighth of it.
        collecting = gc.isenabled()
        gc.disable()
        try:
            for done, path in enumerate(ordered):
                totals.looked_at += 1
                for log, drawn in self._draw(path, known.get(str(path)), inodes, final):
                    self._batches.put(log, drawn)
                    if stop():
                        break
                if progress is not None:
                    progress(done + 1, len(ordered), path)
                if stop():
                    break
            self._batches.flush()
        except BaseException:
            # The readers are ahead of the store now: open them again from what it holds.
            self._batches.drop()
            self._forget()
            raise
        finally:
            if collecting:
                gc.enable()
        return totals

    def _known(self, paths: Sequence[Path]) -> dict[str, SourceRecord]:
        """The rows of these files. A few are asked for by name: an append to one log must not
        cost what all others are."""
        if len(paths) > _FEW:
            return {source.path: source for source in self._store.sources()}
        found = (self._store.source(path) for path in paths)
        return {source.path: source for source in found if source is not None}

    def _enter(
        self, paths: Iterable[Path], known: Mapping[str, SourceRecord]
    ) -> dict[str, SourceRecord]:
        """Rows for the files that were never looked at, made in one transaction."""
        new = [path for path in paths if str(path) not in known and stand_of(path) is not None]
        source_rows.add_sources(self._store.connections, new)
        return self._known(new)

    def _stands(self, written: Written) -> None:
        """Adds a batch that was committed to what the run did."""
        totals = self._totals
        totals.records += written.records
        totals.events += written.events
        if written.path not in totals.touched:
            totals.touched.add(written.path)
            totals.files += 1
        if written.note:
            totals.notes[written.path] = written.note

    def _draw(
        self,
        path: Path,
        known: SourceRecord | None,
        inodes: Callable[[], Inodes],
        final: bool | None,
    ) -> Iterator[tuple[OpenLog, Drawn]]:
        """The file's new batches, each with the log that it belongs to."""
        keeper = self._store.registry.keeper(path)
        state = stand_of(path) if keeper is None else keeper.stand(path)
        if state is not None:
            age = abs(self._clock() - state.mtime_ns / 1e9)
            final = age > _AT_REST if final is None else final
            if known is not None and self._as_it_was(known, state, final=final):
                return
        log = self._open.get(path)
        tail = self._tail(path, known, keeper) if log is None else log.tail
        while True:
            read = tail.read(final=bool(final))
            if self._is_passed_over(path, known, read):
                return
            if log is None or read.state == "restarted":
                # What waits belongs to the file as it was: it is written first.
                if not is_new(known):
                    self._batches.flush()
                    known = self._store.source(path)
                begun = self._begin(path, known, inodes, tail, read)
                if isinstance(begun, str):
                    self._totals.notes[str(path)] = begun
                    return
                log, drawn = begun
                self._keep(path, log)
            else:
                drawn = log.draw(read.records, read.position)
            yield log, drawn
            if not read.more:
                return

    def _tail(
        self, path: Path, known: SourceRecord | None, keeper: SourceAdapter | None
    ) -> LogTail:
        position = position_of(known)
        if keeper is None:
            return Tail(path, position, batch_bytes=BATCH_BYTES)

        def history() -> Iterator[bytes]:
            # Asked for when it is needed: a moved file has a row that is not known yet.
            source = known if known is None or known.position else self._store.source(path)
            if source is not None:
                yield from source_records(self._store.connections, source.id)

        return keeper.tail(path, position, history)

    def _as_it_was(self, known: SourceRecord, state: Stand, *, final: bool) -> bool:
        """Whether there can be nothing to read."""
        return (
            (known.size, known.mtime_ns) == (state.size, state.mtime_ns)
            and not self._is_outdated(known)
            and not known.gone
            and not (final and has_pending(known))
        )

    def _is_outdated(self, known: SourceRecord | None) -> bool:
        """Whether an older version of its adapter read the file: it is read anew then."""
        if known is None or known.agent is None:
            return False
        return known.revision != self._store.registry.for_agent(known.agent).revision

    def _begin(
        self,
        path: Path,
        known: SourceRecord | None,
        inodes: Callable[[], Inodes],
        tail: LogTail,
        read: TailBatch,
    ) -> tuple[OpenLog, Drawn] | str:
        """Opens a log of which nothing is in memory, and draws its first new batch. A string says
        why there is nothing to open."""
        connections = self._store.connections
        if is_new(known) and (moved := moved_to(read.position, inodes())) is not None:
            there = reread(tail, position_of(moved))
            if there.state == "restarted":  # another file, which was given that one's inode
                read = reread(tail, None)
            else:
                known, read = moved, there
                source_rows.rename(connections, moved.id, path)
        assert known is not None, "every file that can be read has a row"
        adapter = self._adapter(path, known, read)
        if adapter is None:
            source_rows.note(connections, known.id, read.why_nothing, read.position)
            return read.why_nothing
        if known.position is None:
            log = self._log(known.id, known.generation, adapter, tail)
            return log, log.draw(read.records, read.position)
        if read.state != "restarted":
            if known.revision == adapter.revision:
                log = self._log(known.id, known.generation, adapter, tail, resume=True)
                first = read.records[0].offset if read.records else read.position.offset
                log.skip(first, known.position)
                return log, log.draw(read.records, read.position)
            read = reread(tail, None)
        return self._begin_again(path, known, adapter, tail, read)

    def _begin_again(
        self,
        path: Path,
        known: SourceRecord,
        adapter: SourceAdapter,
        tail: LogTail,
        read: TailBatch,
    ) -> tuple[OpenLog, Drawn]:
        """A file that was looked at before starts anew: cut, rewritten, or another file of its
        name. What it holds decides: events that are known make it the same file."""
        connections, old = self._store.connections, position_of(known)
        generation = known.generation + 1
        log = self._log(known.id, generation, adapter, tail)
        before = {key: numbering.next for key, numbering in log.numberings.items()}
        drawn = log.draw(read.records, read.position)
        if (
            old is None
            or (old.inode == read.position.inode and not known.gone)
            or any(int(e.event.seq) < before.get(e.session, 0) for e in drawn.events)
        ):
            source_rows.begin_again(
                connections, known.id, generation, adapter.agent, adapter.revision
            )
            return log, drawn
        source_rows.set_aside(connections, known.id)
        fresh = self._enter([path], {})[str(path)]
        log = self._log(fresh.id, fresh.generation, adapter, tail)
        return log, log.draw(read.records, read.position)

    def _log(
        self,
        source: int,
        generation: int,
        adapter: SourceAdapter,
        tail: LogTail,
        *,
        resume: bool = False,
    ) -> OpenLog:
        trackers = known_trackers(self._store.connections, source, generation) if resume else {}
        return OpenLog(
            source=source,
            generation=generation,
            adapter=adapter,
            tail=tail,
            trackers=trackers,
            numberings=known_numberings(self._store.connections, source),
            counter_for=self._counter_for,
        )

    def _adapter(self, path: Path, known: SourceRecord, read: TailBatch) -> SourceAdapter | None:
        registry = self._store.registry
        if known.agent is not None and read.state != "restarted":
            return registry.for_agent(known.agent)
        head = [r.value for r in read.records[:HEAD_RECORDS] if r.value is not None]
        found = registry.recognise(path, head)
        if found is None and known.agent is not None:
            # Cut to nothing, or its new beginning is damaged: it is still that agent's file.
            return registry.for_agent(known.agent)
        return found

    def _is_passed_over(self, path: Path, known: SourceRecord | None, read: TailBatch) -> bool:
        """Whether there is nothing to read; whether the file is there is written down."""
        if read.state in ("gone", "skipped"):
            self._batches.flush()
            self._drop(path)
            if read.reason:
                self._totals.notes[str(path)] = read.reason
            if read.state == "gone" and known is not None and not known.gone:
                source_rows.mark_gone(self._store.connections, known.id)
            return True
        if read.state != "unchanged" or is_new(known) or self._is_outdated(known):
            return False
        if known is not None and known.gone:
            source_rows.come_back(self._store.connections, known.id)
        return True

    def _keep(self, path: Path, log: OpenLog) -> None:
        self._open[path] = log
        self._open.move_to_end(path)
        while len(self._open) > _KEPT_OPEN:
            self._open.popitem(last=False)[1].tail.close()

    def _drop(self, path: Path) -> None:
        log = self._open.pop(path, None)
        if log is not None:
            log.tail.close()

    def _forget(self) -> None:
        for path in list(self._open):
            self._drop(path)
