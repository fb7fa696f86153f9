"""How lines of text are laid out for a terminal or a pipe: colours, bars, aligned tables.

Everything that may come from a log goes through :mod:`inspector.sanitize` here, cell by cell.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, TextIO

from rich.cells import cell_len

from inspector.sanitize import line, path_line

Style = Literal["bold", "dim", "red", "green", "yellow", "blue", "magenta", "cyan"]
_CODES: dict[Style, int] = {
    "bold": 1,
    "dim": 2,
    "red": 31,
    "green": 32,
    "yellow": 33,
    "blue": 34,
    "magenta": 35,
    "cyan": 36,
}
_EIGHTHS = " ▏▎▍▌▋▊▉█"
_STEPS = "▁▂▃▄▅▆▇█"
PIPE_WIDTH = 100
NARROWEST = 40


@dataclass(frozen=True, slots=True)
class Paint:
    """What the output can show."""

    width: int = PIPE_WIDTH
    """Cells of a line."""
    color: bool = False

    def __call__(self, text: str, *styles: Style) -> str:
        """The text in these styles, or as it is where there is no colour."""
        if not self.color or not styles or not text:
            return text
        codes = ";".join(str(_CODES[style]) for style in styles)
        return f"\x1b[{codes}m{text}\x1b[0m"


def paint_for(stream: TextIO, environment: Mapping[str, str] = os.environ) -> Paint:
    """Colour on a terminal only, unless ``NO_COLOR`` is set or the terminal is dumb
    (no-color.org). A pipe has :data:`PIPE_WIDTH` cells, or what ``COLUMNS`` says."""
    terminal = stream.isatty()
    columns = environment.get("COLUMNS", "")
    if terminal:
        width = shutil.get_terminal_size((80, 24)).columns
    else:
        width = int(columns) if columns.isdecimal() else PIPE_WIDTH
    color = terminal and not environment.get("NO_COLOR") and environment.get("TERM") != "dumb"
    return Paint(max(width, NARROWEST), color)


def bar(fraction: float, cells: int) -> str:
    """A bar of ``cells`` cells, filled to the fraction, in steps of an eighth of a cell. What is
    above nothing shows at least one step."""
    eighths = round(min(max(fraction, 0.0), 1.0) * cells * 8)
    if fraction > 0:
        eighths = max(eighths, 1)
    whole, rest = divmod(eighths, 8)
    text = "█" * whole + (_EIGHTHS[rest] if rest else "")
    return text.ljust(cells)


def sparkline(values: Sequence[float], cells: int) -> str:
    """The newest ``cells`` values, 0…1, one step character each."""
    newest = values[-cells:] if cells > 0 else ()
    top = len(_STEPS) - 1
    return "".join(_STEPS[round(min(max(value, 0.0), 1.0) * top)] for value in newest)


def resampled(values: Sequence[float], cells: int) -> list[float]:
    """At most ``cells`` values, each the largest of its equal share of the list."""
    if len(values) <= cells:
        return list(values)
    edges = [index * len(values) // cells for index in range(cells + 1)]
    return [max(values[a:b]) for a, b in pairwise(edges)]


def pressure_style(fraction: float) -> Style:
    """Calm below 60 %, a warning below 80 %, then alarm."""
    if fraction < 0.6:
        return "green"
    return "yellow" if fraction < 0.8 else "red"


def short(tokens: int | None) -> str:
    """``950``, ``61.2k``, ``1.25M``, or ``–`` where it is unknown."""
    if tokens is None:
        return "–"
    if abs(tokens) < 1_000:
        return str(tokens)
    if abs(tokens) < 999_950:
        return f"{tokens / 1_000:.1f}k"
    return f"{tokens / 1_000_000:.2f}M"


def counted(number: int, noun: str, plural: str = "") -> str:
    """``1 file``, ``1,503 files``."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def size(count: int) -> str:
    """``950 B``, ``102.4 kB``, ``1.3 GB``: bytes in powers of a thousand."""
    scaled, units = float(count), ["B", "kB", "MB", "GB", "TB"]
    while scaled >= 999.95 and len(units) > 1:
        scaled, units = scaled / 1000, units[1:]
    return f"{scaled:.0f} B" if units[0] == "B" else f"{scaled:.1f} {units[0]}"


def age(seconds: float | None) -> str:
    """``8s``, ``4m``, ``3h``, ``12d``, or ``–`` where it is unknown."""
    if seconds is None:
        return "–"
    seconds = max(seconds, 0.0)
    for limit, unit, size in ((60, "s", 1), (3600, "m", 60), (86400, "h", 3600)):
        if seconds < limit:
            return f"{seconds / size:.0f}{unit}"
    return f"{seconds / 86400:.0f}d"


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table. At most one column of a table is flexible: it takes what is left."""

    title: str
    align: Literal["left", "right"] = "left"
    most: int = 24
    """Cells at most; longer text is cut with ``…``."""
    flexible: bool = False
    paths: bool = False
    """Holds paths: what is too long is cut so that the name of the file stays."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A text with the styles that it is drawn in."""

    text: str
    styles: tuple[Style, ...] = ()


def table(
    columns: Sequence[Column], rows: Sequence[Sequence[str | Cell]], paint: Paint
) -> Iterator[str]:
    """A heading and one line a row, cut to the width; a column without a text is left out, and so
    are trailing blanks."""
    cells = [[value if isinstance(value, Cell) else Cell(value) for value in row] for row in rows]
    used = [
        index
        for index, column in enumerate(columns)
        if column.title or any(row[index].text for row in cells)
    ]
    columns = [columns[index] for index in used]
    cells = [[row[index] for index in used] for row in cells]
    widths = [
        min(column.most, max([cell_len(column.title), *(_natural(row[index]) for row in cells)]))
        for index, column in enumerate(columns)
    ]
    gaps = 2 * (len(columns) - 1)
    for index, column in enumerate(columns):
        if column.flexible:
            rest = paint.width - gaps - sum(widths) + widths[index]
            widths[index] = max(rest, 12)
    heading = [Cell(column.title, ("dim",)) for column in columns]
    for row in [heading, *cells]:
        yield _row(row, columns, widths, paint)


def _natural(cell: Cell) -> int:
    return cell_len(line(cell.text, 200))


def _row(
    row: Sequence[Cell], columns: Sequence[Column], widths: Sequence[int], paint: Paint
) -> str:
    parts = []
    for cell, column, width in zip(row, columns, widths, strict=True):
        text = (path_line if column.paths else line)(cell.text, width)
        blanks = " " * (width - cell_len(text))
        drawn = paint(text, *cell.styles)
        parts.append(blanks + drawn if column.align == "right" else drawn + blanks)
    return "  ".join(parts).rstrip()
