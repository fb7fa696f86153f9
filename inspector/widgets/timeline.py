"""How the stages went, from left to right; the one under the cursor stands out."""

from __future__ import annotations

from collections.abc import Sequence

from textual import events
from textual.geometry import Size

from inspector.decision_reports import DecisionRow
from inspector.messages import RowActivated
from inspector.widgets.decision_list import STATES
from inspector.widgets.tones import Cells, Drawn

_GRAVEST = ("failure", "aborted", "retry", "running", "unknown", "success")
"""Of several stages in one cell, the one that is shown."""
LEAD = 1


class Timeline(Drawn):
    """One line. Stages of one session stand where their last event stands in the log, those of
    several in their order. A click goes to the nearest one."""

    rows: Sequence[DecisionRow] = ()
    cursor: int = 0
    newest: int = 0
    """The last event that any stage reaches, shown or not."""

    def show(self, rows: Sequence[DecisionRow], cursor: int, newest: int) -> None:
        """Take new values."""
        self.rows, self.cursor, self.newest = rows, cursor, newest
        self.refresh_drawing()

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return 1

    def draw(self, width: int, height: int) -> list[Cells]:
        columns = self._columns(width)
        found: dict[int, str] = {}
        for row, column in zip(self.rows, columns, strict=True):
            state = row.point.state
            known = found.get(column, state)
            found[column] = min(known, state, key=_GRAVEST.index)
        here = columns[self.cursor] if self.cursor < len(columns) else None
        cells: Cells = [(" " * LEAD, "text")]
        for column in range(width - 2 * LEAD):
            if column == here:
                cells.append(("█", "accent"))
            elif column in found:
                sign, tone = STATES[found[column]]
                cells.append((sign, tone))
            else:
                cells.append(("─", "rule"))
        return [cells]

    def on_click(self, event: events.Click) -> None:
        columns = self._columns(self.size.width)
        if columns:
            place = event.x - LEAD
            nearest = min(range(len(columns)), key=lambda at: abs(columns[at] - place))
            self.post_message(RowActivated(self, nearest))

    def _columns(self, width: int) -> list[int]:
        """The column of each row."""
        track = max(width - 2 * LEAD, 1)
        rows = self.rows
        if len({row.session for row in rows}) == 1:
            places = [int(row.point.last_seq) for row in rows]
            top = max(self.newest, *places)
        else:
            places = list(range(1, len(rows) + 1))
            top = len(rows)
        return [min((place - 1) * track // max(top, 1), track - 1) for place in places]
