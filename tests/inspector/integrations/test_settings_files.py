"""Settings files are read and written so that nothing else is touched."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from inspector.integrations import settings_files
from inspector.integrations.settings_files import SettingsFileError, backup, delete, read, write


def test_a_file_is_replaced_whole_with_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_bytes(b"old")
    path.chmod(0o640)
    assert write(read(path), b"new") == ()
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert list(tmp_path.iterdir()) == [path]


def test_a_new_file_and_its_folders_are_private_and_can_be_taken_away(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "settings.json"
    made = write(read(path), b"new")
    assert made == (tmp_path / "a", tmp_path / "a" / "b")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    (tmp_path / "a" / "other").touch()
    delete(read(path), made)
    assert sorted(tmp_path.rglob("*")) == [tmp_path / "a", tmp_path / "a" / "other"]


def test_a_link_is_followed_and_stays(tmp_path: Path) -> None:
    kept = tmp_path / "dotfiles" / "claude.json"
    kept.parent.mkdir()
    kept.write_bytes(b"old")
    link = tmp_path / "settings.json"
    link.symlink_to(kept)
    file = read(link)
    assert (file.path, file.real) == (link, kept)
    copy = backup(file)
    assert copy is not None
    assert copy.parent == kept.parent
    write(file, b"new")
    assert link.is_symlink()
    assert kept.read_bytes() == b"new"


def test_a_link_that_leads_nowhere_or_in_a_circle_is_refused(tmp_path: Path) -> None:
    (tmp_path / "gone").symlink_to(tmp_path / "nothing")
    with pytest.raises(SettingsFileError, match=r"is a link to .*nothing, which is not there"):
        read(tmp_path / "gone")
    (tmp_path / "one").symlink_to(tmp_path / "two")
    (tmp_path / "two").symlink_to(tmp_path / "one")
    with pytest.raises(SettingsFileError):
        read(tmp_path / "one")


def test_in_a_project_no_link_leads_out_of_it(tmp_path: Path) -> None:
    victim = tmp_path / "victim.json"
    victim.write_bytes(b"{}")
    project = tmp_path / "project"
    (project / ".claude").mkdir(parents=True)
    (project / ".claude" / "settings.local.json").symlink_to(victim)
    with pytest.raises(SettingsFileError, match="leads out of the project"):
        read(project / ".claude" / "settings.local.json", project)
    outside = tmp_path / "outside"
    outside.mkdir()
    (project / ".pi").symlink_to(outside)
    with pytest.raises(SettingsFileError, match="leads out of the project"):
        read(project / ".pi" / "extensions" / "ullage.ts", project)
    inside = project / "real.json"
    inside.write_bytes(b"{}")
    (project / "link.json").symlink_to(inside)
    assert read(project / "link.json", project).real == inside


def test_what_is_no_plain_file_of_this_user_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(SettingsFileError, match="no plain file"):
        read(tmp_path / "fifo")
    with pytest.raises(SettingsFileError, match="no plain file"):
        read(tmp_path)
    (tmp_path / "large").write_bytes(b" " * (settings_files.LARGEST + 1))
    with pytest.raises(SettingsFileError, match="larger than"):
        read(tmp_path / "large")


def test_what_changed_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    absent = read(path)
    path.write_bytes(b"1")
    with pytest.raises(SettingsFileError, match="changed meanwhile"):
        write(absent, b"mine")
    file = read(path)
    path.write_bytes(b"2")
    for act in (lambda: write(file, b"mine"), lambda: delete(file)):
        with pytest.raises(SettingsFileError, match="changed meanwhile"):
            act()
    file = read(path)
    victim = tmp_path / "victim"
    victim.write_bytes(b"2")
    path.unlink()
    path.symlink_to(victim)
    with pytest.raises(SettingsFileError, match="changed meanwhile"):
        write(file, b"mine")
    assert victim.read_bytes() == b"2"
    assert {item.name for item in tmp_path.iterdir()} == {"settings.json", "victim"}


def test_what_changes_while_the_disk_is_waited_for_is_not_overwritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "settings.json"
    path.write_bytes(b"1")
    file = read(path)
    monkeypatch.setattr(os, "fsync", lambda _: path.write_bytes(b"theirs"))
    with pytest.raises(SettingsFileError, match="changed meanwhile"):
        write(file, b"mine")
    assert path.read_bytes() == b"theirs"


def test_a_backup_is_made_once_and_never_through_a_link(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_bytes(b"old")
    path.chmod(0o600)
    first = backup(read(path))
    assert first is not None
    assert first == backup(read(path))
    assert first.read_bytes() == b"old"
    assert stat.S_IMODE(first.stat().st_mode) == 0o600
    first.unlink()
    victim = tmp_path / "victim"
    victim.write_bytes(b"old")
    first.symlink_to(victim)
    with pytest.raises(SettingsFileError, match="in the way of a backup"):
        backup(read(path))
    assert {item.name for item in tmp_path.iterdir()} == {"settings.json", "victim", first.name}
