"""How Claude Code sends the nodes of a surface."""

from __future__ import annotations

from compress.events import Append, ContentBlock, Role, SessionEvent
from compress.messages import Message, NodeContent, derive_messages


def node(seq: int, role: Role, *blocks: ContentBlock, model: str | None = None) -> NodeContent:
    kind = "assistant/message" if role == "assistant" else "user/message"
    event = SessionEvent(
        seq=seq,
        type=kind,
        native_id=f"n{seq}",
        node=seq,
        op=Append(),
        role=role,
        blocks=blocks,
        model=model,
    )
    return NodeContent(seq, (event,))


def text(words: str) -> ContentBlock:
    return ContentBlock(kind="text", text=words)


def call(identity: str) -> ContentBlock:
    return ContentBlock(kind="tool_call", id=identity, name="Read", input={})


def result(identity: str) -> ContentBlock:
    return ContentBlock(kind="tool_result", id=identity, text="done")


def shape(messages: list[Message]) -> list[tuple[str, list[str]]]:
    return [(m.role, [b.text or b.id or b.kind for b in m.blocks]) for m in messages]


def test_consecutive_nodes_of_one_role_are_one_message() -> None:
    sent = derive_messages(
        [node(1, "user", text("a")), node(2, "user", text("b")), node(3, "assistant", text("c"))],
        "claude",
    )
    assert shape(sent) == [("user", ["a", "b"]), ("assistant", ["c"])]
    assert sent[0].seqs == (1, 2)


def test_a_text_without_text_is_not_sent() -> None:
    sent = derive_messages([node(1, "user", text(" \n"), text("a")), node(2, "user")], "claude")
    assert shape(sent) == [("user", ["a"])]


def test_thinking_of_another_model_than_the_last_is_not_sent() -> None:
    thought = ContentBlock(kind="thinking", text="hm", signature="s")
    old = node(1, "assistant", thought, text("a"), model="m-1")
    new = node(2, "assistant", thought, text("b"), model="m-2")
    assert shape(derive_messages([old, new], "claude")) == [("assistant", ["a", "hm", "b"])]
    assert shape(derive_messages([old], "claude")) == [("assistant", ["hm", "a"])]


def test_a_call_without_a_result_gets_one_behind_its_message() -> None:
    nodes = [
        node(1, "assistant", text("a"), call("x"), call("y")),
        node(2, "user", result("x")),
        node(3, "user", text("go on")),
    ]
    sent = derive_messages(nodes, "claude")
    assert [(m.role, [b.kind for b in m.blocks]) for m in sent] == [
        ("assistant", ["text", "tool_call", "tool_call"]),
        ("user", ["synthetic", "tool_result", "text"]),
    ]
    assert sent[1].blocks[0].id == "y"
    assert sent[1].seqs == (2, 3), "a made-up result has no event"


def test_system_attachments_stay_messages_of_their_own() -> None:
    nodes = [
        node(1, "user", text("a")),
        node(2, "system", ContentBlock(kind="context", text="today")),
        node(3, "user", text("b")),
    ]
    assert [m.role for m in derive_messages(nodes, "claude")] == ["user", "system", "user"]
