"""Log entries ↔ columns of the ``events`` table. The two directions stand side by side."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Sequence
from sys import intern
from typing import Any, NamedTuple

from pydantic_core import to_json

from compress.entries import NO_FACTS, LogEntry
from compress.events import Append, NodeId, Rebase, Replace, SurfaceOp, Usage
from storage.format import SEQ_BITS, SEQ_MASK

_APPEND = Append()
_APPEND_CODE = "a"
_same: Callable[[Any], Any] = intern
"""One string for all that are equal: of a million entries, few types, roles, tools and models."""
_PAGE = 8_192
"""Rows that are fetched and decoded together."""
_JSON = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
"""Made once: ``json.dumps`` with options makes one for each call."""

ENTRY_COLUMNS = (
    "id, type, node, op, sources, role, turn, step, tokens, thinking_tokens, call_tokens, "
    "image_tokens, calls, results, is_error, time, model, usage, request, headline, meta"
)
"""In the order in which :func:`decode_entry` takes them."""


class UsageFigures(NamedTuple):
    """The fields of :class:`compress.events.Usage`, in the order of the column ``usage``."""

    input: int | None
    cache_read: int | None
    cache_write: int | None
    output: int | None
    reasoning: int | None
    lower_bound: bool


def event_id(session: int, seq: int) -> int:
    """The id of an event's row; one that no row has, for a number that is no seq: it would reach
    into another session."""
    return session << SEQ_BITS | seq if 0 <= seq <= SEQ_MASK else -1


def seq_of(identifier: int) -> int:
    """The seq that an event's row id holds."""
    return identifier & SEQ_MASK


def session_of(identifier: int) -> int:
    """The session that an event's row id holds."""
    return identifier >> SEQ_BITS


def encode_entry(session: int, entry: LogEntry) -> tuple[object, ...]:
    """Column values for :data:`ENTRY_COLUMNS`. ``entry.seq`` must be a number."""
    return (
        event_id(session, int(entry.seq)),
        entry.type,
        entry.node,
        encode_op(entry.op),
        _dump(_ranges(entry.source_event_seqs)) if entry.source_event_seqs else None,
        entry.role,
        entry.turn,
        entry.step,
        entry.tokens,
        entry.thinking_tokens,
        entry.call_tokens,
        entry.image_tokens,
        _dump(entry.calls) if entry.calls else None,
        _dump(entry.results) if entry.results else None,
        int(entry.is_error),
        entry.time,
        entry.model,
        _encode_usage(entry.usage),
        entry.request,
        entry.headline,
        _dump(entry.meta) if entry.meta else None,
    )


def decode_entry(row: Sequence[Any]) -> LogEntry:
    """The entry of one row of :data:`ENTRY_COLUMNS`."""
    return LogEntry(
        seq=row[0] & SEQ_MASK,
        type=_same(row[1]),
        node=row[2],
        op=decode_op(row[3]),
        source_event_seqs=tuple(_seqs(json.loads(row[4]))) if row[4] else (),
        role=None if row[5] is None else _same(row[5]),
        turn=row[6],
        step=row[7],
        tokens=row[8],
        thinking_tokens=row[9],
        call_tokens=row[10],
        image_tokens=row[11],
        calls=tuple((c[0], _same(c[1])) for c in json.loads(row[12])) if row[12] else (),
        results=tuple(json.loads(row[13])) if row[13] else (),
        is_error=bool(row[14]),
        time=row[15],
        model=None if row[16] is None else _same(row[16]),
        usage=_decode_usage(row[17]),
        request=row[18],
        headline=row[19],
        meta=json.loads(row[20]) if row[20] else NO_FACTS,
    )


def encode_op(op: SurfaceOp | None) -> str | None:
    """A surface operation as text; lists of seqs as ranges, since a rebase may name them all."""
    if op is None:
        return None
    if isinstance(op, Append):
        return _APPEND_CODE if op.view is None else _dump({"op": "append", "view": op.view})
    if isinstance(op, Replace):
        return _dump(
            {
                "op": "replace",
                "start": op.start,
                "end": op.end,
                "keep": _ranges(op.keep),
                "live_only": op.live_only,
            }
        )
    shortened = {} if op.after is None else {"after": op.after}
    return _dump({"op": "rebase", "seqs": _ranges(op.seqs), **shortened})


def decode_op(text: str | None) -> SurfaceOp | None:
    """The reverse of :func:`encode_op`."""
    if text is None:
        return None
    if text == _APPEND_CODE:
        return _APPEND
    value = json.loads(text)
    if value["op"] == "append":
        return Append(view=value["view"])
    if value["op"] == "replace":
        return Replace(
            start=value["start"],
            end=value["end"],
            keep=tuple(_seqs(value["keep"])),
            live_only=value["live_only"],
        )
    return Rebase(seqs=tuple(_seqs(value["seqs"])), after=value.get("after"))


def _ranges(seqs: Sequence[NodeId]) -> list[object]:
    """Runs of three or more consecutive numbers become ``[first, last]``."""
    packed: list[object] = []
    run: list[int] = []
    for seq in [*seqs, ""]:
        if isinstance(seq, int) and run and seq == run[-1] + 1:
            run.append(seq)
            continue
        packed.extend(run if len(run) < 3 else [[run[0], run[-1]]])
        run = [seq] if isinstance(seq, int) else []
        if isinstance(seq, str) and seq:
            packed.append(seq)
    return packed


def _seqs(packed: Sequence[Any]) -> list[NodeId]:
    seqs: list[NodeId] = []
    for item in packed:
        if isinstance(item, list):
            seqs.extend(range(item[0], item[1] + 1))
        else:
            seqs.append(item)
    return seqs


def _encode_usage(usage: Usage | None) -> str | None:
    if usage is None:
        return None
    fields = (usage.input, usage.cache_read, usage.cache_write, usage.output, usage.reasoning)
    numbers = ",".join("null" if field is None else str(field) for field in fields)
    return f"[{numbers},{'true' if usage.lower_bound else 'false'}]"


def _decode_usage(text: str | None) -> Usage | None:
    return None if text is None else Usage.model_construct(**decode_figures(text)._asdict())


def decode_figures(text: str) -> UsageFigures:
    """What the column ``usage`` holds, without the cost of a model."""
    return UsageFigures(*json.loads(text))


def _dump(value: object) -> str:
    try:
        return to_json(value).decode()
    except ValueError:  # what the quick writer refuses: unpaired surrogates, deep nesting
        return _JSON.encode(value)


def entries(
    connection: sqlite3.Connection,
    session: int,
    generation: int,
    asked: Callable[[], None] = lambda: None,
) -> list[LogEntry]:
    """All entries of a session that stand in its file, in the order of the fold. ``asked`` is
    called on the way, and may raise."""
    rows = connection.execute(
        f"SELECT {ENTRY_COLUMNS} FROM events WHERE id BETWEEN ? AND ? AND generation = ? "  # noqa: S608 - constant
        "ORDER BY position",
        (event_id(session, 0), event_id(session, SEQ_MASK), generation),
    )
    found: list[LogEntry] = []
    while page := rows.fetchmany(_PAGE):
        if found:
            asked()
        found += [decode_entry(row) for row in page]
    return found
