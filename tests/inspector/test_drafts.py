"""Everything that writes a file takes away the draft that a killed process left there, and gives
no name to what the disk refuses."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from compress.errors import CompressError
from inspector.export_files import write_export
from inspector.integrations.journal import Installed, Journal
from inspector.integrations.settings_files import backup, read, write
from storage.publishing import drafted
from storage.resume.base import ResumeRefusedError
from storage.resume.files import write_new


def _backup(folder: Path) -> None:
    (folder / "new").write_bytes(b"x")
    backup(read(folder / "new"))


WRITERS = pytest.mark.parametrize(
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


@WRITERS
def test_whatever_writes_a_file_takes_away_what_was_left(
    tmp_path: Path, written: Callable[[Path], object]
) -> None:
    with drafted(tmp_path) as draft:
        left = draft.path
    left.write_bytes(b"half of")
    written(tmp_path)
    assert not left.exists()
    assert not [path for path in tmp_path.iterdir() if path.suffix == ".part"]


@WRITERS
def test_what_a_full_disk_tells_only_at_the_end_costs_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: Callable[[Path], object]
) -> None:
    def full(_: int) -> None:
        raise OSError(errno.EDQUOT, os.strerror(errno.EDQUOT))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises((CompressError, ResumeRefusedError), match="cannot be written"):
        written(tmp_path)
    assert [path.read_bytes() for path in tmp_path.iterdir()] in ([], [b"x"])


def test_a_file_that_would_be_replaced_stays_when_the_disk_is_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(errno.EDQUOT, os.strerror(errno.EDQUOT))

    good = tmp_path / "good"
    good.write_bytes(b"good")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(CompressError, match="quota"):
        write_export(good, [b"x"], force=True)
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"good"]
