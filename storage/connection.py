"""Opening the store's file: pragmas, version check, transactions.

Readers never hold a transaction across calls; a write is one short ``BEGIN IMMEDIATE``. A file
store gives each thread its own connection, and has one more that watches for changes; a store in
memory has one, behind a lock.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeGuard

from storage.errors import StoreBusyError, StoreLookOnlyError, StoreNewerError, StoreUnusableError
from storage.format import APPLICATION_ID, MEMORY, VERSION

_BUSY_SECONDS = 10.0
_CHECKPOINT_PAGES = 8_192
"""Pages of the WAL, 32 MB, after which it is written back. SQLite's own 4 MB would wait for the
disk at every few batches of an ingest."""
_BULK_CACHE = 8_000
"""KiB of pages that a connection keeps that writes much, four times SQLite's default: the pages of
one transaction are not written before it ends."""
_WAL_LIMIT = 64 << 20
"""Bytes that the WAL file is cut back to after a checkpoint."""


class Connections:
    """The connections of one store. Close it when done; threads that end leave theirs to it."""

    def __init__(self, path: str | Path, *, read_only: bool | None = None) -> None:
        """Opens or makes the store at ``path`` (``":memory:"``: none on disk). ``read_only``: for
        looking only (default: where it cannot be written: no right to, or no room on its disk).

        Raises :class:`StoreNewerError` before anything is written when a newer version made it,
        :class:`StoreUnusableError` when it is no store or cannot be opened.
        """
        self.path = str(path)
        self.in_memory = self.path == MEMORY
        self._local = threading.local()
        self._all: list[sqlite3.Connection] = []
        self._lock = threading.RLock()
        self._watch: sqlite3.Connection | None = None
        """Only looks for changes; made when that is first asked for."""
        self._watching = threading.Lock()
        self.read_only = False
        self._why = "may only be read by this user, so nothing can be added;"
        """Said of a store that is open for looking only."""
        self._had_room = True
        if not self.in_memory:
            _make_private(Path(self.path))
            _refuse_foreign(Path(self.path))
            self.read_only = not os.access(self.path, os.W_OK) if read_only is None else read_only
        try:
            first = self._first(may_look=read_only is None)
        except sqlite3.OperationalError as error:
            self.close()
            raise _busy_or_unusable(self.path, error) from error
        except sqlite3.DatabaseError as error:
            self.close()
            raise _unusable(self.path, error) from error
        self._local.connection = first
        self._shared = first

    def _first(self, *, may_look: bool) -> sqlite3.Connection:
        """A connection to a store of this version. Where there is no room for what SQLite keeps
        beside a store that is written, one that stands can still be looked at."""
        try:
            first = self._open()
            if not self.read_only and _pragma(first, "user_version") != VERSION:
                _migrate(first)
        except sqlite3.OperationalError as error:
            if not may_look or self.in_memory or self.read_only or not _unwritable(error):
                raise
            self.close()
            with suppress(sqlite3.Error):
                self.read_only = True
                self._why = (
                    f"cannot be written now ({error}), so nothing can be added; make room on its "
                    "disk or its folder writable, or"
                )
                first = self._open()
                if _pragma(first, "user_version") == VERSION:
                    return first
            raise
        return first

    def _open(self) -> sqlite3.Connection:
        name = self.path
        if self.read_only:
            # Without a log beside it nobody writes, and none can be made in a folder like this.
            alone = "&immutable=1" if _has_no_log(Path(self.path)) else ""
            name = f"{Path(self.path).resolve().as_uri()}?mode=ro{alone}"
        connection = sqlite3.connect(
            name,
            timeout=_BUSY_SECONDS,
            isolation_level=None,
            check_same_thread=False,
            uri=self.read_only,
        )
        with self._lock:
            self._all.append(connection)
        connection.execute("PRAGMA foreign_keys = ON")
        if not self.in_memory and not self.read_only:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute(f"PRAGMA journal_size_limit = {_WAL_LIMIT}")
            connection.execute(f"PRAGMA wal_autocheckpoint = {_CHECKPOINT_PAGES}")
        return connection

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """A connection for queries that are fetched before the block ends."""
        with self._guard():
            yield self._connection()

    @contextmanager
    def write(self, *, durable: bool = False, bulk: bool = False) -> Iterator[sqlite3.Connection]:
        """One transaction. Rolled back when the block raises. ``durable``: on the disk when the
        block ends, so that a loss of power cannot take it back. ``bulk``: of many rows, whose
        references are known to be there and are not looked up one by one.

        Raises :class:`StoreBusyError` when another process holds the store too long,
        :class:`StoreUnusableError` when it may only be read, or its disk takes no more.
        """
        if self.read_only:
            raise StoreLookOnlyError(
                f"The store {self.path} {self._why} name another with --db FILE."
            )
        with self._guard():
            connection = self._connection()
            # What an ingest writes is read again; what a person did is not.
            connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
            connection.execute(f"PRAGMA foreign_keys = {'OFF' if bulk else 'ON'}")
            if bulk:
                connection.execute(f"PRAGMA cache_size = -{_BULK_CACHE}")
            try:
                connection.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError as error:
                self._had_room = not _unwritable(error)
                raise _busy_or_unusable(self.path, error) from error
            try:
                yield connection
                connection.execute("COMMIT")
                self._had_room = True
            except BaseException as error:
                with suppress(sqlite3.Error):
                    connection.execute("ROLLBACK")
                if _unwritable(error):
                    self._had_room = False
                    raise _unusable(self.path, error) from error
                raise

    @property
    def takes_more(self) -> bool:
        """Whether something can be added, as far as is known: not where the store may only be
        read, or the last write found no room."""
        return self._had_room and not self.read_only

    def data_version(self) -> tuple[int, int]:
        """Changes whenever any connection, of this process or another, has written; the same in
        every thread."""
        with self._guard(), self._watching:
            if self._watch is None:
                # SQLite's figure is the connection's own, and is not changed by what that writes.
                self._watch = self._shared if self.in_memory else self._open()
            version = self._watch.execute("PRAGMA data_version").fetchone()[0]
            return int(version), self._watch.total_changes

    def close(self) -> None:
        """Closes every connection of every thread."""
        with self._lock:
            for connection in self._all:
                connection.close()
            self._all.clear()

    def _connection(self) -> sqlite3.Connection:
        if self.in_memory:
            return self._shared
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._local.connection = self._open()
        return connection

    @contextmanager
    def _guard(self) -> Iterator[None]:
        if not self.in_memory:
            yield
            return
        with self._lock:
            yield


def _migrate(connection: sqlite3.Connection) -> None:
    # A store that is up to date, as it nearly always is, opens without loading these.
    from sqlite_utils import Database  # noqa: PLC0415

    from storage.schema import migrations  # noqa: PLC0415

    # One transaction for all of it: of two processes that open an old store, the second waits.
    connection.execute("BEGIN IMMEDIATE")
    try:
        if _pragma(connection, "user_version") != VERSION:
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            migrations.apply(Database(connection))
            connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise


def _pragma(connection: sqlite3.Connection, name: str) -> int:
    return int(connection.execute(f"PRAGMA {name}").fetchone()[0])


def _make_private(path: Path) -> None:
    """Folder 0700 and file 0600, made before SQLite would make them world-readable."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not path.exists():
            path.touch(mode=0o600)
    except OSError as error:
        raise StoreUnusableError(
            f"The store {path} cannot be made ({error.strerror}); name another with --db FILE.",
        ) from error


def _refuse_foreign(path: Path) -> None:
    """Looks at the file read-only, so that a refused one is left exactly as it was."""
    if path.is_dir():
        raise StoreUnusableError(f"{path} is a folder; name a file with --db FILE.")
    if path.stat().st_size == 0:
        return
    if not os.access(path, os.R_OK):
        raise StoreUnusableError(
            f"The store {path} may not be read by this user; name another with --db FILE."
        )
    # A log beside it holds what is newer; without one, nothing need be made to look.
    alone = "&immutable=1" if _has_no_log(path) else ""
    probe = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro{alone}", uri=True)
    try:
        version = probe.execute("PRAGMA user_version").fetchone()[0]
        application = probe.execute("PRAGMA application_id").fetchone()[0]
        tables = probe.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    except sqlite3.DatabaseError as error:
        raise _unusable(str(path), error) from error
    finally:
        probe.close()
    if version > VERSION:
        raise StoreNewerError(
            f"The store {path} was made by a newer version of Ullage (format {version}, this one "
            f"knows up to {VERSION}); nothing was written. Upgrade, or name another with --db FILE."
        )
    if tables and application != APPLICATION_ID:
        raise StoreUnusableError(
            f"{path} is a database of another program; name another file with --db FILE."
        )


def _has_no_log(path: Path) -> bool:
    log = Path(f"{path}-wal")
    return not log.exists() or log.stat().st_size == 0


_UNWRITABLE = frozenset(
    (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN)
)
"""What SQLite says where the place is at fault and not the store: no room, or no right to write."""


def _unwritable(error: BaseException) -> TypeGuard[sqlite3.Error]:
    code = getattr(error, "sqlite_errorcode", None)
    return code is not None and code & 0xFF in _UNWRITABLE


def _unusable(path: str, error: sqlite3.Error) -> StoreUnusableError:
    if _unwritable(error):
        # Never to be moved away for this: what stands in it, pins too, is whole.
        return StoreUnusableError(
            f"The store {path} cannot be written ({error}), and is as it was: make room on its "
            "disk or its folder writable, or name another with --db FILE."
        )
    return StoreUnusableError(
        f"The store {path} cannot be used ({error}). Move it away, or name another with --db FILE; "
        "it is rebuilt from the logs that still exist."
    )


def _busy_or_unusable(
    path: str, error: sqlite3.OperationalError
) -> StoreBusyError | StoreUnusableError:
    if "locked" in str(error) or "busy" in str(error):
        return StoreBusyError(
            f"Another process has been writing to {path} for {_BUSY_SECONDS:.0f} seconds; "
            "try again when it is done."
        )
    return _unusable(path, error)
