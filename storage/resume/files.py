"""Writing a copy: whole or not at all, beside the original, which is proved untouched."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from storage.publishing import drafted
from storage.resume.base import ResumeRefusedError

_CHUNK = 1 << 20


def write_new(path: Path, lines: Iterable[bytes]) -> None:
    """Writes the lines, each with a newline, to a file that did not exist, readable by its owner
    alone; missing folders are made. After a crash the file is whole or absent.

    Raises :class:`ResumeRefusedError` where the file exists or cannot be written.
    """
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with drafted(path.parent) as draft:
            for line in lines:
                draft.file.write(line)
                draft.file.write(b"\n")
            draft.publish(path)
        _sync_folder(path.parent)
    except FileExistsError as error:
        raise ResumeRefusedError(
            f"{path} is there already and is left as it is: name another folder with --out."
        ) from error
    except OSError as error:
        raise ResumeRefusedError(
            f"The copy cannot be written to {path.parent}: {error.strerror or error}; name "
            "another folder with --out."
        ) from error


def _sync_folder(folder: Path) -> None:
    """Where the system can, so that the name outlives a power cut."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """The content of a file at one moment. A log that only grew still fits."""

    path: Path
    size: int
    digest: str
    """SHA-256 of the first ``size`` bytes."""

    def fits(self) -> bool:
        """Whether the file still begins with these bytes."""
        now = fingerprint(self.path, self.size)
        return now is not None and (now.size, now.digest) == (self.size, self.digest)


def fingerprint(path: Path, size: int | None = None) -> Fingerprint | None:
    """Of the first ``size`` bytes (default: all). ``None`` where the file is gone or unreadable."""
    digest = hashlib.sha256()
    read = 0
    try:
        with path.open("rb") as file:
            while chunk := file.read(_CHUNK if size is None else min(_CHUNK, size - read)):
                digest.update(chunk)
                read += len(chunk)
    except OSError:
        return None
    return Fingerprint(path, read, digest.hexdigest())
