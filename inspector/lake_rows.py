"""What stands in a lake: its columns, with their meaning, and the rows. Pure: values in and out.

The columns are the contract with whoever queries a lake; each change of them is a new
:data:`storage.lake_folder.VERSION`. Texts go through ``clean``, which masks what must not leave the
machine; ids, names of types and figures stay as they are.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from compress.decisions.values import DecisionPoint
from compress.entries import fact_line, headline
from compress.events import ContentBlock, SessionEvent, Usage
from compress.operations import OperationRow
from inspector.decision_parquet import row_of
from inspector.lake_texts import Cleaner, readable
from storage.catalog import SessionRecord
from storage.lake import LakeEvent
from storage.rows import encode_op

Row = dict[str, Any]
Columns = Mapping[str, tuple[str, str]]
"""Name → (kind, meaning). Kinds: ``text``, ``whole`` (64 bits), ``flag``, ``time`` (microseconds,
UTC), ``texts``, ``calls``, ``blocks``."""

_SESSION: Columns = {
    "session": ("text", "the session's name in the store, the same in all tables"),
    "relation": ("text", "main, subagent or fork"),
    "parent": ("text", "native id of the session that it came from"),
    "project": ("text", "the session's working directory"),
}
EVENTS: Columns = {
    **_SESSION,
    "generation": ("whole", "how often the log was begun anew; rows of the newest one stand"),
    "seq": ("whole", "the event's number in its session, in order of first sight"),
    "revision": ("whole", "1 for the first content of an event; the greatest one stands"),
    "position": ("whole", "order of the fold within a generation"),
    "type": ("text", "as in `SessionEvent`: user/message, assistant/message, tool/result …"),
    "native_id": ("text", "the id of the record in the agent's log"),
    "block": ("whole", "index of the event among those of its record"),
    "node": ("whole", "seq of the first event of its node on the surface"),
    "op": ("text", "append, replace or rebase"),
    "op_json": (
        "text",
        "of a replace or rebase: all of it; [first, last] is a run of seqs",
    ),
    "role": ("text", "user, assistant, system or developer"),
    "turn": ("whole", "of the session, from 1"),
    "step": ("whole", "the request to the model, from 1"),
    "time": ("time", "as the log tells; unknown where it does not; never an order"),
    "model": ("text", "that answered"),
    "tokens": ("whole", "counted, not the provider's"),
    "thinking_tokens": ("whole", "the part of tokens that is thinking"),
    "call_tokens": ("whole", "the part of tokens that is tool calls"),
    "image_tokens": ("whole", "the part of tokens that is images"),
    "calls": ("calls", "tool calls that it makes: id, name"),
    "results": ("texts", "ids of the calls that it answers"),
    "is_error": ("flag", "a result that the agent marked as failed"),
    "request": ("whole", "with usage: seq of the first event that the request produced"),
    "input_tokens": ("whole", "the provider's: neither read from nor written to its cache"),
    "cache_read_tokens": ("whole", "the provider's"),
    "cache_write_tokens": ("whole", "the provider's"),
    "output_tokens": ("whole", "the provider's, reasoning included"),
    "reasoning_tokens": ("whole", "the part of output_tokens that was reasoning"),
    "is_lower_bound": ("flag", "the stream was cut: the output is at least this"),
    "headline": ("text", "at most 200 characters"),
    "content": ("blocks", "its blocks: kind, text, id, name, input (JSON), is_error"),
    "meta": ("text", "facts of its type, as JSON"),
}
OPERATIONS: Columns = {
    **_SESSION,
    "number": ("whole", "N of the event's oN, in order; append-only"),
    "operation": ("text", "id of the operation: oN of its first event"),
    "after": ("whole", "the newest seq of the agent's log when it was made"),
    "origin": ("text", "user, or policy"),
    "at": ("time", "when it was committed"),
    "type": ("text", "pin/add, compact/start, operation/undo … or the type on the surface"),
    "op": EVENTS["op"],
    "op_json": EVENTS["op_json"],
    "role": EVENTS["role"],
    "content": EVENTS["content"],
    "meta": EVENTS["meta"],
}
DECISION_OWN: Columns = {
    **_SESSION,
    "version": ("whole", "1, 2, 3 … each time that the record was written; the greatest stands"),
    "withdrawn": ("flag", "a later harvest does not give the record any more; only its ids stand"),
    "native_id": ("text", "the session's native id"),
}
"""Beside the columns of a decision point (``ullage schema decision``)."""
_NULLED_USAGE = Usage()
_INT64 = 1 << 63


def event_row(session: SessionRecord, one: LakeEvent, clean: Cleaner) -> Row:
    """One row of ``events``."""
    entry, event = one.entry, one.event
    blocks = [_cleaned(block, clean) for block in event.blocks]
    meta = clean_json(entry.meta, clean)
    usage = entry.usage or _NULLED_USAGE
    return {
        **_session(session, clean),
        "generation": session.generation,
        "seq": entry.seq,
        "revision": one.revision,
        "position": one.position,
        "type": entry.type,
        "native_id": readable(event.native_id),
        "block": event.block,
        "node": entry.node,
        **_operation(event),
        "role": entry.role,
        "turn": _whole(entry.turn),
        "step": _whole(entry.step),
        "time": moment(entry.time),
        "model": None if entry.model is None else readable(entry.model),
        "tokens": entry.tokens,
        "thinking_tokens": entry.thinking_tokens,
        "call_tokens": entry.call_tokens,
        "image_tokens": entry.image_tokens,
        "calls": [{"id": readable(i), "name": clean(name)} for i, name in entry.calls],
        "results": [readable(i) for i in entry.results],
        "is_error": entry.is_error,
        "request": entry.request,
        "input_tokens": _whole(usage.input),
        "cache_read_tokens": _whole(usage.cache_read),
        "cache_write_tokens": _whole(usage.cache_write),
        "output_tokens": _whole(usage.output),
        "reasoning_tokens": _whole(usage.reasoning),
        "is_lower_bound": None if entry.usage is None else usage.lower_bound,
        # Of what is shown: the store's own is cut, and with it what a secret is known by.
        "headline": readable(headline(blocks) or (fact_line(meta) if meta else "")),
        "content": [_block(block) for block in blocks],
        "meta": _json(meta) if meta else None,
    }


def operation_row(session: SessionRecord, row: OperationRow, clean: Cleaner) -> Row:
    """One row of ``operations``."""
    event = row.event
    return {
        **_session(session, clean),
        "number": row.number,
        "operation": row.operation,
        "after": row.after,
        "origin": row.origin,
        "at": moment(row.at),
        "type": event.type,
        **_operation(event),
        "role": event.role,
        "content": [_block(_cleaned(block, clean)) for block in event.blocks],
        "meta": _json(clean_json(event.meta, clean)) if event.meta else None,
    }


def decision_row(session: SessionRecord, point: DecisionPoint, version: int, clean: Cleaner) -> Row:
    """One row of ``decisions``; ``point`` with its texts cleaned already."""
    row = row_of(point)
    del row["agent"]
    return row | {
        "native_id": row["session"],
        "version": version,
        "withdrawn": False,
        **_session(session, clean),
    }


def withdrawn_row(session: SessionRecord, identifier: str, version: int, clean: Cleaner) -> Row:
    """The row that says that a decision point stands no longer."""
    own = {"id": identifier, "native_id": readable(session.native_id), "version": version}
    return {**own, "withdrawn": True, **_session(session, clean)}


def day_of(time: float | None) -> str | None:
    """The partition of a moment: its day in UTC."""
    return None if time is None else datetime.fromtimestamp(time, UTC).date().isoformat()


def moment(time: float | None) -> datetime | None:
    """Seconds since 1970 as a moment in UTC."""
    return None if time is None else datetime.fromtimestamp(time, UTC)


def clean_json(value: Any, clean: Cleaner) -> Any:
    """A JSON value with every text in it cleaned."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, list | tuple):
        return [clean_json(item, clean) for item in value]
    if isinstance(value, Mapping):
        return {
            clean(str(name)): clean.named(str(name), item)
            if isinstance(item, str)
            else clean_json(item, clean)
            for name, item in value.items()
        }
    return value


def _session(session: SessionRecord, clean: Cleaner) -> Row:
    return {
        "session": readable(session.name),
        "relation": session.relation,
        "parent": None if session.parent_native_id is None else readable(session.parent_native_id),
        "project": None if session.cwd is None else clean(session.cwd),
    }


def _operation(event: SessionEvent) -> Row:
    op = event.op
    whole = None if op is None or op.op == "append" else encode_op(op)
    return {"op": None if op is None else op.op, "op_json": whole}


def _cleaned(block: ContentBlock, clean: Cleaner) -> ContentBlock:
    given = None if block.input is None else clean_json(block.input, clean)
    name = None if block.name is None else clean(block.name)
    return block.model_copy(update={"text": clean(block.text), "name": name, "input": given})


def _block(block: ContentBlock) -> Row:
    return {
        "kind": block.kind,
        "text": block.text,
        "id": None if block.id is None else readable(block.id),
        "name": None if block.name is None else readable(block.name),
        "input": None if block.input is None else _json(block.input),
        "is_error": block.is_error,
    }


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _whole(number: int | None) -> int | None:
    return number if number is None or -_INT64 <= number < _INT64 else None
