"""What a killed writer left is taken away by the next one; nothing else is."""

from __future__ import annotations

import errno
import fcntl
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from storage.publishing import drafted, remove_left

ROOT = Path(__file__).parents[2]
WRITER = """
import sys
from pathlib import Path
from storage.publishing import drafted
path = Path(sys.argv[1])
with drafted(path.parent) as draft:
    draft.file.write(b"written")
    draft.file.flush()
    print(flush=True)
    sys.stdin.readline()
    draft.publish(path)
"""


def listed(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def write(path: Path) -> None:
    with drafted(path.parent) as draft:
        draft.file.write(b"whole")
        draft.publish(path)


@contextmanager
def another_writer(path: Path) -> Iterator[subprocess.Popen[str]]:
    """A process amid its draft. A line makes it end."""
    program = [sys.executable, "-c", WRITER, str(path)]
    with subprocess.Popen(
        program, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "\n"
            yield process
        finally:
            process.kill()


@pytest.fixture
def left(tmp_path: Path) -> Path:
    """A draft whose writer is gone: what a lock that nobody holds looks like."""
    with drafted(tmp_path) as draft:
        path = draft.path
    path.write_bytes(b"half of")
    return path


def test_the_draft_of_a_killed_process_is_taken_away_by_the_next(tmp_path: Path) -> None:
    with another_writer(tmp_path / "killed") as process:
        process.kill()
        process.wait()
        (name,) = listed(tmp_path)
        assert name.startswith(".ullage-")
        assert name.endswith(".part")
    write(tmp_path / "next")
    assert listed(tmp_path) == ["next"]


def test_the_draft_of_a_file_that_nobody_may_write_to_is_taken_away_too(
    tmp_path: Path, left: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = os.open

    def as_an_ordinary_user(path: Path, flags: int, mode: int = 0o777) -> int:
        if flags & (os.O_WRONLY | os.O_RDWR) and not Path(path).stat().st_mode & 0o200:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return opened(path, flags, mode)

    left.chmod(0o444)
    monkeypatch.setattr(os, "open", as_an_ordinary_user)
    remove_left(tmp_path)
    assert listed(tmp_path) == []


def test_a_draft_that_is_being_written_stays_and_gets_its_name(tmp_path: Path) -> None:
    with another_writer(tmp_path / "slow") as process:
        write(tmp_path / "quick")
        assert len(listed(tmp_path)) == 2
        process.communicate("go on\n")
        assert process.returncode == 0
    assert (tmp_path / "slow").read_bytes() == b"written"
    assert listed(tmp_path) == ["quick", "slow"]


def test_two_drafts_of_one_process_do_not_disturb_each_other(tmp_path: Path) -> None:
    with drafted(tmp_path) as one, drafted(tmp_path) as other:
        one.publish(tmp_path / "one")
        other.publish(tmp_path / "other")
    assert listed(tmp_path) == ["one", "other"]


def test_a_draft_that_had_its_name_already_is_only_its_second_name(
    tmp_path: Path, left: Path
) -> None:
    os.link(left, tmp_path / "published")
    remove_left(tmp_path)
    assert listed(tmp_path) == ["published"]


def test_what_is_no_draft_of_ours_stays(tmp_path: Path, left: Path) -> None:
    kept = tmp_path / "kept"
    kept.write_bytes(b"precious")
    linked = left.with_name(f"{left.name[:-6]}0.part")
    linked.symlink_to(kept)
    below = tmp_path / "below"
    below.mkdir()
    others = [
        left.with_name(f"{left.name}.bak"),
        left.with_name(left.name[1:]),
        left.with_name(left.name.upper()),
        tmp_path / ".ullage-settings.part",
        tmp_path / ".ullage-00000000-abcdefgh.part",
        tmp_path / "other.part",
        below / left.name,
    ]
    for path in others:
        path.write_bytes(b"")
    folder = left.with_name(f"{left.name[:-6]}1.part")
    folder.mkdir()
    pipe = left.with_name(f"{left.name[:-6]}2.part")
    os.mkfifo(pipe)
    remove_left(tmp_path)
    assert not left.exists()
    assert kept.read_bytes() == b"precious"
    assert linked.is_symlink()
    assert all(path.exists() for path in [*others, folder, pipe])


def test_another_users_draft_stays(
    tmp_path: Path, left: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    remove_left(tmp_path)
    assert left.exists()


def test_without_locks_nothing_is_removed_and_all_is_written(
    tmp_path: Path, left: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    with monkeypatch.context() as patched:
        patched.setattr(fcntl, "flock", none)
        write(tmp_path / "new")
        assert listed(tmp_path) == [left.name, "new"]
        with drafted(tmp_path) as draft:
            patched.undo()
            remove_left(tmp_path)
            assert draft.path.exists()
    assert not left.exists()


def test_a_draft_that_was_taken_for_one_that_was_left_is_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = fcntl.flock
    stolen: list[Path] = []

    def late(handle: int, how: int) -> None:
        if not stolen:
            stolen.extend(tmp_path.iterdir())
            for path in stolen:
                path.unlink()
        lock(handle, how)

    monkeypatch.setattr(fcntl, "flock", late)
    write(tmp_path / "new")
    assert len(stolen) == 1
    assert (tmp_path / "new").read_bytes() == b"whole"
    assert listed(tmp_path) == ["new"]


def test_a_folder_that_cannot_be_listed_is_no_obstacle(tmp_path: Path) -> None:
    remove_left(tmp_path / "missing")
    remove_left(Path("no\0name"))
