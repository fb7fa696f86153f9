"""The names of a pane's views on one line; a click is as good as the key that turns them."""

from __future__ import annotations

from collections.abc import Sequence

from textual import events
from textual.geometry import Size

from inspector.messages import TabTaken
from inspector.sanitize import line
from inspector.widgets.tones import Cells, Drawn, width_of

LEAD = "─ "


class Tabs(Drawn):
    """Each view by its name, with a figure where it has one; the one that is shown stands out."""

    names: Sequence[tuple[str, str]] = ()
    """(name, what is written for it), in the order in which a key turns them."""
    chosen: str = ""
    note: str = ""
    """A few words at the right end."""

    def show(self, names: Sequence[tuple[str, str]], chosen: str, note: str = "") -> None:
        """Take new values."""
        if (names, chosen, note) != (self.names, self.chosen, self.note):
            self.names, self.chosen, self.note = names, chosen, note
            self.refresh_drawing()

    def after(self, chosen: str) -> str:
        """The view that follows one."""
        names = [name for name, _ in self.names]
        if chosen not in names:
            return names[0] if names else chosen
        return names[(names.index(chosen) + 1) % len(names)]

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return 1

    def draw(self, width: int, height: int) -> list[Cells]:
        cells: Cells = [(LEAD, "rule")]
        for number, (name, words) in enumerate(self.names):
            if number:
                cells.append((" · ", "rule"))
            cells.append((f"▸{words}", "strong") if name == self.chosen else (words, "muted"))
        room = width - width_of(cells) - 1
        note = line(self.note, room - 3)
        note = f" {note} ─" if note else ""
        cells.append((" " + "─" * (room - width_of([(note, "")])), "rule"))
        cells.append((note, "muted"))
        return [cells]

    def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        if offset is None:
            return
        edge = len(LEAD)
        for name, words in self.names:
            edge += width_of([(words, "")]) + (1 if name == self.chosen else 0)
            if offset.x <= edge:
                self.post_message(TabTaken(self, name))
                return
            edge += 3
