"""A copy is written whole or not at all, and nothing that exists is touched."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from storage.resume.base import ResumeRefusedError
from storage.resume.files import fingerprint, write_new


def listed(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


def test_a_copy_is_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "new" / "copy.jsonl"
    write_new(path, [b"{}", b'{"a":1}'])
    assert path.read_bytes() == b'{}\n{"a":1}\n'
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert listed(path.parent) == ["copy.jsonl"]


@pytest.mark.parametrize("links", [True, False])
def test_a_file_that_exists_is_left_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, links: bool
) -> None:
    if not links:
        monkeypatch.setattr(os, "link", _no_link)
    path = tmp_path / "copy.jsonl"
    path.write_text("old")
    with pytest.raises(ResumeRefusedError, match="is there already"):
        write_new(path, [b"{}"])
    assert path.read_text() == "old"
    assert listed(tmp_path) == ["copy.jsonl"]


def test_a_file_system_without_links_is_no_obstacle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "link", _no_link)
    write_new(tmp_path / "copy.jsonl", [b"{}"])
    assert listed(tmp_path) == ["copy.jsonl"]


def _no_link(*_: object) -> None:
    raise OSError(errno.EPERM, "Operation not permitted")


def test_nothing_is_left_of_a_copy_that_failed(tmp_path: Path) -> None:
    def lines() -> Iterator[bytes]:
        yield b"{}"
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(ResumeRefusedError, match=r"No space left on device; name another folder"):
        write_new(tmp_path / "copy.jsonl", lines())
    assert listed(tmp_path) == []


def test_a_folder_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ResumeRefusedError, match="--out"):
        write_new(tmp_path / "file" / "copy.jsonl", [])


def test_a_log_that_grew_is_still_the_same_log(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"one\n")
    before = fingerprint(path)
    assert before is not None
    assert before.fits()
    path.write_bytes(b"one\ntwo\n")
    assert before.fits()
    path.write_bytes(b"uno\ntwo\n")
    assert not before.fits()
    path.unlink()
    assert not before.fits()
    assert fingerprint(path) is None
