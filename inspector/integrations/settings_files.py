"""An agent's settings file: read, written back whole or not at all, with a backup beside it.

A link is followed to the file that it leads to, which is the one that is written, so that settings
kept elsewhere stay there; in a project it may not lead out of it. Nothing but a plain file of this
user's is ever written.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from compress.errors import CompressError
from storage.publishing import Draft, drafted

LARGEST = 8 << 20
_PRIVATE = 0o600
_DIGITS = 12


class SettingsFileError(CompressError):
    """A settings file that is left as it is. Names the file and the reason."""

    code = "settings_file"


@dataclass(frozen=True, slots=True)
class SettingsFile:
    """As it was read. ``data``: ``None`` where there is no file; ``mode``: its permissions."""

    path: Path
    """As it was named."""
    real: Path
    """Behind all links."""
    data: bytes | None
    mode: int = _PRIVATE

    @property
    def digest(self) -> str | None:
        """SHA-256, hexadecimal."""
        return None if self.data is None else digest_of(self.data)


def digest_of(data: bytes) -> str:
    """SHA-256, hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def read(path: Path, within: Path | None = None) -> SettingsFile:
    """Reads a file that need not exist. ``within``: the project that it must stay in.

    Raises :class:`SettingsFileError`.
    """
    try:
        real = path.resolve()
        linked = path.is_symlink()
    except (OSError, RuntimeError) as error:
        raise SettingsFileError(f"{path} is a link that leads nowhere; mend it first.") from error
    if within is not None and not real.is_relative_to(within.resolve()):
        raise SettingsFileError(f"{path} leads out of the project, to {real}: it is left alone.")
    try:
        handle = os.open(real, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        if linked:
            raise SettingsFileError(
                f"{path} is a link to {real}, which is not there; mend it first."
            ) from None
        return SettingsFile(path, real, None)
    except OSError as error:
        raise SettingsFileError(f"{path} cannot be read: {error.strerror}.") from error
    try:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            raise SettingsFileError(f"{path} is no plain file: it is left alone.")
        if found.st_uid != os.geteuid():
            raise SettingsFileError(f"{path} belongs to another user: it is left alone.")
        if found.st_size > LARGEST:
            raise SettingsFileError(f"{path} is larger than {LARGEST:,} bytes: it is left alone.")
        with os.fdopen(handle, "rb", closefd=False) as file:
            return SettingsFile(path, real, file.read(), stat.S_IMODE(found.st_mode))
    finally:
        os.close(handle)


def backup(file: SettingsFile) -> Path | None:
    """A copy beside the file, named after its content; ``None`` where there is no file. A copy that
    is there already will do.

    Raises :class:`SettingsFileError`.
    """
    if file.data is None:
        return None
    name = f"{file.real.name}.{digest_of(file.data)[:_DIGITS]}.ullage-backup"
    place = file.real.with_name(name)
    try:
        with _draft(file.real, file.data, file.mode) as draft:
            draft.publish(place)
    except FileExistsError:
        if place.is_symlink() or not place.is_file() or place.read_bytes() != file.data:
            raise SettingsFileError(
                f"{place} is in the way of a backup; move it away first."
            ) from None
    except OSError as error:
        raise _unwritable(place, error) from error
    return place


def write(file: SettingsFile, data: bytes) -> tuple[Path, ...]:
    """Puts other bytes in the place of those that were read, at once; gives the folders that had
    to be made, the outermost first.

    Raises :class:`SettingsFileError`, also where the file was changed since it was read.
    """
    made = _folders(file.real.parent)
    try:
        with _draft(file.real, data, file.mode) as draft:
            if file.data is None:
                draft.publish(file.real)
            else:
                draft.replace(file.real, partial(_unchanged, file))
    except FileExistsError:
        raise _changed(file) from None
    except OSError as error:
        raise _unwritable(file.path, error) from error
    return made


def delete(file: SettingsFile, folders: tuple[Path, ...] = ()) -> None:
    """Takes the file away, and of these folders those that are empty then.

    Raises :class:`SettingsFileError`, also where the file was changed since it was read.
    """
    _unchanged(file)
    try:
        file.real.unlink()
    except OSError as error:
        raise _unwritable(file.path, error) from error
    for folder in reversed(folders):
        with suppress(OSError):
            folder.rmdir()


def _folders(folder: Path) -> tuple[Path, ...]:
    missing = [up for up in (folder, *folder.parents) if not up.exists()]
    try:
        for up in reversed(missing):
            up.mkdir(mode=0o700)
    except OSError as error:
        raise _unwritable(folder, error) from error
    return tuple(reversed(missing))


@contextmanager
def _draft(beside: Path, data: bytes, mode: int) -> Iterator[Draft]:
    with drafted(beside.parent) as draft:
        draft.file.write(data)
        os.fchmod(draft.file.fileno(), mode)
        yield draft


def _unchanged(file: SettingsFile) -> None:
    try:
        same = not file.real.is_symlink() and file.real.read_bytes() == file.data
    except OSError:
        same = False
    if not same:
        raise _changed(file)


def _changed(file: SettingsFile) -> SettingsFileError:
    return SettingsFileError(f"{file.path} was changed meanwhile; nothing was written, try again.")


def _unwritable(path: Path, error: OSError) -> SettingsFileError:
    return SettingsFileError(f"{path} cannot be written: {error.strerror}.")
