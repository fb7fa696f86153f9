"""Where the traceback of an unforeseen error goes, so that no person has to read it."""

from __future__ import annotations

import os
import platform
import traceback
from datetime import UTC, datetime
from pathlib import Path

from platformdirs import user_log_path

LARGEST = 1 << 20
"""Bytes at which the file begins anew."""


def record(error: BaseException, folder: Path | None = None) -> Path | None:
    """Append the error's traceback to ``errors.log`` in the platform's log folder and return the
    file; ``None`` where nothing can be written. The file is readable by its owner only; an error
    may quote a log, so secrets are masked (E07)."""
    folder = user_log_path("ullage", appauthor=False) if folder is None else folder
    place = folder / "errors.log"
    when = datetime.now(UTC).isoformat(timespec="seconds")
    system = f"Python {platform.python_version()} on {platform.system()}"
    text = f"── {when} · {system}\n{_masked(''.join(traceback.format_exception(error)))}\n"
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        fresh = place.exists() and place.stat().st_size > LARGEST
        flags = os.O_WRONLY | os.O_CREAT | (os.O_TRUNC if fresh else os.O_APPEND)
        with os.fdopen(
            os.open(place, flags, 0o600), "w", encoding="utf-8", errors="backslashreplace"
        ) as file:
            file.write(text)
    except OSError:
        return None
    return place


def _masked(text: str) -> str:
    from inspector.masking import Masker  # noqa: PLC0415 - its rules are read when they are needed

    return Masker().text(text)
