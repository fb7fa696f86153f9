"""Small logs, written by hand or generated, with the weights and surfaces that they give."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

from compress.compaction.policy import Policy
from compress.compaction.values import SessionInput
from compress.entries import LogEntry, entry_of
from compress.errors import CompressError
from compress.events import Append, ContentBlock, NodeId, Rebase, Replace, SessionEvent
from compress.messages.base import NodeContent
from compress.operations import OperationDraft, OperationRow, moment, number
from compress.plan import PlanState, plan
from compress.surface import SurfaceFold, View
from compress.tokens import CharsOverFour, count_block

COUNTER = CharsOverFour()


@dataclass
class Log:
    """A session that grows by calls; every method gives the new node's seq."""

    events: list[SessionEvent] = field(default_factory=list)
    rows: list[OperationRow] = field(default_factory=list)
    turn: int = 0
    step: int = 0
    _entries: dict[NodeId, LogEntry] = field(default_factory=dict)

    def add(self, event_type: str, blocks: Sequence[ContentBlock] = (), **fields: Any) -> int:
        seq = len(self.events) + 1
        if fields.pop("stands", True):
            fields.setdefault("node", seq)
            fields.setdefault("op", Append())
        self.events.append(
            SessionEvent(
                seq=seq,
                type=event_type,
                native_id=f"r{seq}",
                blocks=tuple(blocks),
                turn=fields.pop("turn", self.turn or None),
                **fields,
            )
        )
        return seq

    def user(self, text: str) -> int:
        self.turn += 1
        return self.add("user/message", [ContentBlock(kind="text", text=text)], role="user")

    def steer(self, text: str) -> int:
        return self.add("steering/message", [ContentBlock(kind="text", text=text)], role="user")

    def context(self, text: str, **meta: Any) -> int:
        return self.add("context/message", [ContentBlock(kind="context", text=text)], meta=meta)

    def assistant(self, text: str = "", *calls: str, **inputs: Any) -> int:
        """A message with a call for each id; ``inputs`` by id, default a command."""
        self.step += 1
        blocks = [ContentBlock(kind="text", text=text)] if text else []
        blocks += [
            ContentBlock(
                kind="tool_call", id=call, name="Bash", input=inputs.get(call, {"command": call})
            )
            for call in calls
        ]
        return self.add("assistant/message", blocks, role="assistant", step=self.step)

    def result(self, call: str, text: str = "done", *, error: bool = False, **fields: Any) -> int:
        block = ContentBlock(kind="tool_result", id=call, text=text, is_error=error)
        return self.add("tool/result", [block], role="user", step=self.step, **fields)

    def fact(self, event_type: str, **meta: Any) -> int:
        return self.add(event_type, meta=meta, stands=False)

    def compact(self, start: int, end: int, text: str = "summary", keep: Iterable[int] = ()) -> int:
        """The agent's own compaction of a range."""
        self.fact("compact/start", trigger="auto")
        seq = self.add(
            "context/message",
            [ContentBlock(kind="text", text=text)],
            op=Replace(start=start, end=end, keep=tuple(keep)),
            meta={"checkpoint": "agent"},
        )
        self.fact("compact/end")
        return seq

    def rebase(self, nodes: Iterable[int], marker: str = "rewind") -> int:
        seqs = tuple(nodes)
        return self.add("context/message", op=Rebase(seqs=seqs), meta={"marker": marker})

    def commit(self, draft: OperationDraft) -> str:
        """Number a draft as the store would; gives the operation's id."""
        first = self.rows[-1].number + 1 if self.rows else 1
        rows = number(draft, first, len(self.events))
        self.rows.extend(rows)
        return rows[0].operation

    @property
    def entries(self) -> dict[NodeId, LogEntry]:
        for event in self.events[len(self._entries) :]:
            weights = [count_block(block, COUNTER) for block in event.blocks]
            self._entries[event.seq] = entry_of(event, weights)
        return dict(self._entries)

    def fold(self, upto: int | None = None, view: View = "resume") -> SurfaceFold:
        state = SurfaceFold(view)
        for event in self.events[:upto]:
            state.apply_leniently(event)
        return state

    def plan(self, at: NodeId | None = None, view: View = "resume") -> PlanState:
        upto, rows = moment(self.rows, at)
        return plan(self.fold(upto, view).snapshot(), self.entries, rows)

    def nodes(self, at: NodeId | None = None) -> tuple[NodeId, ...]:
        return self.plan(at).surface.nodes

    def session(self, at: NodeId | None = None, **fields: Any) -> SessionInput:
        state = self.plan(at)
        by_seq = {event.seq: event for event in self.events} | dict(state.events)

        def content(node: NodeId) -> NodeContent:
            return NodeContent(node, tuple(by_seq[s] for s in state.surface.members[node]))

        fields.setdefault("policy", Policy(last_messages=0))
        return SessionInput(plan=state, content=content, counter=COUNTER, **fields)

    def bytes_of(self, node: NodeId) -> str:
        """The content of a standing node, as JSON."""
        events = self.session().content(node).events
        return "\n".join(event.model_dump_json() for event in events)


WORDS = ["alpha", "src/main.py", "run_all()", "https://example.org/x", "4711", "fox\njumps"]


@st.composite
def logs(draw: st.DrawFn) -> Log:
    """Believable logs: parallel calls, results in any order and between the messages, orphans,
    reused and empty ids, interruptions, the agent's own compactions and rewinds."""
    log = Log()
    ids = iter(range(1_000))
    for _ in range(draw(st.integers(1, 12))):
        kind = draw(st.sampled_from(["user", "step", "step", "step", "context", "agent", "orphan"]))
        size = draw(st.integers(1, 60))
        text = " ".join(draw(st.sampled_from(WORDS)) for _ in range(3)) + " word" * size
        if kind == "user":
            log.user(text)
        elif kind == "context":
            log.context(text, source="reminder")
        elif kind == "orphan":
            log.result(draw(st.sampled_from(["", "nobody", "c0"])), text)
        elif kind == "step":
            calls = [
                draw(st.sampled_from([f"c{next(ids)}", f"c{next(ids)}", "again", ""]))
                for _ in range(draw(st.integers(0, 3)))
            ]
            log.assistant(text, *dict.fromkeys(calls))
            for call in draw(st.permutations(list(dict.fromkeys(calls)))):
                if draw(st.booleans()) or draw(st.booleans()):
                    log.result(call, text * draw(st.integers(1, 8)), error=draw(st.booleans()))
                if draw(st.integers(0, 9)) == 0:
                    log.steer(text)
        else:
            _agent_acts(draw, log)
    return log


def _agent_acts(draw: st.DrawFn, log: Log) -> None:
    standing = log.fold().nodes
    if not standing:
        return
    if draw(st.booleans()):
        kept = [n for n in standing if isinstance(n, int) and draw(st.integers(0, 7)) == 0]
        log.compact(standing[0], standing[-1], "what the agent said " * 5, kept)  # type: ignore[arg-type]
    else:
        log.rebase(standing[: draw(st.integers(1, len(standing)))])  # type: ignore[arg-type]


def attempt(log: Log, draft: Any) -> str | None:
    """Commit what a callable drafts; ``None`` where the engine refuses or declines."""
    try:
        made = draft()
    except CompressError:
        return None
    return None if made is None else log.commit(made)
