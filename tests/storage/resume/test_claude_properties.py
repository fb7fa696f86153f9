"""Whatever a log of Claude Code went through, a copy of any plan on it is taken as it stands."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from storage.resume.base import CopyNode, PlanCopy, ResumeRefusedError
from storage.resume.claude import ClaudeWriter
from tests.storage.resume.claude_recipe import check_recipe
from tests.storage.resume.copies import (
    SESSION,
    checkpoint,
    copy_of,
    planned,
    read_back,
    receipt,
    texts,
)
from tests.storage.sources.claude_log import Log

ACTS = ("ask", "say", "step", "joint", "giveup", "attach", "echo", "noise", "rewind", "compact")


class Story:
    """A log that goes the way that the drawn acts lead it."""

    def __init__(self) -> None:
        self.log = Log("s")
        self.log.user("begin", "u0", timestamp="2026-01-02T03:04:05.000Z")
        self._count = 0
        self._firm = ["u0"]
        """Records that a rewind may go back to: no call waits there."""

    def _id(self, kind: str) -> str:
        self._count += 1
        return f"{kind}{self._count}"

    def act(self, kind: str, size: int) -> None:
        getattr(self, f"_{kind}")(size)
        if kind not in ("giveup", "noise") and self.log.tip is not None:
            self._firm.append(self.log.tip)

    def _ask(self, _: int) -> None:
        self.log.user("question", self._id("u"))

    def _say(self, size: int) -> None:
        name = self._id("m")
        if size > 1:
            thinking = {"type": "thinking", "thinking": f"é{size}", "signature": f"sig+{name}=="}
            self.log.assistant(thinking, self._id("a"), message=name)
        self.log.assistant("answer", self._id("a"), message=name, stop_reason="end_turn")

    def _calls(self, size: int) -> list[str]:
        name = self._id("m")
        calls = [self._id("a") for _ in range(size)]
        for call in calls:
            self.log.call("Read", call, message=name)
        return calls

    def _step(self, size: int) -> None:
        """Each result below its own call, as parallel calls branch the graph."""
        for call in self._calls(size):
            self.log.result(f"call-{call}", "a long result", self._id("r"), call)

    def _joint(self, size: int) -> None:
        results: list[dict[str, Any]] = [
            {"type": "tool_result", "tool_use_id": f"call-{call}", "content": "together"}
            for call in self._calls(size)
        ]
        self.log.user([*results, {"type": "text", "text": "and a word"}], self._id("r"))

    def _giveup(self, size: int) -> None:
        self._calls(size)
        if size > 1:
            self.log.user("never mind", self._id("u"))

    def _attach(self, _: int) -> None:
        attachment = {"type": "date", "content": "today", "renderedRole": "user"}
        self.log.add("attachment", self._id("x"), attachment=attachment)

    def _echo(self, _: int) -> None:
        self.log.system("local_command", self._id("s"), content="<local-command-stdout>ok")

    def _noise(self, _: int) -> None:
        self.log.add("progress", self._id("p"), data={})
        self.log.assistant("529", self._id("e"), isApiErrorMessage=True)

    def _rewind(self, size: int) -> None:
        back = self._firm[-min(size, len(self._firm))]
        self.log.user("another way", self._id("u"), back)

    def _compact(self, _: int) -> None:
        boundary, tip = self._id("b"), self.log.tip
        told = {"trigger": "auto", "preTokens": 9}
        more = {"logicalParentUuid": tip, "compactMetadata": told}
        self.log.system("compact_boundary", boundary, None, **more)
        flags = {"isCompactSummary": True, "isVisibleInTranscriptOnly": True}
        self.log.user("in short", self._id("u"), boundary, **flags)
        self._firm = [str(self.log.tip)]


@st.composite
def copies(draw: st.DrawFn) -> PlanCopy:
    story = Story()
    for kind in draw(st.lists(st.sampled_from(ACTS), max_size=10)):
        story.act(kind, draw(st.integers(1, 3)))
    picked = draw(st.lists(st.integers(0, 40), max_size=3))
    cut = draw(st.none() | st.integers(0, 20))

    def change(nodes: list[CopyNode]) -> list[CopyNode]:
        results = [at for at, node in enumerate(nodes) if node.type == "tool/result"]
        for number, pick in enumerate(picked if results else (), 1):
            at = results[pick % len(results)]
            nodes[at] = receipt(f"o{number}", nodes[at], "[Cleared]")
        if cut is None:
            return nodes
        cuts = [at for at in range(1, len(nodes) + 1) if _balanced(nodes[:at])] or [0]
        at = cuts[cut % len(cuts)]
        return [checkpoint("o9", "what was before", "gone"), *nodes[at:]]

    return copy_of(story.log, change, changed_from=draw(st.integers(0, 20)))


def _balanced(nodes: list[CopyNode]) -> bool:
    """No result behind this point answers a call before it."""
    blocks = [block for node in nodes for piece in node.pieces for block in piece.blocks]
    calls = {block.id for block in blocks if block.kind == "tool_call"}
    return calls == {block.id for block in blocks if block.kind == "tool_result"}


def signatures(rows: list[Any]) -> Iterator[tuple[str, str]]:
    for row in rows:
        content = row.get("message", {}).get("content")
        for block in content if isinstance(content, list) else ():
            if block.get("type") == "thinking":
                yield block["thinking"], block["signature"]


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(copies())
def test_a_copy_holds_exactly_the_plan(copy: PlanCopy) -> None:
    why = _refusal(copy)
    if why is not None:
        assert _may_be_refused(copy, why)
        return
    composed = ClaudeWriter().compose(copy)
    chain = check_recipe(composed.lines, SESSION)
    back, log = read_back(composed.lines)
    assert texts(back) == texts(planned(copy.nodes))
    assert not log.of("unknown")
    originals = [record.value for record in copy.records()]
    assert set(signatures(chain)) <= set(signatures(originals))


def _refusal(copy: PlanCopy) -> str | None:
    try:
        ClaudeWriter().compose(copy)
    except ResumeRefusedError as refusal:
        return str(refusal)
    return None


def _may_be_refused(copy: PlanCopy, why: str) -> bool:
    kinds = [node.type for node in copy.nodes]
    if "begins with an answer" in why:
        return kinds[0] == "assistant/message"
    if "no result yet" in why:
        made_up = [b.kind for m in planned(copy.nodes) for b in m.blocks][-1:]
        return made_up == ["synthetic"] or kinds[-1] == "context/message"
    return False


def test_the_properties_speak_of_real_copies() -> None:
    """The generator makes plans that are taken, not only ones that are refused."""
    story = Story()
    for kind in ("step", "joint", "rewind", "say", "compact", "step", "ask"):
        story.act(kind, 2)
    composed = ClaudeWriter().compose(copy_of(story.log))
    kinds = [json.loads(line)["type"] for line in composed.lines]
    assert kinds == ["system", "user", *["assistant"] * 2, *["user"] * 3, "last-prompt"]
