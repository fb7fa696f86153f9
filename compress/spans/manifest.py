"""A document's spans as JSON that can be checked: what was cut, for which model, where, and the
digests by which anyone who has the document can tell that it is still so.

The text itself stands in the document alone. A manifest holds offsets, the metadata of every span
and digests; read back with its document (``manifest_reading``) it gives the same spans, or is
refused.
"""

from __future__ import annotations

import hashlib
import json
from typing import Annotated, Any, Literal

from pydantic import Field, PlainValidator, WithJsonSchema

from compress.errors import CompressError
from compress.spans.blocks import encoded
from compress.spans.profile import (
    Digest,
    Fact,
    Name,
    Positive,
    SpanProfile,
    canonical_digest,
)
from compress.spans.values import (
    BlockKind,
    BoundaryMode,
    Cut,
    SourceRange,
    Span,
    Spans,
    TextKind,
)

FORMAT: Literal["ullage.spans"] = "ullage.spans"
VERSION: Literal[1] = 1


def _any_text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("it is no string")
    return value


Text = Annotated[str, PlainValidator(_any_text), WithJsonSchema({"type": "string"})]
"""Text of a document, in which lone surrogates may stand; pydantic's own strings take none."""
Count = Annotated[int, Field(ge=0)]
Pair = Annotated[list[Count], Field(min_length=2, max_length=2)]


class ManifestError(CompressError):
    """A manifest that is none, is damaged, or does not belong to its document or profile. The
    message says where, and holds nothing of the text."""

    code = "span_manifest"


class DocumentEntry(Fact):
    """The text that was cut."""

    id: Text
    digest: Digest
    scalars: Count
    bytes: Count


class ProfileEntry(Fact):
    """The profile that it was cut for."""

    id: Name
    digest: Digest


class LimitsEntry(Fact):
    """Tokens, metadata included."""

    preferred: Positive
    hard: Positive
    overlap: Count


class RangeEntry(Fact):
    """Half open; scalars of the text, and bytes of its UTF-8 form."""

    start: Count
    end: Count
    byte_start: Count
    byte_end: Count


class BlockEntry(Fact):
    """A block of the source. Its index is its place in the list."""

    kind: BlockKind
    range: RangeEntry
    level: Count
    parent: Count | None


class SpanEntry(Fact):
    """A span. Its index is its place in the list; its neighbours stand beside it."""

    id: Name
    range: RangeEntry
    metadata: Text
    """What stands in the payload before the text of the range."""
    payload_digest: Digest
    tokens: Count
    section: list[Text]
    parent: Count | None
    blocks: Pair
    overlap: Count
    cut: Cut


class SpanManifest(Fact):
    """One document, cut."""

    format: Literal["ullage.spans"]
    version: Literal[1]
    document: DocumentEntry
    profile: ProfileEntry
    kind: TextKind
    limits: LimitsEntry
    counter: Name
    boundary_mode: BoundaryMode
    blocks: list[BlockEntry]
    spans: list[SpanEntry]
    digest: Digest
    """SHA-256 of all the rest as JSON with sorted keys, without blanks, in ASCII."""


def manifest(spans: Spans, profile: SpanProfile) -> SpanManifest:
    """The manifest of a cut document. Raises :class:`ManifestError` where the spans were not cut
    to the profile's limits and tokenizer."""
    if spans.limits != profile.limits:
        raise ManifestError(f"The spans were cut to other limits than those of {profile.id}.")
    if spans.counter != profile.tokenizer:
        raise ManifestError(
            f"The spans were counted by {spans.counter}; {profile.id} counts by "
            f"{profile.tokenizer}."
        )
    text = spans.document.text
    body: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "document": {
            "id": spans.document.id,
            "digest": spans.document.digest,
            "scalars": len(text),
            "bytes": len(encoded(text)),
        },
        "profile": {"id": profile.id, "digest": profile.digest},
        "kind": spans.kind,
        "limits": {
            "preferred": spans.limits.preferred,
            "hard": spans.limits.hard,
            "overlap": spans.limits.overlap,
        },
        "counter": spans.counter,
        "boundary_mode": spans.boundary_mode,
        "blocks": [
            {"kind": b.kind, "range": _range(b.range), "level": b.level, "parent": b.parent}
            for b in spans.blocks
        ],
        "spans": [_span(span) for span in spans.spans],
    }
    return SpanManifest.model_validate(body | {"digest": canonical_digest(body)})


def manifest_text(manifest: SpanManifest) -> str:
    """As JSON, one document with its newline, the same bytes for the same manifest."""
    return json.dumps(manifest.model_dump(), ensure_ascii=True, indent=1, allow_nan=False) + "\n"


def _range(where: SourceRange) -> dict[str, int]:
    return {
        "start": where.start,
        "end": where.end,
        "byte_start": where.byte_start,
        "byte_end": where.byte_end,
    }


def _span(span: Span) -> dict[str, Any]:
    return {
        "id": span.id,
        "range": _range(span.range),
        "metadata": span.payload[: span.payload_start],
        "payload_digest": hashlib.sha256(encoded(span.payload)).hexdigest(),
        "tokens": span.tokens,
        "section": list(span.section),
        "parent": span.parent,
        "blocks": list(span.blocks),
        "overlap": span.overlap,
        "cut": span.cut,
    }
