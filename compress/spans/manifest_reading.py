"""A manifest of spans read back: each thing that can be wrong with it is looked for."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from compress.spans.blocks import encoded
from compress.spans.manifest import (
    FORMAT,
    VERSION,
    ManifestError,
    RangeEntry,
    SpanManifest,
)
from compress.spans.offsets import scalar_starts
from compress.spans.profile import SpanProfile, canonical_digest, first_problem
from compress.spans.values import Document, SourceBlock, SourceRange, Span, SpanLimits, Spans
from compress.tokens import TokenCounter, count_many


def read_manifest(
    text: str | bytes,
    document: Document,
    profiles: Mapping[str, SpanProfile],
    counter: TokenCounter | None = None,
) -> Spans:
    """The spans that a manifest tells of, as they were when it was made.

    ``profiles`` by their id, see :func:`compress.spans.profile.registered`. With a ``counter``,
    which must be the manifest's, the tokens are counted again. Raises :class:`ManifestError` for
    what is no such JSON, has unknown fields, an unsupported version or a wrong digest, belongs to
    another document or profile, or has offsets that do not give the source.
    """
    entry = _parsed(text)
    _belongs(entry, document, profiles)
    spans = _rebuilt(entry, document)
    if counter is not None:
        _counted(spans, counter)
    return spans


def _parsed(text: str | bytes) -> SpanManifest:
    try:
        value = json.loads(text, object_pairs_hook=_once, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise ManifestError("The manifest is no JSON, or names a field twice.") from error
    if not isinstance(value, dict) or value.get("format") != FORMAT:
        raise ManifestError(f"This is no manifest of spans: its format is not {FORMAT}.")
    if type(value.get("version")) is not int or value["version"] != VERSION:
        raise ManifestError(
            f"The manifest's version is not supported; this program reads version {VERSION}."
        )
    try:
        entry = SpanManifest.model_validate(value)
    except ValidationError as error:
        raise ManifestError(f"The manifest is damaged: {first_problem(error)}.") from error
    if canonical_digest({k: v for k, v in value.items() if k != "digest"}) != entry.digest:
        raise ManifestError("The manifest is damaged: its digest is that of other content.")
    return entry


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a field is named twice")
    return found


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def _belongs(entry: SpanManifest, document: Document, profiles: Mapping[str, SpanProfile]) -> None:
    content = encoded(document.text)
    if entry.document.id != document.id:
        raise ManifestError("The manifest is of another document.")
    if entry.document.digest != hashlib.sha256(content).hexdigest():
        raise ManifestError("The document is not the one that was cut: its digest is another.")
    if (entry.document.scalars, entry.document.bytes) != (len(document.text), len(content)):
        raise ManifestError("The manifest is damaged: it gives the document another length.")
    profile = profiles.get(entry.profile.id)
    if profile is None:
        raise ManifestError(f"There is no profile {entry.profile.id} to check the manifest by.")
    if profile.digest != entry.profile.digest:
        raise ManifestError(f"The profile {entry.profile.id} is not the one that was cut for.")
    limits = SpanLimits(entry.limits.preferred, entry.limits.hard, entry.limits.overlap)
    if limits != profile.limits or entry.counter != profile.tokenizer:
        raise ManifestError(f"The limits or the counter are not those of {entry.profile.id}.")


def _rebuilt(entry: SpanManifest, document: Document) -> Spans:
    check = _Ranges(document.text)
    blocks = []
    for index, block in enumerate(entry.blocks):
        where = check.range(f"block {index}", block.range)
        _within(f"block {index}", "its parent", block.parent, index)
        blocks.append(SourceBlock(index, block.kind, where, block.level, block.parent))
    check.covers("blocks", [(block.range.start, block.range.end) for block in blocks])
    spans = [_span(index, entry, blocks, check, document.text) for index in range(len(entry.spans))]
    check.covers("spans", [(s.range.start + s.overlap, s.range.end) for s in spans])
    if len({span.id for span in spans}) != len(spans):
        raise ManifestError("The manifest is damaged: two spans have one id.")
    limits = SpanLimits(entry.limits.preferred, entry.limits.hard, entry.limits.overlap)
    return Spans(
        document,
        entry.kind,
        limits,
        entry.counter,
        entry.boundary_mode,
        tuple(blocks),
        tuple(spans),
    )


def _span(
    index: int, entry: SpanManifest, blocks: list[SourceBlock], check: _Ranges, text: str
) -> Span:
    name, one = f"span {index}", entry.spans[index]
    where = check.range(name, one.range)
    if one.overlap >= where.end - where.start:
        raise ManifestError(f"The manifest is damaged: {name} holds nothing of its own.")
    payload = one.metadata + text[where.start : where.end]
    if hashlib.sha256(encoded(payload)).hexdigest() != one.payload_digest:
        raise ManifestError(f"The manifest is damaged: the source does not give {name} again.")
    if one.tokens > entry.limits.hard:
        raise ManifestError(f"The manifest is damaged: {name} is above the hard limit.")
    first, last = one.blocks
    for block in (one.parent, first, last):
        _within(name, "a block", block, len(blocks))
    if not (
        first <= last
        and blocks[first].range.start <= where.start < blocks[first].range.end
        and blocks[last].range.start < where.end <= blocks[last].range.end
    ):
        raise ManifestError(f"The manifest is damaged: {name} is not in its blocks.")
    return Span(
        index=index,
        id=one.id,
        range=where,
        payload=payload,
        payload_start=len(one.metadata),
        tokens=one.tokens,
        section=tuple(one.section),
        parent=one.parent,
        previous=index - 1 if index else None,
        next=index + 1 if index + 1 < len(entry.spans) else None,
        blocks=(first, last),
        overlap=one.overlap,
        cut=one.cut,
    )


class _Ranges:
    """Checks ranges against a text."""

    def __init__(self, text: str) -> None:
        self._size = len(text)
        self._starts = scalar_starts(text)

    def range(self, name: str, entry: RangeEntry) -> SourceRange:
        """Raises :class:`ManifestError` where scalars and bytes are not the same place, or are
        outside of the text."""
        if not entry.start <= entry.end <= self._size:
            raise ManifestError(f"The manifest is damaged: {name} is outside of the document.")
        bytes_there = self._starts[entry.start], self._starts[entry.end]
        if bytes_there != (entry.byte_start, entry.byte_end):
            raise ManifestError(
                f"The manifest is damaged: the characters and bytes of {name} are two places."
            )
        return SourceRange(entry.start, entry.end, entry.byte_start, entry.byte_end)

    def covers(self, name: str, parts: list[tuple[int, int]]) -> None:
        """Raises :class:`ManifestError` where the parts, one after the other, are not the text."""
        at = 0
        for start, end in parts:
            if start != at:
                raise ManifestError(f"The manifest is damaged: its {name} leave a gap.")
            at = end
        if at != self._size:
            raise ManifestError(f"The manifest is damaged: its {name} end before the document.")


def _within(name: str, what: str, index: int | None, end: int) -> None:
    if index is not None and index >= end:
        raise ManifestError(f"The manifest is damaged: {what} of {name} does not exist.")


def _counted(spans: Spans, counter: TokenCounter) -> None:
    if counter.name != spans.counter:
        raise ManifestError(
            f"The manifest was counted by {spans.counter}, which {counter.name} cannot check."
        )
    counts = count_many(counter, [span.payload for span in spans.spans])
    for span, tokens in zip(spans.spans, counts, strict=True):
        if span.tokens != tokens:
            raise ManifestError(
                f"The manifest is damaged: span {span.index} counts {tokens} tokens, not "
                f"{span.tokens}."
            )
