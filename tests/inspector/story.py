"""One believable session, and the reports on it."""

# Long because: it is one story, told in order.

from __future__ import annotations

from collections.abc import Sequence

from compress.events import NodeId
from inspector.reports import (
    AgentSide,
    AuditRow,
    CheckpointReport,
    CompactionReport,
    Composition,
    Forecast,
    LostReport,
    MessageBlock,
    MeterError,
    NodeFate,
    NodeReport,
    PressureReport,
    RegionReport,
    RequestReport,
    SessionHeader,
    SessionRow,
    SummaryReport,
    Thresholds,
    Track,
)
from inspector.resume_reports import ResumeReport
from inspector.views import SurfaceView

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
PINNED = {2, 10}
_RECEIPTS = {24}
_ORPHANS = {40}


def _unit(seq: int) -> int:
    """A result is of the unit of the call before it."""
    return sum(kind != "tool/result" for kind, *_ in _STORY[:seq]) - 1


def nodes_of_story() -> list[NodeReport]:
    """The log's nodes 1 … 40."""
    return [
        NodeReport(
            seq=seq,
            type=kind,
            role="user" if kind in ("user/message", "steering/message") else "assistant",
            turn=1 if seq < 27 else 2,
            step=seq // 2 or None,
            unit=_unit(seq),
            tokens=64 if seq in _RECEIPTS else tokens,
            headline=headline,
            tool=tool,
            time=NOW - 60 * (41 - seq),
            pinned=seq in PINNED,
            orphan=seq in _ORPHANS,
            is_error=seq in _ERRORS,
            receipt=seq in _RECEIPTS,
            events=(seq,),
        )
        for seq, (kind, tool, tokens, headline) in enumerate(_STORY, 1)
    ]


def checkpoint_of(seq: NodeId, shadowed: Sequence[NodeId], tokens: int, origin: str) -> NodeReport:
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


def int_of(seq: NodeId) -> int:
    return seq if isinstance(seq, int) else int(seq.removeprefix("o"))


def sessions() -> list[SessionRow]:
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
            proposed="micro",
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
            proposed="compact",
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


def pressure_of(header: SessionHeader, track: Track, live: bool) -> PressureReport:
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
        thresholds=Thresholds(micro=140_000, compact=160_000), proposed="micro",
        forecast=Forecast(steps_to_micro=0, steps_to_compact=3),
        requests=requests, compactions=(25,),
        error=MeterError(n=58, median_ape_increment=0.083, p90_ape_increment=0.21),
    )  # fmt: skip


def blocks_of(node: NodeReport) -> tuple[MessageBlock, ...]:
    if node.checkpoint is not None:
        return (MessageBlock(kind="text", text=_SUMMARY),)
    if node.type == "tool/result":
        body = "\n".join(f"{number:>4}  {node.headline}" for number in range(1, 30))
        return (MessageBlock(kind="tool_result", id="c1", name=node.tool, text=body),)
    if node.type == "assistant/message" and node.tool:
        return (
            MessageBlock(kind="thinking", text="The failure is rare: it hangs on chance or time."),
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

## Instructions
- The retry test fails one time in twenty. Find out why and fix it.

## Files
- src/retry.py: read
- src/client.py: found Backoff(base=0.1, jitter=True)

## Unresolved errors
- FAILED tests/test_retry.py::test_backoff - assert 3 == 4"""

_AGENTS_SUMMARY = """\
This session is being continued from a previous conversation.

1. Primary request: find out why a retry test is flaky, and mend it.
2. Files: src/retry.py holds the backoff; src/client.py uses it.
3. Pending: seed the jitter, then run the suite again."""


def compaction_of(
    view: SurfaceView, rows: tuple[int, int], mode: str, budget: int | None, pins: set[NodeId]
) -> CompactionReport:
    first, last = rows
    nodes = view.rows(0, len(view))
    fates = []
    for row, node in enumerate(nodes):
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
        region=RegionReport(start=nodes[first].seq, end=nodes[last].seq),
        nodes=tuple(fates),
        summary=None if mode == "micro" else SummaryReport(
            text=text, tokens=summary_tokens,
            sections={"instructions": 210, "files": 340, "errors": 180},
        ),
        tokens_before=before, tokens_after=after, window=WINDOW, pressure_before=before / WINDOW,
        pressure_after=after / WINDOW, cache_invalidated_tokens=104_000, floor=31_000,
        lost=LostReport(
            identifiers=("src/client.py:41", "freezegun-1.5.1"),
            errors=("ModuleNotFoundError: No module named 'freezegun'",),
        ),
    )  # fmt: skip


def comparison_of(view: SurfaceView, budget: int | None, pins: set[NodeId]) -> CompactionReport:
    """The agent's own compaction of nodes 1 … 8 beside what a rule would have made of them."""
    report = compaction_of(view, (0, 7), "region", budget, pins)
    agents = agents_operations()[1]
    theirs = AgentSide(
        operation=agents.operation,
        at=agents.at,
        trigger="auto",
        summary=SummaryReport(text=_AGENTS_SUMMARY, tokens=1_620),
        shadowed_seqs=agents.shadowed_seqs,
        tokens_before=report.tokens_before,
        tokens_after=141_000,
        pressure_after=141_000 / WINDOW,
        cache_invalidated_tokens=61_000,
        lost=agents.lost,
    )
    return report.model_copy(
        update={
            "at_seq": 40,
            "theirs": theirs,
            "kept_only_here": agents.lost,
            "kept_only_there": LostReport(identifiers=("seed",), identifiers_total=1),
        }
    )  # fmt: skip


def agents_operations() -> list[AuditRow]:
    return [
        AuditRow(
            operation=25, kind="micro", origin="agent", at=NOW - 1_000, rule="tool results cleared",
            region=RegionReport(start=24, end=24), tokens_before=98_000, tokens_after=92_400,
        ),
        AuditRow(
            operation=41, kind="compact", origin="agent", at=NOW - 600, rule="auto",
            region=RegionReport(start=1, end=8), shadowed_seqs=tuple(range(1, 9)),
            tokens_before=164_000, tokens_after=61_000, compaction=1, trigger="auto",
            cache_invalidated_tokens=61_000, summary_tokens=1_620,
            lost=LostReport(identifiers=("tests/test_retry.py::test_backoff",),
                            instructions=("never push to main",)),
        ),
    ]  # fmt: skip


DIFF = """\
--- before
+++ after
@@ events 1 … 8 @@
-#2 user: The retry test fails one time in twenty. Find out why and fix it.
-#4 Bash: FAILED tests/test_retry.py::test_backoff - assert 3 == 4
-#6 Read: import random, import time, class Backoff
+#41 checkpoint: 8 nodes, 1,620 tokens
 #9 assistant: The jitter can make two waits equal, so the count is off by one."""


def copy_of(view: SurfaceView, *, written: bool) -> ResumeReport:
    """The copy of a plan."""
    folder, session = "/home/sam/retry", "019c8f6a-0000-7000-8000-00000000beef"
    return ResumeReport(
        session=view.session,
        track="plan",
        at_seq=view.at_seq,
        agent="claude",
        session_id=session,
        path=f"/home/sam/.claude/projects/-home-sam-retry/{session}.jsonl",
        folder=folder,
        command=f"cd {folder} && claude --resume {session}",
        tokens=view.tokens,
        counter="o200k_base",
        nodes=len(view),
        records=len(view) + 2,
        written=written,
    )
