"""The program in a process of its own, and what its receipts say."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.conftest import REPOSITORY

PYTHON = sys.executable


def ran(
    *arguments: str | Path, db: Path, given: bytes | None = None, **options: object
) -> subprocess.CompletedProcess[bytes]:
    """The program in a process of its own."""
    return subprocess.run(  # type: ignore[call-overload, no-any-return]
        [PYTHON, "-m", "inspector.cli", *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": str(REPOSITORY), "ULLAGE_DB": str(db)},
        capture_output=True,
        input=given,
        check=False,
        **options,
    )


def pointer_of(err: str | bytes) -> str:
    text = err if isinstance(err, str) else err.decode()
    return text.rpartition("ullage raw ")[2].strip()
