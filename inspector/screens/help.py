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
↑ ↓ j k          move                     PgUp PgDn Home End   by the page
Enter            open, unfold             Esc                  back
Tab              next pane                ?                    this page
f                find in all sessions     /                    filter the list of sessions
t                dark or light            Ctrl+P               every action by name
q                quit                     mouse                click, drag, wheel"""

_SESSION = """\
space            begin or drop a selection (or Shift+↑↓, or drag)
p                pin or unpin             c                    compact the selection
g                agent or plan track      l                    resume or live view
r                rendered or raw          v                    switch the lower pane
, .              one event back, forward  < >                  a twentieth of the log
n                now                      u U                  undo, redo
[ ]              turn pages of a long text"""

_COMPACTION = """\
s e              region starts, ends here (or takes the selection)
m                region, policy, or old tool results only
p                pin inside the preview   + -                  budget of the summary
v                summary or what is lost  1 … 9                a way out of a refusal
y                commit                   Esc                  leave, nothing is written"""

_SIGNS = """\
❯ user   ◆ assistant   └ tool result   § injected context   » steering   ▣ checkpoint
★ pinned   ↺ put back because pinned   ✗ error   ⚠ call or result missing   ∅ cleared   ▲ over-large
● running   ◐ waiting   ○ idle   · ended   ~ estimated
═ kept   − shadowed   ∅ replaced by a receipt   ≈ reduced"""

_WORDS = """\
surface       the exact list of messages that stands in the model's context window
node          one message of it, named by its first event
track         agent: what the agent's own log says. plan: the same, with your operations applied
view          resume: what the agent would send if resumed. live: what the running agent saw
pressure      tokens on the surface ÷ the context window in force
checkpoint    a summary that stands in place of the nodes it shadows; nothing is deleted
pin           a node that no compaction of yours removes
unit          a step with all of its tool results, or one message: never split
undo          another event: the surface is restored, the history is kept"""

_TRUST = """\
A figure is measured where the provider's own usage covers it, and estimated beyond that; every
estimate is marked. No public tokenizer counts every vendor's tokens exactly, so the meter fits its
counts to what the provider reported in this session, and the pressure pane states how far off it
was. A log is only ever read: compaction is a view, committed as events of its own."""


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
