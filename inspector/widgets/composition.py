"""What the window is filled with: one stacked bar and its legend."""

from __future__ import annotations

from textual.geometry import Size

from inspector.reports import PressureReport
from inspector.sanitize import line
from inspector.widgets import figures
from inspector.widgets.tones import Cells, Drawn, pad, width_of

PARTS = (
    ("system_and_tools", "system, tools", "█"),
    ("instructions", "instructions", "▓"),
    ("user", "user", "▒"),
    ("assistant", "assistant", "█"),
    ("thinking", "thinking", "▓"),
    ("tool_calls", "tool calls", "▒"),
    ("tool_results", "tool results", "█"),
    ("checkpoints", "checkpoints", "▓"),
)
"""Slices in the order of a request, with the fill that tells them apart without colour."""

COLUMN = 28
TOOLS_SHOWN = 4


class CompositionBar(Drawn):
    """Slices to scale of what is used, then a legend with tokens and shares of the window."""

    report: PressureReport | None = None
    legend: bool = True

    def show(self, report: PressureReport | None) -> None:
        """Take a new report."""
        self.report = report
        self.refresh_drawing(layout=True)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self.draw(width, 99)) if self.report is not None else 1

    def draw(self, width: int, height: int) -> list[Cells]:
        report = self.report
        if report is None:
            return []
        slices = [
            (tone, name, fill, getattr(report.composition, tone)) for tone, name, fill in PARTS
        ]
        present = [part for part in slices if part[3] > 0]
        if not present:
            return [[("nothing in the window", "muted")]]
        plain = self.app.no_color
        lines: list[Cells] = [_stack(present, width, plain)]
        if not self.legend:
            return lines
        whole = report.window or sum(part[3] for part in present)
        entries = [_entry(part, whole, plain) for part in present]
        full = [*lines, *_grid(entries, width), *_tools(report, width)]
        return full if len(full) <= height else lines + _largest(present, whole, plain, height - 1)


def _stack(parts: list[tuple[str, str, str, int]], width: int, plain: bool) -> Cells:
    """Cells by the largest remainder, at least one for every part while there is room."""
    total = sum(count for *_, count in parts)
    least = 1 if width >= len(parts) else 0
    room = width - least * len(parts)
    exact = [count / total * room for *_, count in parts]
    sizes = [least + int(value) for value in exact]
    order = sorted(range(len(parts)), key=lambda at: (int(exact[at]) - exact[at], at))
    for at in order[: max(width - sum(sizes), 0)]:
        sizes[at] += 1
    return [
        ((fill if plain else "█") * size, tone)
        for (tone, _, fill, _), size in zip(parts, sizes, strict=True)
    ]


def _entry(part: tuple[str, str, str, int], whole: int, plain: bool) -> Cells:
    tone, name, fill, count = part
    return [
        ((fill if plain else "█") + " ", tone),
        (pad(name, 13), "text"),
        (f"{figures.tokens(count):>6}", "text"),
        (f"{figures.percent(count / whole):>6}", "muted"),
    ]


def _largest(
    parts: list[tuple[str, str, str, int]], whole: int, plain: bool, room: int
) -> list[Cells]:
    """The largest parts one below another, and what is left in the last line."""
    ranked = sorted(parts, key=lambda part: -part[3])
    if len(ranked) <= room:
        return [_entry(part, whole, plain) for part in ranked]
    rest = ranked[max(room - 1, 0) :]
    others = ("faint", f"{len(rest)} smaller", "░", sum(part[3] for part in rest))
    return [_entry(part, whole, plain) for part in (*ranked[: max(room - 1, 0)], others)][:room]


def _grid(entries: list[Cells], width: int) -> list[Cells]:
    """Entries in as many columns as fit, read downwards."""
    across = max(1, (width + 2) // (COLUMN + 2))
    down = -(-len(entries) // across)
    lines: list[Cells] = []
    for row in range(down):
        cells: Cells = []
        for entry in entries[row::down]:
            gap = len(cells) and 2
            cells += [(" " * gap, "text"), *entry, (" " * (COLUMN - width_of(entry)), "text")]
        lines.append(cells)
    return lines


def _tools(report: PressureReport, width: int) -> list[Cells]:
    """The tools whose results take most, on one line."""
    ranked = sorted(report.tool_results_by_tool.items(), key=lambda item: (-item[1], item[0]))
    if not ranked:
        return []
    text = " · ".join(
        f"{line(name, 16)} {figures.tokens(count)}" for name, count in ranked[:TOOLS_SHOWN]
    )
    left = len(ranked) - TOOLS_SHOWN
    more = f" · {left:,} more" if left > 0 else ""
    return [[(line(f"└ {text}{more}", width), "muted")]]
