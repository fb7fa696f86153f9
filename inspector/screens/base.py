"""What every screen does the same way: ask in a thread, tell in a toast."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast

from textual import on
from textual.screen import Screen
from textual.timer import Timer
from textual.worker import Worker

from compress.errors import CompressError
from inspector.messages import ReadingMoved, StoreGrew
from inspector.mishaps import record
from inspector.sanitize import NEWLINE_MARK, clean, line
from inspector.screens.ports import Inquiry
from inspector.widgets.line_list import LineList
from inspector.widgets.tones import Cells
from storage.errors import StorageError

if TYPE_CHECKING:
    from inspector.app import UllageApp

Refusal = CompressError | StorageError
"""What the use-cases refuse with: a sentence, a code, and ways out."""

READING = "reading …"
"""What is said where an answer is on its way."""


class FailedError(CompressError):
    """A question that nobody foresaw to fail; the message says with what, and where it is noted."""

    code = "failed"


T = TypeVar("T")
R = TypeVar("R")

PATIENCE = 0.1
"""Seconds until growth is looked at again while a question is under way."""

TOAST = 300
"""Cells of the longest toast."""


class AskingScreen(Screen[R]):
    """A screen whose answers come from the use-cases, never on the UI thread."""

    TOPIC: ClassVar[str] = ""
    """The part of the help page that lists the keys of this screen."""

    HORIZONTAL_BREAKPOINTS = [  # noqa: RUF012 - declared so by Screen
        (0, "-narrow"),
        (120, "-wide"),
    ]

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._patience: Timer | None = None

    @property
    def ullage(self) -> UllageApp:
        """The app, by its own type."""
        return cast("UllageApp", self.app)

    @property
    def inquiry(self) -> Inquiry[Any]:
        """The use-cases."""
        return self.ullage.inquiry

    def ask(
        self,
        group: str,
        work: Callable[[], T],
        then: Callable[[T], None],
        refused: Callable[[Refusal], None] | None = None,
        always: Callable[[], None] = lambda: None,
    ) -> None:
        """Run ``work`` in a thread, then hand its answer to ``then`` on the UI thread.

        A newer question of the same group makes the older answer void. A refusal goes to
        ``refused``, else into a toast; what failed unforeseen goes to both. ``always`` is called
        last, whatever came of it.
        """

        async def answer() -> None:
            try:
                await self._answer(work, then, refused)
            finally:
                always()

        # The function, not its coroutine: one made void before it began would linger unawaited.
        _: Worker[None] = self.run_worker(answer, group=group, exclusive=True)

    async def _answer(
        self,
        work: Callable[[], T],
        then: Callable[[T], None],
        refused: Callable[[Refusal], None] | None,
    ) -> None:
        try:
            answer = await asyncio.to_thread(work)
        except (CompressError, StorageError) as refusal:
            (refused or self._tell_refusal)(refusal)
        except Exception as error:  # noqa: BLE001 - one failed question must not end the app
            place = record(error)
            where = f" The details are in {place}." if place is not None else ""
            words = f"{type(error).__name__}: {error}.{where}"
            self.tell(words, "error")
            if refused is not None and self.is_attached:
                refused(FailedError(words))
        else:
            # Not displayed also means: on its way out, with its widgets gone already.
            if self.is_attached and self.display:
                then(answer)

    def tell(self, text: str, severity: str = "information") -> None:
        """A toast. The text may come from a log."""
        shown = line(clean(text, NEWLINE_MARK), TOAST)
        self.app.notify(shown, severity=cast("Any", severity), markup=False, timeout=3)

    def refuse(self, rows: LineList[Any], refusal: Refusal) -> None:
        """In the place of rows that could not be had; a toast where older ones stand."""
        if len(rows.source):
            self._tell_refusal(refusal)
        rows.say(clean(str(refusal), " "))

    def _tell_refusal(self, refusal: Refusal) -> None:
        self.tell(str(refusal), "warning")

    @on(StoreGrew)
    def _grew(self) -> None:
        """Look again, but only once every question under way is answered: a store that grows
        faster than answers come must neither starve the screen nor pile up threads."""
        if self._patience is not None:
            self._patience.stop()
            self._patience = None
        if any(worker.node is self and not worker.is_finished for worker in self.workers):
            self._patience = self.set_timer(PATIENCE, self._grew)
        else:
            self.store_grew()

    def store_grew(self) -> None:
        """Something new stands in the store: look again at what is shown."""

    @on(ReadingMoved)
    def _read_on(self) -> None:
        self.show_progress()

    def show_progress(self) -> None:
        """The reading got further: show it where it is shown."""

    def progress_cells(self) -> Cells:
        """What the ingest is doing, for the title bar."""
        done, total, note = self.inquiry.progress()
        if done < total:
            return [(f"reading {done:,} of {total:,} files", "accent")]
        return [(line(note, 48), "muted")] if note else []
