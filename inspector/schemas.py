"""The JSON Schemas of what ``--json`` prints, made from the report models themselves."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from compress.decisions.values import DecisionPoint
from compress.spans.manifest import SpanManifest
from inspector.artifact_reports import ArtifactReport, ArtifactsReport
from inspector.audit_reports import HeadReport, VerificationReport
from inspector.install_reports import InstallReport
from inspector.lake_reports import LakeReport, SpansReport
from inspector.pack_reports import PackReport
from inspector.profile_reports import ProfileCheck, ProfileRow
from inspector.rebuild_reports import RebuildReport
from inspector.reports import (
    AuditRow,
    CompactionReport,
    DoctorReport,
    IngestReport,
    MessagesReport,
    OperationReport,
    PressureReport,
    Refusal,
    Report,
    SearchHit,
    SessionRow,
    SurfaceReport,
)
from inspector.resume_reports import ResumeReport
from inspector.squeeze_reports import OutputRow, SqueezeReport
from inspector.usage_reports import UsageReport

DIALECT = "https://json-schema.org/draft/2020-12/schema"


class ErrorDocument(Report):
    """What any command prints with exit code 1."""

    error: Refusal


class OperationDocument(Report):
    """``ullage audit SESSION --show OPERATION --json``."""

    operation: AuditRow
    diff: str
    """Unified diff of the surface's texts before and after."""
    raw: str = ""
    """As it was written, one record a line under the place of the first."""


_DOCUMENTS: dict[str, tuple[str, Any]] = {
    "sessions": ("ullage sessions", list[SessionRow]),
    "show": ("ullage show SESSION", SurfaceReport),
    "messages": ("ullage show SESSION --messages", MessagesReport),
    "pressure": ("ullage pressure SESSION", PressureReport),
    "artifact": ("ullage artifacts SESSION ARTIFACT", ArtifactReport),
    "artifacts": ("ullage artifacts SESSION", ArtifactsReport),
    "compact": ("ullage compact SESSION", CompactionReport),
    "resume": ("ullage resume SESSION", ResumeReport),
    "operation": ("ullage pin, unpin, undo, redo", OperationReport),
    "audit": ("ullage audit [SESSION]", list[AuditRow]),
    "audit-show": ("ullage audit SESSION --show OPERATION", OperationDocument),
    "decisions": ("ullage decisions", list[DecisionPoint]),
    "decision": ("each line of ullage decisions --format jsonl", DecisionPoint),
    "audit-verify": ("ullage audit [SESSION] --verify", VerificationReport),
    "audit-head": ("ullage audit [SESSION] --head", HeadReport),
    "export-lake": ("ullage export --lake DIR", LakeReport),
    "export-otlp": ("ullage export --otlp [URL]", SpansReport),
    "pack": ("ullage pack [SESSION] QUERY", PackReport),
    "rebuild": ("ullage rebuild SESSION", RebuildReport),
    "install": ("ullage install AGENT, ullage uninstall AGENT", InstallReport),
    "search": ("ullage search QUERY", list[SearchHit]),
    "usage": ("ullage usage", UsageReport),
    "squeeze": ("ullage squeeze", SqueezeReport),
    "raw": ("ullage raw", list[OutputRow]),
    "profiles": ("ullage profiles", list[ProfileRow]),
    "profiles-check": ("ullage profiles check FILE", ProfileCheck),
    "ingest": ("ullage ingest [PATH…]", IngestReport),
    "doctor": ("ullage doctor", DoctorReport),
    "error": ("any command that refuses", ErrorDocument),
}
_FILES: dict[str, tuple[str, Any]] = {
    "spans": ("the manifest of a document that was cut into spans", SpanManifest),
}
"""Documents that no command prints and that are checked when they are read: a field that is not
in the schema is refused."""


class UnknownSchemaError(Exception):
    """A name that no schema has."""

    code = "unknown_schema"

    def __init__(self, name: str) -> None:
        known = [*_DOCUMENTS, *_FILES]
        near = difflib.get_close_matches(name, known, n=3)
        super().__init__(f"There is no schema {name}; `ullage schema` lists them all.")
        self.choices = tuple(near or known)


def names() -> Iterator[tuple[str, str]]:
    """Each schema's name and the command that prints such a document, or what it is."""
    for name, (command, _) in (_DOCUMENTS | _FILES).items():
        yield name, command


def schema_text(name: str) -> str:
    """One schema as JSON text, newline included. Raises :class:`UnknownSchemaError`."""
    if name in _FILES:
        title, model = _FILES[name]
        schema = TypeAdapter(model).json_schema(mode="serialization")
    elif name in _DOCUMENTS:
        command, model = _DOCUMENTS[name]
        title = command if "--format" in command else f"{command} --json"
        schema = _open(TypeAdapter(model).json_schema(mode="serialization"))
    else:
        raise UnknownSchemaError(name)
    head = {"$schema": DIALECT, "$id": f"ullage:{name}", "title": title}
    return json.dumps(head | {k: v for k, v in schema.items() if k != "title"}, indent=2) + "\n"


def _open(value: Any) -> Any:
    """The schema without ``additionalProperties: false``: fields may be added (the contract)."""
    if isinstance(value, list):
        return [_open(item) for item in value]
    if not isinstance(value, dict):
        return value
    closed = value.get("additionalProperties") is False
    return {k: _open(v) for k, v in value.items() if not (closed and k == "additionalProperties")}


def write_all(folder: Path) -> None:
    """Write every schema into the folder, as ``NAME.json``."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, _ in names():
        (folder / f"{name}.json").write_text(schema_text(name), encoding="utf-8")


if __name__ == "__main__":
    write_all(Path(__file__).resolve().parent.parent / "assets" / "schemas")
