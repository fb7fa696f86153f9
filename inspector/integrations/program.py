"""How an agent starts Ullage: by an absolute path, whatever its folder and its PATH are."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from compress.errors import CompressError


class NotInstalledError(CompressError):
    """Ullage runs from a source folder: an agent could not start it from another one."""

    code = "not_installed"


@dataclass(frozen=True, slots=True)
class Program:
    """``words``: what a shell runs; ``options``: what its commands are given, ``--db`` and its
    file, or nothing."""

    words: tuple[str, ...]
    options: tuple[str, ...] = ()


def this_program(db: str | None) -> Program:
    """The program that runs now. ``db``: the store that the command line named.

    Raises :class:`NotInstalledError`.
    """
    options = () if db is None else ("--db", str(Path(db).expanduser().absolute()))
    # Not resolved: the interpreter of an environment is a link, which makes the environment.
    script = Path(sys.executable).with_name("ullage")
    if script.is_file():
        return Program((str(script.absolute()),), options)
    try:
        distribution("ullage")
    except PackageNotFoundError:
        raise NotInstalledError(
            "Ullage runs from its source folder, where an agent cannot start it; "
            "install it first: pip install ."
        ) from None
    # -P: nothing is imported from the folder that an agent happens to work in.
    return Program((sys.executable, "-P", "-m", "inspector.cli"), options)
