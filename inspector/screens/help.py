"""Keys, the words used here, and what is estimated."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from inspector.screens.base import AskingScreen
from inspector.widgets.bars import TitleBar
from inspector.widgets.key_bar import KeyBar
from inspector.widgets.text_pane import Section, TextPane

_EVERYWHERE = """\
↑ ↓ j k   move                     PgUp PgDn   by the page
Home End  first, last              Enter       open, unfold, a sub-agent
Tab       next pane                Esc         back
f         find in all sessions     /           filter sessions
t         dark or light            Ctrl+P      every action
?         this page                q           quit
mouse     click, drag, wheel"""

_SESSION = """\
space     begin, drop a selection  Shift+↑↓    extend it (or drag)
p         pin or unpin             c           compact: selection, or policy
g         agent or plan track      l           resume or live view
r         rendered or raw          v           detail or pressure
, .       an event back, forward   < >         a twentieth of the log
n         now                      u U         undo, redo
a         audit                    [ ]         pages of a long text"""

_COMPACTION = """\
s e       starts, ends here        m           region, policy, results
p         pin in the preview       + -         budget of the summary
v         summary or loss          1 … 9       ways out of a refusal
y         commit                   Esc         leave, nothing written"""

_SIGNS = """\
❯ user   ◆ assistant   └ result   § context   » steering   ▣ checkpoint
★ pinned   ↺ put back because pinned   ✗ error   ▲ over-large, or due
⚠ call or result missing   ∅ cleared   ~ estimated
● running   ◐ waiting   ○ idle   · ended
═ kept   − shadowed   ∅ replaced by a receipt   ≈ reduced"""

_WORDS = """\
surface     the exact list of messages in the model's context window
node        one message of it, named by its first event
track       agent: what its own log says; plan: with your operations
view        resume: what it would send; live: what it saw while running
pressure    tokens on the surface ÷ the context window in force
checkpoint  a summary in place of the nodes it shadows; none is deleted
pin         a node that no compaction of yours removes
unit        a step with all of its results, or one message: never split
undo        another event: the surface is restored, history is kept"""

_TRUST = """\
A figure is measured where the provider's own usage covers it and estimated beyond that; every \
estimate is marked. No public tokenizer counts every vendor's tokens exactly, so the meter fits \
its counts to what the provider reported in this session, and the pressure pane states how far \
off it was. A log is only ever read: a compaction is a view, committed as events of its own."""


class HelpScreen(AskingScreen[None]):
    """One page of help."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,question_mark", "app.pop_screen", "Back"),
    ]

    def compose(self) -> ComposeResult:
        yield TitleBar(id="title")
        yield TextPane(id="help")
        yield KeyBar()

    def on_mount(self) -> None:
        self.query_one(TitleBar).show([(" ullage", "accent"), ("  help", "strong")], [])
        pane = self.query_one(TextPane)
        pane.show(
            [
                Section(_EVERYWHERE, title="everywhere"),
                Section(_SESSION, title="in a session"),
                Section(_COMPACTION, title="in a compaction"),
                Section(_SIGNS, title="signs"),
                Section(_WORDS, title="words"),
                Section(_TRUST, title="what is estimated"),
            ]
        )
        pane.focus()
