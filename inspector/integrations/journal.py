"""What was installed where, so that a file can be put back byte for byte.

One small file beside the store. It is a memory, not the truth: where it is lost or does not fit,
what Ullage added is found in the settings themselves.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from platformdirs import user_data_path
from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from inspector.integrations.settings_files import SettingsFileError
from inspector.settings import APPLICATION
from storage.publishing import drafted

_FILE = "integrations.json"


class Installed(BaseModel):
    """One file. Digests are SHA-256."""

    model_config = ConfigDict(frozen=True)

    before: str | None
    """Of the file as it was; ``None`` where there was none."""
    after: str
    """As Ullage left it: while it is so, the file can be put back whole."""
    backup: str | None = None
    folders: tuple[str, ...] = ()
    """That had to be made for it, the outermost first."""


_ENTRIES = TypeAdapter(dict[str, Installed])


class Journal:
    """``folder``: where the file is; the platform's data folder."""

    def __init__(self, folder: Path | None = None) -> None:
        folder = user_data_path(APPLICATION, appauthor=False) if folder is None else folder
        self._path = folder / _FILE

    def entry(self, path: Path) -> Installed | None:
        """What is known of this file."""
        return self._entries().get(str(path))

    def note(self, path: Path, entry: Installed) -> None:
        """Raises :class:`SettingsFileError`."""
        self._write({**self._entries(), str(path): entry})

    def forget(self, path: Path) -> None:
        """Raises :class:`SettingsFileError`."""
        entries = dict(self._entries())
        if entries.pop(str(path), None) is not None:
            self._write(entries)

    def _entries(self) -> Mapping[str, Installed]:
        try:
            return _ENTRIES.validate_json(self._path.read_bytes())
        except (OSError, ValidationError):
            return {}

    def _write(self, entries: Mapping[str, Installed]) -> None:
        text = json.dumps({key: entries[key].model_dump() for key in sorted(entries)}, indent=2)
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with drafted(self._path.parent) as draft:
                draft.file.write(f"{text}\n".encode())
                draft.replace(self._path)
        except OSError as error:
            raise SettingsFileError(f"{self._path} cannot be written: {error.strerror}.") from error
