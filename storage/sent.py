"""Which ids were sent to one place: a small file beside the store, a line an id, only appended to.

A line is written once the other side has said that it took what the id names. Who is killed between
the two sends it again, under the same id, so that the other side can tell.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from storage.errors import StorageError
from storage.format import MEMORY

FOLDER = "sent"
"""Beside the store."""


class SentError(StorageError):
    """What was sent cannot be noted, so that nothing is sent."""

    code = "sent"


class Sent:
    """The ids that one place was sent, and those of this run."""

    def __init__(self, ids: set[str], handle: int | None) -> None:
        self._ids = ids
        self._handle = handle

    def __contains__(self, identifier: str) -> bool:
        return identifier in self._ids

    def note(self, identifiers: Iterable[str]) -> None:
        """These were taken."""
        new = [identifier for identifier in identifiers if identifier not in self._ids]
        self._ids.update(new)
        if self._handle is not None and new:
            os.write(self._handle, "".join(f"{identifier}\n" for identifier in new).encode())
            os.fsync(self._handle)


@contextmanager
def sent_to(store: str, place: str) -> Iterator[Sent]:
    """What was sent from the store at this path to ``place``, held against a second process. A
    store in memory has no such file.

    Raises :class:`SentError`.
    """
    if store == MEMORY:
        yield Sent(set(), None)
        return
    import fcntl  # noqa: PLC0415 - not on every platform

    name = hashlib.sha256(f"{Path(store).name}\0{place}".encode()).hexdigest()[:24]
    path = Path(store).parent / FOLDER / name
    try:
        path.parent.mkdir(mode=0o700, exist_ok=True)
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
    except OSError as error:
        raise SentError(f"{path} cannot be written: {error.strerror}; nothing was sent.") from error
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise SentError(f"Another export to {place} is running; try again later.") from error
        text = path.read_bytes()
        whole = text[: text.rfind(b"\n") + 1]
        os.ftruncate(handle, len(whole))  # a line that a kill cut short
        yield Sent(set(whole.decode("ascii", "replace").split()), handle)
    finally:
        os.close(handle)
