"""The one list widget: any number of rows, fetched by page, painted by line."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from inspector.messages import RowActivated, RowHighlighted
from inspector.sanitize import wrap
from inspector.widgets.tones import Cells, Toned

PAGE = 128
"""Rows asked for at once."""
PAGES_KEPT = 8
STRIPS_KEPT = 512
"""Painted lines kept, so that scrolling by a line paints one."""

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Rows(Protocol[T_co]):
    """Where rows come from. ``rows`` is called while painting, so it must be cheap."""

    def __len__(self) -> int: ...

    def rows(self, start: int, stop: int) -> Sequence[T_co]: ...


class Listed(Generic[T]):
    """Rows that are all there already."""

    def __init__(self, values: Sequence[T] = ()) -> None:
        self.values = values

    def __len__(self) -> int:
        return len(self.values)

    def rows(self, start: int, stop: int) -> Sequence[T]:
        return self.values[start:stop]


class LineList(ScrollView, Toned, Generic[T], can_focus=True):
    """A list with a cursor, an optional selected range, and the mouse.

    Subclasses say how a row looks (:meth:`paint`). Moving the cursor repaints two lines. A list
    whose cursor stands on the last row, in sight, follows the tail when rows are added.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "Up", show=False),
        Binding("down,j", "move(1)", "Down", show=False),
        Binding("pageup", "page(-1)", "Page up", show=False),
        Binding("pagedown", "page(1)", "Page down", show=False),
        Binding("home", "first", "First", show=False),
        Binding("end", "last", "Last", show=False),
        Binding("enter", "activate", "Open", show=False),
    ]

    empty: str = ""
    """What is said where there is no row."""

    cursor: reactive[int] = reactive(0, repaint=False, init=False)
    pivot: reactive[int | None] = reactive[int | None](None, init=False)
    """The other end of the selected range; ``None`` without one."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.source: Rows[T] = Listed[T]()
        self._pages: OrderedDict[int, Sequence[T]] = OrderedDict()
        self._strips: OrderedDict[tuple[int, str, int], Strip] = OrderedDict()
        self._dragging = False

    # What a subclass says

    def paint(self, row: T, index: int, width: int) -> Cells:
        """One row in ``width`` cells, by clean text only."""
        raise NotImplementedError

    # Values in

    def show(self, source: Rows[T], cursor: int | None = None) -> None:
        """Take new rows. The cursor goes to ``cursor``, else stays where it is, or at the tail
        where it followed it."""
        following = self.following
        self.source = source
        self._pages.clear()
        count = len(source)
        if count != self.virtual_size.height:
            self.virtual_size = Size(1, count)
        if cursor is None:
            cursor = count - 1 if following else self.cursor
        self.pivot = None if self.pivot is None else self._clamp(self.pivot)
        self.cursor = self._clamp(cursor)
        self.reveal()
        self.repaint()

    def say(self, words: str) -> None:
        """What is said while there is no row."""
        if words != self.empty:
            self.empty = words
            self.repaint()

    def repaint(self) -> None:
        """What all rows are painted with has changed."""
        self._strips.clear()
        self.refresh()

    def notify_style_update(self) -> None:
        self._strips.clear()
        super().notify_style_update()

    @property
    def following(self) -> bool:
        """The last row is under the cursor and in sight."""
        count = len(self.source)
        height = self.scrollable_content_region.height
        return count > 0 and self.cursor == count - 1 and self.scroll_offset.y + height >= count

    @property
    def row(self) -> T | None:
        """The row under the cursor."""
        return self.at(self.cursor)

    @property
    def selection(self) -> tuple[int, int] | None:
        """First and last row of the selected range."""
        if self.pivot is None:
            return None
        return min(self.pivot, self.cursor), max(self.pivot, self.cursor)

    def at(self, index: int) -> T | None:
        """The row with this number."""
        if not 0 <= index < len(self.source):
            return None
        number, offset = divmod(index, PAGE)
        page = self._pages.get(number)
        if page is None:
            page = self.source.rows(number * PAGE, (number + 1) * PAGE)
            self._pages[number] = page
            if len(self._pages) > PAGES_KEPT:
                self._pages.popitem(last=False)
        return page[offset] if offset < len(page) else None

    def reveal(self) -> None:
        """Scroll as little as it takes to have the cursor in sight."""
        height = self.scrollable_content_region.height
        if height <= 0:
            return
        top = self.scroll_offset.y
        if self.cursor < top:
            self._jump(self.cursor)
        elif self.cursor >= top + height:
            self._jump(self.cursor - height + 1)

    # Paint

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        index = self.scroll_offset.y + y
        ground = self._ground(index)
        key = (index, ground, width)
        strip = self._strips.get(key)
        if strip is None:
            strip = self._strips[key] = self._paint_line(index, ground, width)
            if len(self._strips) > STRIPS_KEPT:
                self._strips.popitem(last=False)
        return strip

    def _paint_line(self, index: int, ground: str, width: int) -> Strip:
        row = self.at(index)
        if row is None:
            said = wrap(self.empty, max(width - 2, 1)) if not len(self.source) else []
            if index >= len(said):
                return Strip.blank(width, self.tone("text"))
            return self.strip([(" " + said[index], "muted")], width)
        mark = "▌" if index == self.cursor else "┃" if ground else " "
        cells = [(mark, "accent"), *self.paint(row, index, max(width - 1, 0))]
        return self.strip(cells, width, ground)

    def _ground(self, index: int) -> str:
        if index == self.cursor:
            return "cursor-ground" if self.has_focus else "blurred-ground"
        chosen = self.selection
        return "selected-ground" if chosen and chosen[0] <= index <= chosen[1] else ""

    def watch_cursor(self, old: int, new: int) -> None:
        if self.pivot is None:
            self.refresh_line(old)
            self.refresh_line(new)
        else:
            self.refresh_lines(min(old, new), abs(old - new) + 1)
        self.reveal()
        self.post_message(RowHighlighted(self, new))

    # Keys and mouse

    def action_move(self, by: int) -> None:
        self.cursor = self._clamp(self.cursor + by)

    def action_page(self, by: int) -> None:
        self.action_move(by * max(self.scrollable_content_region.height - 1, 1))

    def action_first(self) -> None:
        self.cursor = 0

    def action_last(self) -> None:
        self.cursor = self._clamp(len(self.source))

    def action_activate(self) -> None:
        if len(self.source):
            self.post_message(RowActivated(self, self.cursor))

    def action_select(self) -> None:
        """Begin a range at the cursor, or let go of it."""
        self.pivot = self.cursor if self.pivot is None else None

    def action_extend(self, by: int) -> None:
        if self.pivot is None:
            self.pivot = self.cursor
        self.action_move(by)

    def on_mouse_down(self, event: events.MouseDown) -> None:
        index = self._under(event)
        if index is None:
            return
        if event.shift and self.pivot is None:
            self.pivot = self.cursor
        elif not event.shift:
            self.pivot = None
        self.cursor = index
        self._dragging = True
        self.capture_mouse()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        index = self._under(event) if self._dragging else None
        if index is not None and index != self.cursor:
            if self.pivot is None:
                self.pivot = self.cursor
            self.cursor = index

    def on_mouse_up(self, event: events.MouseUp) -> None:
        self._dragging = False
        self.release_mouse()

    def on_click(self, event: events.Click) -> None:
        if event.chain == 2 and self._under(event) is not None:
            self.action_activate()

    def on_resize(self, event: events.Resize) -> None:
        self.reveal()

    def on_focus(self) -> None:
        self.refresh_line(self.cursor)

    def on_blur(self) -> None:
        self.refresh_line(self.cursor)

    def _under(self, event: events.MouseEvent) -> int | None:
        offset = event.get_content_offset(self)
        if offset is None:
            return None
        index = offset.y + self.scroll_offset.y
        return index if 0 <= index < len(self.source) else None

    def _clamp(self, index: int) -> int:
        return min(max(index, 0), max(len(self.source) - 1, 0))

    def _jump(self, y: int) -> None:
        # Forced, because a list that has just grown does not show its scrollbar yet.
        self.scroll_to(y=y, animate=False, immediate=True, force=True)
