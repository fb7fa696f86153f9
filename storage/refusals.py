"""Why a path cannot be read as a log, in words."""

from __future__ import annotations

import stat
from pathlib import Path


def refusal(path: Path, error: OSError) -> str:
    """The reason behind an error of the operating system, as the end of a sentence."""
    if isinstance(error, FileNotFoundError):
        return "is a link to nothing" if path.is_symlink() else "does not exist"
    if isinstance(error, PermissionError):
        return "may not be read by this user"
    if path.is_symlink():
        return "is a link that cannot be followed"
    return f"cannot be read: {error.strerror or error}"


def kind_of(mode: int) -> str:
    """What a path is that is no regular file."""
    kinds = (
        (stat.S_ISDIR, "a directory"),
        (stat.S_ISFIFO, "a named pipe"),
        (stat.S_ISSOCK, "a socket"),
    )
    return next((name for test, name in kinds if test(mode)), "a device")
