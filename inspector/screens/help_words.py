"""What the help page says: keys, signs, words, and how far figures can be trusted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

EVERYWHERE = "everywhere"

KEYS: Mapping[str, Sequence[tuple[str, str]]] = {
    EVERYWHERE: (
        ("↑ ↓ j k", "move"), ("PgUp PgDn", "by the page"),
        ("Home End", "first, last"), ("Enter", "open what the cursor is on"),
        ("Tab", "next pane"), ("Esc", "back, or take a box away"),
        ("f", "find in all sessions"), ("t", "dark or light"),
        ("Ctrl+P", "every action, by name"), ("? F1", "this page"),
        ("[ ]", "pages of a long text"), ("q", "quit"),
        ("mouse", "click, drag, wheel; the keys below, too"),
    ),
    "the sessions": (
        ("/", "filter by title, project, agent, model"), ("Enter", "look into the session"),
        ("a", "operations of all sessions"), ("d", "decisions of all sessions"),
        ("b", "a pack of all sessions"), ("Esc", "show all again"),
    ),
    "a search": (
        ("↑ ↓", "choose, while you type"), ("Enter", "to the event in its session"),
        ("Esc", "back"),
    ),
    "a session": (
        ("space", "begin, drop a selection"), ("Shift+↑↓", "extend it (or drag, J K)"),
        ("p", "pin or unpin"), ("c", "compact by hand or policy"),
        ("g", "agent or plan track"), ("l", "resume or live view"),
        ("r", "rendered or raw"), ("v", "detail or pressure"),
        (", .", "an event back, forward"), ("< >", "a twentieth of the log"),
        ("n", "now"), ("u U", "undo, redo"),
        ("a", "audit"), ("w", "write a copy to resume"),
        ("d", "decisions"), ("s", "plans, step by step"),
        ("b", "build a pack"), ("Enter", "unfold; to a sub-agent"),
        ("Z", "reduce this result"), ("z", "it squeezed, or whole"),
        ("Esc", "drop the selection, or leave"),
    ),
    "a compaction": (
        ("s e", "region starts, ends here"), ("← →", "the nearer edge, by a unit"),
        ("space", "select, then s or e (or drag)"), ("Shift+↑↓", "extend it (or J K)"),
        ("p", "keep in this compaction"), ("P", "pin or unpin for good"),
        ("b", "type the summary's budget"), ("+ -", "a step larger, smaller"),
        ("v", "summary, changes, lost"), ("Enter", "on a loss: to its node"),
        ("m", "region, by policy, results"), ("u U", "undo, redo an operation"),
        ("y", "the figures; again: commit"), ("1 … 9", "ways on, where offered"),
        ("Esc", "leave, nothing written"),
    ),
    "a pack": (
        ("/", "what is asked for"), ("p", "session, project, all sessions"),
        ("space", "a line in or out"), ("s", "how much of a line"),
        ("b", "type the pack's budget"), ("+ -", "a step larger, smaller"),
        ("z", "by class, or all verbatim"), ("v", "the pack, or the line"),
        ("r", "take back changes by hand"), ("Enter", "to the line's event"),
        ("y", "the figures; again: commit"), ("w", "save as Markdown and JSON"),
        ("c", "copy it"), ("u U", "undo, redo an operation"),
        ("o", "rebuild a whole context"), ("1 … 9", "ways on, where offered"),
        ("Esc", "leave, nothing written"),
    ),
    "a rebuilt context": (
        ("/", "what comes next"), ("b", "type its budget"),
        ("+ -", "a step larger, smaller"), ("z", "by class, or all verbatim"),
        ("v", "the text, or the section"), ("w", "save as Markdown and JSON"),
        ("c", "copy it"), ("y", "the figures; again: commit"),
        ("u U", "undo, redo an operation"), ("1 … 9", "ways on, where offered"),
        ("Esc", "leave, nothing written"),
    ),
    "a copy to resume": (
        ("y", "write it, beside the original"), ("c", "copy the command that resumes it"),
        ("Esc", "back"),
    ),
    "the audit": (
        ("u U", "undo, redo this operation"), ("X", "undo it with all on top of it"),
        ("v", "lost, diff, raw, comparison"), ("c", "what Ullage would have kept"),
        ("Enter", "its session"), ("1 … 9", "ways on, where offered"),
        ("Esc", "back"),
    ),
    "the decisions": (
        ("o", "by outcome"), ("s", "by kind of stage"),
        ("l", "by level: L2, L3"), ("/", "by words"),
        ("p", "session or project"), ("m", "all of the project's memory"),
        ("Tab", "to the record's lines"), ("← →", "which of a line's events"),
        ("Enter", "to the event in its session"), ("e", "export what is chosen"),
        ("Esc", "take filters away, or leave"),
    ),
}  # fmt: skip
"""Every key with what it does, screen by screen."""

SIGNS = (
    "❯ user", "◆ assistant", "└ result", "§ context", "» steering", "▣ checkpoint",
    "★ pinned", "☆ kept in this one", "↺ put back because pinned", "✗ error",
    "▲ over-large, or due", "⚠ call or result missing", "∅ cleared, a receipt stands",
    "~ estimated", "● running, or in force", "◐ waiting", "○ idle, or undone", "· ended",
    "◌ superseded", "═ kept", "− shadowed", "≈ reduced, or approximate", "┌ │ └ the region",
)  # fmt: skip

WORDS = (
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

TRUST = """\
A figure is measured where the provider's own usage covers it and estimated beyond that; every \
estimate is marked. No public tokenizer counts every vendor's tokens exactly, so the meter fits \
its counts to what the provider reported in this session, and the pressure pane states how far \
off it was. A log is only ever read: a compaction is a view, committed as events of its own."""
