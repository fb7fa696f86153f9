"""One session: its surface, the node under the cursor, its pressure, at any moment."""

# Long because: it is one screen, a short method for each thing that a person does there.

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical
from textual.timer import Timer

from compress.events import NodeId
from inspector.artifact_reports import ArtifactsReport
from inspector.messages import RowActivated, RowHighlighted, TimeMoved
from inspector.reports import (
    CompactionMode,
    CompactionReport,
    EventDetail,
    OperationReport,
    PressureReport,
    Track,
)
from inspector.sanitize import clean, line
from inspector.screens.base import READING, AskingScreen, Refusal
from inspector.squeeze_reports import SqueezedResult
from inspector.views import SurfaceView
from inspector.widgets import figures
from inspector.widgets.bars import NoteLine, TitleBar
from inspector.widgets.detail import sections_of
from inspector.widgets.gauge import Gauge
from inspector.widgets.key_bar import KeyBar
from inspector.widgets.pressure import PressurePane
from inspector.widgets.proposal import Proposal
from inspector.widgets.slider import TimeSlider
from inspector.widgets.squeezed import squeezed_sections
from inspector.widgets.steps import sections_of_artifacts
from inspector.widgets.surface_list import SurfaceLine, SurfaceLines, SurfaceList, shadowed_lines
from inspector.widgets.text_pane import TextPane

BAR_SHARE = 0.05
"""A node of this share of the window fills the bar of its row, unless the page holds larger."""


EMPTY = "No message stands in the window: nothing of this log has reached the model yet."
_TWENTIETH = "by a twentieth of the log"


class SessionScreen(AskingScreen[None]):
    """Surface, detail and pressure of one session."""

    TOPIC = "a session"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Back", tooltip="drop the selection, or leave the session"),
        Binding("p", "pin", "Pin", tooltip="keep these nodes in every compaction; again to unpin"),
        Binding("c", "compact", "Compact", tooltip="preview it for the selection, or by policy"),
        Binding("v", "pane", "Pane", tooltip="detail or pressure, on a narrow screen"),
        Binding("g", "track", "Track", tooltip="the agent's own log, or your plan"),
        Binding("l", "live", "View", tooltip="as a resume would send it, or as the agent saw it"),
        Binding("w", "resume", "Write a copy", False, tooltip="your plan, for the agent to resume"),
        Binding("r", "raw", "Raw or rendered", show=False, tooltip="the record as the log has it"),
        Binding("s", "steps", "Steps", tooltip="plans and to-do lists, or the detail again"),
        Binding("z", "squeeze", "Squeezed or whole", False, tooltip="a result as squeeze shows it"),
        Binding("Z", "reduce", "Reduce this result", False, tooltip="squeezed, in your plan"),
        Binding("n", "now", "Now", show=False, tooltip="the newest state of the session"),
        Binding("comma", "time(-1)", "Earlier", False, ",", tooltip="an event back"),
        Binding("full_stop", "time(1)", "Later", False, ".", tooltip="an event on"),
        Binding("less_than_sign", "time(-20)", "Much earlier", False, "<", tooltip=_TWENTIETH),
        Binding("greater_than_sign", "time(20)", "Much later", False, ">", tooltip=_TWENTIETH),
        Binding("u", "undo", "Undo the newest operation", False, tooltip="restore what it changed"),
        Binding("U", "redo", "Redo the newest undone operation", False, tooltip="it stands again"),
        Binding("a", "audit", "Audit", tooltip="every operation, with its diff and its loss"),
        Binding("d", "decisions", "Decisions", tooltip="what was done, stage by stage, and why"),
        Binding("b", "pack", "Pack", tooltip="build one: what is asked for, under a budget"),
    ]

    def __init__(self, session: str, seq: NodeId | None = None) -> None:
        super().__init__()
        self._wanted = seq
        self.session = session
        self.track: Track = "agent"
        self.live = False
        self.at: int | None = None
        self.raw = False
        self.squeezed = False
        """A tool's result is shown as the pipeline for tool output reduces it."""
        self._squeezed_of: NodeId | None = None
        self.steps = False
        """Plans stand in the place of the detail."""
        self.newest = 0
        self.surface: SurfaceView | None = None
        self.report: PressureReport | None = None
        self._planned: PressureReport | None = None
        self._detail: EventDetail | None = None
        self._asked: NodeId | None = None
        self._shown: tuple[EventDetail | None, int | None, bool] = (None, None, False)
        self._plans: ArtifactsReport | None = None
        self._unfolded: dict[NodeId, Sequence[SurfaceLine]] = {}
        self._pending: Timer | None = None
        self._journey: Timer | None = None

    def compose(self) -> ComposeResult:
        yield TitleBar(id="title")
        yield Gauge(id="strip")
        yield Proposal(id="proposal")
        yield NoteLine(id="inexact", classes="-none")
        with Container(id="body"):
            yield SurfaceList(id="surface")
            with Vertical(id="side"):
                yield PressurePane(id="pressure")
                yield TextPane(id="detail")
        yield TimeSlider(id="time")
        yield KeyBar()

    def on_mount(self) -> None:
        self.query_one("#strip", Gauge).foretells = True
        self.query_one("#surface").border_title = "surface"
        self.query_one("#pressure").border_title = "pressure"
        self.query_one("#detail").border_title = "detail"
        surface = self.query_one(SurfaceList)
        surface.say(READING)
        surface.focus()
        self._show_title()
        self._load()

    def on_resize(self) -> None:
        self.call_after_refresh(self.refresh_bindings)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Detail and pressure take turns only where there is no room for both."""
        return action != "pane" or self.has_class("-narrow")

    def show_progress(self) -> None:
        self._show_title()

    def store_grew(self) -> None:
        if self.at is None:
            self._load()

    def on_screen_resume(self) -> None:
        if self.surface is not None:
            self._load()

    # Questions

    def _load(self) -> None:
        session, track, at, live = self.session, self.track, self.at, self.live
        self.ask(
            "view",
            lambda: (
                self.inquiry.view(session, track=track, at=at, live=live),
                self.inquiry.events(session),
            ),
            self._take_view,
            self._no_view,
        )

        def weigh() -> tuple[PressureReport, PressureReport | None]:
            report = self.inquiry.pressure(session, track=track, at=at, live=live)
            if at is not None or report.proposed is None or track == "plan":
                return report, report if at is None else None
            # What was planned already needs no proposal, though the agent does not know it yet.
            return report, self.inquiry.pressure(session, track="plan")

        self.ask("pressure", weigh, self._take_pressure, self._no_pressure)

        if self.steps:
            self._ask_steps()

    def _no_view(self, refusal: Refusal) -> None:
        self.refuse(self.query_one(SurfaceList), refusal)

    def _no_pressure(self, refusal: Refusal) -> None:
        """Said in the place of the figures, or in a toast where older ones stand."""
        if self.report is None:
            self.query_one("#strip", Gauge).show(None, str(refusal))
            self.query_one(PressurePane).refuse(str(refusal))
        else:
            self.tell(str(refusal), "warning")

    def _ask_steps(self) -> None:
        session, at = self.session, self.at
        self.ask("steps", lambda: self.inquiry.artifacts(session, at=at), self._take_steps)

    def _take_steps(self, report: ArtifactsReport) -> None:
        if self.steps and report != self._plans:
            self._plans = report
            self.query_one("#detail", TextPane).show(sections_of_artifacts(report))

    def _take_view(self, answer: tuple[SurfaceView, int]) -> None:
        view, self.newest = answer
        first = self.surface is None
        self.surface = view
        surface = self.query_one(SurfaceList)
        here = surface.row
        lines = self._lines(view)
        surface.say(EMPTY)
        cursor = None
        if self._wanted is not None:
            cursor = self._find_wanted(lines)
        elif first:
            cursor = len(lines) - 1
        elif here is not None and not surface.following:
            cursor = lines.line_of(here.seq)
        surface.show(lines, cursor)
        surface.border_subtitle = (
            f"{figures.counted(len(view), 'node')} · {figures.tokens(view.tokens)} counted"
        )
        self._show_title()
        self._show_time()
        # At once: a log that grows faster than the cursor rests would put it off for ever.
        self._ask_detail()

    def _find_wanted(self, lines: SurfaceLines) -> int | None:
        """The line of the event that was asked for. Where it stands no longer, time goes back to
        when it came; where it never stood, the last line is as good."""
        wanted, line = self._wanted, lines.line_of(self._wanted or 0)
        if line is None and self.at is None and isinstance(wanted, int):
            self.at = wanted
            self._load()
            return None
        self._wanted = None
        return len(lines) - 1 if line is None else line

    def _take_pressure(self, answer: tuple[PressureReport, PressureReport | None]) -> None:
        report, self._planned = answer
        self.report = report
        surface = self.query_one(SurfaceList)
        surface.window = report.window
        surface.largest = max(int((report.window or report.used or 1) * BAR_SHARE), 1)
        surface.repaint()
        self.query_one("#strip", Gauge).show(report)
        self.query_one(Proposal).propose(self._planned)
        self.query_one(PressurePane).show(report)
        self._show_time()
        self._show_detail()

    def _lines(self, view: SurfaceView) -> SurfaceLines:
        """The lines of the view, with what was unfolded and still stands."""
        rows = {}
        for seq, children in self._unfolded.items():
            row = view.index_of(seq)
            if row is not None:
                rows[row] = children
        return SurfaceLines(view, rows)

    def _show_title(self) -> None:
        view = self.surface
        if view is None:
            name = [(" ullage", "accent"), (f"  {line(self.session, 80)}", "strong")]
            self.query_one("#title", TitleBar).show(name, self.progress_cells())
            return
        header = view.session
        left = [
            (" ullage", "accent"),
            (f"  {line(header.agent, 12)}  ", "muted"),
            (line(header.title or header.id, 160), "strong"),
        ]
        states = [self.track, "live" if self.live else "resume"]
        note = self.query_one("#inexact", NoteLine)
        note.set_class(header.approximate is None, "-none")
        if header.approximate is not None:
            states.append("≈ approximate")
            note.show([(" ≈ ", "warm"), (clean(header.approximate, " "), "muted")], [])
        if view.problems:
            states.append(figures.counted(len(view.problems), "problem"))
        right = [*self.progress_cells(), ("  " + " · ".join(states) + " ", "accent")]
        self.query_one("#title", TitleBar).show(left, right)

    def _show_time(self) -> None:
        marks = self.report.compactions if self.report is not None else ()
        self.query_one(TimeSlider).show(self.newest, self.at, marks)

    # The node under the cursor

    @on(RowHighlighted, "#surface")
    def _look_closer(self) -> None:
        """Ask for the node's content once the cursor rests, unless that was asked already."""
        if self._pending is not None:
            self._pending.stop()
        row = self.query_one(SurfaceList).row
        if row is not None and row.seq != self._asked:
            self._pending = self.set_timer(self.ullage.rest, self._ask_detail)

    def _ask_detail(self) -> None:
        row = self.query_one(SurfaceList).row
        self._asked = row.seq if row is not None else None
        if row is None:
            self._detail = None
            self._show_detail()
            return
        session, track = self.session, self.track
        self.ask(
            "detail", lambda: self.inquiry.detail(session, row.seq, track=track), self._take_detail
        )

    def _take_detail(self, detail: EventDetail) -> None:
        if self._squeezed_of is not None and detail == self._detail:
            return
        self._detail, self._squeezed_of = detail, None
        if self.squeezed and not self.steps and detail.node.type == "tool/result":
            self._ask_squeezed(detail)
        else:
            self._show_detail()

    def _ask_squeezed(self, detail: EventDetail) -> None:
        session, seq = self.session, detail.node.seq

        def take(result: SqueezedResult) -> None:
            if self.squeezed and not self.steps and self._detail is detail:
                self._squeezed_of = seq
                self.query_one("#detail", TextPane).show(squeezed_sections(result))

        # Where there is nothing to squeeze, the result is shown as it is.
        self.ask(
            "squeezed",
            lambda: self.inquiry.squeezed(session, seq),
            take,
            lambda _: self._show_detail(),
        )

    def _show_detail(self) -> None:
        """Show what is known of the node, from its beginning; what stands there already is not
        touched, so that the text does not jump while the log grows."""
        if self.steps:
            return
        window = self.report.window if self.report is not None else None
        if self._squeezed_of is not None:
            return
        shown = (self._detail, window, self.raw)
        if shown != self._shown:
            self._shown = shown
            detail, zone = self._detail, self.ullage.zone
            sections = sections_of(detail, window, self.raw, zone) if detail is not None else []
            self.query_one("#detail", TextPane).show(sections)

    @on(RowActivated, "#surface")
    def _unfold(self) -> None:
        """Enter on a checkpoint shows what it shadows, or folds it again; on the result of a
        sub-agent it opens the sub-agent's session."""
        row, view = self.query_one(SurfaceList).row, self.surface
        if row is None or view is None or row.node is None:
            return
        detail = self._detail
        if detail is not None and detail.node.seq == row.seq and detail.sub_agent is not None:
            self.ullage.open_session(detail.sub_agent)
            return
        if row.node.checkpoint is None or row.shadowed:
            return
        if self._unfolded.pop(row.seq, None) is not None:
            self._refold(view)
            return
        checkpoint, seq, place = row.node.checkpoint, row.seq, row.row
        session, track, live = self.session, self.track, self.live

        def work() -> list[SurfaceLine]:
            agents = [node for node in checkpoint.shadowed_seqs if isinstance(node, int)]
            past = self.inquiry.view(session, track=track, at=max(agents, default=1), live=live)
            return shadowed_lines(past, checkpoint.shadowed_seqs, place)

        def then(lines: list[SurfaceLine]) -> None:
            self._unfolded[seq] = lines
            if self.surface is not None:
                self._refold(self.surface)

        self.ask("unfold", work, then)

    def _refold(self, view: SurfaceView) -> None:
        surface = self.query_one(SurfaceList)
        here = surface.row
        lines = self._lines(view)
        surface.show(lines, lines.line_of(here.seq) if here is not None else None)

    # What a person does

    @on(TimeMoved)
    def _travel(self, message: TimeMoved) -> None:
        """Go to another moment, once the slider rests."""
        self.at = message.at
        if self._journey is not None:
            self._journey.stop()
        self._journey = self.set_timer(self.ullage.rest, self._load)

    def action_leave(self) -> None:
        surface = self.query_one(SurfaceList)
        if surface.pivot is not None:
            surface.pivot = None
        else:
            self.app.pop_screen()

    def action_track(self) -> None:
        self.track = "plan" if self.track == "agent" else "agent"
        self._load()

    def action_live(self) -> None:
        self.live = not self.live
        self._load()

    def action_raw(self) -> None:
        self.raw = not self.raw
        self.squeezed, self._squeezed_of = False, None
        self._name_detail()
        self._show_detail()

    def action_steps(self) -> None:
        self.steps = not self.steps
        self._plans = None
        self._shown = (None, None, False)
        self._name_detail()
        if self.steps:
            self.remove_class("-pressure")
            self._ask_steps()
        else:
            self._show_detail()

    def _name_detail(self) -> None:
        view = ", squeezed" if self.squeezed else ", raw" if self.raw else ""
        name = f"detail{view}"
        self.query_one("#detail").border_title = "plans, newest first" if self.steps else name

    def action_squeeze(self) -> None:
        """The result under the cursor squeezed, with what each stage removed; or whole again."""
        self.squeezed = self.steps or not self.squeezed
        self.raw = self.steps = False
        self._squeezed_of = None
        self._name_detail()
        self._shown = (None, None, False)
        if self._detail is not None:
            self._take_detail(self._detail)

    def action_reduce(self) -> None:
        """Put the squeezed result in the whole one's place, in the plan."""
        row = self.query_one(SurfaceList).row
        if row is None:
            return
        session, inquiry, seq = self.session, self.inquiry, row.seq

        def work() -> CompactionReport:
            return inquiry.commit(inquiry.preview(session, start=seq, mode="reduce"))

        self.ask("reduce", work, lambda report: self._reduced(seq, report))

    def _reduced(self, seq: NodeId, report: CompactionReport) -> None:
        after = next((f.tokens_after for f in report.nodes if f.fate == "reduced"), 0)
        before = next((f.tokens_before for f in report.nodes if f.fate == "reduced"), 0)
        name = figures.event_name(seq)
        self.track = "plan"
        self._changed(f"Reduced {name} from {before:,} to {after:,} tokens in your plan; u undoes.")

    def action_pane(self) -> None:
        self.toggle_class("-pressure")

    def action_time(self, by: int) -> None:
        step = by if abs(by) == 1 else (1 if by > 0 else -1) * max(self.newest // abs(by), 1)
        self.query_one(TimeSlider).move(step)

    def action_now(self) -> None:
        self.query_one(TimeSlider).move(self.newest)

    def action_pin(self) -> None:
        nodes = [row for row in self._chosen() if row.node is not None]
        seqs = [row.seq for row in nodes]
        if not seqs:
            return
        pinned = all(row.node is not None and row.node.pinned for row in nodes)
        change = self.inquiry.unpin if pinned else self.inquiry.pin
        done = "Unpinned" if pinned else "Pinned"
        name = figures.event_name(seqs[0]) if len(seqs) == 1 else f"{len(seqs):,} nodes"
        self.ask(
            "pin", lambda: change(self.session, seqs), lambda _: self._changed(f"{done} {name}.")
        )

    def action_undo(self) -> None:
        self.ask("undo", lambda: self.inquiry.undo(self.session), self._undone)

    def action_redo(self) -> None:
        self.ask("undo", lambda: self.inquiry.redo(self.session), self._redone)

    def action_compact(self) -> None:
        rows = self._chosen() if self.query_one(SurfaceList).pivot is not None else []
        region = (rows[0].seq, rows[-1].seq) if rows else None
        proposed = self._planned.proposed if self._planned is not None else None
        mode: CompactionMode = "micro" if proposed == "micro" else "auto"
        self.ullage.open_compaction(self.session, region or mode, at=self.at, then=self._committed)

    def action_resume(self) -> None:
        self.ullage.open_resume(self.session, self.at)

    def action_decisions(self) -> None:
        self.ullage.open_decisions(self.session)

    def action_pack(self) -> None:
        self.ullage.open_pack(self.session)

    def action_audit(self) -> None:
        self.ullage.open_audit(self.session)

    def _chosen(self) -> list[SurfaceLine]:
        """The selected lines, or the one under the cursor; shadowed ones only when alone."""
        surface = self.query_one(SurfaceList)
        if surface.selection is None:
            return [surface.row] if surface.row is not None else []
        first, last = surface.selection
        rows = surface.source.rows(first, last + 1)
        return [row for row in rows if not row.shadowed]

    def _undone(self, report: OperationReport) -> None:
        self._changed(f"Undone, as {figures.event_name(report.operation)} in the audit.")

    def _redone(self, report: OperationReport) -> None:
        self._changed(f"Redone, as {figures.event_name(report.operation)} in the audit.")

    def _committed(self, done: bool | None) -> None:
        if done:
            self.query_one(SurfaceList).pivot = None
            self.track = "plan"
            self._load()

    def _changed(self, text: str) -> None:
        self.tell(text)
        self.query_one(SurfaceList).pivot = None
        self._load()
