"""What ``ullage watch`` says while logs grow."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from inspector.reports import SessionRow


class Growth:
    """Compares the sessions now with those of the last look; ``sessions`` lists them."""

    def __init__(self, sessions: Callable[[], Sequence[SessionRow]]) -> None:
        self._sessions = sessions
        self._seen = {row.id: row.events for row in sessions()}
        self._behind = False

    def lines(self, *, backlog: bool) -> Iterator[str]:
        """A line for each session that grew. While a ``backlog`` is read, none: the first look
        after it says in one line what the store holds by then."""
        if backlog:
            self._behind = True
            return
        rows = self._sessions()
        if self._behind:
            from inspector.cli_paint import counted

            events = sum(row.events for row in rows)
            yield f"read: {counted(len(rows), 'session')}, {counted(events, 'event')} in all"
        else:
            for row in rows:
                new = row.events - self._seen.get(row.id, 0)
                if new > 0:
                    yield _grown(row, new)
        self._behind = False
        self._seen = {row.id: row.events for row in rows}


def _grown(row: SessionRow, new: int) -> str:
    from inspector.cli_paint import counted
    from inspector.sanitize import line
    from inspector.widgets.figures import percent

    full = "" if row.pressure is None else f", {percent(row.pressure)} full"
    title = f"  {line(row.title, 60)}" if row.title else ""
    return f"{line(row.id, 64)}  {counted(new, 'new event')}{full}{title}"
