"""Writing a new file as a draft beside its place, and giving it its name, so that a file is there
whole or not at all.

A process that is killed leaves its draft. The next one that writes a draft into that folder takes
it away. That its writer is gone is known by the lock that a writer holds on its draft until the
end, and that the system takes from whoever dies; a process id would say less, since ids come again.
"""

from __future__ import annotations

import errno
import hashlib
import os
import platform
import re
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

_NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS)
"""What a file system without links answers."""
_TRIES = 100


def publish(draft: Path, path: Path) -> None:
    """Gives the draft its name beside its own, which the caller removes. A link, unlike a rename,
    never takes a file's place.

    Raises ``FileExistsError`` where the name is taken, other ``OSError`` as the system does.
    """
    try:
        os.link(draft, path)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        if path.exists():
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path)) from error
        draft.rename(path)


@dataclass(frozen=True, slots=True)
class Draft:
    """A file that is being written, and has no name of its own yet. It gets one when all of it is
    on the disk: it would outlive a power cut, and what a system refuses only at the end (a quota, a
    network drive) is refused before the name is given.
    """

    path: Path
    file: BinaryIO

    def publish(self, path: Path) -> None:
        """Gives it its name. Raises ``FileExistsError`` where that is taken, other ``OSError``."""
        self._to_disk()
        publish(self.path, path)

    def replace(self, path: Path, check: Callable[[], object] | None = None) -> None:
        """Puts it in the place of the file of this name, if there is one. ``check`` is called right
        before, and leaves that file in its place by raising. Raises ``OSError``."""
        self._to_disk()
        if check is not None:
            check()
        self.path.replace(path)

    def _to_disk(self) -> None:
        self.file.flush()
        os.fsync(self.file.fileno())


@contextmanager
def drafted(folder: Path) -> Iterator[Draft]:
    """An empty draft in a folder, readable by this user alone, for a file there. It is gone when
    the block ends, whether it got a name or not; what killed processes left there is gone before.

    Raises ``OSError``.
    """
    remove_left(folder)
    draft = _new(folder)
    # Left open until the draft has its name: to close it is to let go of the lock.
    with draft.file:
        try:
            yield draft
        finally:
            with suppress(FileNotFoundError):
                draft.path.unlink()


def remove_left(folder: Path) -> None:
    """Removes drafts whose writers are gone. All else stays: whatever has not exactly a draft's
    name, links, other users' files, drafts that are being written, and all where locks cannot be
    had. Drafts of other machines stay, too, since a lock on a network drive may be known on one
    machine only."""
    own = re.compile(re.escape(_prefix()) + r"[a-z0-9_]{8}\.part")
    with suppress(OSError, ValueError), os.scandir(folder) as entries:
        for entry in entries:
            if own.fullmatch(entry.name):
                with suppress(OSError):
                    _remove_if_left(Path(entry.path))


def _prefix() -> str:
    machine = hashlib.sha256(platform.node().encode("utf-8", "replace")).hexdigest()
    return f".ullage-{machine[:8]}-"


def _new(folder: Path) -> Draft:
    for _ in range(_TRIES):
        handle, name = tempfile.mkstemp(dir=folder, prefix=_prefix(), suffix=".part")
        locked = _locked(handle)
        # Before it was locked it looked like one that was left, and may be gone.
        if locked and os.fstat(handle).st_nlink:
            return Draft(Path(name), os.fdopen(handle, "wb"))
        os.close(handle)
        Path(name).unlink(missing_ok=True)
        if locked is None:
            break
    # Without a lock, under a name that nobody takes for that of a draft that was left.
    handle, name = tempfile.mkstemp(dir=folder, prefix=".ullage-", suffix=".part")
    return Draft(Path(name), os.fdopen(handle, "wb"))


def _remove_if_left(path: Path) -> None:
    if not _is_own(path.lstat()):
        return
    handle = _opened(path)
    try:
        found = os.fstat(handle)
        if _is_own(found) and _locked(handle) and os.path.samestat(found, path.lstat()):
            path.unlink()
    finally:
        os.close(handle)


def _opened(path: Path) -> int:
    flags = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        # For writing, since on some network drives only such a file can be locked for one alone.
        return os.open(path, os.O_RDWR | flags)
    except PermissionError:
        # The draft of a file that nobody may write to.
        return os.open(path, os.O_RDONLY | flags)


def _is_own(found: os.stat_result) -> bool:
    return stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid()


def _locked(handle: int) -> bool | None:
    """Whether the lock was free, and is this process's now; ``None`` where there are no locks."""
    try:
        import fcntl  # noqa: PLC0415 - not on every platform
    except ImportError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True
