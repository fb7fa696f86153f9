"""Decision points as Parquet, by *pyarrow*, which only who wants it installs."""

from __future__ import annotations

import io
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from compress.decisions.values import DecisionPoint
from compress.errors import CompressError

_INT64 = 2**63


class MissingExtraError(CompressError):
    """What a format needs is not installed."""

    code = "missing_extra"


def parquet(points: Sequence[DecisionPoint]) -> bytes:
    """One row a record, by a fixed schema: nested lists where the record has them, times as
    timestamps in UTC. Readable by DuckDB, pandas, Polars and Spark.

    Raises :class:`MissingExtraError`.
    """
    try:
        import pyarrow as pa  # noqa: PLC0415 - 50 MB that only this needs
        import pyarrow.parquet as pq  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtraError(
            "Parquet needs pyarrow, which is not installed: pip install 'ullage[parquet]' brings "
            "it; the other forms need nothing.",
            [".jsonl", ".csv", ".md"],
        ) from error
    table = pa.Table.from_pylist([row_of(point) for point in points], schema=pa.schema(fields()))
    written = io.BytesIO()
    pq.write_table(table, written, compression="zstd")
    return written.getvalue()


def fields() -> list[tuple[str, Any]]:
    """Name and Arrow type of each column. Raises ``ImportError`` where there is no pyarrow."""
    import pyarrow as pa  # noqa: PLC0415

    seqs = pa.list_(pa.int64())
    text, whole = pa.string(), pa.int64()
    time = pa.timestamp("us", tz="UTC")

    def items(**fields: Any) -> Any:
        return pa.list_(pa.struct([*fields.items(), ("source_event_seqs", seqs)]))

    sources = ("title", "summary", "rationale", "outcome", "started_at", "ended_at")
    return [
        *(("id", text), ("revision", whole), ("level", text), ("open", pa.bool_())),
        *(("agent", text), ("session", text), ("project", text)),
        *(("stage_kind", text), ("stage_index", whole), ("stage_title", text)),
        *(("outcome", text), ("summary", text), ("rationale", text)),
        ("steering", items(kind=text, text=text)),
        ("evidence", items(kind=text, text=text, value=whole)),
        ("files", items(path=text, action=text)),
        ("source_event_seqs", seqs),
        *(("first_seq", whole), ("last_seq", whole)),
        *(("tokens", whole), ("stage_tokens", whole)),
        *(("started_at", time), ("ended_at", time), ("left_out", whole)),
        ("sources", pa.struct([(name, seqs) for name in sources])),
    ]


def row_of(point: DecisionPoint) -> dict[str, Any]:
    """The row of one record, by these columns."""
    row = point.model_dump()
    stage = row.pop("stage")
    row |= {f"stage_{name}": value for name, value in stage.items()}
    for name in ("started_at", "ended_at"):
        if row[name] is not None:
            row[name] = datetime.fromtimestamp(row[name], UTC)
    for item in row["evidence"]:
        if item["value"] is not None and not -_INT64 <= item["value"] < _INT64:
            item["value"] = None  # the text still has it
    return row
