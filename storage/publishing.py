"""Giving a written draft its name, so that a file is there whole or not at all."""

from __future__ import annotations

import errno
import os
from pathlib import Path

_NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS)
"""What a file system without links answers."""


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
