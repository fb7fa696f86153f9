"""Which decision points are asked for. Pure: a record and a wish in, yes or no out."""

from __future__ import annotations

import os.path
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from compress.decisions.values import DecisionPoint, Level, OutcomeKind, StageKind
from inspector.zones import Zone


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which records are asked for; an empty choice means any.

    ``words`` must all stand in the record, letter case aside. ``since`` and ``until`` are days,
    both included; a record counts for the day on which it ended, one that runs for the day on
    which it began. ``whole``: also what the projects' memory holds beyond the cap of what is shown.
    """

    project: str | None = None
    since: date | None = None
    until: date | None = None
    outcomes: Sequence[OutcomeKind] = ()
    kinds: Sequence[StageKind] = ()
    levels: Sequence[Level] = ()
    words: str = ""
    whole: bool = True
    masked: bool = True


EVERYTHING = Wanted()


def is_below(cwd: str | None, project: str) -> bool:
    """Whether a working directory is this folder or one inside it, as their names tell."""
    if cwd is None:
        return False
    folder, root = os.path.normpath(cwd), os.path.normpath(project)
    return folder == root or folder.startswith(root.rstrip(os.sep) + os.sep)


def is_wanted(point: DecisionPoint, wanted: Wanted) -> bool:
    """Whether a record is among what was chosen; days and projects aside."""
    choices: tuple[tuple[str, Sequence[str]], ...] = (
        (point.outcome, wanted.outcomes),
        (point.stage.kind, wanted.kinds),
        (point.level, wanted.levels),
    )
    if not all(not among or value in among for value, among in choices):
        return False
    words = wanted.words.casefold().split()
    text = _text(point) if words else ""
    return all(word in text for word in words)


def _text(point: DecisionPoint) -> str:
    parts = [
        *(point.stage.title, point.summary, point.rationale or "", point.project or ""),
        *(item.text for item in point.steering),
        *(item.text for item in point.evidence),
        *(file.path for file in point.files),
    ]
    return "\n".join(parts).casefold()


def time_of(point: DecisionPoint) -> float | None:
    """The moment that a record counts for, in seconds since 1970."""
    return point.started_at if point.ended_at is None else point.ended_at


def is_within(point: DecisionPoint, wanted: Wanted, zone: Zone) -> bool:
    """Whether a record falls on one of the wanted days of a zone; one without a time never does."""
    time = time_of(point)
    if time is None:
        return False
    day = zone.day(time)
    return (wanted.since is None or wanted.since <= day) and (
        wanted.until is None or day <= wanted.until
    )
