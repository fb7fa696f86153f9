"""The fold of a session's events into its artifacts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from compress.artifacts.edits import FileChange, file_changes
from compress.artifacts.lists import Item, ItemList, items_of
from compress.artifacts.making import of_list, of_plan, order
from compress.artifacts.plans import PlanText, is_plan_file
from compress.artifacts.values import Artifact, ArtifactKind
from compress.entries import HEADLINE_LIMIT, LogEntry
from compress.events import ContentBlock, NodeId

TOLD = frozenset({"artifact/update", "approval/decision"})
"""Types of events that tell of artifacts. Beside them only calls and results matter."""


def document_of(meta: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """What an ``artifact/update`` says of the text that it is about; ``None`` for a list.

    ``call`` and ``field``: the text stands in this field of that call's input; else it is the
    event's own content. ``path``: the file that holds it.
    """
    found = meta.get("document")
    return found if isinstance(found, Mapping) else None


def wanted(entries: Iterable[LogEntry]) -> list[NodeId]:
    """The events whose blocks :meth:`ArtifactHarvest.feed` wants, in rising order: calls that may
    change a plan's file, and what a plan is told to stand in."""
    found: set[NodeId] = set()
    told: set[str] = set()
    log = list(entries)
    for entry in log:
        about = document_of(entry.meta) if entry.type == "artifact/update" else None
        if about is not None:
            told.add(word(about.get("call")))
            if not about.get("call"):
                found.add(entry.seq)
    for entry in log:
        if entry.calls and (_may_write(entry) or any(call in told for call, _ in entry.calls)):
            found.add(entry.seq)
    return sorted(found, key=order)


def _may_write(entry: LogEntry) -> bool:
    """Judged by the headline, which begins with the tool and its main argument; where that is
    cut, or more than one call is made, it may."""
    line = entry.headline
    named = ".md" in line or "*** Begin Patch" in line or "apply_patch" in line
    return named or len(entry.calls) > 1 or len(line) >= HEADLINE_LIMIT


class ArtifactHarvest:
    """Feed it a session's events in order; ask for the artifacts when they are wanted.

    They follow from the events alone: fed in pieces or whole, they are the same. Memory is bounded
    by the artifacts.
    """

    def __init__(self, agent: str, session: str) -> None:
        """``session``: its native id."""
        self._about = (agent, session)
        self._lists: list[ItemList] = []
        self._standing: dict[str, ItemList] = {}
        self._plans: list[PlanText] = []
        self._by_path: dict[str, PlanText] = {}
        self._calls: dict[str, tuple[NodeId, Any]] = {}
        """Calls that may change a plan, and have no result yet."""

    def feed(self, entry: LogEntry, blocks: Sequence[ContentBlock] = ()) -> None:
        """One event of the agent's strand, with its blocks where :func:`wanted` names it. Never
        raises for what an event holds."""
        for block in blocks:
            if block.kind == "tool_call" and block.id:
                self._calls[block.id] = (entry.seq, block.input)
        if entry.type == "artifact/update":
            self._update(entry.meta, entry.seq, blocks)
        elif entry.type == "approval/decision":
            self._decide(entry.meta, entry.seq)
        for call in entry.results:
            self._result(call, failed=entry.is_error)

    def artifacts(self) -> tuple[Artifact, ...]:
        """All of them, in the order in which they began."""
        made = [(found.first, of_list(self._about, found)) for found in self._lists]
        made += [(plan.seqs[0], of_plan(self._about, plan)) for plan in self._plans]
        made.sort(key=lambda pair: (order(pair[0]), pair[1].kind))
        return tuple(artifact for _, artifact in made)

    # -- lists ----------------------------------------------------------------------------------

    def _update(self, meta: Mapping[str, Any], seq: NodeId, blocks: Sequence[ContentBlock]) -> None:
        about = document_of(meta)
        items = items_of(meta)
        if about is not None:
            self._told(about, items or [], seq, blocks)
        elif items is not None:
            kind: ArtifactKind = "plan" if meta.get("kind") == "plan" else "todo"
            self._listed(kind, items, meta.get("explanation"), seq)

    def _listed(self, kind: ArtifactKind, items: list[Item], said: Any, seq: NodeId) -> None:
        found = self._standing.get(kind)
        if found is not None and not found.goes_on_with(items):
            if found.status != "completed":
                found.replaced = seq
            found = None
        if found is None:
            if not items:
                self._standing.pop(kind, None)
                return
            number = 1 + sum(other.kind == kind for other in self._lists)
            found = ItemList(kind, number, seq)
            self._lists.append(found)
            self._standing[kind] = found
        found.update(items, seq)
        if isinstance(said, str) and said.strip():
            found.summary = (said, seq)

    # -- documents ------------------------------------------------------------------------------

    def _told(
        self,
        about: Mapping[str, Any],
        items: list[Item],
        seq: NodeId,
        blocks: Sequence[ContentBlock],
    ) -> None:
        """The agent shows a plan."""
        call = word(about.get("call"))
        text, source = self._text_of(about, call, seq, blocks)
        plan = self._take(word(about.get("path")), text, source)
        if text is None:
            plan.items, plan.newest = items, seq
        plan.note(seq)
        if call and call != plan.call:
            plan.call = call
            plan.decision = "" if plan.decision == "rejected" else plan.decision
        plan.proposed = True

    def _text_of(
        self, about: Mapping[str, Any], call: str, seq: NodeId, blocks: Sequence[ContentBlock]
    ) -> tuple[str | None, NodeId]:
        """The text, and the event that it stands in."""
        own = next((block.text for block in blocks if block.kind == "text"), None)
        if own is not None:
            return own, seq
        source, value = self._calls.get(call, (seq, None))
        text = value.get(word(about.get("field"))) if isinstance(value, Mapping) else None
        return (text, source) if isinstance(text, str) else (None, seq)

    def _take(self, path: str, text: str | None, seq: NodeId) -> PlanText:
        """The document with this text: the one of that file, or a new one in its place."""
        plan = self._by_path.get(path)
        if plan is None and not path and text is not None:
            # Some versions ask about a plan without naming its file.
            told = text.strip()
            alike = (p for p in self._by_path.values() if (p.text or "").strip() == told)
            plan = next(alike, None)
            path = plan.path if plan is not None else path
        if plan is not None and text is not None and plan.renamed_by(text):
            plan.replaced = plan.status(plan.steps()) != "completed"
            plan = None
        if plan is None:
            plan = PlanText(path, len(self._plans) + 1)
            self._plans.append(plan)
            self._by_path[path] = plan
        if text is not None:
            plan.take(text, seq)
        return plan

    def _result(self, call: str, *, failed: bool) -> None:
        """Only now a call has done what it asked for."""
        seq, value = self._calls.pop(call, (0, None))
        if failed or value is None:
            return
        for change in file_changes(value):
            self._changed(change, seq)

    def _changed(self, change: FileChange, seq: NodeId) -> None:
        plan = self._by_path.get(change.path)
        if plan is None:
            if is_plan_file(change.path) and change.whole is not None:
                self._take(change.path, change.whole, seq)
            return
        if change.gone:
            plan.replaced = True
            plan.note(seq)
            del self._by_path[change.path]
            return
        text = plan.after(change)
        if text is None:
            plan.stale = True
            plan.note(seq)
            return
        plan = self._take(change.path, text, seq)
        if change.moved:
            self._by_path[change.moved] = self._by_path.pop(change.path)
            plan.path = change.moved

    def _decide(self, meta: Mapping[str, Any], seq: NodeId) -> None:
        call = word(meta.get("call"))
        decision = word(meta.get("decision"))
        if not call or decision not in ("approved", "rejected"):
            return
        for plan in self._plans:
            if plan.call == call:
                plan.decision = decision
                plan.note(seq)


def word(value: Any) -> str:
    """A text; of anything else nothing."""
    return value if isinstance(value, str) else ""
