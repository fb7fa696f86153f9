"""Writing an export beside other files, without touching what stands there."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from compress.errors import CompressError
from storage.publishing import drafted

_SHOWN = 200
"""Characters of a path that a refusal repeats."""


class ExportFileError(CompressError):
    """An export cannot be written where it was asked for."""

    code = "export_file"


def write_export(path: Path, pieces: Iterable[bytes], *, force: bool | None = None) -> None:
    """Writes a new file, readable by this user alone, whole or not at all. A file that is there is
    only replaced by ``force`` (``None``: who asks has no such choice); a link never, so that
    nothing is written where it leads.

    Raises :class:`ExportFileError`.
    """
    try:
        _refuse(path, force=force)
    except (OSError, ValueError) as error:
        raise no_place(path, error) from error
    try:
        with drafted(path.parent) as draft:
            for piece in pieces:
                draft.file.write(piece)
            if force:
                draft.replace(path)
            else:
                draft.publish(path)
    except FileExistsError as error:
        raise ExportFileError(f"{path} was made meanwhile; name another file.") from error
    except OSError as error:
        raise no_place(path, error) from error


def named_path(text: str | Path) -> Path:
    """What a person typed as a place: ``~`` and ``~user`` are homes, where there is such a user."""
    # Path.expanduser raises where there is none.
    return Path(os.path.expanduser(text))  # noqa: PTH111


def no_place(path: Path, error: Exception) -> ExportFileError:
    """That nothing can be written there, and why, as the system says it."""
    name = str(path)
    shown = name if len(name) <= _SHOWN else f"{name[:_SHOWN]}…"
    why = getattr(error, "strerror", None) or str(error).rstrip(".")
    return ExportFileError(f"{shown!r} cannot be written: {why}. Name another place.")


def _refuse(path: Path, *, force: bool | None) -> None:
    if "\0" in str(path):
        raise ValueError("no name holds a NUL")
    if path.is_symlink():
        raise ExportFileError(f"{path} is a link; name the file itself, or another one.")
    if path.is_dir():
        raise ExportFileError(f"{path} is a folder; name a file in it.")
    if path.exists() and not force:
        more = "" if force is None else ", or add --force"
        raise ExportFileError(f"{path} is there already; name another file{more}.")
