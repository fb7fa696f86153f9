"""What stands in the place of the list while there is no session: pure functions to sections."""

from __future__ import annotations

from collections.abc import Sequence

from inspector.locations import Place
from inspector.sanitize import clean
from inspector.widgets import figures
from inspector.widgets.tables import flow, table
from inspector.widgets.text_pane import Section

WAYS = (
    ("ullage demo", "shows all of this on a bundled session"),
    ("ullage PATH…", "opens logs that lie elsewhere, files or folders"),
    ("ullage ingest PATH…", "reads them into the store"),
    ("ullage doctor", "folders, formats and settings in force"),
)
LOOKING = "Looking for the logs of coding agents …"
NOTHING = (
    "No log of a coding agent was found. As soon as an agent writes one, its session appears here."
)
NOT_UNDERSTOOD = (
    "{files} found, and none holds a session that can be shown; ullage doctor says why. What is "
    "written from now on appears here by itself."
)
WELCOME = "no session yet"


def welcome_sections(
    places: Sequence[Place] | None, reading: tuple[int, int], width: int
) -> list[Section]:
    """``places`` that were looked at (``None``: not known yet), how many files of how many were
    read, and the cells of a line."""
    if places is None:
        return [Section(LOOKING, "muted", WELCOME)]
    files = sum(place.files for place in places)
    if reading[0] < reading[1]:
        what = f"Reading: {reading[0]:,} of {figures.counted(reading[1], 'file')} done …"
    elif files:
        what = NOT_UNDERSTOOD.format(files=figures.counted(files, "file"))
    else:
        what = NOTHING
    told = [Section(what, "strong", WELCOME), Section(table(WAYS, width), title="ways on")]
    told.append(Section(_looked_in(places, width), "muted", "looked in"))
    names = sorted({name for place in places for name in place.variables})
    if names:
        told.append(Section("An agent's own variable names another folder:", "muted", "elsewhere"))
        told.append(Section(flow(names, width)))
    return told


def _looked_in(places: Sequence[Place], width: int) -> str:
    states = [(place, _state(place)) for place in places]
    wide = max((len(state) for _, state in states), default=0) + 2
    entries = dict.fromkeys(
        (place.agent or "path", f"{state:<{wide}}{clean(place.folder, ' ')}")
        for place, state in states
    )
    return table(list(entries), width)


def _state(place: Place) -> str:
    if place.files:
        return figures.counted(place.files, "file")
    return "no log" if place.there else "not there"
