"""Keys, the words used here, and what is estimated."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from inspector.screens.base import AskingScreen
from inspector.widgets.bars import TitleBar
from inspector.widgets.key_bar import KeyBar
from inspector.widgets.tables import flow, table
from inspector.widgets.text_pane import Section, TextPane

_EVERYWHERE = (
    ("↑ ↓ j k", "move"), ("PgUp PgDn", "by the page"),
    ("Home End", "first, last"), ("Enter", "open, unfold, a sub-agent"),
    ("Tab", "next pane"), ("Esc", "back"),
    ("f", "find in all sessions"), ("/", "filter sessions"),
    ("t", "dark or light"), ("Ctrl+P", "every action"),
    ("?", "this page"), ("q", "quit"),
    ("mouse", "click, drag, wheel"),
)  # fmt: skip

_SESSION = (
    ("space", "begin, drop a selection"), ("Shift+↑↓", "extend it (or drag)"),
    ("p", "pin or unpin"), ("c", "compact: selection, or policy"),
    ("g", "agent or plan track"), ("l", "resume or live view"),
    ("r", "rendered or raw"), ("v", "detail or pressure, if narrow"),
    (", .", "an event back, forward"), ("< >", "a twentieth of the log"),
    ("n", "now"), ("u U", "undo, redo"),
    ("a", "audit"), ("w", "write a copy to resume"),
    ("d", "decisions"), ("s", "plans, step by step"),
    ("b", "build a pack"), ("[ ]", "pages of a long text"),
    ("Z", "reduce this result"), ("z", "it squeezed, or whole"),
)  # fmt: skip

_COMPACTION = (
    ("s e", "region starts, ends here"), ("← →", "the nearer edge, by a unit"),
    ("space", "select, then s or e (or drag)"), ("m", "region, by policy, results"),
    ("p", "keep in this compaction"), ("P", "pin or unpin for good"),
    ("b", "type the summary's budget"), ("+ -", "a step larger, smaller"),
    ("v", "summary, changes, lost"), ("Enter", "on a loss: to its node"),
    ("y", "the figures; again: commit"), ("1 … 9", "ways on, where offered"),
    ("u U", "undo, redo an operation"), ("Esc", "leave, nothing written"),
)  # fmt: skip

_AUDIT = (
    ("u U", "undo, redo this operation"), ("X", "undo it with all on top of it"),
    ("v", "lost, diff, raw, comparison"), ("c", "what Ullage would have kept"),
    ("Enter", "its session"), ("1", "undo those too, where offered"),
)  # fmt: skip

_DECISIONS = (
    ("o", "by outcome"), ("s", "by kind of stage"),
    ("l", "by level: L2, L3"), ("/", "by words"),
    ("p", "session or project"), ("m", "all of the project's memory"),
    ("Tab", "to the record's lines"), ("← →", "which of a line's events"),
    ("Enter", "to the event in its session"), ("e", "export what is chosen"),
)  # fmt: skip

_PACK = (
    ("/", "what is asked for"), ("p", "session, project, all sessions"),
    ("space", "a line in or out"), ("s", "how much of a line"),
    ("b", "type the pack's budget"), ("+ -", "a step larger, smaller"),
    ("z", "by class, or all verbatim"), ("v", "the pack, or the line"),
    ("r", "take back changes by hand"), ("Enter", "to the line's event"),
    ("y", "the figures; again: commit"), ("w", "save as Markdown and JSON"),
    ("c", "copy it"), ("u U", "undo, redo an operation"),
    ("o", "rebuild a whole context"),
)  # fmt: skip

KEYS = (_EVERYWHERE, _SESSION, _COMPACTION, _PACK, _AUDIT, _DECISIONS)
"""Every key with what it does, page by page."""

_SIGNS = (
    "❯ user", "◆ assistant", "└ result", "§ context", "» steering", "▣ checkpoint",
    "★ pinned", "☆ kept in this one", "↺ put back because pinned", "✗ error",
    "▲ over-large, or due", "⚠ call or result missing", "∅ cleared, a receipt stands",
    "~ estimated", "● running, or in force", "◐ waiting", "○ idle, or undone", "· ended",
    "◌ superseded", "═ kept", "− shadowed", "≈ reduced", "┌ │ └ the region",
)  # fmt: skip

_WORDS = (
    ("surface", "the exact list of messages in the model's context window"),
    ("node", "one message of it, named by its first event"),
    ("track", "agent: what its own log says; plan: with your operations"),
    ("view", "resume: what it would send; live: what it saw while running"),
    ("pressure", "tokens on the surface ÷ the context window in force"),
    ("counted", "by a public tokenizer; the provider's own count differs"),
    ("decision", "a stage of the work: what was wanted, done, why, how it ended, with its events"),
    ("L2, L3", "the memory of a session under a cap, and of its project, where older records go"),
    ("checkpoint", "a summary in place of the nodes it shadows; none is deleted"),
    ("belief", "one statement of the log that a pack can hold, with the events it comes from"),
    (
        "class",
        "fact and unknown stand whole, a snapshot as a headline, what is transient as a stub",
    ),
    ("pin", "a node that no compaction of yours removes"),
    ("unit", "a step with all of its results, or one message: never split"),
    ("undo", "another event: the surface is restored, history is kept"),
    ("chain", "each operation's digest holds the one before: a change shows"),
)

_TRUST = """\
A figure is measured where the provider's own usage covers it and estimated beyond that; every \
estimate is marked. No public tokenizer counts every vendor's tokens exactly, so the meter fits \
its counts to what the provider reported in this session, and the pressure pane states how far \
off it was. A log is only ever read: a compaction is a view, committed as events of its own."""


MARGIN = 7
"""Cells beside the text: padding, and a scrollbar."""


class HelpScreen(AskingScreen[None]):
    """One page of help."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,question_mark", "app.pop_screen", "Back", tooltip="leave this page"),
    ]

    def compose(self) -> ComposeResult:
        yield TitleBar(id="title")
        yield TextPane(id="help")
        yield KeyBar()

    def on_mount(self) -> None:
        self.query_one(TitleBar).show([(" ullage", "accent"), ("  help", "strong")], [])
        self.query_one(TextPane).focus()

    def on_resize(self, event: events.Resize) -> None:
        width = event.size.width - MARGIN
        self.query_one(TextPane).show(
            [
                Section(table(_EVERYWHERE, width, 2), title="everywhere"),
                Section(table(_SESSION, width, 2), title="in a session"),
                Section(table(_COMPACTION, width, 2), title="in a compaction"),
                Section(table(_PACK, width, 2), title="in a pack"),
                Section(table(_AUDIT, width, 2), title="in the audit"),
                Section(table(_DECISIONS, width, 2), title="in the decisions"),
                Section(flow(_SIGNS, width), title="signs"),
                Section(table(_WORDS, width, 1), title="words"),
                Section(_TRUST, title="what is estimated"),
            ]
        )
