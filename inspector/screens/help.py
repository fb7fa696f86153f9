"""Keys, the words used here, and what is estimated."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from inspector.screens.base import AskingScreen
from inspector.screens.help_words import EVERYWHERE, KEYS, SIGNS, TRUST, WORDS
from inspector.widgets.bars import TitleBar
from inspector.widgets.key_bar import KeyBar
from inspector.widgets.tables import flow, table
from inspector.widgets.text_pane import Section, TextPane

MARGIN = 7
"""Cells beside the text: padding, and a scrollbar."""
ACROSS = 4
"""Columns of keys at the most."""


class HelpScreen(AskingScreen[None]):
    """One page of help; the keys of the screen that asked for it, ``topic``, come first."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,question_mark,f1", "app.pop_screen", "Back", tooltip="leave this page"),
    ]

    def __init__(self, topic: str = "") -> None:
        super().__init__()
        self.topic = topic

    def compose(self) -> ComposeResult:
        yield TitleBar(id="title")
        yield TextPane(id="help")
        yield KeyBar()

    def on_mount(self) -> None:
        left = [(" ullage", "accent"), ("  help", "strong"), (f"  {self.topic}", "muted")]
        self.query_one(TitleBar).show(left, [])
        self.query_one(TextPane).focus()

    def on_resize(self, event: events.Resize) -> None:
        width = event.size.width - MARGIN
        first = [name for name in (self.topic, EVERYWHERE) if name in KEYS]
        names = dict.fromkeys((*first, *KEYS))
        self.query_one(TextPane).show(
            [
                *(Section(table(KEYS[name], width, ACROSS), title=_title(name)) for name in names),
                Section(flow(SIGNS, width), title="signs"),
                Section(table(WORDS, width), title="words"),
                Section(TRUST, title="what is estimated"),
            ]
        )


def _title(name: str) -> str:
    return name if name == EVERYWHERE else f"in {name}"
