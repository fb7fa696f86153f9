"""Use-cases without a store: believable, deterministic, in memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from compress.errors import CompressError, StaleNodeError, UnbalancedBoundaryError
from compress.events import NodeId
from inspector.reports import (
    AuditRow,
    CheckpointReport,
    CompactionReport,
    Composition,
    DoctorReport,
    EventDetail,
    Forecast,
    LostReport,
    MessageBlock,
    MeterError,
    NodeFate,
    NodeReport,
    OperationReport,
    PressureReport,
    ProblemReport,
    RegionReport,
    RequestReport,
    SearchHit,
    SessionHeader,
    SessionRow,
    SummaryReport,
    Thresholds,
    Track,
    ViewName,
)

NOW = 1_790_000_000.0
WINDOW = 200_000

# (type, tool, tokens, headline)
_STORY: tuple[tuple[str, str | None, int, str], ...] = (
    ("context/message", None, 1840, "AGENTS.md: run the tests with make check, never push to main"),
    (
        "user/message",
        None,
        212,
        "The retry test fails one time in twenty. Find out why and fix it.",
    ),
    ("assistant/message", "Bash", 158, "Run the test fifty times to see how it fails"),
    ("tool/result", "Bash", 6_420, "FAILED tests/test_retry.py::test_backoff - assert 3 == 4"),
    ("assistant/message", "Read", 96, "Read src/retry.py"),
    ("tool/result", "Read", 3_812, "1  import random  2  import time  3  class Backoff:"),
    ("assistant/message", "Grep", 84, "Search for every use of Backoff("),
    (
        "tool/result",
        "Grep",
        1_204,
        "src/client.py:41: self._backoff = Backoff(base=0.1, jitter=True)",
    ),
    (
        "assistant/message",
        None,
        642,
        "The jitter can make two waits equal, so the count is off by one.",
    ),
    ("user/message", None, 48, "Keep the jitter, it is there for a reason."),
    ("assistant/message", "Edit", 318, "Seed the jitter from the attempt number"),
    ("tool/result", "Edit", 122, "The file src/retry.py has been updated."),
    ("assistant/message", "Bash", 77, "Run the whole suite"),
    (
        "tool/result",
        "Bash",
        38_900,
        "============ test session starts ============ collected 1,912",
    ),
    ("assistant/message", "Bash", 66, "Run the failing module alone"),
    ("tool/result", "Bash", 2_310, "ModuleNotFoundError: No module named 'freezegun'"),
    ("assistant/message", "Bash", 58, "Install the test extra"),
    ("tool/result", "Bash", 940, "Successfully installed freezegun-1.5.1"),
    ("steering/message", None, 31, "Do not add dependencies to the main package."),
    (
        "assistant/message",
        None,
        420,
        "It went into the test extra only; the main package is unchanged.",
    ),
    ("assistant/message", "Bash", 71, "Run tests/test_retry.py two hundred times"),
    ("tool/result", "Bash", 1_480, "200 passed in 31.07s"),
    ("assistant/message", "Read", 64, "Read docs/retry.md"),
    (
        "tool/result",
        "Read",
        5_630,
        "# Retries  Every call is tried at most five times, with a pause",
    ),
    ("assistant/message", "Edit", 205, "Say in the docs that the jitter is seeded"),
    ("tool/result", "Edit", 118, "The file docs/retry.md has been updated."),
    ("user/message", None, 96, "Good. Now do the same for the websocket client, the same symptom."),
    ("assistant/message", "Grep", 88, "Search for random. in src/ws"),
    (
        "tool/result",
        "Grep",
        2_950,
        "src/ws/reconnect.py:77: delay = base * 2 ** n + random.random()",
    ),
    ("assistant/message", "Read", 61, "Read src/ws/reconnect.py"),
    ("tool/result", "Read", 7_210, "1  # Reconnect with a growing pause  2  import random"),
    ("assistant/message", "Task", 310, "Ask a sub-agent for every timer that is not injected"),
    (
        "tool/result",
        "Task",
        9_640,
        "Found 6 timers: reconnect.py:77, heartbeat.py:31, heartbeat.py:58",
    ),
    (
        "assistant/message",
        None,
        880,
        "Six timers share the fault. I will inject one clock into all.",
    ),
    ("assistant/message", "Edit", 512, "Inject the clock into reconnect.py and heartbeat.py"),
    ("tool/result", "Edit", 240, "2 files have been updated."),
    ("assistant/message", "Bash", 69, "Run tests/ws"),
    ("tool/result", "Bash", 4_870, "1 failed, 84 passed: test_heartbeat_stops - TimeoutError"),
    ("assistant/message", None, 390, "One test waits on the real clock; it gets the injected one."),
    ("assistant/message", "Edit", 144, "Give test_heartbeat_stops the injected clock"),
)
_ERRORS = {4, 16, 38}
_PINNED = {2, 10}
_RECEIPTS = {24}
_ORPHANS = {40}


def story_nodes() -> list[NodeReport]:
    """The log's nodes 1 … 40."""
    return [
        NodeReport(
            seq=seq,
            type=kind,
            role="user" if kind in ("user/message", "steering/message") else "assistant",
            turn=1 if seq < 27 else 2,
            step=seq // 2 or None,
            unit=seq // 2,
            tokens=64 if seq in _RECEIPTS else tokens,
            headline=headline,
            tool=tool,
            time=NOW - 60 * (41 - seq),
            pinned=seq in _PINNED,
            orphan=seq in _ORPHANS,
            is_error=seq in _ERRORS,
            receipt=seq in _RECEIPTS,
            events=(seq,),
        )
        for seq, (kind, tool, tokens, headline) in enumerate(_STORY, 1)
    ]


def _checkpoint(seq: NodeId, shadowed: Sequence[NodeId], tokens: int, origin: str) -> NodeReport:
    return NodeReport(
        seq=seq,
        type="user/message",
        role="user",
        tokens=tokens,
        headline="This session goes on from a summary of what came before.",
        time=NOW - 600,
        checkpoint=CheckpointReport(
            shadowed_seqs=tuple(shadowed),
            origin=origin,  # type: ignore[arg-type]
            operation=seq,
        ),
        events=(seq,),
    )


@dataclass
class FakeView:
    """A surface of nodes that are all there."""

    session: SessionHeader
    nodes: list[NodeReport]
    track: Track = "agent"
    view: ViewName = "resume"
    at_seq: NodeId | None = 41
    replace_generation: int = 1
    counter: str = "o200k_base"
    problems: tuple[ProblemReport, ...] = ()

    @property
    def tokens(self) -> int:
        return sum(node.tokens for node in self.nodes)

    def __len__(self) -> int:
        return len(self.nodes)

    def rows(self, start: int, stop: int) -> Sequence[NodeReport]:
        return self.nodes[max(start, 0) : stop]

    def index_of(self, seq: NodeId) -> int | None:
        return next((at for at, node in enumerate(self.nodes) if seq in node.events), None)


class MillionView(FakeView):
    """A million nodes that exist only while they are looked at."""

    def __init__(self, session: SessionHeader, count: int = 1_000_000) -> None:
        super().__init__(session, [], at_seq=count)
        self.count = count
        self._story = story_nodes()

    @property
    def tokens(self) -> int:
        return self.count * 900

    def __len__(self) -> int:
        return self.count

    def rows(self, start: int, stop: int) -> Sequence[NodeReport]:
        return [self._node(row) for row in range(max(start, 0), min(stop, self.count))]

    def index_of(self, seq: NodeId) -> int | None:
        return seq - 1 if isinstance(seq, int) and 1 <= seq <= self.count else None

    def _node(self, row: int) -> NodeReport:
        model = self._story[row % len(self._story)]
        return model.model_copy(update={"seq": row + 1, "events": (row + 1,)})


@dataclass(frozen=True)
class FakePreview:
    report: CompactionReport
    pins: tuple[NodeId, ...] = ()


@dataclass
class FakeUseCases:
    """One long session in the middle of its work, and some others around it."""

    newest: int = 41
    version: int = 1
    pinned: set[NodeId] = field(default_factory=lambda: set[NodeId](_PINNED))
    operations: list[AuditRow] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)
    reading: tuple[int, int, str] = (0, 0, "")
    extra: list[NodeReport] = field(default_factory=list)
    """Nodes that arrived since."""

    # The store

    def data_version(self) -> int:
        return self.version

    def progress(self) -> tuple[int, int, str]:
        return self.reading

    def start_watching(self, paths: Sequence[Path], notify: Callable[[], None]) -> None:
        self.calls.append(f"watch {len(paths)}")
        notify()

    def stop_watching(self) -> None:
        self.calls.append("stop")

    def doctor(self) -> DoctorReport:
        return DoctorReport()

    def find(self, ref: str) -> str:
        return "s1" if ref == "last" else ref

    # Sessions

    def sessions(self, limit: int | None = None) -> list[SessionRow]:
        return _sessions()[:limit]

    def events(self, session: str) -> int:
        return self.newest

    def search(self, query: str, limit: int) -> list[SearchHit]:
        found = [node for node in story_nodes() if query.casefold() in node.headline.casefold()]
        return [
            SearchHit(
                session="s1", seq=int(node.seq), type=node.type, headline=node.headline, score=1
            )
            for node in found[:limit]
        ]

    # One session

    def header(self, session: str) -> SessionHeader:
        row = next((row for row in _sessions() if row.id == session), _sessions()[0])
        return SessionHeader(
            id=session, agent=row.agent, title=row.title, model=row.model, cwd=row.project
        )

    def view(
        self, session: str, *, track: Track = "agent", at: NodeId | None = None, live: bool = False
    ) -> FakeView:
        self.calls.append(f"view {track} {at} {live}")
        log = [
            node.model_copy(update={"pinned": node.seq in self.pinned})
            for node in (*story_nodes(), *self.extra)
        ]
        upto = at if isinstance(at, int) else self.newest
        nodes = [node for node in log if isinstance(node.seq, int) and node.seq <= upto]
        if upto >= 41:
            head = _checkpoint(41, range(1, 9), 1_620, "agent")
            nodes = [head, *(node for node in nodes if int(node.seq) > 8)]
        for row in self.operations:
            if track == "plan" and row.state == "standing" and row.kind == "compact":
                gone = set(row.shadowed_seqs)
                first = next(at for at, node in enumerate(nodes) if node.seq in gone)
                summary = _checkpoint(row.operation, row.shadowed_seqs, 980, "user")
                nodes = [node for node in nodes if node.seq not in gone]
                nodes.insert(first, summary)
        return FakeView(self.header(session), nodes, track, "live" if live else "resume", upto)

    def detail(self, session: str, seq: NodeId, *, track: Track = "agent") -> EventDetail:
        self.calls.append(f"detail {seq}")
        node = next((n for n in (*story_nodes(), *self.extra) if n.seq == seq), None)
        if node is None:
            standing = self.view(session, track=track).nodes
            node = next((n for n in standing if n.seq == seq), None)
        if node is None:
            raise StaleNodeError(seq, "is unknown in this session")
        return EventDetail(
            node=node.model_copy(update={"pinned": seq in self.pinned}),
            blocks=_blocks(node),
            raw=f'{{"type":"message","seq":{seq},"headline":"{node.headline}"}}',
            provenance=f"~/.claude/projects/retry/3f1c.jsonl, line {seq}, byte {int_of(seq) * 911}",
            operations=("#41 shadowed it: the agent's own compaction.",)
            if isinstance(seq, int) and seq <= 8
            else (),
        )

    def pressure(
        self, session: str, *, track: Track = "agent", at: NodeId | None = None, live: bool = True
    ) -> PressureReport:
        return _pressure(self.header(session), track, live)

    def pin(self, session: str, seqs: Sequence[NodeId]) -> OperationReport:
        self.pinned |= set(seqs)
        return self._operation("pin", seqs)

    def unpin(self, session: str, seqs: Sequence[NodeId]) -> OperationReport:
        self.pinned -= set(seqs)
        return self._operation("unpin", seqs)

    def preview(
        self,
        session: str,
        *,
        start: NodeId | None = None,
        end: NodeId | None = None,
        mode: str = "region",
        at: NodeId | None = None,
        budget: int | None = None,
        pins: Sequence[NodeId] = (),
    ) -> FakePreview:
        self.calls.append(f"preview {mode} {start} {end} {budget} {list(pins)}")
        view = self.view(session, track="plan", at=at)
        first = 0 if start is None else view.index_of(start)
        last = 25 if end is None else view.index_of(end)
        if first is None or last is None:
            raise StaleNodeError(start if first is None else end or 0, "is not on the surface")
        region = view.nodes[first : last + 1]
        if region[0].type == "tool/result":
            raise UnbalancedBoundaryError(
                f"The region would begin between a call and its result at event {region[0].seq}: "
                "begin one earlier or one later.",
                [int_of(region[0].seq) - 1, int_of(region[0].seq) + 1],
            )
        if len(region) < 2:
            raise CompressError("There is nothing to gain: the region holds one node.")
        report = _compaction(view, (first, last), mode, budget, {*self.pinned, *pins})
        return FakePreview(report, tuple(pins))

    def commit(self, preview: FakePreview) -> CompactionReport:
        report = preview.report
        done = self._operation(
            "compact",
            [fate.seq for fate in report.nodes if fate.fate == "shadowed"],
            before=report.tokens_before,
            after=report.tokens_after,
        )
        return report.model_copy(update={"operation": done.operation})

    # Operations

    def undo(
        self, session: str, operation: NodeId | None = None, *, cascade: bool = False
    ) -> OperationReport:
        self.calls.append(f"undo {operation} {cascade}")
        standing = [row for row in self.operations if row.state == "standing"]
        if not standing:
            raise CompressError("There is no standing operation to undo.")
        row = next((r for r in standing if r.operation == operation), standing[-1])
        later = [r.operation for r in standing if r.kind == "compact" and r is not row]
        if row.kind == "compact" and later and not cascade:
            raise CompressError(f"Operation {row.operation} carries {later[0]}.", later)
        self._set(row, "undone")
        return OperationReport(operation=row.operation, state="undone", surface_tokens=1)

    def redo(self, session: str, operation: NodeId | None = None) -> OperationReport:
        undone = [row for row in self.operations if row.state == "undone"]
        if not undone:
            raise CompressError("There is nothing to redo.")
        self._set(undone[-1], "standing")
        return OperationReport(operation=undone[-1].operation, state="standing", surface_tokens=1)

    def audit(self, session: str | None = None) -> list[AuditRow]:
        return [*_agents_operations(), *self.operations]

    def audit_diff(self, session: str, operation: NodeId) -> str:
        return _DIFF

    def _operation(
        self,
        kind: str,
        seqs: Sequence[NodeId],
        before: int | None = None,
        after: int | None = None,
    ) -> OperationReport:
        self.version += 1
        name = f"o{len(self.operations) + 1}"
        self.operations.append(
            AuditRow(
                operation=name,
                kind=kind,
                origin="user",
                at=NOW,
                rule="by hand",
                region=RegionReport(start=seqs[0], end=seqs[-1]),
                shadowed_seqs=tuple(seqs) if kind == "compact" else (),
                tokens_before=before,
                tokens_after=after,
            )
        )
        return OperationReport(operation=name, state="standing", surface_tokens=1)

    def _set(self, row: AuditRow, state: str) -> None:
        self.version += 1
        at = self.operations.index(row)
        self.operations[at] = row.model_copy(update={"state": state})


class DirtyUseCases(FakeUseCases):
    """Every text that a log can bring is one of these payloads."""

    def __init__(self, payloads: Sequence[str]) -> None:
        super().__init__()
        self.payloads = list(payloads)

    def _text(self, number: int) -> str:
        return self.payloads[number % len(self.payloads)]

    def header(self, session: str) -> SessionHeader:
        text = self._text(int(session.removeprefix("s")) - 1)
        return SessionHeader(id=session, agent=text, title=text, model=text, cwd=text)

    def sessions(self, limit: int | None = None) -> list[SessionRow]:
        model = _sessions()[0]
        return [
            model.model_copy(
                update={"id": f"s{number + 1}", "path": text, "note": text}
                | dict.fromkeys(("title", "project", "model", "agent"), text)
            )
            for number, text in enumerate(self.payloads)
        ]

    def view(
        self, session: str, *, track: Track = "agent", at: NodeId | None = None, live: bool = False
    ) -> FakeView:
        view = super().view(session, track=track, at=at, live=live)
        nodes = [
            node.model_copy(update={"headline": self._text(number), "tool": self._text(number + 1)})
            for number, node in enumerate(view.nodes)
        ]
        problem = ProblemReport(kind=self._text(2), where=self._text(3), detail=self._text(4))
        return replace(view, nodes=nodes, problems=(problem,))

    def detail(self, session: str, seq: NodeId, *, track: Track = "agent") -> EventDetail:
        detail = super().detail(session, seq, track=track)
        everything = "\n".join(self.payloads)
        call = {text: text for text in self.payloads}
        blocks = [
            MessageBlock(kind="text", text=everything),
            MessageBlock(kind="tool_call", name=self._text(1), input=call),
            MessageBlock(kind="tool_result", name=self._text(2), text=everything),
        ]
        return detail.model_copy(
            update={
                "blocks": tuple(blocks),
                "raw": everything,
                "provenance": everything,
                "operations": tuple(self.payloads),
            }
        )

    def pressure(
        self, session: str, *, track: Track = "agent", at: NodeId | None = None, live: bool = True
    ) -> PressureReport:
        report = super().pressure(session, track=track, at=at, live=live)
        tools = {text: 1000 + number for number, text in enumerate(self.payloads)}
        return report.model_copy(update={"model": self._text(0), "tool_results_by_tool": tools})

    def preview(self, session: str, **asked: object) -> FakePreview:
        preview = super().preview(session, **asked)  # type: ignore[arg-type]
        everything = "\n".join(self.payloads)
        texts = tuple(self.payloads)
        report = preview.report.model_copy(
            update={
                "summary": SummaryReport(text=everything, tokens=9, sections={everything: 9}),
                "lost": LostReport(identifiers=texts, instructions=texts, errors=texts),
                "warnings": texts,
                "nodes": tuple(
                    fate.model_copy(update={"rule": self._text(number)})
                    for number, fate in enumerate(preview.report.nodes)
                ),
            }
        )
        return FakePreview(report)

    def undo(
        self, session: str, operation: NodeId | None = None, *, cascade: bool = False
    ) -> OperationReport:
        raise CompressError(" ".join(self.payloads), self.payloads)

    def pin(self, session: str, seqs: Sequence[NodeId]) -> OperationReport:
        raise CompressError(" ".join(self.payloads))

    unpin = pin

    def audit(self, session: str | None = None) -> list[AuditRow]:
        model = _agents_operations()[0]
        return [
            model.model_copy(
                update={"origin": "user", "kind": text, "rule": text, "note": text}
                | {"lost": LostReport(identifiers=(text,), errors=(text,))}
            )
            for text in self.payloads
        ]

    def audit_diff(self, session: str, operation: NodeId) -> str:
        return "\n".join(sign + text for text in self.payloads for sign in "+-")


class MillionUseCases(FakeUseCases):
    """A session of a million nodes."""

    def __init__(self) -> None:
        super().__init__(newest=1_000_000)

    def view(
        self, session: str, *, track: Track = "agent", at: NodeId | None = None, live: bool = False
    ) -> FakeView:
        return MillionView(self.header(session), at if isinstance(at, int) else 1_000_000)

    def detail(self, session: str, seq: NodeId, *, track: Track = "agent") -> EventDetail:
        detail = super().detail(session, (int_of(seq) - 1) % 40 + 1)
        return detail.model_copy(update={"node": detail.node.model_copy(update={"seq": seq})})


def int_of(seq: NodeId) -> int:
    return seq if isinstance(seq, int) else int(seq.removeprefix("o"))


def _sessions() -> list[SessionRow]:
    rise = tuple(min(0.05 + 0.03 * step, 0.82) for step in range(24))
    saw = tuple(0.2 + 0.09 * (step % 8) for step in range(30))
    flat = (0.04, 0.05, 0.06, 0.06, 0.07)
    return [
        SessionRow(
            id="s1",
            agent="claude",
            path="~/.claude/projects/retry/3f1c.jsonl",
            project="~/src/retry",
            title="Fix the flaky retry test",
            model="claude-opus-4-5",
            started_at=NOW - 5400,
            last_event_at=NOW - 2,
            state="running",
            events=41,
            tokens=152_300,
            tokens_source="provider",
            window=WINDOW,
            pressure=0.7615,
            history=saw,
        ),
        SessionRow(
            id="s2",
            agent="claude",
            path="~/.claude/projects/retry/agent-77.jsonl",
            project="~/src/retry",
            title="Find every timer that is not injected",
            model="claude-haiku-4-5",
            parent="s1",
            relation="subagent",
            last_event_at=NOW - 95,
            state="ended",
            events=210,
            tokens=31_800,
            tokens_source="provider",
            window=WINDOW,
            pressure=0.159,
            history=flat,
        ),
        SessionRow(
            id="s3",
            agent="codex",
            path="~/.codex/sessions/2026/09/rollout-1.jsonl",
            project="~/src/parser",
            title="Port the parser to the new grammar",
            model="gpt-5.2-codex",
            last_event_at=NOW - 240,
            state="waiting",
            events=1_930,
            tokens=231_000,
            tokens_source="provider",
            window=272_000,
            pressure=0.849,
            history=rise,
        ),
        SessionRow(
            id="s4",
            agent="pi",
            path="~/.pi/agent/sessions/7.jsonl",
            project="~/src/site",
            title="日本語のサイトを直す",
            model="gemini-3-pro",
            last_event_at=NOW - 7_300,
            state="idle",
            events=320,
            tokens=88_000,
            window=1_048_576,
            pressure=0.084,
            history=flat,
            problems=3,
        ),
        SessionRow(
            id="s5",
            agent="dsh",
            path="~/.dsh/logs/old.jsonl",
            project="~/src/ledger",
            title="Reconcile the March ledger",
            model="deepseek-v4",
            last_event_at=NOW - 400_000,
            state="ended",
            events=77,
            tokens=12_400,
            window=None,
            pressure=None,
        ),
        SessionRow(
            id="s6",
            agent="claude",
            path="~/.claude/projects/stub/0.jsonl",
            project="~/src/stub",
            state="ended",
            last_event_at=NOW - 900_000,
            note="empty: holds only a summary record",
        ),
    ]


def _pressure(header: SessionHeader, track: Track, live: bool) -> PressureReport:
    sizes: list[int] = []
    used = 24_000
    for step in range(60):
        used += 2_000 + (step * 7919) % 3_800
        if step == 36:
            used = 61_000
        sizes.append(used)
    requests = tuple(
        RequestReport(
            seq=1 + step * 40 // 60,
            model=header.model,
            actual_input=size,
            predicted_input=size,
            tail_counted=900,
        )
        for step, size in enumerate(sizes)
    )
    return PressureReport(
        session=header, model=header.model, window=WINDOW, window_source="table",
        view="live" if live else "resume", track=track, at_seq=41, used=152_300,
        used_source="provider", overhead=23_400,
        composition=Composition(
            system_and_tools=23_400, instructions=1_840, user=2_410, assistant=8_900,
            thinking=11_250, tool_calls=9_800, tool_results=93_080, checkpoints=1_620,
        ),
        tool_results_by_tool={"Bash": 54_100, "Read": 21_000, "Task": 9_640, "Grep": 7_980,
                              "Edit": 360},
        thresholds=Thresholds(micro=140_000, compact=160_000),
        forecast=Forecast(steps_to_micro=0, steps_to_compact=3),
        requests=requests, compactions=(25,),
        error=MeterError(n=58, median_ape_increment=0.083, p90_ape_increment=0.21),
    )  # fmt: skip


def _blocks(node: NodeReport) -> tuple[MessageBlock, ...]:
    if node.checkpoint is not None:
        return (MessageBlock(kind="text", text=_SUMMARY),)
    if node.type == "tool/result":
        body = "\n".join(f"{number:>4}  {node.headline}" for number in range(1, 30))
        return (MessageBlock(kind="tool_result", id="c1", name=node.tool, text=body),)
    if node.type == "assistant/message" and node.tool:
        return (
            MessageBlock(kind="thinking", text="The failure is rare, so it hangs on chance or time."),
            MessageBlock(kind="text", text=node.headline),
            MessageBlock(
                kind="tool_call",
                id="c1",
                name=node.tool,
                input={"command": "for i in $(seq 50); do\n  pytest -q tests/test_retry.py\ndone",
                       "timeout": 600},
            ),
        )  # fmt: skip
    return (MessageBlock(kind="text", text=node.headline),)


_SUMMARY = """\
[checkpoint of events 1 … 8; the raw is kept]
Instructions
  The retry test fails one time in twenty. Find out why and fix it.
Files
  src/retry.py           read
  src/client.py          found: Backoff(base=0.1, jitter=True)
Unresolved errors
  FAILED tests/test_retry.py::test_backoff - assert 3 == 4"""


def _compaction(
    view: FakeView, rows: tuple[int, int], mode: str, budget: int | None, pins: set[NodeId]
) -> CompactionReport:
    first, last = rows
    fates = []
    for row, node in enumerate(view.nodes):
        inside = first <= row <= last
        if mode == "micro":
            fate, rule = (
                ("receipt", "old result")
                if node.type == "tool/result" and inside
                else ("kept", "not a result")
            )
        elif not inside:
            fate, rule = "kept", "outside the region"
        elif node.seq in pins:
            fate, rule = "pinned", "pinned by you"
        else:
            fate, rule = "shadowed", "summarised"
        after = {"shadowed": 0, "receipt": 40}.get(fate, node.tokens)
        fates.append(
            NodeFate(seq=node.seq, fate=fate, rule=rule, tokens_before=node.tokens,  # type: ignore[arg-type]
                     tokens_after=after)
        )  # fmt: skip
    summary_tokens = min(budget or 980, 980)
    before = 152_300
    after = before - sum(f.tokens_before - f.tokens_after for f in fates)
    text = _SUMMARY[: summary_tokens * 4]
    return CompactionReport(
        session=view.session, at_seq=view.at_seq, replace_generation=1,
        region=RegionReport(start=view.nodes[first].seq, end=view.nodes[last].seq),
        nodes=tuple(fates),
        summary=None if mode == "micro" else SummaryReport(
            text=text, tokens=summary_tokens,
            sections={"instructions": 210, "files": 340, "errors": 180},
        ),
        tokens_before=before, tokens_after=after, pressure_before=before / WINDOW,
        pressure_after=after / WINDOW, cache_invalidated_tokens=104_000, floor=31_000,
        lost=LostReport(
            identifiers=("src/client.py:41", "freezegun-1.5.1"),
            errors=("ModuleNotFoundError: No module named 'freezegun'",),
        ),
    )  # fmt: skip


def _agents_operations() -> list[AuditRow]:
    return [
        AuditRow(
            operation=25, kind="micro", origin="agent", at=NOW - 1_000, rule="tool results cleared",
            region=RegionReport(start=24, end=24), tokens_before=98_000, tokens_after=92_400,
        ),
        AuditRow(
            operation=41, kind="compact", origin="agent", at=NOW - 600, rule="auto",
            region=RegionReport(start=1, end=8), shadowed_seqs=tuple(range(1, 9)),
            tokens_before=164_000, tokens_after=61_000,
            lost=LostReport(identifiers=("tests/test_retry.py::test_backoff",),
                            instructions=("never push to main",)),
        ),
    ]  # fmt: skip


_DIFF = """\
--- before
+++ after
@@ events 1 … 8 @@
-#2 user: The retry test fails one time in twenty. Find out why and fix it.
-#4 Bash: FAILED tests/test_retry.py::test_backoff - assert 3 == 4
-#6 Read: import random, import time, class Backoff
+#41 checkpoint: 8 nodes, 1,620 tokens
 #9 assistant: The jitter can make two waits equal, so the count is off by one."""
