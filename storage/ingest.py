"""Logs → store, exactly once.

Reading and deriving happen in the caller's thread, counting and compressing in two workers
(both leave the interpreter lock), writing again in the caller's, one transaction a batch: rows
and the position in the log together. Killed at any moment, the next run goes on as if nothing
had happened.
"""

from __future__ import annotations

import gc
import json
import os
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from compress.tokens import TokenCounter
from storage import resources, source_rows
from storage.catalog import SourceRecord
from storage.opened import Drawn, OpenLog, Weighed, known_numberings, known_trackers
from storage.sources.base import SourceAdapter
from storage.sources.registry import HEAD_RECORDS
from storage.store import Store
from storage.tail import Batch as TailBatch
from storage.tail import Position, Tail
from storage.writing import write_batch

BATCH_BYTES = 1 << 20
"""Bytes of a log that are in work at once. A batch costs some ten times as much memory."""
_WORKERS = 2
_AHEAD = 3
"""Batches that wait for their counts while the next is read."""
_KEPT_OPEN = 16
_COLLECT_AFTER = 50_000
_AT_REST = 2.0
"""Seconds without a write after which a last line without a newline is taken as it stands."""

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
        self._workers = ThreadPoolExecutor(_WORKERS, thread_name_prefix="ullage-count")

    def close(self) -> None:
        """Ends the workers and gives the files back."""
        self._workers.shutdown(cancel_futures=True)
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
        totals = Totals()
        ordered = [path.resolve() for path in paths]
        known = {source.path: source for source in self._store.sources()}
        waiting: deque[tuple[OpenLog, Drawn, Future[Weighed]]] = deque()
        thresholds = gc.get_threshold()
        # A batch is made of thousands of values that all live until it is written: looking among
        # them for garbage every 700 costs an eighth of the time.
        gc.set_threshold(_COLLECT_AFTER, *thresholds[1:])
        try:
            for done, path in enumerate(ordered):
                totals.looked_at += 1
                for log, drawn in self._draw(path, known.get(str(path)), totals, final):
                    waiting.append((log, drawn, self._workers.submit(log.weigh, drawn)))
                    if len(waiting) > _AHEAD:
                        self._commit(*waiting.popleft(), totals)
                    if stop():
                        break
                if progress is not None:
                    progress(done + 1, len(ordered), path)
                if stop():
                    break
            while waiting:
                self._commit(*waiting.popleft(), totals)
        except BaseException:
            # The readers are ahead of the store now: open them again from what it holds.
            for _, _, future in waiting:
                future.cancel()
            self._forget()
            raise
        finally:
            gc.set_threshold(*thresholds)
        return totals

    def _commit(self, log: OpenLog, drawn: Drawn, future: Future[Weighed], totals: Totals) -> None:
        batch = log.batch(drawn, future.result())
        with self._store.connections.write() as connection:
            write_batch(connection, batch, log.adapter.agent)
        totals.records += len(batch.records)
        totals.events += len(batch.events)
        path = str(log.tail.path)
        if path not in totals.touched:
            totals.touched.add(path)
            totals.files += 1
        if batch.note:
            totals.notes[path] = batch.note

    def _draw(
        self, path: Path, known: SourceRecord | None, totals: Totals, final: bool | None
    ) -> Iterator[tuple[OpenLog, Drawn]]:
        """The file's new batches, each with the log that it belongs to."""
        state = _stat(path)
        if state is not None:
            final = self._clock() - state.st_mtime > _AT_REST if final is None else final
            if known is not None and self._as_it_was(known, state, final=final):
                return
        log = self._open.get(path)
        tail = Tail(path, _position(known), batch_bytes=BATCH_BYTES) if log is None else log.tail
        while True:
            read = tail.read(final=bool(final))
            if read.state in ("gone", "skipped"):
                self._pass_over(path, known, read, totals)
                return
            if read.state == "unchanged" and (log is not None or known is not None):
                return
            if log is None or read.state == "restarted":
                begun = self._begin(path, known, tail, read)
                if isinstance(begun, str):
                    totals.notes[str(path)] = begun
                    return
                log, drawn = begun
                self._keep(path, log)
            else:
                drawn = log.draw(read.records, read.position)
            yield log, drawn
            if not read.more:
                return

    def _as_it_was(self, known: SourceRecord, state: os.stat_result, *, final: bool) -> bool:
        """Whether there can be nothing to read."""
        revision = known.revision
        if known.agent is not None:
            revision = self._store.registry.for_agent(known.agent).revision
        return (
            (known.size, known.mtime_ns) == (state.st_size, state.st_mtime_ns)
            and known.revision == revision
            and not known.gone
            and not (final and _has_pending(known.position))
        )

    def _begin(
        self, path: Path, known: SourceRecord | None, tail: Tail, read: TailBatch
    ) -> tuple[OpenLog, Drawn] | str:
        """Opens a log of which nothing is in memory, and draws its first new batch. A string says
        why there is nothing to open."""
        connections = self._store.connections
        if known is None and (moved := self._moved(read.position)) is not None:
            known = moved
            source_rows.rename(connections, moved.id, path)
            read = _reread(tail, _position(moved))
        adapter = self._adapter(path, known, read)
        if adapter is None:
            reason = "no agent's format is known" if read.records else "empty: no record yet"
            source = known.id if known else source_rows.add_source(connections, path, None, 0)
            there = read.position
            source_rows.note(connections, source, reason, there.size, there.mtime_ns)
            return reason
        if known is None:
            source = source_rows.add_source(connections, path, adapter.agent, adapter.revision)
            log = self._log(source, 1, adapter, tail)
            return log, log.draw(read.records, read.position)
        if known.position and read.state != "restarted":
            if known.revision == adapter.revision:
                log = self._log(known.id, known.generation, adapter, tail, resume=True)
                log.skip(read.records[0].offset if read.records else read.position.offset)
                return log, log.draw(read.records, read.position)
            read = _reread(tail, None)
        return self._begin_again(path, known, adapter, tail, read)

    def _begin_again(
        self,
        path: Path,
        known: SourceRecord,
        adapter: SourceAdapter,
        tail: Tail,
        read: TailBatch,
    ) -> tuple[OpenLog, Drawn]:
        """A file that was looked at before starts anew: cut, rewritten, or another file of its
        name. What it holds decides: events that are known make it the same file."""
        connections = self._store.connections
        old = _position(known)
        generation = known.generation if old is None else known.generation + 1
        log = self._log(known.id, generation, adapter, tail)
        before = {key: numbering.next for key, numbering in log.numberings.items()}
        drawn = log.draw(read.records, read.position)
        if (
            old is None
            or old.inode == read.position.inode
            or any(int(e.event.seq) < before.get(e.session, 0) for e in drawn.events)
        ):
            source_rows.begin_again(
                connections, known.id, generation, adapter.agent, adapter.revision
            )
            return log, drawn
        source_rows.set_aside(connections, known.id)
        source = source_rows.add_source(connections, path, adapter.agent, adapter.revision)
        log = self._log(source, 1, adapter, tail)
        return log, log.draw(read.records, read.position)

    def _log(
        self,
        source: int,
        generation: int,
        adapter: SourceAdapter,
        tail: Tail,
        *,
        resume: bool = False,
    ) -> OpenLog:
        connections = self._store.connections
        trackers = known_trackers(connections, source, generation) if resume else {}
        return OpenLog(
            source=source,
            generation=generation,
            adapter=adapter,
            tail=tail,
            trackers=trackers,
            numberings=known_numberings(connections, source),
            counter_for=self._counter_for,
        )

    def _adapter(
        self, path: Path, known: SourceRecord | None, read: TailBatch
    ) -> SourceAdapter | None:
        registry = self._store.registry
        if known is not None and known.agent is not None and read.state != "restarted":
            return registry.for_agent(known.agent)
        head = [r.value for r in read.records[:HEAD_RECORDS] if r.value is not None]
        found = registry.recognise(path, head)
        if found is None and known is not None and known.agent is not None:
            # Cut to nothing, or its new beginning is damaged: it is still that agent's file.
            return registry.for_agent(known.agent)
        return found

    def _moved(self, position: Position) -> SourceRecord | None:
        """The source whose file this is under a new name: same inode, the old name leads to it no
        more. What follows is compared by the tail."""
        for source in self._store.sources():
            old = _position(source)
            if old is None or (old.inode, old.device) != (position.inode, position.device):
                continue
            here = _stat(Path(source.path))
            if here is None or here.st_ino != old.inode:
                return source
        return None

    def _pass_over(
        self, path: Path, known: SourceRecord | None, read: TailBatch, totals: Totals
    ) -> None:
        self._drop(path)
        if read.reason:
            totals.notes[str(path)] = read.reason
        if known is not None and not known.gone:
            source_rows.mark_gone(self._store.connections, known.id)

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


def _reread(tail: Tail, position: Position | None) -> TailBatch:
    """The next batch from another place than the tail had come to."""
    tail.close()
    tail.position = Position() if position is None else position
    return tail.read(final=True)


def _stat(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except OSError:
        return None


def _has_pending(position: str | None) -> bool:
    return position is not None and '"pending": 0' not in position


def _position(known: SourceRecord | None) -> Position | None:
    if known is None or known.position is None:
        return None
    return Position(**json.loads(known.position))
