"""What no agent would take, whatever its format: refused before anything is composed."""

from __future__ import annotations

from compress.events import NodeId
from storage.resume.base import CopyNode, PlanCopy, ResumeRefusedError

_SPEAKERS = ("user/message", "assistant/message")


def check(copy: PlanCopy) -> None:
    """All of the checks below, for an agent that repairs nothing itself."""
    check_said(copy)
    check_paired(copy)
    check_answered(copy)
    check_spoken(copy)


def check_said(copy: PlanCopy) -> None:
    """Raises :class:`ResumeRefusedError` for a plan without a message."""
    if not any(node.type in _SPEAKERS or node.checkpoint for node in copy.nodes):
        raise ResumeRefusedError(
            f"Nothing that was said stands on the plan of {copy.source.name}, so there is nothing "
            "to go on with: choose another moment with --at."
        )


def check_paired(copy: PlanCopy) -> None:
    """Raises :class:`ResumeRefusedError` for a plan that holds a result without its call, or a
    second one for the same call."""
    found = _stray_result(copy.nodes)
    if found is not None:
        result, fault = found
        raise ResumeRefusedError(
            f"The result at event {result} of {copy.source.name} answers a call that {fault}, "
            "which the provider refuses: choose another moment with --at, or compact the region "
            "that holds it.",
            choices=[result],
        )


def check_answered(copy: PlanCopy) -> None:
    """Raises :class:`ResumeRefusedError` for a plan that ends in a call which may still be
    answered."""
    call = _open_call(copy.nodes)
    if call is not None:
        before = call - 1 if isinstance(call, int) else call
        raise ResumeRefusedError(
            f"The call at event {call} of {copy.source.name} has no result yet: let the agent "
            f"finish its step, or copy the moment before it with --at {before}.",
            choices=[before],
        )


def check_spoken(copy: PlanCopy) -> None:
    """Raises :class:`ResumeRefusedError` for a plan that ends in thinking without a word, which
    the provider takes from nobody (C04)."""
    last = copy.nodes[-1]
    kinds = {block.kind for piece in last.pieces for block in piece.blocks}
    if last.type == "assistant/message" and kinds == {"thinking"}:
        before = last.node - 1 if isinstance(last.node, int) else last.node
        raise ResumeRefusedError(
            f"{copy.source.name} ends at event {last.node} in thinking without a word, which the "
            f"provider refuses: copy the moment before it with --at {before}.",
            choices=[before],
        )


def _stray_result(nodes: tuple[CopyNode, ...]) -> tuple[NodeId, str] | None:
    """The first result that no call waits for, and what is wrong with it."""
    called: set[str | None] = set()
    waiting: set[str | None] = set()
    for node in nodes:
        for piece in node.pieces:
            for block in piece.blocks:
                if block.kind == "tool_call":
                    called.add(block.id)
                    waiting.add(block.id)
                elif block.kind == "tool_result":
                    if block.id not in called:
                        return node.node, "does not stand before it"
                    if block.id not in waiting:
                        return node.node, "was answered before"
                    waiting.remove(block.id)
    return None


def _open_call(nodes: tuple[CopyNode, ...]) -> NodeId | None:
    """The last node that calls, if a call of it waits and nobody spoke since."""
    answered: set[str | None] = set()
    for node in reversed(nodes):
        blocks = [block for piece in node.pieces for block in piece.blocks]
        if node.type == "tool/result":
            answered.update(block.id for block in blocks)
        elif node.type == "assistant/message":
            calls = [block.id for block in blocks if block.kind == "tool_call"]
            return node.node if any(call not in answered for call in calls) else None
        elif node.type == "user/message":
            return None
    return None
