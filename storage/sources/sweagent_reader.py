"""The events of SWE-agent's documents: its history, and what its processors made of that.

The history is the list; before each request the agent's history processors may shorten old
messages in it. What they made of it stands in the log as the request of the step (``query``), so
that a message that reads otherwise there is replaced. Where a step tells of no request, as before
1.0, the history stands as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from compress.events import EventType, Replace, Role, SessionEvent, SurfaceOp, Usage
from storage.sources import chat_content as chat
from storage.sources.base import Derived, FileReader, Numbering, Record, SessionFacts
from storage.sources.draft import APPEND, LONGEST_FACT, NO_META, Identities, event, title_of, word
from storage.sources.sweagent_document import (
    EXTRAS,
    STRIDE,
    Run,
    Said,
    essence,
    folder_of,
    look,
    model_of,
    request_block,
    runs_of,
    said,
)
from storage.sources.sweagent_history import REJECTION, ending, kind_of, requests_of
from storage.sources.values import epoch_seconds, mapping, string


@dataclass(slots=True)
class _State:
    """Where one run stands."""

    run: Run
    numbering: Numbering
    facts: SessionFacts
    identities: Identities
    events: list[SessionEvent] = field(default_factory=list)
    turn: int = 0
    step: int = 0
    standing: list[tuple[int, Any]] = field(default_factory=list)
    """Of each message that is sent: its node, or 0 where it has several; what it says."""
    steps: dict[str, int] = field(default_factory=dict)
    """Call → the request that made it."""
    calls: list[str] = field(default_factory=list)
    """Of the newest answer."""


class SweAgentReader(FileReader):
    """One document: a run, or one for each attempt."""

    def __init__(self, path: Path, numbering: Mapping[str, Numbering] | None = None) -> None:
        super().__init__(path, numbering)
        self._identities: dict[str, Identities] = {}
        self._unknown = Identities()

    def feed(self, record: Record) -> Iterable[Derived]:
        if record.value is None and record.damage is not None:
            return ()
        runs = runs_of(record.value)
        if not runs:
            return (self._not_understood(record),)
        self.recognised += 1
        return [Derived(run.key, self._read(record, run)) for run in runs]

    def _not_understood(self, record: Record) -> Derived:
        key = next(iter(self.sessions), "")
        self._facts(key)
        name = self._count_unknown(chat.name_of(record.value))
        native = self._unknown.of(record, ["unknown", record.value])
        made = event(self.numbering(key).seq(native), "unknown", native, meta={"type": name})
        return Derived(key, (made,))

    def _facts(self, key: str) -> SessionFacts:
        if key not in self.sessions:
            stem = self.path.name.removesuffix(".json").removesuffix(".traj")
            native = f"{stem}#{key}".rstrip("#")
            self.sessions[key] = SessionFacts(key=key, native_id=native)
        return self.sessions[key]

    def _read(self, record: Record, run: Run) -> list[SessionEvent]:
        facts = self._facts(run.key)
        identities = self._identities.setdefault(run.key, Identities())
        state = _State(run, self.numbering(run.key), facts, identities)
        self._begin(record, state)
        told = requests_of(run)
        agent = next((a for m in run.messages if (a := mapping(m).get("agent"))), None)
        for index in range(len(run.messages) + 1):
            for step, request in told.get(index, ()):
                if request is None:
                    self._missed(record, state, step)
                elif len(request) == len(state.standing):
                    self._shorten(record, state, step, request)
            if index < len(run.messages):
                own = mapping(run.messages[index]).get("agent") in (None, agent)
                self._message(record, state, index, sent=own)
        self._finish(record, state)
        return state.events

    def _begin(self, record: Record, state: _State) -> None:
        run, facts = state.run, state.facts
        facts.cwd = folder_of(run) or facts.cwd
        facts.agent_version = word(run.info.get("mini_version")) or word(
            run.info.get("swe_agent_version")
        )
        facts.model = model_of(run)
        known = {"version": facts.agent_version, "cwd": facts.cwd}
        self._log(record, state, "session/start", {k: v for k, v in known.items() if v})
        if facts.model is not None:
            self._log(record, state, "request/header", {"model": facts.model}, own=facts.model)

    def _finish(self, record: Record, state: _State) -> None:
        """How the run ended; mini-SWE-agent's own message has said so already."""
        status = word(state.run.info.get("exit_status"))
        if status is None:
            return
        state.facts.turn_open, state.facts.ended = False, True
        if not state.run.is_mini:
            self._log(record, state, "turn/end", ending(status), own=status)

    def _message(self, record: Record, state: _State, index: int, *, sent: bool) -> None:
        message = state.run.messages[index]
        base = state.run.base + index * STRIDE
        native = state.identities.of(record, essence(message))
        found = said(message)
        if not found:
            name = self._count_unknown(chat.name_of(message))
            self._emit(state, Said("unknown", "user", ()), native, base, meta={"type": name})
            return
        extra = mapping(mapping(message).get("extra"))
        time = epoch_seconds(extra.get("timestamp"))
        kind, meta = kind_of(mapping(message), found[0].type, begun=state.turn > 0)
        self._situate(state, kind, found)
        if kind == "turn/end":
            self._emit(state, found[0], native, base, time=time, meta=meta)
            return
        response = mapping(extra.get("response")) or mapping(message)
        usage = chat.usage(response.get("usage"))
        answers = kind == "assistant/message"
        nodes: list[int] = []
        for part, each in enumerate(found):
            result = each.type == "tool/result"
            seq = self._emit(
                state,
                each,
                native,
                base + part,
                node=None if result or not nodes else nodes[0],
                kind=None if result else kind,
                op=APPEND if sent else None,
                time=time,
                model=word(response.get("model")) or state.facts.model,
                usage=usage if answers and not nodes else None,
                meta=meta,
            )
            if result or not nodes:
                nodes.append(seq)
        if sent:
            state.standing.append((nodes[0] if len(nodes) == 1 else 0, look(message)))
        if usage is not None and not answers:
            # An answer that was not understood, and paid all the same.
            state.step += 1
            self._log(record, state, "usage", NO_META, usage=usage, time=time, own=state.step)
        if extra.get("interrupt_type") == REJECTION:
            words = "".join(b.text for each in found for b in each.blocks)[:LONGEST_FACT]
            for call in state.calls:
                fact = {"call": call, "decision": "rejected", "message": words}
                self._log(record, state, "approval/decision", fact, time=time, own=call)

    def _situate(self, state: _State, kind: EventType, found: Iterable[Said]) -> None:
        """What a message does to turn and step."""
        blocks = [block for each in found for block in each.blocks]
        if kind == "user/message":
            state.turn += 1
            state.facts.turn_open = True
            text = "".join(block.text for block in blocks)
            state.facts.title = state.facts.title or title_of(text)
        elif kind == "assistant/message":
            state.step += 1
            state.calls = [block.id or "" for block in blocks if block.kind == "tool_call"]
            state.steps.update((call, state.step) for call in state.calls)
        elif kind == "turn/end":
            state.facts.turn_open = False

    def _shorten(self, record: Record, state: _State, step: int, request: Iterable[Any]) -> None:
        """The messages that read otherwise in a request than they did before."""
        for index, message in enumerate(request):
            node, before = state.standing[index]
            now = look(message)
            found = said(message)
            if now == before or not node or not found or found[0].type == "turn/end":
                continue
            native = state.identities.of(record, {"step": step, "message": essence(message)})
            base = request_block(state.run, step, index)
            own: int | None = None
            for part, each in enumerate(found):
                new = state.numbering.seq(native, base + part)
                op: SurfaceOp = APPEND if own else Replace(start=node, end=node)
                self._emit(
                    state,
                    each,
                    native,
                    base + part,
                    node=own,
                    op=op,
                    sources=() if own else (node, new),
                    kind=None if before[0][0] == each.type else before[0][0],
                    meta={"source": "history_processor"},
                )
                own = own or new
            state.standing[index] = (own or node, now)

    def _missed(self, record: Record, state: _State, step: int) -> None:
        """A step that never came into the history: its answer was asked for again."""
        fields = mapping(state.run.steps[step])
        words = string(fields.get("observation")) or string(fields.get("response"))
        self._log(record, state, "retry", {"message": words[:500]}, own=step)

    def _log(
        self,
        record: Record,
        state: _State,
        kind: EventType,
        meta: Mapping[str, Any],
        *,
        usage: Usage | None = None,
        time: float | None = None,
        own: int | str | None = None,
    ) -> None:
        """A log-only event beside the messages. ``own``: what tells it from others of its kind."""
        native = state.identities.of(record, [kind, own])
        block = state.run.base + EXTRAS
        self._emit(state, Said(kind, "user", ()), native, block, meta=meta, usage=usage, time=time)

    def _emit(
        self,
        state: _State,
        each: Said,
        native: str,
        block: int,
        *,
        node: int | None = None,
        kind: EventType | None = None,
        op: SurfaceOp | None = None,
        sources: tuple[int, ...] = (),
        time: float | None = None,
        model: str | None = None,
        usage: Usage | None = None,
        meta: Mapping[str, Any] = NO_META,
    ) -> int:
        seq = state.numbering.seq(native, block)
        kind = kind or each.type
        stands = op is not None
        answers = kind == "assistant/message"
        step: int | None = state.step if answers or usage is not None else None
        if kind == "tool/result":
            call = each.blocks[0].id if each.blocks else ""
            step = state.steps.get(call or "", state.step) or None
        role: Role | None = each.role if kind.endswith(("message", "result")) else None
        state.events.append(
            event(
                seq,
                kind,
                native,
                block,
                node=(node or seq) if stands else None,
                op=op,
                role=role,
                blocks=each.blocks,
                turn=state.turn or None,
                step=step,
                time=time,
                model=model if answers else None,
                usage=usage,
                request=seq if usage is not None else None,
                source_event_seqs=sources,
                meta=meta,
            )
        )
        return seq
