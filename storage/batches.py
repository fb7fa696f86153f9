"""Batches on their way into the store: weighed in a thread of their own, written in order.

Counting and compressing leave the interpreter lock, so more is read meanwhile. A thread for
writing, too, was tried: the three wait for the lock so often that nothing is gained.
"""

from __future__ import annotations

import gc
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import NamedTuple

from storage.connection import Connections
from storage.opened import Drawn, OpenLog, Weighed
from storage.writing import write_batch

_AHEAD_BYTES = 3 << 20
"""Bytes of logs that wait for their counts, or to be written, while more is read. Twice as much is
no quicker and takes 16 MB more at the peak."""
_COLLECT_AFTER = 64 << 20
"""Bytes of logs after which garbage is looked for while many are read."""


class Written(NamedTuple):
    """What is told of a batch that stands in the store."""

    path: str
    records: int
    events: int
    note: str | None


class Batches:
    """Takes batches and writes them in their order. Use from one thread; ``written`` is called in
    it, for each batch, after its commit."""

    def __init__(self, connections: Connections, written: Callable[[Written], None]) -> None:
        self._connections = connections
        self._written = written
        self._waiting: deque[tuple[OpenLog, Drawn, Future[Weighed]]] = deque()
        self._waiting_bytes = 0
        self._since_collected = 0
        # One: of an encoder's threads, the first is quicker than all others by a quarter.
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="ullage-count")

    def put(self, log: OpenLog, drawn: Drawn) -> None:
        """Queues a batch for its counts; commits the older half of the queue when it is full, in
        one transaction: small files cost no commit each.

        Raises what :func:`storage.writing.write_batch` raises, of any batch that was taken.
        """
        self._waiting.append((log, drawn, self._worker.submit(log.weigh, drawn)))
        self._waiting_bytes += drawn.size
        if self._waiting_bytes > _AHEAD_BYTES:
            self._commit((len(self._waiting) + 1) // 2)

    def flush(self) -> None:
        """Returns when all that was taken stands in the store."""
        if self._waiting:
            self._commit(len(self._waiting))

    def drop(self) -> None:
        """Forgets what was taken and is not written."""
        for *_, future in self._waiting:
            future.cancel()
        self._waiting.clear()
        self._waiting_bytes = 0

    def close(self) -> None:
        """Ends the thread."""
        self._worker.shutdown(cancel_futures=True)

    def _commit(self, count: int) -> None:
        taken = [self._waiting.popleft() for _ in range(count)]
        size = sum(drawn.size for _, drawn, _ in taken)
        self._waiting_bytes -= size
        # What the worker has not begun, this thread weighs itself.
        batches = [
            (log, log.batch(drawn, log.weigh(drawn) if future.cancel() else future.result()))
            for log, drawn, future in taken
        ]
        # All that a batch names stands in it, or was there when its log was opened.
        with self._connections.write(bulk=True) as connection:
            for log, batch in batches:
                write_batch(connection, batch, log.adapter.agent, log.adapter.revision)
        self._since_collected += size
        if self._since_collected > _COLLECT_AFTER:
            self._since_collected = 0
            gc.collect(1)  # what stands in memory for good is not looked through
        for log, batch in batches:
            path = str(log.tail.path)
            self._written(Written(path, len(batch.records), len(batch.events), batch.note))
