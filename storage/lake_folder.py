"""A lake's folder: what it is, and how files come into it exactly once.

``_ullage/lake.json`` says whose lake it is. ``_ullage/commits/NNNNNNNN.json`` are numbered, each
with the files that it brings and how far every session stands after it. Files are written as
drafts in ``_ullage/staging``; one new commit file, which is there whole or not at all, decides
that they belong to the lake; then each gets its name. So at any moment a killed export has left
either drafts that no commit names, which the next one takes away, or drafts that a commit names,
which the next one gives their names. Nothing that has a name is ever changed.

Engines that read ``events/``, ``operations/`` and ``decisions/`` never see the folder ``_ullage``.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from storage.errors import StorageError
from storage.lake import Kept, Mark, OtherStoreError
from storage.publishing import publish

FORMAT = "ullage lake"
VERSION = 1
"""Of the columns and of what stands in ``_ullage``; another one asks for another lake."""

TABLES = ("events", "operations", "decisions")
README = "README.md"
_OWN = "_ullage"


class LakeError(StorageError):
    """A folder that cannot be the lake that it was asked to be."""

    code = "lake"


class LakeBusyError(LakeError):
    """Another export writes into the lake."""

    code = "lake_busy"


class LakeFolder:
    """An opened lake; only :func:`opened` makes one."""

    def __init__(self, root: Path, marks: dict[str, Mark], commits: int) -> None:
        self.root = root
        self.marks = marks
        """Session name → how far it stands here."""
        self.commits = commits

    def draft(self, place: str) -> Path:
        """An empty draft, readable by this user alone, of a file that the next commit may bring to
        ``place``, a path below the lake's folder. Places are taken once."""
        path = self._staging / place.replace("/", "!")
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        return path

    def commit(self, files: Mapping[str, int], sessions: Mapping[str, Mapping[str, Any]]) -> None:
        """Brings the drafts of these places (with their numbers of rows) into the lake, and notes
        how far these sessions stand."""
        for place in files:
            _to_disk(self._draft(place))
        document = {"files": files, "sessions": sessions}
        path = _commit(self.root, self.commits + 1)
        self._write_whole(path, json.dumps(document, separators=(",", ":")) + "\n")
        self.commits += 1
        self._take_in(files)

    def recover(self) -> None:
        """Finishes what a killed export had decided, and takes away what it had not."""
        self._staging.mkdir(mode=0o700, exist_ok=True)
        if self.commits:
            self._take_in(_read(_commit(self.root, self.commits))["files"])
        for left in self._staging.iterdir():
            left.unlink()

    def write_once(self, path: Path, text: str) -> None:
        """A file that is there whole or not at all, and stays as it is."""
        if not path.exists():
            self._write_whole(path, text)

    @property
    def _staging(self) -> Path:
        return self.root / _OWN / "staging"

    def _draft(self, place: str) -> Path:
        return self._staging / place.replace("/", "!")

    def _take_in(self, files: Mapping[str, int]) -> None:
        folders = set()
        for place in files:
            draft, path = self._draft(place), self.root / place
            if not draft.exists():  # it has its name already
                continue
            _make_folder(path.parent)
            with suppress(FileExistsError):  # killed between its name and the end of the draft
                publish(draft, path)
            draft.unlink(missing_ok=True)
            folders.add(path.parent)
        for folder in folders:
            _to_disk(folder)

    def _write_whole(self, path: Path, text: str) -> None:
        _make_folder(path.parent)
        draft = self._staging / f"{path.name}.new"
        draft.unlink(missing_ok=True)
        with os.fdopen(os.open(draft, os.O_CREAT | os.O_WRONLY, 0o600), "w") as file:
            file.write(text)
        _to_disk(draft)
        publish(draft, path)
        draft.unlink(missing_ok=True)
        _to_disk(path.parent)


@contextmanager
def opened(root: Path, store: str, readme: str, *, masked: bool) -> Iterator[LakeFolder]:
    """The lake at ``root``, made where there is none, recovered, and held until the block ends.
    ``store``: the identity of the store that feeds it; ``readme``: what it says of itself.

    Raises :class:`LakeError`, :class:`LakeBusyError`, :class:`storage.lake.OtherStoreError`;
    nothing was changed then.
    """
    try:
        _refuse_foreign(root)
        _make_folder(root / _OWN)
        with _held(root):
            about = {"format": FORMAT, "version": VERSION, "store": store, "masked": masked}
            own = root / _OWN / "lake.json"
            if own.exists():
                _compare(root, _read(own), about)
            marks, commits = _marks(root)
            lake = LakeFolder(root, marks, commits)
            lake.recover()
            lake.write_once(own, json.dumps(about, indent=2) + "\n")
            lake.write_once(root / README, readme)
            yield lake
    except OSError as error:
        name = error.filename or root
        raise LakeError(
            f"The lake {root} cannot be written: {name}: {error.strerror or error}."
        ) from error


def _refuse_foreign(root: Path) -> None:
    if root.exists() and not root.is_dir():
        raise LakeError(f"{root} is a file; name a folder for the lake.")
    known = {_OWN, *TABLES, README}
    if (root / _OWN / "lake.json").exists() or not root.exists():
        return
    if any(entry.name not in known - set(TABLES) for entry in root.iterdir()):
        raise LakeError(f"{root} holds something else than a lake; name a new or empty folder.")


def _compare(root: Path, there: Mapping[str, Any], own: Mapping[str, Any]) -> None:
    if there.get("format") != FORMAT or there.get("version") != VERSION:
        raise LakeError(
            f"{root} is a lake of version {there.get('version')}, this Ullage writes version "
            f"{VERSION}; export to a new folder."
        )
    if there.get("store") != own["store"]:
        raise OtherStoreError(
            f"{root} is the lake of another store; export to a new folder, or name the store that "
            "it was made from with --db FILE."
        )
    if there.get("masked") != own["masked"]:
        was = "masked" if there.get("masked") else "not masked"
        way = "without --unmasked" if there.get("masked") else "with --unmasked"
        raise LakeError(
            f"Secrets are {was} in the lake {root}; go on {way}, or export to a new folder."
        )


def _marks(root: Path) -> tuple[dict[str, Mark], int]:
    """How far the sessions stand after all commits, and how many there are."""
    marks: dict[str, Mark] = {}
    number = 0
    while (path := _commit(root, number + 1)).exists():
        number += 1
        for name, noted in _read(path)["sessions"].items():
            _apply(marks.setdefault(name, Mark()), noted)
    return marks, number


def _apply(mark: Mark, noted: Mapping[str, Any]) -> None:
    if mark.generation != noted["generation"]:
        mark.revised.clear()
    mark.generation, mark.position = noted["generation"], noted["position"]
    mark.read = None if noted["read"] is None else (noted["read"][0], noted["read"][1])
    mark.operations, mark.rules = noted["operations"], noted["rules"]
    mark.revised.update((int(seq), revision) for seq, revision in noted["revised"].items())
    mark.decisions.update((name, Kept(*kept)) for name, kept in noted["decisions"].items())


def noted(
    mark: Mark, revised: Mapping[int, int], decisions: Mapping[str, Kept]
) -> Mapping[str, Any]:
    """How far a session stands, as a commit holds it; of what was revised and decided only what
    this commit brings."""
    return {
        "generation": mark.generation,
        "position": mark.position,
        "read": mark.read,
        "operations": mark.operations,
        "rules": mark.rules,
        "revised": revised,
        "decisions": decisions,
    }


def _commit(root: Path, number: int) -> Path:
    return root / _OWN / "commits" / f"{number:08}.json"


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_text())
    except ValueError as error:
        raise LakeError(f"{path} is damaged; export to a new folder.") from error


def _make_folder(path: Path) -> None:
    """With the folders above it, which ``parents=True`` would make for all to read."""
    if not path.is_dir():
        _make_folder(path.parent)
        path.mkdir(mode=0o700, exist_ok=True)


def _to_disk(path: Path) -> None:
    """A loss of power must not leave a commit whose files are empty."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def _held(root: Path) -> Iterator[None]:
    """Only one process at a time writes into a lake; one that is killed holds nothing."""
    import fcntl  # noqa: PLC0415 - not on every platform

    handle = os.open(root / _OWN, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise LakeBusyError(
                f"Another export is writing into {root}; try again when it is done."
            ) from error
        yield
    finally:
        os.close(handle)
