"""The Textual app: screens over the use-cases, told of growth by the store's own version."""

from __future__ import annotations

import asyncio
import gc
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import tzinfo
from functools import partial
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, ClassVar

from textual.app import App, SystemCommand
from textual.binding import Binding, BindingType
from textual.screen import Screen

from inspector.messages import ReadingMoved, StoreGrew
from inspector.palette import DARK, LIGHT

if TYPE_CHECKING:
    from compress.events import NodeId
    from inspector.reports import CompactionMode
    from inspector.screens.pack_wish import PackWish
    from inspector.screens.ports import Inquiry

POLL = 0.1
"""Seconds between two looks at the store's version."""
SWITCH = 0.001
"""Seconds after which a thread that computes lets the keys through; Python's own 5 ms, waited for
several times a key, can be felt."""
COLLECT = (700, 10, 1_000_000)
"""How often Python looks for garbage, young and old. Never among the old by itself: a session's
events are no garbage, and looking through them all stops every key, by more than half a second at
40,000 nodes."""
REST = 0.06
"""Seconds that a cursor rests before what it stands on is fetched."""

INHERITED = {"focus_next", "focus_previous", "screen.copy_text", "command_palette"}
"""Actions that every Textual app has and that need no name in the palette."""

STYLES = Path(__file__).parent / "styles"


class UllageApp(App[None]):
    """Sessions first; everything else opens from there.

    ``watch`` are the paths to ingest and follow (``None``: only what the store holds),
    ``session`` is opened at once, ``clock`` gives seconds since 1970, ``zone`` is that of the
    times shown (``None``: the machine's).
    """

    TITLE = "ullage"
    CSS_PATH: ClassVar[list[str | PurePath]] = sorted(STYLES.glob("*.tcss"))
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f", "search", "Find", show=False, tooltip="search the text of all sessions"),
        Binding("question_mark", "help", "Help", key_display="?", tooltip="keys, signs, words"),
        Binding("f1", "help", "Help", False, "f1", tooltip="the same, while one types"),
        Binding("t", "theme", "Theme: dark or light", show=False, tooltip="change the colours"),
        Binding("q", "quit", "Quit", show=False, tooltip="leave; nothing is lost"),
    ]

    def __init__(
        self,
        inquiry: Inquiry[Any],
        *,
        watch: Sequence[Path] | None = None,
        session: str | None = None,
        clock: Callable[[], float] = time.time,
        zone: tzinfo | None = None,
        rest: float = REST,
    ) -> None:
        super().__init__()
        for theme in (DARK, LIGHT):
            self.register_theme(theme)
        self.theme = DARK.name
        self.inquiry = inquiry
        self.clock = clock
        self.zone = zone
        self.rest = rest
        self.watched = watch
        """Paths whose logs are followed; none of them: all agents'. ``None``: nothing is."""
        self._session = session
        self._version = -1
        self._told = False
        self._switch = sys.getswitchinterval()
        self._collect = gc.get_threshold()
        self._loop_of_screen: asyncio.AbstractEventLoop | None = None
        self._progress = (0, 0, "")

    def on_mount(self) -> None:
        from inspector.screens.sessions import SessionsScreen  # noqa: PLC0415

        self._loop_of_screen = asyncio.get_running_loop()
        sys.setswitchinterval(SWITCH)
        gc.set_threshold(*COLLECT)
        self._version = self.inquiry.data_version()
        self.push_screen(SessionsScreen())
        if self._session is not None:
            self.open_session(self._session)
        if self.watched is not None:
            self.run_worker(self._start_watching(self.watched), group="watch")
        self.set_interval(POLL, self._look)

    async def _start_watching(self, paths: Sequence[Path]) -> None:
        await asyncio.to_thread(self.inquiry.start_watching, paths, self._notice)

    def on_unmount(self) -> None:
        sys.setswitchinterval(self._switch)
        gc.set_threshold(*self._collect)
        self.inquiry.give_up()
        if self.watched is not None:
            self.inquiry.stop_watching()

    def _notice(self) -> None:
        """Called by the watcher in its own thread: looks at once, not at the next turn of the
        clock."""
        self._told = True
        if self._loop_of_screen is not None:
            with suppress(RuntimeError):  # the app has ended meanwhile
                self._loop_of_screen.call_soon_threadsafe(self.call_later, self._look)

    def _look(self) -> None:
        version = self.inquiry.data_version()
        if version != self._version or self._told:
            self._version, self._told = version, False
            self.screen.post_message(StoreGrew())
        # Files that bring nothing move the reading, but not the store.
        progress = self.inquiry.progress()
        if progress != self._progress:
            self._progress = progress
            self.screen.post_message(ReadingMoved())

    def open_session(self, session: str, seq: NodeId | None = None) -> None:
        """Show one session, its newest state or the one in which this event stands."""
        from inspector.screens.session import SessionScreen  # noqa: PLC0415

        self.push_screen(SessionScreen(session, seq))

    def open_compaction(
        self,
        session: str,
        what: tuple[NodeId, NodeId] | CompactionMode,
        at: NodeId | None,
        then: Callable[[bool | None], None],
    ) -> None:
        """Preview a compaction of a region, or what a policy would do; ``then`` hears whether one
        was committed."""
        from inspector.screens.compaction import CompactionScreen  # noqa: PLC0415

        self.push_screen(CompactionScreen(session, what, at), then)

    def open_comparison(self, session: str, number: int) -> None:
        """What Ullage would have kept where the agent compacted, 1 for the first time."""
        from inspector.screens.compaction import CompactionScreen  # noqa: PLC0415

        self.push_screen(CompactionScreen(session, number=number))

    def open_resume(self, session: str, at: NodeId | None = None) -> None:
        """Offer a copy of the plan that the agent resumes."""
        from inspector.screens.resume import ResumeScreen  # noqa: PLC0415

        self.push_screen(ResumeScreen(session, at))

    def open_audit(self, session: str | None) -> None:
        """Show the operations of one session, or of all."""
        from inspector.screens.audit import AuditScreen  # noqa: PLC0415

        self.push_screen(AuditScreen(session))

    def open_decisions(self, session: str | None) -> None:
        """Show the decision points of one session, or of all."""
        from inspector.screens.decisions import DecisionsScreen  # noqa: PLC0415

        self.push_screen(DecisionsScreen(session))

    def open_pack(self, session: str | None, query: str = "") -> None:
        """Build a pack for one session, or look at what one over all would hold."""
        from inspector.screens.pack import PackScreen  # noqa: PLC0415

        self.push_screen(PackScreen(session, query))

    def open_rebuild(
        self, session: str, wish: PackWish, then: Callable[[bool | None], None]
    ) -> None:
        """One context to go on with, for the question and under the budget of a wish; ``then``
        hears whether it was committed."""
        from inspector.screens.rebuild import RebuildScreen  # noqa: PLC0415

        self.push_screen(RebuildScreen(session, wish), then)

    def action_search(self) -> None:
        from inspector.screens.search import SearchScreen  # noqa: PLC0415

        if not isinstance(self.screen, SearchScreen):
            self.push_screen(SearchScreen())

    def action_help(self) -> None:
        from inspector.screens.help import HelpScreen  # noqa: PLC0415

        if not isinstance(self.screen, HelpScreen):
            self.push_screen(HelpScreen(getattr(self.screen, "TOPIC", "")))

    def action_theme(self) -> None:
        self.theme = LIGHT.name if self.theme == DARK.name else DARK.name

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """Every action of the screen on top, by name."""
        seen: set[str] = set()
        for active in screen.active_bindings.values():
            binding, node = active.binding, active.node
            moves = not isinstance(node, App | Screen) and binding.action != "select"
            action = binding.action.removeprefix("app.")
            if moves or not binding.description or action in seen | INHERITED:
                continue
            seen.add(action)
            yield SystemCommand(
                binding.description,
                f"{binding.tooltip} · {self.get_key_display(binding)}",
                partial(self.call_later, self.run_action, binding.action, node),
            )
