"""Everything that writes a file takes away the draft that a killed process left there."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from inspector.export_files import write_export
from inspector.integrations.journal import Installed, Journal
from inspector.integrations.settings_files import backup, read, write
from storage.publishing import drafted
from storage.resume.files import write_new


def _backup(folder: Path) -> None:
    (folder / "new").write_bytes(b"x")
    backup(read(folder / "new"))


@pytest.mark.parametrize(
    "written",
    [
        lambda folder: write_export(folder / "new", [b"x"]),
        lambda folder: write_export(folder / "new", [b"x"], force=True),
        lambda folder: write_new(folder / "new", [b"x"]),
        lambda folder: write(read(folder / "new"), b"x"),
        _backup,
        lambda folder: Journal(folder).note(folder / "new", Installed(before=None, after="0")),
    ],
    ids=["export", "replaced", "copy", "settings", "backup", "journal"],
)
def test_whatever_writes_a_file_takes_away_what_was_left(
    tmp_path: Path, written: Callable[[Path], object]
) -> None:
    with drafted(tmp_path) as draft:
        left = draft.path
    left.write_bytes(b"half of")
    written(tmp_path)
    assert not left.exists()
    assert not [path for path in tmp_path.iterdir() if path.suffix == ".part"]
