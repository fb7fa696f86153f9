"""What OpenHands' events do to turns, requests and the session's facts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from compress.events import ContentBlock, EventType, NodeId, Role, SurfaceOp, Usage
from storage.sources import openhands_legacy as legacy
from storage.sources.base import FileReader, Numbering, SessionFacts
from storage.sources.draft import NO_META, event, title_of, word
from storage.sources.openhands_events import Entry
from storage.sources.openhands_rows import EXTRAS
from storage.sources.openhands_session import (
    Session,
    difference,
    main_figures,
    todo_items,
    usage_of,
)
from storage.sources.openhands_view import Item
from storage.sources.values import count, mapping, string

_ENDS = {
    "finished": "completed",
    "awaiting_user_input": "completed",
    "rejected": "aborted",
    "paused": "interrupted",
    "stopped": "interrupted",
    "user_rejected": "interrupted",
    "error": "error",
    "stuck": "error",
}
"""How a turn ends, by the agent's word for its state."""
_WAITING = ("waiting_for_confirmation", "awaiting_user_confirmation")
_LONGEST_FACT = 500
_TASKS = ("task_tracker", "task_tracking")


class OpenhandsTurns(FileReader):
    """Makes the events of the record at hand, and follows the session while they come."""

    def __init__(self, path: Path, numbering: Mapping[str, Numbering] | None = None) -> None:
        super().__init__(path, numbering)
        self._sessions: dict[str, Session] = {}
        self._native = ""
        """Of the event at hand."""
        self._base = 0
        self._extra = EXTRAS
        self._time: float | None = None

    def _session(self, key: str, facts: SessionFacts | None = None) -> Session:
        session = self._sessions.get(key)
        if session is None:
            facts = facts or SessionFacts(key=key, native_id=self.path.stem)
            self.sessions[key] = facts
            session = self._sessions[key] = Session(facts, self.numbering(key))
        return session

    def _emit(
        self,
        session: Session,
        kind: EventType,
        block: int,
        *,
        node: int | None = None,
        op: SurfaceOp | None = None,
        role: Role | None = None,
        blocks: tuple[ContentBlock, ...] = (),
        step: int | None = None,
        usage: Usage | None = None,
        request: NodeId | None = None,
        model: str | None = None,
        sources: tuple[NodeId, ...] = (),
        meta: Mapping[str, Any] = NO_META,
    ) -> int:
        seq = session.numbering.seq(self._native, block)
        session.events.append(
            event(
                seq,
                kind,
                self._native,
                block,
                node=node,
                op=op,
                role=role,
                blocks=blocks,
                turn=session.turn or None,
                step=step,
                time=self._time,
                model=model,
                usage=usage,
                request=(request or seq) if usage is not None else None,
                source_event_seqs=sources,
                meta=meta,
            )
        )
        return seq

    def _log(
        self,
        session: Session,
        kind: EventType,
        meta: Mapping[str, Any] = NO_META,
        *,
        step: int | None = None,
        usage: Usage | None = None,
        request: NodeId | None = None,
    ) -> None:
        """A log-only event beside the content."""
        block = self._next_extra()
        model = session.facts.model if usage is not None else None
        self._emit(
            session, kind, block, step=step, usage=usage, request=request, model=model, meta=meta
        )

    def _next_extra(self) -> int:
        self._extra += 1
        return self._base + self._extra - 1

    def _model(self, session: Session, name: str | None) -> None:
        if name is not None and name != session.facts.model:
            session.facts.model = name
            self._log(session, "request/header", {"model": name})

    def _begin_turn(self, session: Session, entry: Entry) -> EventType:
        """What the user's words are: a turn's beginning, or said while one runs."""
        if session.facts.turn_open and session.acted:
            return "steering/message"
        session.turn += 1
        session.acted = False
        session.facts.turn_open = True
        text = "".join(b.text for said in entry.said for b in said.blocks if b.kind == "text")
        session.facts.title = session.facts.title or title_of(text)
        return "user/message"

    def _end_turn(self, session: Session, reason: str, message: str | None = None) -> None:
        if session.facts.turn_open:
            session.facts.turn_open = session.facts.waiting = False
            told = {"message": message[:_LONGEST_FACT]} if message else {}
            self._log(session, "turn/end", {"reason": reason, **told})

    def _begin_step(self, session: Session) -> None:
        """An answer of the model's."""
        if not session.asked_at:
            session.step += 1
        session.asked_at = False
        session.acted = session.facts.turn_open = True

    def _spent(self, session: Session, entry: Entry, raw: Mapping[str, Any]) -> Usage | None:
        """What the answer cost that begins with this event, if that is known by now."""
        told = None
        if figures := legacy.figures_of(raw):
            told = difference(session.figures, figures)
            session.figures = figures
        if entry.response is None:
            return told
        if entry.response in session.answers:
            return None
        return session.spent.pop(entry.response, None) or legacy.usage_of(raw) or told

    def _take_usage(self, session: Session, figures: Any) -> None:
        """A row of what an answer cost: of one that was told before, or is still to come."""
        session.has_rows = True
        fields = mapping(figures)
        usage, answer = usage_of(fields), word(fields.get("response_id"))
        session.facts.window = count(fields.get("context_window")) or session.facts.window
        if usage is None or answer is None:
            return
        told = session.answers.get(answer)
        if told is None:
            session.spent[answer] = usage
        else:
            self._time = told.time
            self._log(session, "usage", usage=usage, request=told.request, step=told.step)

    def _take_stats(self, session: Session, stats: Any) -> None:
        """The sums so far, told when an answer has come and before it is: what it cost, where
        nothing tells that better."""
        figures, model = main_figures(stats)
        if not figures or session.has_rows:
            return
        self._model(session, word(figures.get("model")) or model)
        session.facts.window = count(figures.get("context_window")) or session.facts.window
        usage = difference(session.figures, figures)
        session.figures = figures
        if usage is not None:
            session.step += 1
            session.asked_at = True
            self._log(session, "usage", usage=usage, step=session.step)

    def _take_status(self, session: Session, status: Any) -> None:
        """The agent's word for its state."""
        state = string(status).lower()
        session.facts.waiting = state in _WAITING
        if session.facts.waiting:
            for call in session.conversation.waiting():
                if call not in session.asked:
                    session.asked.add(call)
                    self._log(session, "approval/request", {"call": call})
        elif state in _ENDS and (session.acted or _ENDS[state] != "completed"):
            self._end_turn(session, _ENDS[state])

    def _tell_of(self, session: Session, item: Item, raw: Mapping[str, Any]) -> None:
        """What an event says besides its content."""
        entry = item.entry
        if entry.place == "action":
            self._tell_of_tasks(session, entry)
        elif entry.place == "result":
            self._tell_of_decision(session, entry)
            if raw.get("tool_name") == "finish":
                self._end_turn(session, "completed")
        elif entry.place == "said" and entry.said[0].type == "assistant/message":
            self._end_turn(session, "completed")

    def _tell_of_tasks(self, session: Session, entry: Entry) -> None:
        for block in (b for said in entry.said for b in said.blocks if b.kind == "tool_call"):
            given = mapping(block.input)
            if block.name in _TASKS and given.get("command") == "plan":
                items = todo_items(given.get("task_list"))
                self._log(session, "artifact/update", {"kind": "todo", "items": items})

    def _tell_of_decision(self, session: Session, entry: Entry) -> None:
        declined = bool(entry.said[0].meta.get("declined"))
        call = entry.call or ""
        if not declined and call not in session.asked:
            return
        session.asked.discard(call)
        meta = {"call": call, "decision": "rejected" if declined else "approved"}
        if declined:
            meta["message"] = entry.said[0].blocks[0].text[:_LONGEST_FACT]
        self._log(session, "approval/decision", meta)
