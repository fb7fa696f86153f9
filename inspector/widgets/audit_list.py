"""Operations, one line each: who did what to which nodes, and what it gained."""

from __future__ import annotations

from datetime import tzinfo

from inspector.reports import AuditRow
from inspector.sanitize import line
from inspector.widgets import figures
from inspector.widgets.line_list import LineList
from inspector.widgets.tones import Cells, pad

_STATES = {
    "standing": ("●", "calm"),
    "undone": ("○", "muted"),
    "superseded": ("◌", "warm"),
}
_ORIGINS = {"agent": "instructions", "user": "accent", "policy": "warm"}


class AuditList(LineList[AuditRow]):
    """Operations of the user, the policy and the agent."""

    zone: tzinfo | None = None

    def paint(self, row: AuditRow, index: int, width: int) -> Cells:
        dot, tone = _STATES[row.state]
        dim = "text" if row.state == "standing" else "muted"
        cells: Cells = [
            (f"{dot} ", tone),
            (pad(figures.event_name(row.operation), 7), "muted"),
            (pad(line(row.kind, 8), 9), dim),
            (pad(row.origin, 7), _ORIGINS[row.origin]),
        ]
        room = width - 25
        if width >= 90:
            cells.append((pad(figures.moment(row.at, self.zone), 21), "muted"))
            room -= 21
        gain = _gain(row)
        cells.append((pad(line(_what(row), room - 23), room - 23), dim))
        cells.append((pad(gain, 23, right=True), dim))
        return cells


def _what(row: AuditRow) -> str:
    parts = []
    if row.region is not None:
        start, end = figures.event_name(row.region.start), figures.event_name(row.region.end)
        parts.append(start if start == end else f"{start} … {end}")
    if row.shadowed_seqs:
        parts.append(f"{len(row.shadowed_seqs):,} shadowed")
    if row.rule:
        parts.append(row.rule)
    if row.state == "superseded" and row.superseded_by is not None:
        parts.append(f"superseded by {figures.event_name(row.superseded_by)}")
    elif row.state == "undone":
        parts.append("undone")
    if row.note:
        parts.append(row.note)
    return " · ".join(parts)


def _gain(row: AuditRow) -> str:
    before, after = row.tokens_before, row.tokens_after
    if before is None or after is None:
        return ""
    share = f" {(after - before) / before * 100:+.0f} %" if before else ""
    return f"{figures.tokens(before)} → {figures.tokens(after)}{share}"
