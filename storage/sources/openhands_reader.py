"""The state machine over the records of one log of OpenHands'.

Each event is added to the agent's own view; what the view then holds is made of what stood by an
append, by the replace of a condensation, or by the whole list where another branch came into force.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from compress.events import EventType, NodeId, Rebase, SurfaceOp, Usage
from storage.sources import openhands_legacy as legacy
from storage.sources.base import Derived, Numbering, Record, SessionFacts
from storage.sources.draft import APPEND, NO_META, Identities, type_name, word
from storage.sources.openhands_events import Entry
from storage.sources.openhands_rows import EXTRAS, Row, decode, is_list, rows_of
from storage.sources.openhands_session import Answer, Session, step_to
from storage.sources.openhands_turns import OpenhandsTurns
from storage.sources.openhands_view import Item
from storage.sources.values import mapping, string, timestamp

_STATE = "ConversationStateUpdateEvent"
_SUB_AGENTS = "subagents"
_NAMES = ("kind", "action", "observation")
"""The fields that say what an event is."""


class OpenhandsReader(OpenhandsTurns):
    """One conversation; before the SDK, the delegates' parts of it as sessions of their own."""

    def __init__(self, path: Path, numbering: Mapping[str, Numbering] | None = None) -> None:
        super().__init__(path, numbering)
        self._identities = Identities()
        self._key = ""
        """Of the session that records belong to."""
        self._delegates: list[str] = []
        """The sessions of the delegates that work now, the innermost last."""

    def feed(self, record: Record) -> Iterable[Derived]:
        if record.value is None and record.damage is not None:
            return ()
        rows = rows_of(record.value)
        if rows and is_list(record.value):
            self._begin_list(record)
        known = [self._row(record, row) for row in rows]
        self.recognised += any(known)
        if not rows:
            self._base, self._time = 0, None
            self._native = self._identities.of(record, record.value)
            self._unknown(self._main(), record.value)
        derived = []
        for key, session in self._sessions.items():
            if session.events:
                derived.append(Derived(key, session.events))
                session.events = []
        return derived

    def _begin_list(self, record: Record) -> None:
        """A conversation of its own; the first one is the file's."""
        self._delegates = []
        if "" in self._sessions:
            self._key = f"line-{record.line}"
        named = word(mapping(record.value).get("instance_id"))
        if self._key not in self._sessions:
            native = named or f"{self.path.stem}#{self._key}".rstrip("#")
            self._session(self._key, SessionFacts(key=self._key, native_id=native))

    def _main(self) -> Session:
        if self._key in self._sessions:
            return self._sessions[self._key]
        path = self.path
        folder = path.parent if path.stem in ("base_state", "events") else None
        if path.parent.name == "events" and path.stem.isdecimal():
            folder = path.parent.parent
        facts = SessionFacts(native_id=path.stem if folder is None else folder.name)
        if folder is not None and folder.parent.name == _SUB_AGENTS:
            facts.relation, facts.parent_native_id = "subagent", folder.parent.parent.name
        return self._session("", facts)

    def _row(self, record: Record, row: Row) -> bool:
        """Whether it was understood."""
        session = self._main()
        self._base, self._extra, self._time = row.base, EXTRAS, None
        if row.table == "event":
            return self._event(record, row)
        data = mapping(row.data)
        self._native = self._identities.of(record, [row.table, row.data])
        if row.table == "conversation":
            self._settings(session, data)
        elif row.table == "usage":
            self._take_usage(session, data)
        else:
            self._head(session, data)
        return True

    def _settings(self, session: Session, data: Mapping[str, Any]) -> None:
        facts = session.facts
        session.has_rows = True
        begun = session.identities.own("conversation") != "conversation"
        facts.native_id = word(data.get("id")) or facts.native_id
        facts.cwd = word(data.get("working_dir")) or facts.cwd
        if not begun:
            self._log(session, "session/start", {"cwd": facts.cwd} if facts.cwd else NO_META)
        self._model(session, word(data.get("model")))

    def _head(self, session: Session, data: Mapping[str, Any]) -> None:
        """Where the conversation is: the event that the next one follows, and what the agent
        does."""
        conversation = session.conversation
        leaf = conversation.items.get(string(data.get("leaf_event_id")))
        if data.get("head_is_empty") is True and conversation.tip is not None:
            conversation.go_to(None)
            self._mark(session, "clear")
        elif leaf is not None and leaf is not conversation.tip and not leaf.is_state:
            conversation.go_to(leaf)
            self._mark(session, "rewind")
        self._take_status(session, data.get("execution_status"))

    def _mark(self, session: Session, marker: str) -> None:
        """Other nodes stand now, and no message said so."""
        wanted = session.conversation.standing()
        if wanted != session.standing:
            self._rebase(session, wanted, {"marker": marker})

    def _rebase(self, session: Session, wanted: list[int], meta: Mapping[str, Any]) -> None:
        session.set(wanted)
        block = self._next_extra()
        seq = session.numbering.seq(self._native, block)
        op = Rebase(seqs=tuple(wanted))
        self._emit(session, "context/message", block, node=seq, op=op, role="user", meta=meta)

    def _event(self, record: Record, row: Row) -> bool:
        raw = mapping(row.data)
        entry, is_legacy = decode(raw)
        own = legacy.name_of(raw) if is_legacy else word(raw.get("id"))
        key = self._delegates[-1] if self._delegates else self._key
        if self._delegates and raw.get("observation") == "delegate":
            key = self._leave()
        session = self._sessions[key] if key != self._key else self._main()
        name = own or self._identities.of(record, row.data)
        self._native = session.identities.own(name)
        self._time = timestamp(raw.get("timestamp"))
        is_known = entry.place != "unknown"
        if not is_known:
            self._unknown(session, row.data)
        item = Item(self._native, entry, is_legacy=is_legacy)
        item.is_state = raw.get("kind") == _STATE
        if raw and (is_known or own):
            parent = None if is_legacy else word(raw.get("parent_id"))
            self._place(session, item, raw, parent, repeats=self._native != name)
        if entry.place == "outside":
            self._outside(session, raw)
        if raw.get("action") == "delegate" and entry.place == "action":
            self._enter(session, raw, entry)
        return is_known

    def _unknown(self, session: Session, value: Any) -> None:
        fields = mapping(value)
        named = next(filter(None, (word(fields.get(name)) for name in _NAMES)), None)
        kind = self._count_unknown(named or type_name(value))
        self._emit(session, "unknown", self._base, meta={"type": kind})

    def _place(
        self,
        session: Session,
        item: Item,
        raw: Mapping[str, Any],
        parent: str | None,
        *,
        repeats: bool,
    ) -> None:
        """The events of what an event says, and how they come to stand. The agent passes over one
        whose id came before."""
        entry = item.entry
        said = entry.said[:EXTRAS]
        node = session.conversation.node_of(entry, is_legacy=item.is_legacy)
        self._announce(session, item, raw, repeats=repeats)
        first = session.numbering.seq(self._native, self._base) if said else 0
        item.node = node or first
        if repeats:
            if said:
                self._say(session, item, raw, None, is_new=False, is_copy=True)
            return
        goes_on = session.conversation.add(item, parent)
        if entry.place == "condensation":
            self._condense(session, item, raw, goes_on=goes_on)
        elif not goes_on:
            wanted = session.conversation.standing()
            if said and node is None and item.node in wanted:
                session.set(wanted)
                self._say(session, item, raw, Rebase(seqs=tuple(wanted)), is_new=True)
            else:
                if said:
                    self._say(session, item, raw, None, is_new=node is None)
                self._mark(session, "branch")
        elif said:
            if node is None and session.conversation.view[-1:] == [item]:
                session.append(first)
            stands = item.node in session.stands
            self._say(session, item, raw, APPEND if stands else None, is_new=node is None)
        self._tell_of(session, item, raw)

    def _say(
        self,
        session: Session,
        item: Item,
        raw: Mapping[str, Any],
        op: SurfaceOp | None,
        *,
        is_new: bool,
        is_copy: bool = False,
        sources: tuple[NodeId, ...] = (),
    ) -> None:
        """The events of an event. ``op``: of the first one; those behind it are appended. What
        does not stand has a node all the same, for another branch may bring it in; a copy has
        none."""
        entry = item.entry
        kind: EventType = entry.said[0].type
        if kind == "user/message" and op is not None:
            kind = self._begin_turn(session, entry)
        answers = kind == "assistant/message"
        stands = op is not None
        usage = self._answer(session, item, raw, is_new=is_new) if answers and stands else None
        step: int | None = session.step if answers else None
        if entry.place == "result":
            step = session.steps.get(entry.call or "", session.step) or None
        facts = self._facts_of(item, raw)
        for part, each in enumerate(entry.said[:EXTRAS]):
            self._emit(
                session,
                kind,
                self._base + part,
                node=None if is_copy else item.node,
                op=op if part == 0 or op is None else APPEND,
                role=each.role,
                blocks=each.blocks,
                step=step,
                usage=usage if part == 0 else None,
                request=item.node,
                model=session.facts.model if answers else None,
                sources=sources if part == 0 else (),
                meta={**each.meta, **facts} if facts else each.meta,
            )

    def _answer(
        self, session: Session, item: Item, raw: Mapping[str, Any], *, is_new: bool
    ) -> Usage | None:
        """What an answer of the model's does to the session; what it cost, told once."""
        entry = item.entry
        if is_new:
            self._begin_step(session)
        usage = self._spent(session, entry, raw)
        if entry.response is not None:
            told = Answer(item.node, self._time, session.step)
            session.answers.setdefault(entry.response, told)
        if entry.place == "action" and entry.call:
            session.steps[entry.call] = session.step
        return usage

    def _facts_of(self, item: Item, raw: Mapping[str, Any]) -> Mapping[str, Any]:
        if item.entry.place == "result" and raw.get("observation") == "delegate":
            return {"agent": self._delegate_name(raw.get("cause"))}
        in_loop = item.loop and item.entry.place in ("action", "result")
        return {"loop": item.loop} if in_loop else NO_META

    def _announce(
        self, session: Session, item: Item, raw: Mapping[str, Any], *, repeats: bool
    ) -> None:
        """What is told before the event itself."""
        if item.is_legacy:
            self._model(session, legacy.model_of(raw))
        if item.entry.place == "condensation" and not repeats:
            trigger = "manual" if session.requested else "auto"
            session.requested = False
            self._log(session, "compact/start", {"trigger": trigger})
            words = "".join(b.text for said in item.entry.said for b in said.blocks)
            self._log(session, "compact/summary", {"message": words[:500]} if words else NO_META)

    def _condense(
        self, session: Session, item: Item, raw: Mapping[str, Any], *, goes_on: bool
    ) -> None:
        before, wanted = session.standing, session.conversation.standing()
        session.set(wanted)
        if item.entry.said and item.node in wanted:
            op, sources = step_to(before, wanted, item.node)
            if not goes_on:
                op, sources = Rebase(seqs=tuple(wanted)), ()
            self._say(session, item, raw, op, is_new=True, sources=sources)
        else:
            if item.entry.said:
                self._say(session, item, raw, None, is_new=True)
            if wanted != before:
                self._rebase(session, wanted, {"checkpoint": "agent"})
        self._log(session, "compact/end")

    def _outside(self, session: Session, raw: Mapping[str, Any]) -> None:
        """What an event tells that the model is not told of."""
        kind = raw.get("kind")
        if kind == _STATE:
            self._state(session, string(raw.get("key")), raw.get("value"))
        elif kind in ("PauseEvent", "InterruptEvent"):
            self._end_turn(session, "interrupted")
        elif kind == "ConversationErrorEvent":
            words = string(raw.get("detail")) or string(raw.get("code"))
            self._log(session, "error", {"message": words[:500]})
            self._end_turn(session, "error")
        elif kind == "CondensationRequest" or raw.get("action") == "condensation_request":
            session.requested = True
        elif raw.get("observation") == "agent_state_changed":
            self._take_status(session, mapping(raw.get("extras")).get("agent_state"))

    def _state(self, session: Session, key: str, value: Any) -> None:
        if key == "full_state":
            told = mapping(value)
            self._take_stats(session, told.get("stats"))
            self._take_status(session, told.get("execution_status"))
        elif key == "stats":
            self._take_stats(session, value)
        elif key == "execution_status":
            self._take_status(session, value)

    def _enter(self, session: Session, raw: Mapping[str, Any], entry: Entry) -> None:
        """Another agent works now, in the same log."""
        number = legacy.name_of(raw) or self._native
        key = f"{self._key}/delegate-{number}".lstrip("/")
        if key in self._sessions:
            return
        facts = SessionFacts(
            key=key,
            native_id=self._delegate_name(number),
            relation="subagent",
            parent_native_id=session.facts.native_id,
            parent_call_id=entry.call,
        )
        self._session(key, facts)
        self._delegates.append(key)

    def _leave(self) -> str:
        """Its observation goes to the agent that asked for it."""
        self._delegates.pop()
        return self._delegates[-1] if self._delegates else self._key

    def _delegate_name(self, number: Any) -> str:
        return f"{self._main().facts.native_id}.delegate-{number}"
