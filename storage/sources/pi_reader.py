"""The state machine over the entries of one pi session."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from compress.events import EventType, Replace
from storage.sources.base import Derived, Numbering, Record, SessionFacts
from storage.sources.draft import NO_META, Identities, title_of, type_name, word
from storage.sources.pi_entries import (
    Piece,
    edit_blocks,
    edited,
    is_migrated,
    own_content,
    pieces_of,
    usage_of,
)
from storage.sources.pi_events import STRAIGHT, EntryEvents, Step
from storage.sources.pi_lists import list_items
from storage.sources.pi_tree import Entry
from storage.sources.values import count, mapping, timestamp

BROKEN_OFF = ("error", "aborted")
"""Stop reasons of answers that pi does not send again."""


class _Shape(NamedTuple):
    """What an entry's content was, for an edit that replaces it."""

    piece: Piece
    step: int | None


class PiReader(EntryEvents):
    """One file, one session."""

    def __init__(self, path: Path, numbering: Mapping[str, Numbering] | None = None) -> None:
        super().__init__(path, numbering)
        self.facts = self.sessions[""] = SessionFacts(native_id=_id_of_file(path))
        self._contents = Identities()
        self._ids_seen: dict[str, int] = {}
        self._shapes: dict[str, _Shape] = {}
        self._chained: list[str | None] | None = None
        """Ids by place in a v1 file, whose entries have none; the header is at 0."""
        self._step = 0
        self._step_of_call: dict[str, int] = {}
        self._mid_turn = False
        """The newest message asks for, or is, a tool's result."""
        self._model: tuple[str | None, str | None] = (None, None)
        self._header_seen = False

    def feed(self, record: Record) -> Iterable[Derived]:
        value = record.value
        if value is None and record.damage is not None:
            return ()
        self._events = []
        if isinstance(value, dict):
            self._time = timestamp(value.get("timestamp"))
            if value.get("type") == "session":
                self._on_header(value)
            else:
                self._on_entry(record, value)
        else:
            self._time = None
            self._id = self._contents.of(record, value)
            self._unknown(type_name(value))
        return (Derived("", self._events),) if self._events else ()

    # -- the session ----------------------------------------------------------------------------

    def _on_header(self, header: dict[str, Any]) -> None:
        self.recognised += 1
        if self._header_seen:
            return
        self._header_seen = True
        facts = self.facts
        facts.native_id = word(header.get("id")) or facts.native_id
        facts.cwd = word(header.get("cwd"))
        version = count(header.get("version")) or 1
        facts.agent_version = f"v{version}"
        if version == 1:
            self._chained = [None]
        parent = word(header.get("parentSession")) or word(header.get("branchedFrom"))
        if parent is not None:
            facts.relation = "fork"
            facts.parent_native_id = _id_of_file(Path(parent))
        self._id = f"session:{facts.native_id}"
        meta: dict[str, Any] = {"version": facts.agent_version}
        self._log("session/start", meta=meta if facts.cwd is None else {**meta, "cwd": facts.cwd})
        self._tell_model(word(header.get("provider")), word(header.get("modelId")))

    def _tell_model(self, provider: str | None, model: str | None) -> None:
        if model is None or (provider, model) == self._model:
            return
        self._model = (provider, model)
        self.facts.model = model
        meta = {"model": model} if provider is None else {"model": model, "provider": provider}
        self._log("request/header", meta=meta)

    # -- entries --------------------------------------------------------------------------------

    def _on_entry(self, record: Record, entry: dict[str, Any]) -> None:
        own_id, parent = self._links(record, entry)
        kind = entry.get("type")
        pieces = pieces_of(entry)
        if pieces is None:
            self._unknown(_name(entry))
            pieces = []
        else:
            self.recognised += 1
        if kind == "compaction":
            self._on_compaction(entry, own_id, parent, pieces)
        elif kind == "context_edit":
            self._on_edit(entry, own_id, parent)
        elif pieces:
            self._on_message(entry, own_id, parent, pieces[0])
        else:
            self._on_fact(entry)
            straight = self._tree.add(Entry(own_id, parent))
            if not straight:
                self._arrange()

    def _links(self, record: Record, entry: dict[str, Any]) -> tuple[str, str | None]:
        """The entry's id and its parent's in the tree; sets its native id.

        In a v1 file entries are chained by their order. There, and in a file that pi rewrote from
        one, an entry is identified by its content, so that both readings give the same seqs.
        """
        stated = word(entry.get("id"))
        chained = self._chained
        if chained is not None or stated is None or is_migrated(entry):
            self._id = self._contents.of(record, own_content(entry))
        else:
            seen = self._ids_seen.get(stated, 0)
            self._ids_seen[stated] = seen + 1
            self._id = f"{stated}#{seen}" if seen else stated
        if chained is not None:
            own_id, parent = self._id, chained[-1]
            chained.append(own_id)
            return own_id, parent
        return stated or self._id, word(entry.get("parentId"))

    def _on_fact(self, entry: dict[str, Any]) -> None:
        kind = entry.get("type")
        if kind == "model_change":
            self._tell_model(word(entry.get("provider")), word(entry.get("modelId")))
        elif kind == "session_info":
            self.facts.title = (word(entry.get("name")) or "").strip() or self.facts.title
        elif kind == "usage":
            self._spend(entry, word(entry.get("kind")) or "usage", word(entry.get("model")))
        elif kind == "custom":
            self._tell_list("plan", entry.get("data"))

    def _tell_list(self, kind: str, state: Any) -> None:
        """The list that an extension keeps in a result's details, or in an entry of its own."""
        items = list_items(state)
        if items is not None:
            self._log("artifact/update", meta={"kind": kind, "items": items})

    def _spend(self, entry: dict[str, Any], kind: str, model: str | None) -> None:
        """A request beside the conversation: a summary, an extension's own."""
        usage = usage_of(entry.get("usage"))
        if usage is None:
            return
        self._step += 1
        self._log("usage", usage=usage, model=model, step=self._step, meta={"kind": kind})

    def _on_message(
        self, entry: dict[str, Any], own_id: str, parent: str | None, piece: Piece
    ) -> None:
        if parent != self._tree.leaf:
            self._mid_turn = False
        kind, step = self._situate(piece)
        node = self._next()
        self._shapes[own_id] = _Shape(piece, step)
        straight = self._tree.add(
            Entry(
                own_id,
                parent,
                (node,) if piece.sent else (),
                system=piece.role == "system",
            )
        )
        usage = None
        message = mapping(entry.get("message"))
        if piece.type == "assistant/message":
            usage = usage_of(message.get("usage"), cut=piece.meta.get("stop") in BROKEN_OFF)
        if straight and piece.sent:
            self._standing.append(node)
            self._place(piece, STRAIGHT, kind, step, usage=usage)
        else:
            after = self._standing if straight else self._tree.standing()
            self._place(piece, self._step_to(node, after), kind, step, usage=usage)
            self._arrange(after)
        self._tell_after(entry, piece, message)

    def _tell_after(self, entry: dict[str, Any], piece: Piece, message: dict[str, Any]) -> None:
        """What a message says besides its content."""
        if piece.type == "assistant/message":
            self._tell_model(word(message.get("provider")), piece.model)
            if piece.meta.get("stop") == "error":
                text = (word(message.get("errorMessage")) or "")[:500]
                self._log("error", step=self._step, meta={"message": text})
        elif piece.type == "tool/result":
            self._tell_list("todo", message.get("details"))
        elif entry.get("type") == "branch_summary":
            self._spend(entry, "branch_summary", None)

    def _situate(self, piece: Piece) -> tuple[EventType, int | None]:
        """The type and step of a message, and what it does to the turn."""
        facts = self.facts
        if piece.type == "assistant/message":
            self._step += 1
            for block in piece.blocks:
                if block.kind == "tool_call" and block.id:
                    self._step_of_call[block.id] = self._step
            self._mid_turn = facts.turn_open = piece.meta.get("stop") == "toolUse"
            return piece.type, self._step
        if piece.type == "tool/result":
            self._mid_turn = facts.turn_open = True
            own = self._step_of_call.get(piece.blocks[0].id or "", self._step)
            return piece.type, own or None
        if piece.type == "user/message":
            facts.turn_open = True
            # Between a result and the next answer only words reach pi that were typed meanwhile.
            if self._mid_turn:
                self._mid_turn = False
                return "steering/message", None
            self._turn += 1
            if not facts.title:
                words = "".join(block.text for block in piece.blocks if block.kind == "text")
                facts.title = title_of(words)
        return piece.type, None

    # -- compaction and edits ---------------------------------------------------------------------

    def _on_compaction(
        self, entry: dict[str, Any], own_id: str, parent: str | None, pieces: list[Piece]
    ) -> None:
        before = count(entry.get("tokensBefore"))
        self._log("compact/start", meta={} if before is None else {"pre_tokens": before})
        said = (word(entry.get("summary")) or "")[:500]
        self._log("compact/summary", meta={"message": said} if said else NO_META)
        summary, *prompt = pieces
        node = self._next()
        # The model reads the system prompt first, the summary second.
        nodes = (*(self._seq(len(self._events) + 1) for _ in prompt), node)
        onwards = parent == self._tree.leaf
        self._tree.add(
            Entry(own_id, parent, nodes, compaction=True, first_kept=self._first_kept(entry))
        )
        after = self._tree.standing()
        kept = [seq for seq in after if seq not in nodes]
        standing = self._standing
        step = self._step_to(node, [node, *kept] if node in after else after, replaces=onwards)
        if prompt and not isinstance(step.op, Replace):
            # The system prompt after it brings both in.
            step, self._standing = Step(None), standing
        self._place(summary, step, summary.type, None)
        for piece in prompt:
            self._place(piece, self._step_to(nodes[0], after), piece.type, None)
        self._arrange(after)
        self._log("compact/end")
        self._spend(entry, "compaction", None)

    def _first_kept(self, entry: dict[str, Any]) -> str | None:
        if self._chained is None:
            return word(entry.get("firstKeptEntryId"))
        index = entry.get("firstKeptEntryIndex")
        if type(index) is int and 0 < index < len(self._chained):
            return self._chained[index]
        return None

    def _on_edit(self, entry: dict[str, Any], own_id: str, parent: str | None) -> None:
        target = word(entry.get("targetId"))
        shape = self._shapes.get(target or "")
        takes = shape is not None and shape.piece.editable
        takes = takes and isinstance(entry.get("replacement"), dict)
        node = self._next() if takes else None
        onwards = parent == self._tree.leaf
        self._tree.add(
            Entry(
                own_id,
                parent,
                edits=target,
                omits="replacement" in entry and entry["replacement"] is None,
                replacement=node,
            )
        )
        after = self._tree.standing()
        if node is not None and shape is not None:
            piece = edited(shape.piece, entry)
            step = self._step_to(node, after, replaces=onwards)
            self._place(piece, step, piece.type, shape.step)
        elif edit_blocks(entry):
            self._place(_idle(entry), Step(None), "context/message", None)
        self._arrange(after, "edit")


def _idle(entry: Mapping[str, Any]) -> Piece:
    """An edit of what takes none: kept and shown, beside the surface."""
    meta = {"edits": entry.get("targetId"), "applied": False}
    return Piece("context/message", "user", edit_blocks(entry), sent=False, joined=True, meta=meta)


def _name(entry: Mapping[str, Any]) -> str:
    """What to call an entry that is not understood."""
    name = type_name(entry)
    role = word(mapping(entry.get("message")).get("role"))
    return f"{name}/{role}" if name == "message" and role else name


def _id_of_file(path: Path) -> str:
    """Session files are called by their time and their id."""
    return path.stem.rpartition("_")[2]
