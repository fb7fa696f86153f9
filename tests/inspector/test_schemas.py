"""The published schemas are those of the models, and say what the contract says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from inspector.schemas import UnknownSchemaError, names, schema_text, write_all
from tests.conftest import REPOSITORY

PUBLISHED = REPOSITORY / "assets" / "schemas"


def test_the_published_files_are_current(tmp_path: Path) -> None:
    write_all(tmp_path)
    for path in sorted(tmp_path.iterdir()):
        assert (PUBLISHED / path.name).read_text() == path.read_text(), (
            "run python -m inspector.schemas"
        )
    assert {p.name for p in PUBLISHED.iterdir()} == {p.name for p in tmp_path.iterdir()}


def objects(value: Any) -> list[dict[str, Any]]:
    found = [value] if isinstance(value, dict) else []
    for item in value.values() if isinstance(value, dict) else value:
        if isinstance(item, dict | list):
            found += objects(item)
    return found


@pytest.mark.parametrize("name", [name for name, _ in names() if name != "spans"])
def test_a_schema_lets_fields_be_added(name: str) -> None:
    assert all(part.get("additionalProperties") is not False for part in objects(_schema(name)))


def test_the_manifest_of_spans_is_closed_since_it_is_checked_when_it_is_read() -> None:
    closed = [part for part in objects(_schema("spans")) if "properties" in part]
    assert closed
    assert all(part["additionalProperties"] is False for part in closed)


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("show", {"session", "track", "at_seq", "replace_generation", "counter", "nodes"}),
        ("messages", {"session", "track", "at_seq", "messages"}),
        ("pressure", {"model", "window", "window_source", "used", "used_source", "requests"}),
        ("compact", {"region", "nodes", "summary", "lost", "floor", "operation", "warnings"}),
        ("operation", {"operation", "state", "surface_tokens"}),
        ("ingest", {"files", "records", "events", "damaged", "seconds"}),
        ("doctor", {"sources", "store", "tokenizer", "settings"}),
        ("error", {"error"}),
    ],
)
def test_a_schema_names_the_promised_fields(name: str, fields: set[str]) -> None:
    assert fields <= set(_schema(name)["properties"])


def test_an_unknown_name_is_refused_with_the_nearest() -> None:
    with pytest.raises(UnknownSchemaError) as caught:
        schema_text("presure")
    assert caught.value.choices[0] == "pressure"


def _schema(name: str) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(schema_text(name))
    return loaded
