"""Whole outputs of tools: kept as they came, byte for byte, found again by a short pointer.

An output is content-addressed: the same bytes are kept once, however often a command is run. It
is written in pieces, so that it may be larger than memory, and read back in pieces.
"""

from __future__ import annotations

import hashlib
import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import zstandard

from storage import blobs
from storage.connection import Connections
from storage.errors import StoreUnusableError, UnknownOutputError

PIECE = 1 << 20
"""Bytes that are compressed together, and written in one transaction."""
SHORTEST = 8
"""Digits of a pointer, unless another output begins with the same ones."""
_LEAST = 4
"""Digits that a person has to type at least."""
_POINTER = re.compile(rf"[0-9a-f]{{{_LEAST},64}}")

_RUNS = (
    "SELECT hex(o.digest), o.size, r.at, r.command, r.exit_code FROM output_runs r "
    "JOIN outputs o ON o.id = r.output_id ORDER BY r.id DESC LIMIT ?"
)


@dataclass(frozen=True, slots=True)
class OutputRun:
    """One time that an output came. ``size`` in bytes, ``at`` in seconds since 1970; ``command``
    and ``exit_code`` are ``None`` where the output came through a pipe."""

    pointer: str
    size: int
    at: float
    command: str | None
    exit_code: int | None


class OutputWriter:
    """Takes an output as it comes; :meth:`finish` gives its pointer.

    What is not finished (the process was killed) has no pointer, and is found by none.
    """

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self._digest = hashlib.sha256()
        self._buffer = bytearray()
        self._size = 0
        self._output: int | None = None
        self._pieces = 0

    def write(self, data: bytes) -> None:
        """Raises :class:`storage.errors.StoreBusyError` or :class:`StoreUnusableError`."""
        self._digest.update(data)
        self._size += len(data)
        self._buffer += data
        while len(self._buffer) >= PIECE:
            piece = blobs.pack(bytes(self._buffer[:PIECE]))
            del self._buffer[:PIECE]
            with self._writing() as connection:
                self._put(connection, piece)

    def finish(self, at: float, command: str | None = None, exit_code: int | None = None) -> str:
        """Writes the rest and the run; the pointer of the whole. Raises as :meth:`write`."""
        digest = self._digest.digest()
        rest = blobs.pack(bytes(self._buffer)) if self._buffer else None
        with self._writing() as connection:
            row = connection.execute("SELECT id FROM outputs WHERE digest = ?", (digest,))
            known = row.fetchone()
            if known is None:
                if rest is not None:
                    self._put(connection, rest)
                output = self._row(connection)
                connection.execute(
                    "UPDATE outputs SET digest = ?, size = ? WHERE id = ?",
                    (digest, self._size, output),
                )
            else:
                output = known[0]
                self._withdraw(connection)
            connection.execute(
                "INSERT INTO output_runs (output_id, at, command, exit_code) VALUES (?, ?, ?, ?)",
                (output, at, command, exit_code),
            )
            return _shortest(connection, digest.hex())

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        try:
            with self._connections.write() as connection:
                yield connection
        except sqlite3.Error as error:
            raise StoreUnusableError(
                f"The output cannot be kept in {self._connections.path} ({error})."
            ) from error

    def _row(self, connection: sqlite3.Connection) -> int:
        if self._output is None:
            cursor = connection.execute("INSERT INTO outputs (size) VALUES (0)")
            self._output = int(cursor.lastrowid or 0)
        return self._output

    def _put(self, connection: sqlite3.Connection, piece: blobs.Packed) -> None:
        connection.execute(
            "INSERT INTO output_pieces (output_id, number, blob_id) VALUES (?, ?, ?)",
            (self._row(connection), self._pieces, blobs.put(connection, piece)),
        )
        self._pieces += 1

    def _withdraw(self, connection: sqlite3.Connection) -> None:
        """The same bytes are there already; their blobs are the same, too."""
        if self._output is not None:
            connection.execute("DELETE FROM output_pieces WHERE output_id = ?", (self._output,))
            connection.execute("DELETE FROM outputs WHERE id = ?", (self._output,))


def is_pointer(text: str) -> bool:
    """Whether a text has the form of a pointer: at least four hex digits."""
    return _POINTER.fullmatch(text.lower()) is not None


def read_output(connections: Connections, pointer: str) -> Iterator[bytes]:
    """The output that a pointer, or a unique beginning of one, names; in pieces.

    Raises :class:`UnknownOutputError` at once, before the first piece is asked for.
    """
    with connections.read() as connection:
        output = _find(connection, pointer.lower())
        pieces = connection.execute(
            "SELECT blob_id FROM output_pieces WHERE output_id = ? ORDER BY number", (output,)
        ).fetchall()
    return (_content(connections, blob) for (blob,) in pieces)


def output_runs(connections: Connections, limit: int) -> list[OutputRun]:
    """The newest outputs, each time that they came."""
    with connections.read() as connection:
        found = connection.execute(_RUNS, (limit,)).fetchall()
        return [
            OutputRun(_shortest(connection, digest.lower()), size, at, command, exit_code)
            for digest, size, at, command, exit_code in found
        ]


def _content(connections: Connections, blob: int) -> bytes:
    # Past the cache of blobs: each piece of an output is read once.
    with connections.read() as connection:
        data, size = connection.execute(
            "SELECT data, size FROM blobs WHERE id = ?", (blob,)
        ).fetchone()
    return zstandard.ZstdDecompressor().decompress(data, max_output_size=size)


def _beginning_with(
    connection: sqlite3.Connection, digits: str, limit: int
) -> list[tuple[int, str]]:
    return connection.execute(
        "SELECT id, hex(digest) FROM outputs WHERE digest BETWEEN ? AND ? ORDER BY digest LIMIT ?",
        (bytes.fromhex(digits.ljust(64, "0")), bytes.fromhex(digits.ljust(64, "f")), limit),
    ).fetchall()


def _find(connection: sqlite3.Connection, pointer: str) -> int:
    found = _beginning_with(connection, pointer, 6) if is_pointer(pointer) else []
    if not found:
        raise UnknownOutputError(
            f"No output is kept as {pointer!r}; `ullage raw` lists the newest, and SESSION:SEQ "
            "names a result in a session."
        )
    if len(found) > 1:
        raise UnknownOutputError(
            f"{pointer!r} is the beginning of several outputs; give more of its digits.",
            choices=[_shortest(connection, digest.lower()) for _, digest in found],
        )
    return found[0][0]


def _shortest(connection: sqlite3.Connection, digest: str) -> str:
    """The beginning of a digest that no other output has."""
    length = SHORTEST
    while length < len(digest) and len(_beginning_with(connection, digest[:length], 2)) > 1:
        length += 1
    return digest[:length]
