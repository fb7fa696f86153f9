"""Putting Ullage into an agent's settings, and taking it out again.

Nothing but the one file that is named is changed, its backup beside it, and the journal in
Ullage's own folder. Both can be asked again and do nothing the second time.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from compress.errors import CompressError
from inspector.install_reports import InstallReport
from inspector.integrations import settings_files
from inspector.integrations.claude import ClaudeTarget
from inspector.integrations.codex import CodexTarget
from inspector.integrations.journal import Installed, Journal
from inspector.integrations.json_edits import JsonTextError
from inspector.integrations.pi import PiTarget
from inspector.integrations.program import Program
from inspector.integrations.settings_files import SettingsFile, SettingsFileError, digest_of
from inspector.integrations.target import Place, Target

TARGETS: dict[str, Target] = {
    target.agent: target for target in (ClaudeTarget(), CodexTarget(), PiTarget())
}
_MARK = "\ufeff"


class NoSeamError(CompressError):
    """An agent that Ullage cannot be installed for."""

    code = "no_seam"

    def __init__(self, agent: str) -> None:
        super().__init__(
            f"Ullage cannot be installed for {agent!r}, only for agents that offer a place where "
            "pins could come back; the logs of others are read without it.",
            tuple(TARGETS),
        )


def install(
    agent: str, place: Place, program: Program, journal: Journal, *, dry_run: bool = False
) -> InstallReport:
    """Adds what the agent offers. Raises :class:`NoSeamError`, :class:`SettingsFileError`."""
    target = _target(agent)
    target.check(place)
    file = settings_files.read(target.path(place), place.project)
    before = _text(file)
    with _named(file.path):
        bare = None if before is None else target.removed(before)
        after = target.installed(before, program)
        notes = target.notes(place, after)
    report = _report(target, file, before, after, notes)
    if not report.changed or dry_run:
        return report
    data = _bytes(file, after)
    known = journal.entry(file.real)
    # Of a file that holds an older entry of Ullage's, the state before that one is what counts.
    copy = settings_files.backup(file) if bare == before else None
    made = settings_files.write(file, data)
    if known is not None and known.after == file.digest:
        entry = known.model_copy(update={"after": digest_of(data)})
    else:
        entry = Installed(
            before=None if bare is None else digest_of(_bytes(file, bare)),
            after=digest_of(data),
            backup=None if copy is None else str(copy),
            folders=tuple(map(str, made)),
        )
    journal.note(file.real, entry)
    return report.model_copy(
        update={"written": True, "backup": None if copy is None else str(copy)}
    )


def uninstall(
    agent: str, place: Place, journal: Journal, *, dry_run: bool = False
) -> InstallReport:
    """Takes out what :func:`install` added, and nothing else: byte for byte what was there where
    nobody changed the file since.

    Raises :class:`NoSeamError`, :class:`SettingsFileError`.
    """
    target = _target(agent)
    file = settings_files.read(target.path(place), place.project)
    before = _text(file)
    if before is None:
        journal.forget(file.real)
        return _report(target, file, None, None)
    with _named(file.path):
        after = target.removed(before)
    if after == before:
        return _report(target, file, before, before)
    known = journal.entry(file.real)
    data = None if after is None else _bytes(file, after)
    if known is not None and known.after == file.digest:
        data = _original(known, data)
    report = _report(
        target, file, before, None if data is None else data.decode("utf-8", "replace")
    )
    if dry_run:
        return report
    if data is None:
        settings_files.delete(file, tuple(map(Path, known.folders)) if known is not None else ())
    else:
        settings_files.write(file, data)
    kept = _clear(known, data)
    journal.forget(file.real)
    return report.model_copy(update={"written": True, "backup": kept})


def _target(agent: str) -> Target:
    if agent not in TARGETS:
        raise NoSeamError(agent)
    return TARGETS[agent]


def _original(known: Installed, without: bytes | None) -> bytes | None:
    """What stood there before; where its backup is gone, the text without what was added."""
    if known.before is None:
        return None
    if without is not None and digest_of(without) == known.before:
        return without
    try:
        data = Path(known.backup or "").read_bytes()
    except OSError:
        return without
    return data if digest_of(data) == known.before else without


def _clear(known: Installed | None, data: bytes | None) -> str | None:
    """Takes the backup away where the file is again what it holds; else says where it is."""
    if known is None or known.backup is None:
        return None
    backup = Path(known.backup)
    if data is None or digest_of(data) != known.before:
        return str(backup) if backup.is_file() else None
    backup.unlink(missing_ok=True)
    return None


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Errors of a text are told with the name of its file."""
    try:
        yield
    except JsonTextError as error:
        raise SettingsFileError(f"{path} is left alone: {error}.") from error


def _text(file: SettingsFile) -> str | None:
    if file.data is None:
        return None
    try:
        return file.data.decode("utf-8").removeprefix(_MARK)
    except UnicodeDecodeError as error:
        raise SettingsFileError(
            f"{file.path} is left alone: it is no UTF-8 at byte {error.start}."
        ) from error


def _bytes(file: SettingsFile, text: str) -> bytes:
    marked = file.data is not None and file.data.startswith(_MARK.encode())
    return (f"{_MARK}{text}" if marked else text).encode()


def _report(
    target: Target,
    file: SettingsFile,
    before: str | None,
    after: str | None,
    notes: tuple[str, ...] = (),
) -> InstallReport:
    return InstallReport(
        agent=target.agent,
        title=target.title,
        path=str(file.path),
        file=str(file.real),
        changed=before != after,
        removes_file=after is None and before is not None,
        diff="".join(_diff(file, before or "", after or "")),
        notes=notes,
    )


def _diff(file: SettingsFile, before: str, after: str) -> Iterator[str]:
    name = str(file.path)
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    for line in difflib.unified_diff(old, new, name, name):
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
