"""Rows of a made ``events.jsonl`` of Copilot CLI."""

from __future__ import annotations

from typing import Any

TIME = "2026-01-05T00:00:00.000Z"


def row(kind: str, name: str, agent: str | None = None, **data: Any) -> dict[str, Any]:
    """One record. ``agent``: the sub-agent that it belongs to."""
    record = {"id": name, "parentId": None, "timestamp": TIME, "type": kind, "data": data}
    return record if agent is None else {**record, "agentId": agent}


def user(name: str, text: str, **data: Any) -> dict[str, Any]:
    return row("user.message", name, content=text, **data)


def answer(name: str, text: str, *calls: str, **data: Any) -> dict[str, Any]:
    """A message of the model's that makes these calls."""
    requests = [{"toolCallId": call, "name": "view", "arguments": {"path": call}} for call in calls]
    return row(
        "assistant.message", name, messageId=name, content=text, toolRequests=requests, **data
    )


def result(name: str, call: str, text: str, *, success: bool = True) -> dict[str, Any]:
    given = {"result": {"content": text, "detailedContent": f"all of {text}"}}
    if not success:
        given = {"error": {"message": text}}  # type: ignore[dict-item]
    return row("tool.execution_complete", name, toolCallId=call, success=success, **given)


def start(**data: Any) -> dict[str, Any]:
    told = {"sessionId": "s-1", "version": 1, "producer": "copilot-agent", "copilotVersion": "1.0"}
    return row("session.start", "e0", **{**told, "context": {"cwd": "/p"}, **data})


def log() -> list[dict[str, Any]]:
    """A session in which everything comes."""
    return [
        start(selectedModel="m"),
        row("system.message", "e1", role="system", content="be good"),
        user("e2", "do it", transformedContent="<now>do it</now>", attachments=[PICTURE]),
        row("assistant.turn_start", "e3", turnId="0"),
        answer("e4", "I look", "c1", "c2", reasoningText="hm", apiCallId="r1", outputTokens=9),
        answer("e4b", "and look", apiCallId="r1", chunkIndex=1),
        row("permission.requested", "e5", requestId="q", permissionRequest={"toolCallId": "c2"}),
        row("permission.completed", "e6", requestId="q", result={"kind": DENIED, "feedback": "no"}),
        result("e7", "c1", "one"),
        result("e8", "c2", "refused", success=False),
        row("assistant.turn_end", "e9", turnId="0"),
        row("assistant.usage", "f1", apiCallId="r1", inputTokens=50, cacheReadTokens=20),
        row("system.message", "f2", role="system", content="be better"),
        user("f3", "quick", delivery="steering"),
        row("subagent.started", "f4", "A", toolCallId="c1", agentDisplayName="helper"),
        row("user.message", "f4b", "A", content="sub it", source="agent-1"),
        row("assistant.message", "f5", "A", messageId="x", content="sub", toolRequests=[]),
        row("subagent.completed", "f6", "A", toolCallId="c1"),
        row(
            "session.compaction_start", "f7", trigger="threshold", currentTokens=99, tokenLimit=128
        ),
        user("f8", "meanwhile"),
        row("session.compaction_complete", "f9", success=True, summaryContent="the summary"),
        row("exit_plan_mode.requested", "g1", requestId="p", planContent="1. x", summary="s"),
        row("exit_plan_mode.completed", "g2", requestId="p", approved=True),
        row("user_input.requested", "g3", requestId="u", question="why?", toolCallId="c9"),
        row("user_input.completed", "g4", requestId="u", answer="so"),
        row("session.truncation", "g5", messagesRemovedDuringTruncation=1, tokenLimit=128),
        row("session.snapshot_rewind", "g6", upToEventId="f9", eventsRemoved=6),
        row("session.context_cleared", "g7", messagesCleared=2, initialMessage="again"),
        row("system.notification", "g8", content="<system_notification>"),
        row("skill.context_delivered", "g8b", content="how to", source="skill-x"),
        row("assistant.turn_retry", "g8c", turnId="0", reason="overloaded"),
        row("session.error", "g9", errorType="query", message="broken"),
        row("abort", "h1", reason="user_initiated"),
        row("session.shutdown", "h2", shutdownType="routine"),
    ]


PICTURE = {"type": "blob", "mimeType": "image/png", "data": ""}
DENIED = "denied-interactively-by-user"
