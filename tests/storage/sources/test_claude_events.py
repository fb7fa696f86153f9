"""What Claude Code's records mean: compactions, branches, turns, decisions, plans, facts."""

from __future__ import annotations

from pathlib import Path

import pytest

from compress.events import Append, Rebase, Replace
from compress.surface import fold
from storage.sources.claude import ClaudeAdapter
from tests.storage.sources.claude_log import Log


def compacted(**metadata: object) -> Log:
    log = Log()
    log.user("first", "u1")
    log.assistant("second", "a1", stop_reason="end_turn")
    log.user("third", "u2")
    log.assistant("fourth", "a2", stop_reason="end_turn")
    facts = {"trigger": "auto", "preTokens": 900, **metadata}
    log.system("compact_boundary", "b", None, logicalParentUuid="a2", compactMetadata=facts)
    return log


# Compaction


def test_a_compaction_is_four_events_and_a_positional_replace() -> None:
    log = compacted()
    assert log.texts() == ["first", "second", "third", "fourth"], "a boundary alone cuts nothing"
    log.user("the summary", "s", isCompactSummary=True)
    start, summary, message, end = log.events[-4:]
    assert [e.type for e in (start, summary, message, end)] == [
        "compact/start",
        "compact/summary",
        "context/message",
        "compact/end",
    ]
    assert start.meta == {"trigger": "auto", "pre_tokens": 900}
    assert message.meta["checkpoint"] == "agent"
    nodes = fold(log.events[:-3]).nodes
    assert message.op == Replace(start=nodes[0], end=nodes[-1])
    assert set(message.source_event_seqs) == {*nodes, summary.seq}
    assert log.texts() == ["the summary"]
    log.user("onwards", "u3")
    assert log.texts() == ["the summary", "onwards"]


def test_a_preserved_segment_stays_behind_the_summary() -> None:
    log = compacted(preservedSegment={"headUuid": "u2", "anchorUuid": "s", "tailUuid": "a2"})
    log.user("the summary", "s", isCompactSummary=True)
    assert log.texts() == ["the summary", "third", "fourth"]
    replace = log.events[-2].op
    assert isinstance(replace, Replace)
    assert len(replace.keep) == 2
    log.user("onwards", "u3")
    assert log.texts() == ["the summary", "third", "fourth", "onwards"]


def test_a_boundary_inside_the_chain_cuts_with_the_first_message_behind_it() -> None:
    log = Log()
    log.user("first", "u1")
    log.system("compact_boundary", "b")
    assert log.texts() == ["first"]
    log.user("the summary", "s", isCompactSummary=True)
    assert log.texts() == ["the summary"]


def test_going_back_before_a_compaction_brings_the_old_nodes_back() -> None:
    log = compacted()
    log.user("the summary", "s", isCompactSummary=True)
    log.user("another way", "u3", "a1")
    assert log.texts() == ["first", "second", "another way"]


def test_cleared_results_are_receipts_for_the_running_agent_only() -> None:
    log = Log()
    log.user("go", "u1")
    log.call("Read", "c1")
    log.result("call-c1", "long text", "r1")
    cleared = {"trigger": "auto", "compactedToolIds": ["call-c1", "call-gone"]}
    (receipt,) = log.system("microcompact_boundary", "m", microcompactMetadata=cleared)
    assert receipt.type == "tool/result"
    assert receipt.meta == {"receipt": True}
    assert receipt.step == 1
    node = log.of("tool/result")[0].node
    assert receipt.op == Replace(start=node, end=node, live_only=True)
    assert log.texts() == ["go", "call-c1", "long text"]
    assert log.texts("live") == ["go", "call-c1", "[Old tool result content cleared]"]


def test_a_cleared_result_can_be_kept_by_a_later_compaction() -> None:
    log = Log()
    log.user("go", "u1")
    log.call("Read", "c1")
    log.result("call-c1", "long text", "r1")
    cleared = {"compactedToolIds": ["call-c1"]}
    log.system("microcompact_boundary", "m", microcompactMetadata=cleared)
    segment = {"headUuid": "c1", "anchorUuid": "s", "tailUuid": "r1"}
    metadata = {"preservedSegment": segment}
    log.system("compact_boundary", "b", None, compactMetadata=metadata)
    log.user("the summary", "s", isCompactSummary=True)
    assert log.texts() == ["the summary", "call-c1", "long text"]
    assert log.texts("live")[-1] == "[Old tool result content cleared]"


# Branches


def test_a_rewind_is_a_rebase_on_the_message_that_causes_it() -> None:
    log = Log()
    log.user("first", "u1")
    log.assistant("second", "a1")
    log.user("third", "u2")
    log.user("instead of the third", "u3", "a1")
    rebase = log.events[-1].op
    assert isinstance(rebase, Rebase)
    assert log.texts() == ["first", "second", "instead of the third"]


def test_a_pointer_to_an_older_branch_wins_and_its_marker_stays_off() -> None:
    log = Log()
    log.user("first", "u1")
    log.assistant("old way", "a1")
    log.assistant("new way", "a2", "u1")
    assert log.texts() == ["first", "new way"]
    (marker,) = log.raw({"type": "last-prompt", "leafUuid": "a1", "sessionId": "s"})
    assert marker.meta == {"marker": "branch"}
    assert marker.blocks == ()
    assert marker.node not in fold(log.events).nodes
    assert log.texts() == ["first", "old way"]
    log.assistant("new way goes on", "a3", "a2")
    assert log.texts() == ["first", "old way"], "a stale pointer wins over a later sibling"
    log.user("old way goes on", "u4", "a1")
    assert log.texts() == ["first", "old way", "old way goes on"]


def test_a_compaction_goes_on_with_the_branch_that_was_pointed_to() -> None:
    log = Log()
    log.user("first", "u1")
    log.raw({"type": "last-prompt", "leafUuid": "u1", "sessionId": "s"})
    log.assistant("second", "a1")
    log.system("compact_boundary", "b", None, logicalParentUuid="a1")
    log.user("the summary", "s", isCompactSummary=True)
    assert log.texts() == ["the summary"]


def test_parallel_calls_branch_the_graph_and_all_results_stand() -> None:
    log = Log()
    log.user("go", "u1")
    log.call("Read", "c1", message="msg")
    log.call("Read", "c2", message="msg")
    log.result("call-c1", "one", "r1", "c1")
    log.result("call-c2", "two", "r2", "c2")
    log.assistant("done", "a2")
    assert log.texts() == ["go", "call-c1", "call-c2", "one", "two", "done"]
    said = log.of("assistant/message")[:2]
    assert said[0].node == said[1].node
    assert said[1].op == Append()


# Turns and what is said


def test_turns_begin_with_the_person_and_end_at_the_agents_mark() -> None:
    log = Log()
    log.user("go", "u1")
    assert log.facts.turn_open
    log.assistant("done", "a1", stop_reason="end_turn")
    assert not log.facts.turn_open
    log.system("turn_duration", "t", durationMs=1500)
    assert log.of("turn/end")[0].meta == {"reason": "completed", "duration_ms": 1500}
    log.user("more", "u2")
    log.user([{"type": "text", "text": "[Request interrupted by user]"}], "i")
    assert [e.meta["reason"] for e in log.of("turn/end")] == ["completed", "interrupted"]
    assert [e.turn for e in log.of("user/message")] == [1, 2]
    assert log.texts()[-1] == "[Request interrupted by user]"


def test_errors_and_fillers_of_the_agent_are_logged_and_never_sent() -> None:
    log = Log()
    log.user("go", "u1")
    error = {"status": 529}
    log.system("api_error", "e", error=error, retryAttempt=2)
    log.assistant("API Error: overloaded", "x", isApiErrorMessage=True, model="<synthetic>")
    log.assistant("No response requested.", "y", model="<synthetic>")
    assert [e.meta for e in log.of("retry")] == [{"message": "status 529", "attempt": 2}]
    assert [e.meta["kind"] for e in log.of("error")] == ["api_error", "filler"]
    assert log.of("turn/end")[0].meta == {"reason": "error"}
    assert all(event.usage is None for event in log.events)
    assert log.texts() == ["go"]
    assert log.user("again", "u2")[-1].op == Append(), "links of the chain all the same"


def test_what_the_agent_says_in_the_persons_place_is_context() -> None:
    log = Log()
    log.user("a caveat", "m", isMeta=True)
    log.user("<command-name>/model</command-name>", "c")
    log.system("local_command", "l", content="<local-command-stdout>ok</local-command-stdout>")
    assert [e.meta["source"] for e in log.of("context/message")] == ["agent", "command", "command"]
    assert log.of("turn/start") == []
    log.user("<command-message>review</command-message>", "p")
    assert [e.turn for e in log.of("user/message")] == [1], "a prompt of the person's own"


def test_steering_from_the_queue_and_from_attachments() -> None:
    log = Log()
    queued = {"type": "queue-operation", "sessionId": "s"}
    log.user("go", "u1")
    log.raw(queued | {"operation": "enqueue", "content": "faster"})
    (steering,) = log.raw(queued | {"operation": "remove"})
    assert steering.type == "steering/message"
    assert steering.meta == {"source": "queue", "text": "faster"}
    assert steering.op is None
    attached = {"type": "queued_command", "prompt": "and safer"}
    (steering,) = log.add("attachment", "q", attachment=attached)
    assert (steering.type, steering.op) == ("steering/message", Append())
    assert log.texts() == ["go", "and safer"]


def test_attachments_send_their_rendered_text_in_their_role() -> None:
    log = Log()
    log.user("go", "u1")
    rendered = [{"content": "Today is Monday."}]
    newest = {"type": "date", "rendered": rendered, "renderedRole": "system"}
    (event,) = log.add("attachment", "d", attachment=newest)
    assert (event.role, event.blocks[0].kind) == ("system", "context")
    assert event.meta == {"source": "attachment:date"}
    snapshot = {"type": "prompt_snapshot", "systemPrompt": ["You are …"]}
    assert log.add("attachment", "p", attachment=snapshot) == []
    assert log.add("attachment", "h", attachment={"type": "hook_success", "content": ""}) == []
    assert log.texts() == ["go", "Today is Monday."]


# Decisions, plans, questions


def test_a_rejection_is_a_decision_with_the_persons_words() -> None:
    log = Log()
    log.user("go", "u1")
    log.call("Bash", "c1")
    words = "The user doesn't want to proceed with this tool use. … the user said:\nuse pnpm"
    log.result("call-c1", words, "r1", is_error=True)
    (decision,) = log.of("approval/decision")
    assert decision.meta == {"decision": "rejected", "call": "call-c1", "message": "use pnpm"}


def test_a_plan_is_an_artifact_and_waits_for_approval() -> None:
    log = Log()
    log.user("go", "u1")
    plan = "# Plan\n1. Read\n   - a detail\n2. Write\n"
    log.call("ExitPlanMode", "c1", input={"plan": plan})
    assert log.facts.waiting
    (artifact,) = log.of("artifact/update")
    assert artifact.meta["kind"] == "plan"
    assert [item["text"] for item in artifact.meta["items"]] == ["Read", "Write"]
    assert log.of("approval/request")[0].meta == {"tool": "ExitPlanMode", "call": "call-c1"}
    log.result("call-c1", "User has approved your plan.", "r1")
    assert log.of("approval/decision")[0].meta["decision"] == "approved"
    assert not log.facts.waiting


def test_to_dos_and_tasks_are_artifacts_with_their_whole_state() -> None:
    log = Log()
    todos = [{"content": "x", "status": "in_progress"}, {"content": "y", "status": "?"}]
    log.call("TodoWrite", "c1", input={"todos": todos})
    assert log.of("artifact/update")[-1].meta == {
        "kind": "todo",
        "items": [{"text": "x", "status": "in_progress"}, {"text": "y", "status": "pending"}],
    }
    log.call("TaskCreate", "c2", input={"subject": "Build"})
    task = {"task": {"id": "1", "subject": "Build"}}
    log.result("call-c2", "Task #1 created", "r2", toolUseResult=task)
    log.call("TaskUpdate", "c3", input={"taskId": "1", "status": "completed"})
    states = [e.meta["items"] for e in log.of("artifact/update")[1:]]
    assert states == [
        [{"text": "Build", "status": "pending"}],
        [{"text": "Build", "status": "completed"}],
    ]


# Requests and facts


def test_usage_and_its_request_belong_to_the_message() -> None:
    log = Log()
    log.call("Read", "c1", message="msg", stop_reason=None)
    log.call("Read", "c2", message="msg")
    first, second = log.of("assistant/message")
    assert first.request == second.request == first.seq
    assert first.usage is not None
    assert second.usage is not None
    assert (first.usage.lower_bound, second.usage.lower_bound) == (True, False)
    assert first.usage.total_input == 103
    assert first.step == second.step == 1


def test_the_newest_records_of_requests_tell_the_model() -> None:
    log = Log()
    log.raw({"type": "api-request-shape", "shapeHash": "h", "shape": {}, "sessionId": "s"})
    log.raw({"type": "api-request-blob", "hash": "h", "message": {}, "sessionId": "s"})
    assert log.events == []
    log.raw({"type": "api-request", "id": "r", "params": {"model": "m-9"}, "sessionId": "s"})
    assert log.of("request/header")[0].meta == {"model": "m-9"}
    assert log.reader.unknown_types == {}
    assert log.reader.recognised == 3


def test_facts_follow_the_records() -> None:
    log = Log()
    log.assistant("hm", "a1", model="m-2")
    log.user("go", "u1", version="2.1.10", cwd="/elsewhere")
    assert log.facts.agent_version == "2.1.10"
    assert log.facts.cwd == "/elsewhere"
    assert log.facts.model == "m-2"
    log.user("<command-name>/exit</command-name>", "x")
    assert log.facts.ended
    log.user("back", "u2")
    assert not log.facts.ended


def test_a_file_that_begins_with_another_sessions_records_is_a_fork() -> None:
    own, other = "0" * 8 + "-0000-4000-8000-" + "0" * 12, "1" * 8 + "-1111-4111-8111-" + "1" * 12
    log = Log(own)
    log.user("go", "u1", sessionId=other)
    assert (log.facts.relation, log.facts.parent_native_id) == ("fork", other)
    log = Log(own)
    log.user("go", "u1", sessionId=own)
    assert (log.facts.relation, log.facts.parent_native_id) == ("main", None)
    log = Log(own)
    log.user("go", "u1", sessionId=own, forkedFrom={"sessionId": other})
    assert (log.facts.relation, log.facts.parent_native_id) == ("fork", other)


def test_side_chains_in_the_file_are_sessions_of_their_own() -> None:
    log = Log()
    log.user("go", "u1")
    log.call("Task", "c1", input={"prompt": "look around"})
    log.user("look around", "s1", None, isSidechain=True)
    log.assistant("found it", "s2", "s1", isSidechain=True)
    log.result("call-c1", "it is there", "r1")
    assert log.texts() == ["go", "call-c1", "it is there"]
    assert [e.type for e in log.sessions["side:s1"] if e.op] == [
        "user/message",
        "assistant/message",
    ]
    facts = log.reader.sessions["side:s1"]
    assert (facts.relation, facts.parent_call_id) == ("subagent", "call-c1")
    assert facts.parent_native_id == "session"
    assert log.facts.relation == "main"


def test_a_repeated_record_is_not_new_and_a_changed_one_takes_its_place() -> None:
    log = Log()
    log.user("first", "u1")
    log.user("second", "u2")
    assert log.user("first", "u1", None) == []
    log.user("first, edited", "u1", None)
    assert log.texts() == ["first, edited", "second"]


# Discovery


def test_roots_follow_the_agents_own_variable() -> None:
    home = Path("/home/x")
    (root,) = ClaudeAdapter().roots({}, home)
    assert (root.path, root.pattern) == (home / ".claude" / "projects", "**/*.jsonl")
    (root,) = ClaudeAdapter().roots({"CLAUDE_CONFIG_DIR": "/c"}, home)
    assert (root.path, root.source) == (Path("/c/projects"), "CLAUDE_CONFIG_DIR")


@pytest.mark.parametrize(
    ("head", "known"),
    [
        ([{"type": "ai-title", "title": "t", "sessionId": "s"}], True),
        ([{"type": "user", "uuid": "u", "parentUuid": None, "sessionId": "s"}], True),
        ([42, None, {"type": "summary", "summary": "t", "leafUuid": "u"}], True),
        ([{"type": "user", "parentUuid": None, "sessionId": "s", "message": {"parts": []}}], False),
        ([{"type": "message", "id": "a", "parentId": None}], False),
        ([{"role": "user", "content": "hi"}], False),
        ([], False),
    ],
)
def test_a_file_is_known_by_its_records(head: list[object], known: bool) -> None:
    assert ClaudeAdapter().recognises(Path("x.jsonl"), head) is known
