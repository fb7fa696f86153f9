"""Packs as files: Markdown for a person or a model, JSON for a program."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from inspector.export_files import ExportFileError, named_path, no_place, write_export
from inspector.pack_reports import PackReport
from storage.format import MEMORY

R = TypeVar("R", bound=PackReport)

FORMS = (".md", ".json")
FOLDER = "packs"
"""Beside the store: where the files of committed packs are, unless others are named."""
_DIGITS = 12


def paths_for(report: PackReport, place: Path, stem: str = "pack") -> Mapping[str, Path]:
    """Form → file: both forms beside each other, whichever of the two endings ``place`` has. In a
    folder their name follows from what they hold, behind ``stem``.

    Raises :class:`inspector.export_files.ExportFileError` for what is no place."""
    try:
        place = named_path(place)
        if place.is_dir():
            digest = hashlib.sha256(contents(report)[".json"]).hexdigest()
            place /= f"{stem}-{digest[:_DIGITS]}"
        name = place.stem if place.suffix in FORMS else place.name
        return {form: place.with_name(name + form) for form in FORMS}
    except (OSError, RuntimeError, ValueError) as error:
        # A name that is too long, a byte that no name holds, the home of nobody.
        raise no_place(place, error) from error


def contents(report: PackReport) -> Mapping[str, bytes]:
    """Form → bytes. The same pack gives the same bytes: nothing in them says when or where."""
    bare = report.model_copy(update={"operation": None, "files": ()})
    text = json.dumps(bare.model_dump(mode="json"), ensure_ascii=True, indent=2)
    markdown = report.text if report.text.endswith("\n") else f"{report.text}\n"
    return {".md": markdown.encode("utf-8", "replace"), ".json": f"{text}\n".encode()}


@contextmanager
def written(
    report: PackReport, place: Path, *, again: bool = False, stem: str = "pack"
) -> Iterator[tuple[str, ...]]:
    """Writes the files, all or none, each whole or not at all, readable by this user alone; a file
    that is there is never replaced. They are taken away again where the block raises. ``again``: a
    file that is there with these very bytes will do.

    Raises :class:`inspector.export_files.ExportFileError`.
    """
    made: list[Path] = []
    found = contents(report)
    paths = paths_for(report, place, stem)
    try:
        for form, path in paths.items():
            if again and _holds(path, found[form]):
                continue
            write_export(path, [found[form]])
            made.append(path)
        yield tuple(str(path) for path in paths.values())
    except BaseException:
        for path in made:
            path.unlink(missing_ok=True)
        raise


def committed(
    report: R, db: str, place: Path | None, append: Callable[[], str], *, stem: str = "pack"
) -> R:
    """Writes the files, beside the store ``db`` where no place is named, and appends; neither
    without the other. The report then has the operation and the files.

    Raises :class:`inspector.export_files.ExportFileError`.
    """
    folder = store_folder(db) if place is None else place
    if folder is None:
        return report.model_copy(update={"operation": append()})
    with written(report, folder, again=place is None, stem=stem) as files:
        return report.model_copy(update={"operation": append(), "files": files})


def store_folder(db: str) -> Path | None:
    """Where committed packs are kept, made where it is missing; ``None`` for a store in memory.

    Raises :class:`inspector.export_files.ExportFileError`.
    """
    if db == MEMORY:
        return None
    folder = Path(db).parent / FOLDER
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise ExportFileError(f"{folder} cannot be made: {error.strerror}.") from error
    return folder


def _holds(path: Path, content: bytes) -> bool:
    try:
        return not path.is_symlink() and path.read_bytes() == content
    except OSError:
        return False
