"""The plan and the to-do list of the story, as the agent kept them."""

from __future__ import annotations

from compress.artifacts.chunks import in_context
from compress.artifacts.harvest import ArtifactHarvest
from compress.entries import LogEntry
from compress.events import ContentBlock
from inspector.artifact_reports import ArtifactReport

PLAN = """\
# One clock for the websocket client

Six timers read the real clock; a test cannot hold it still.

## 1. Pass a clock to `Reconnect`

- a parameter with the real clock as its default

## 2. Pass it to `Heartbeat`

- `test_heartbeat_stops` waits on it

## 3. Say so in the docs
"""

_DONE = ("Find why the test fails", "Seed the jitter", "Document it")
_LEFT = ("Inject one clock into the timers", "Run tests/ws")


def artifacts(upto: int) -> tuple[ArtifactReport, ...]:
    """Those that the log knows at an event."""
    harvest = ArtifactHarvest("claude", "s1")
    for entry, blocks in _LOG:
        if isinstance(entry.seq, int) and entry.seq <= upto:
            harvest.feed(entry, blocks)
    return tuple(
        ArtifactReport(artifact=made, context=in_context(made)) for made in harvest.artifacts()
    )


def _todo(seq: int, done: int) -> tuple[LogEntry, tuple[ContentBlock, ...]]:
    texts = (*_DONE, *_LEFT)
    items = [
        {
            "text": text,
            "status": "completed" if n < done else "in_progress" if n == done else "pending",
        }
        for n, text in enumerate(texts)
    ]
    return LogEntry(seq, "artifact/update", meta={"kind": "todo", "items": items}), ()


_LOG = (
    _todo(3, 0),
    _todo(11, 2),
    _todo(28, 3),
    (
        LogEntry(36, "assistant/message", calls=(("c9", "ExitPlanMode"),)),
        (ContentBlock(kind="tool_call", id="c9", name="ExitPlanMode", input={"plan": PLAN}),),
    ),
    (
        LogEntry(
            36,
            "artifact/update",
            meta={
                "kind": "plan",
                "items": [],
                "document": {"call": "c9", "field": "plan", "path": "~/.claude/plans/clock.md"},
            },
        ),
        (),
    ),
    (
        LogEntry(37, "approval/decision", meta={"call": "c9", "decision": "approved"}),
        (),
    ),
)
