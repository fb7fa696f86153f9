"""Writing an export beside other files, without touching what stands there."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from compress.errors import CompressError
from storage.publishing import publish


class ExportFileError(CompressError):
    """An export cannot be written where it was asked for."""

    code = "export_file"


def write_export(path: Path, pieces: Iterable[bytes], *, force: bool = False) -> None:
    """Writes a new file, readable by this user alone, whole or not at all. A file that is there is
    only replaced by ``force``; a link never, so that nothing is written where it leads.

    Raises :class:`ExportFileError`.
    """
    if path.is_symlink():
        raise ExportFileError(f"{path} is a link; name the file itself, or another one.")
    if path.is_dir():
        raise ExportFileError(f"{path} is a folder; name a file in it.")
    if path.exists() and not force:
        raise ExportFileError(f"{path} is there already; name another file, or add --force.")
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=".ullage-", suffix=".part")
    except OSError as error:
        raise _unwritable(path, error) from error
    try:
        with os.fdopen(handle, "wb") as file:
            for piece in pieces:
                file.write(piece)
        if force:
            Path(name).replace(path)
        else:
            publish(Path(name), path)
    except FileExistsError as error:
        raise ExportFileError(f"{path} was made meanwhile; name another file.") from error
    except OSError as error:
        raise _unwritable(path, error) from error
    finally:
        with suppress(FileNotFoundError):
            Path(name).unlink()


def _unwritable(path: Path, error: OSError) -> ExportFileError:
    return ExportFileError(f"{path} cannot be written: {error.strerror}.")
