"""DeepSeek Harness: a log that states its own surface.

Source: ``@deepseek-ai/dsh-session`` 0.1.1-rc.2 (v0) and the migration packages up to v3, MIT.
The header line gives no event, every other row (packed rows expanded) gives exactly one, so an
event's seq is DSH's own, counted from 1 instead of 0. Operations and citations are taken over as
they stand; nothing is derived.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from compress.events import ContentBlock, EventType, SessionEvent
from storage.sources import dsh_content as content
from storage.sources.base import (
    Derived,
    FileReader,
    Json,
    Numbering,
    Record,
    Root,
    SessionFacts,
    SourceAdapter,
)
from storage.sources.draft import Identities, event
from storage.sources.dsh_facts import KNOWN_TYPES, Fact, log_only, surface_meta
from storage.sources.dsh_seqs import Seqs
from storage.sources.values import count, epoch_milliseconds, mapping, string

_GENERATION = re.compile(r"session(?:\.v(\d+))?\.jsonl(\.zstd?)?")
_LOG = re.compile(r".+\.jsonl(\.zstd?)?")
_UNIQUE = 16
"""Characters from which on a message's id is taken for unique in the world; a UUID has 36."""
_TYPES: Mapping[str, EventType] = {
    "user/message": "user/message",
    "assistant/message": "assistant/message",
    "tool/result": "tool/result",
    "steering/message": "steering/message",
}
"""Surface types that are ours too; all others (``system/message``) are context."""
_ROLES: Mapping[str, str] = {"assistant/message": "assistant", "system/message": "system"}


class DshAdapter(SourceAdapter):
    """Reads v0 in both vocabularies, and v1 to v3."""

    agent: ClassVar[str] = "dsh"
    revision: ClassVar[int] = 2
    global_ids: ClassVar[bool] = True

    def roots(self, environment: Mapping[str, str], home: Path) -> Iterator[Root]:
        own = environment.get("DSH_HOME")
        if own:
            yield Root(Path(own) / "sessions", "**/*.jsonl*", "DSH_HOME")
        else:
            yield Root(home / ".dsh" / "sessions", "**/*.jsonl*")

    def select(self, paths: Sequence[Path]) -> Sequence[Path]:
        """Of the generations of one session, migrated side by side, the highest only."""
        chosen: dict[Path, tuple[tuple[int, bool], Path]] = {}
        for path in paths:
            if match := _GENERATION.fullmatch(path.name):
                rank = (int(match[1] or 0), match[2] is not None)
                if path.parent not in chosen or chosen[path.parent][0] < rank:
                    chosen[path.parent] = (rank, path)
            elif _LOG.fullmatch(path.name):
                chosen[path] = ((0, False), path)
        return [path for _, path in chosen.values()]

    def recognises(self, path: Path, head: Sequence[Json]) -> bool:
        return any(_is_header(value) or _is_event(value) for value in head)

    def open(self, path: Path, numbering: Mapping[str, Numbering] | None = None) -> FileReader:
        return DshReader(path, numbering)

    def blocks(self, value: Json, block: int) -> tuple[ContentBlock, ...]:
        record = mapping(value)
        return content.content(record) if block == 0 and content.is_surface(record) else ()


class DshReader(FileReader):
    """One session file, one session."""

    def __init__(self, path: Path, numbering: Mapping[str, Numbering] | None = None) -> None:
        super().__init__(path, numbering)
        self._facts = self.sessions[""] = SessionFacts(native_id=path.parent.name)
        self._seqs = Seqs()
        self._identities = Identities()
        self._turn: int | None = None
        self._step: int | None = None
        self._steps = 0
        self._request: int | None = None

    def feed(self, record: Record) -> Iterable[Derived]:
        value = record.value
        if value is None:
            return ()
        if _is_header(value):
            self.recognised += 1
            self._header(value)
            return ()
        events = self._events(record, value)
        return (Derived("", events),) if events else ()

    def _header(self, value: dict[str, Any]) -> None:
        facts = self._facts
        facts.native_id = string(value.get("id")) or facts.native_id
        facts.cwd = string(value.get("cwd")) or None
        facts.parent_native_id = string(value.get("parentSession")) or None
        if value.get("origin") == "subagent":
            facts.relation = "subagent"
        elif facts.parent_native_id:
            facts.relation = "fork"

    def _events(self, record: Record, value: Json) -> list[SessionEvent]:
        numbers = self.numbering("")
        kind = string(mapping(value).get("type"))
        if kind not in KNOWN_TYPES:
            self._count_unknown(kind or type(value).__name__)
        else:
            self.recognised += 1
        if not isinstance(value, dict) or not kind:
            native = self._identities.of(record, value)
            seq = numbers.seq(native)
            return [event(seq, "unknown", native, meta={"type": type(value).__name__})]
        own = count(value.get("seq0" if kind in content.PACKED_TYPES else "seq"))
        first = self._seqs.next if own is None else own
        native = self._identity(value, first)
        length = content.run_length(value)
        seqs = [numbers.seq(native, block) for block in range(length)]
        self._seqs.take(first, seqs)
        if kind in content.PACKED_TYPES:
            return self._run(value, native, seqs)
        if content.is_surface(value):
            return [self._message(value, kind, native, seqs[0], first)]
        return [self._fact(value, kind, native, seqs[0])]

    def _run(self, value: dict[str, Any], native: str, seqs: list[int]) -> list[SessionEvent]:
        """The events of a packed row. They hold no content: the message has it all."""
        if seqs and self._request is None:
            self._request = seqs[0]
        time = epoch_milliseconds(value.get("time0"))
        meta = {"type": "assistant/chunk"}
        return [
            event(
                seq,
                "usage",
                native,
                block,
                turn=self._turn,
                step=self._step,
                time=time if block == 0 else None,
                meta=meta,
            )
            for block, seq in enumerate(seqs)
        ]

    def _identity(self, value: dict[str, Any], number: int) -> str:
        """DSH's number of the event. A fork begins with its parent's events, number for number,
        so a message also names what it is in any session: its own id."""
        if not content.is_surface(value):
            return str(number)
        own = string(content.message(value).get("id"))
        return f"{number}:{own if len(own) >= _UNIQUE else self._facts.native_id}"

    def _message(
        self, value: dict[str, Any], kind: str, native: str, seq: int, number: int
    ) -> SessionEvent:
        message = content.message(value)
        data = mapping(value.get("data"))
        source = mapping(message.get("source"))
        op = self._seqs.operation(value)
        usage = content.usage(data.get("usage"), lower_bound=data.get("interrupted") is True)
        request = None
        if kind == "assistant/message":
            request = seq if self._request is None else self._request
            self._request = None
        if kind in ("tool/result", "user/message"):
            self._facts.waiting = False
        type_ = _TYPES.get(kind, "context/message")
        return event(
            seq,
            type_,
            native,
            node=seq,
            op=op,
            role=_role(message.get("role"), kind),
            blocks=content.content(value),
            turn=self._turn,
            step=self._step if kind in ("assistant/message", "tool/result") else None,
            time=epoch_milliseconds(value.get("time")),
            model=string(source.get("model")) or None,
            usage=usage,
            request=request if usage else None,
            source_event_seqs=self._seqs.sources(value, number),
            meta=surface_meta(kind, type_, data, source, op),
        )

    def _fact(self, value: dict[str, Any], kind: str, native: str, seq: int) -> SessionEvent:
        data = mapping(value.get("data"))
        if kind == "assistant/chunk" and self._request is None:
            self._request = seq
        self._follow(kind, data)
        fact = log_only(kind, data, self._seqs.seq) if kind in KNOWN_TYPES else Fact("unknown")
        return event(
            seq,
            fact.type,
            native,
            turn=self._turn,
            step=self._step,
            time=epoch_milliseconds(value.get("time")),
            model=fact.model,
            usage=fact.usage,
            request=self._request if fact.usage else None,
            meta={"type": kind, **fact.meta},
        )

    def _follow(self, kind: str, data: dict[str, Any]) -> None:
        """What a log-only record changes in the state of the session."""
        facts = self._facts
        match kind:
            case "turn/start":
                self._turn = (self._turn or 0) + 1
                self._step = None
                facts.turn_open = True
            case "turn/end":
                self._step = None
                facts.turn_open = facts.waiting = False
            case "step/start":
                self._steps += 1
                self._step = self._steps
                self._request = None
            case "llm/retry" | "assistant/attempt":
                self._request = None
            case "approval/asked" | "approval/decided":
                facts.waiting = kind == "approval/asked"
            case "request/header" | "request/context":
                config = mapping(mapping(data.get("header")).get("config"))
                facts.model = string(config.get("model") or data.get("model")) or facts.model
                facts.window = count(data.get("contextWindow")) or facts.window
            case "session/title":
                facts.title = string(data.get("title")) or facts.title


def _is_header(value: Json) -> bool:
    return (
        isinstance(value, dict)
        and value.get("type") == "session"
        and "createdAt" in value
        and isinstance(value.get("version"), int)
    )


def _is_event(value: Json) -> bool:
    return (
        isinstance(value, dict)
        and (kind := string(value.get("type"))) in KNOWN_TYPES
        and "/" in kind
        and isinstance(value.get("data"), dict)
    )


def _role(value: Any, kind: str) -> Any:
    return value if value in ("user", "assistant", "system") else _ROLES.get(kind, "user")
