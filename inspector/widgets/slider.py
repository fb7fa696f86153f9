"""The time slider: any past event of the log, by key or mouse."""

from __future__ import annotations

from collections.abc import Sequence

from textual import events
from textual.geometry import Size

from compress.events import NodeId
from inspector.messages import TimeMoved
from inspector.widgets import figures
from inspector.widgets.tones import Cells, Drawn, pad

LEAD = 2


class TimeSlider(Drawn):
    """One line from the first to the newest event; compactions are marked on it."""

    newest: int = 0
    at: int | None = None
    """The event shown; ``None`` for the newest, which then moves with the log."""
    marks: Sequence[NodeId] = ()

    def show(self, newest: int, at: int | None, marks: Sequence[NodeId]) -> None:
        """Take new values."""
        self.newest, self.at, self.marks = newest, at, marks
        self.refresh_drawing()

    def move(self, by: int) -> None:
        """Ask for another moment, ``by`` events later (earlier when negative)."""
        self._ask((self.newest if self.at is None else self.at) + by)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return 1

    def draw(self, width: int, height: int) -> list[Cells]:
        if not self.newest:
            return []
        label = self._label()
        track = self._track(width)
        if track < 4:
            return [[(label, "text")]]
        here = self._column(self.newest if self.at is None else self.at, track)
        marked = {self._column(seq, track) for seq in self.marks if isinstance(seq, int)}
        cells: Cells = [("◷ ", "accent")]
        for column in range(track):
            if column == here:
                cells.append(("●", "accent"))
            elif column in marked:
                cells.append(("▲", "checkpoints"))
            else:
                cells.append(("━", "calm") if column < here else ("─", "rule"))
        return [[*cells, (label, "text" if self.at is None else "accent")]]

    def on_mouse_down(self, event: events.MouseDown) -> None:
        self.capture_mouse()
        self._to(event)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        if self.app.mouse_captured is self:
            self._to(event)

    def on_mouse_up(self, event: events.MouseUp) -> None:
        self.release_mouse()

    def _to(self, event: events.MouseEvent) -> None:
        track = self._track(self.size.width)
        if track >= 4 and self.newest:
            share = min(max((event.x - LEAD) / (track - 1), 0.0), 1.0)
            self._ask(1 + round(share * (self.newest - 1)))

    def _ask(self, seq: int) -> None:
        wanted = None if seq >= self.newest else max(seq, 1)
        if wanted != self.at:
            self.at = wanted
            self.refresh_drawing()
            self.post_message(TimeMoved(self, wanted))

    def _label(self) -> str:
        newest = figures.event_name(self.newest)
        where = f"{newest} · now" if self.at is None else f"#{self.at} of {newest}"
        return pad(where, 20, right=True)

    def _track(self, width: int) -> int:
        return width - LEAD - 20

    def _column(self, seq: int, track: int) -> int:
        if self.newest <= 1:
            return track - 1
        return min(max(round((seq - 1) / (self.newest - 1) * (track - 1)), 0), track - 1)
