"""What widgets say to screens, in the past tense."""

from __future__ import annotations

from textual.message import Message
from textual.widget import Widget


class _OfWidget(Message):
    """A message whose sender can be named in a handler's selector."""

    def __init__(self, sender: Widget) -> None:
        super().__init__()
        self.sender = sender

    @property
    def control(self) -> Widget:
        return self.sender


class _Newest(_OfWidget):
    """Only the newest of a kind from one sender matters; older ones in the queue give way."""

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, type(self)) and message.sender is self.sender


class RowHighlighted(_Newest):
    """The cursor of a list came to stand on a row."""

    def __init__(self, sender: Widget, index: int) -> None:
        super().__init__(sender)
        self.index = index


class RowActivated(_OfWidget):
    """A row was opened: Enter, or a second click."""

    def __init__(self, sender: Widget, index: int) -> None:
        super().__init__(sender)
        self.index = index


class TimeMoved(_Newest):
    """Another moment of the log was asked for; ``None`` is the newest."""

    def __init__(self, sender: Widget, at: int | None) -> None:
        super().__init__(sender)
        self.at = at


class ChoiceTaken(_OfWidget):
    """One of the ways out of a refusal was picked."""

    def __init__(self, sender: Widget, choice: object) -> None:
        super().__init__(sender)
        self.choice = choice


class ReadingMoved(Message):
    """The reading of logs got further, or came to its end."""

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, ReadingMoved)


class StoreGrew(Message):
    """Something new stands in the store."""

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, StoreGrew)


class TabTaken(_OfWidget):
    """Another view of a pane was asked for."""

    def __init__(self, sender: Widget, tab: str) -> None:
        super().__init__(sender)
        self.tab = tab


class Scrolled(_Newest):
    """A list shows other rows than before."""


class RegionDragged(_OfWidget):
    """The mouse let go of a range of rows, from the first to the last."""

    def __init__(self, sender: Widget, first: int, last: int) -> None:
        super().__init__(sender)
        self.first = first
        self.last = last
