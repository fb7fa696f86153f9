"""The events of trajectories in the Agent Trajectory Interchange Format.

The steps are the list; there is nothing to resume. What an agent's own compaction left out stands
in another document, which begins with copied steps.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from compress.events import EventType, SessionEvent
from storage.sources.atif_document import (
    EXTRAS,
    STRIDE,
    Said,
    Trajectory,
    said,
    trajectories,
    usage_of,
)
from storage.sources.base import Derived, FileReader, Numbering, Record, SessionFacts
from storage.sources.draft import APPEND, Identities, event, title_of, type_name, word
from storage.sources.values import mapping, string, timestamp


@dataclass(slots=True)
class _State:
    """Where one trajectory stands."""

    facts: SessionFacts
    numbering: Numbering
    events: list[SessionEvent] = field(default_factory=list)
    turn: int = 0
    step: int = 0
    steps: dict[str, int] = field(default_factory=dict)
    """Call → the request that made it."""


class AtifReader(FileReader):
    """One trajectory a document, and those of its sub-agents; in a file of lines, one a line."""

    def __init__(self, path: Path, numbering: Mapping[str, Numbering] | None = None) -> None:
        super().__init__(path, numbering)
        self._identities = Identities()

    def feed(self, record: Record) -> Iterable[Derived]:
        if record.value is None and record.damage is not None:
            return ()
        found = trajectories(record.value)
        if not found:
            return (self._not_understood(record),)
        self.recognised += 1
        main = "" if "" not in self.sessions else f"line-{record.line}"
        names: dict[str, str] = {}
        derived = []
        for index, trajectory in enumerate(found):
            key = f"{main}/{index}".lstrip("/") if index else main
            facts = self.sessions[key] = _facts(trajectory, key, self.path.stem)
            if trajectory.parent is not None:
                facts.parent_native_id = names.get(trajectory.parent, trajectory.parent)
            names[trajectory.name] = facts.native_id
            state = _State(facts, self.numbering(key))
            self._read(record, state, trajectory)
            derived.append(Derived(key, state.events))
        return derived

    def _not_understood(self, record: Record) -> Derived:
        key = next(iter(self.sessions), "")
        self.sessions.setdefault(key, SessionFacts(key=key, native_id=self.path.stem))
        name = self._count_unknown(type_name(record.value))
        native = self._identities.of(record, record.value)
        made = event(self.numbering(key).seq(native), "unknown", native, meta={"type": name})
        return Derived(key, (made,))

    def _read(self, record: Record, state: _State, trajectory: Trajectory) -> None:
        agent = mapping(trajectory.raw.get("agent"))
        known = {"agent": word(agent.get("name")), "version": state.facts.agent_version}
        extras = trajectory.base + EXTRAS
        self._log(state, "session/start", "start", extras, {k: v for k, v in known.items() if v})
        if state.facts.model is not None:
            self._header(state, extras, state.facts.model)
        for index, step in enumerate(trajectory.steps):
            self._step(record, state, trajectory, index, step)
        if isinstance(trajectory.raw.get("final_metrics"), dict):
            state.facts.ended, state.facts.turn_open = True, False

    def _header(self, state: _State, block: int, model: str) -> None:
        state.facts.model = model
        self._log(state, "request/header", f"model:{model}", block, {"model": model})

    def _log(
        self, state: _State, kind: EventType, native: str, block: int, meta: Mapping[str, Any]
    ) -> None:
        seq = state.numbering.seq(native, block)
        state.events.append(event(seq, kind, native, block, turn=state.turn or None, meta=meta))

    def _step(
        self, record: Record, state: _State, trajectory: Trajectory, index: int, raw: Any
    ) -> None:
        step = mapping(raw)
        base = trajectory.base + index * STRIDE
        named = step.get("step_id")
        known = isinstance(named, int | str) and not isinstance(named, bool)
        native = f"step:{named}"[:200] if known else self._identities.of(record, raw)
        found = said(step)
        if not found:
            name = self._count_unknown(string(step.get("source")) or type_name(raw))
            self._log(state, "unknown", native, base, {"type": name})
            return
        copied = step.get("is_copied_context") is True
        model = self._situate(state, step, found, base + EXTRAS, copied=copied)
        usage = None if copied else usage_of(step)
        node = None
        for part, each in enumerate(found):
            seq = state.numbering.seq(native, base + part)
            answers = each.type == "assistant/message"
            place = seq if each.is_result or node is None else node
            node = node if each.is_result else place
            first = answers and seq == place
            state.events.append(
                event(
                    seq,
                    each.type,
                    native,
                    base + part,
                    node=place,
                    op=APPEND,
                    role=each.role,
                    blocks=each.blocks,
                    turn=state.turn or None,
                    step=self._request(state, each),
                    time=timestamp(step.get("timestamp")),
                    model=model if answers else None,
                    usage=usage if first else None,
                    request=seq if first and usage is not None else None,
                    meta={**each.meta, "copied": True} if copied else each.meta,
                )
            )

    def _situate(
        self,
        state: _State,
        step: Mapping[str, Any],
        found: Iterable[Said],
        extras: int,
        *,
        copied: bool,
    ) -> str | None:
        """What a step does to turn and request; the model that answered in it."""
        facts = state.facts
        blocks = [(each.type, block) for each in found for block in each.blocks]
        if step.get("source") == "user":
            state.turn += 1
            facts.turn_open = True
            facts.title = facts.title or title_of("".join(block.text for _, block in blocks))
        if step.get("source") != "agent":
            return None
        calls = [block.id or "" for _, block in blocks if block.kind == "tool_call"]
        facts.turn_open = bool(calls)
        if step.get("llm_call_count") == 0 or copied:
            # Nothing was asked of a model here.
            return None
        state.step += 1
        state.steps.update((call, state.step) for call in calls)
        model = word(step.get("model_name"))
        if model is not None and model != facts.model:
            self._header(state, extras, model)
        return facts.model

    def _request(self, state: _State, each: Said) -> int | None:
        if each.type == "assistant/message":
            return state.step or None
        if each.type == "tool/result":
            return state.steps.get(each.blocks[0].id or "", state.step) or None
        return None


def _facts(trajectory: Trajectory, key: str, stem: str) -> SessionFacts:
    agent = mapping(trajectory.raw.get("agent"))
    return SessionFacts(
        key=key,
        native_id=trajectory.name or stem,
        agent_version=word(agent.get("version")),
        model=word(agent.get("model_name")),
        relation="main" if trajectory.parent is None else "subagent",
        parent_call_id=trajectory.call,
    )
