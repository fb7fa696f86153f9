"""A copy that the agent resumes: first what would be written, then the copy and its command."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from compress.events import NodeId
from inspector.resume_reports import ResumeReport
from inspector.sanitize import NEWLINE_MARK, clean, line
from inspector.screens.base import AskingScreen, Refusal
from inspector.widgets import figures
from inspector.widgets.bars import TitleBar
from inspector.widgets.key_bar import KeyBar
from inspector.widgets.text_pane import Section, TextPane


class ResumeScreen(AskingScreen[None]):
    """Looks first, writes when told to."""

    TOPIC = "a copy to resume"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "app.pop_screen", "Back", tooltip="leave this page"),
        Binding("y", "write", "Write", tooltip="the copy, beside the original"),
        Binding("c", "take", "Copy command", tooltip="to the clipboard, where the terminal lets"),
    ]

    def __init__(self, session: str, at: NodeId | None = None) -> None:
        super().__init__()
        self.session = session
        self.at = at
        self.report: ResumeReport | None = None

    def compose(self) -> ComposeResult:
        yield TitleBar(id="title")
        yield TextPane(id="resume")
        yield KeyBar()

    def on_mount(self) -> None:
        what = f"  {line(self.session, 60)}"
        self.query_one(TitleBar).show(
            [(" ullage", "accent"), ("  resume", "strong"), (what, "muted")], []
        )
        self.query_one(TextPane).show([Section("composing the copy …", "muted")])
        self.query_one(TextPane).focus()
        self._ask(dry_run=True)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Only what was composed can be written, once; only what was written has a command."""
        written = self.report is not None and self.report.written
        if action == "write":
            return self.report is not None and not written
        return action != "take" or written

    def action_write(self) -> None:
        self._ask(dry_run=False)

    def action_take(self) -> None:
        if self.report is None:
            return
        command = self.report.command
        if clean(command, NEWLINE_MARK) != command:
            self.tell("The folder's name holds control characters: type the command.", "warning")
            return
        self.app.copy_to_clipboard(command)
        self.tell("The command is in the clipboard.")

    def _ask(self, *, dry_run: bool) -> None:
        self.ask(
            "resume",
            lambda: self.inquiry.resume(self.session, at=self.at, dry_run=dry_run),
            self._take,
            self._refused,
        )

    def _take(self, report: ResumeReport) -> None:
        self.report = report
        self.query_one(TextPane).show(_written(report) if report.written else _planned(report))
        self.refresh_bindings()

    def _refused(self, refusal: Refusal) -> None:
        self.report = None
        self.query_one(TextPane).show([Section(str(refusal), "warm", "no copy can be written")])
        self.refresh_bindings()


def _planned(report: ResumeReport) -> list[Section]:
    what = (
        f"{figures.counted(report.nodes, 'node')} of your plan at event {report.at_seq}, "
        f"{figures.tokens(report.tokens)} tokens as counted, as a new session of {report.agent} "
        "with an id of its own. The original is only read."
    )
    return [
        Section(what, title="a copy that the agent resumes"),
        Section(report.path, title="would be written to"),
        Section("y writes it and shows the command that resumes it.", "muted"),
    ]


def _written(report: ResumeReport) -> list[Section]:
    told = [
        Section(report.command, "strong", title="go on with"),
        Section(report.path, title="written"),
        Section("The original was only read and stays as it is.", "muted"),
    ]
    return told if report.note is None else [*told, Section(report.note, "warm")]
