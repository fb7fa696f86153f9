"""The manifest of a cut document: read back it gives the same spans, damaged it is refused."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import jsonschema
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from compress.spans.blocks import document
from compress.spans.manifest import ManifestError, manifest, manifest_text
from compress.spans.manifest_reading import read_manifest
from compress.spans.packer import spans_of
from compress.spans.profile import canonical_digest, profile, registered
from compress.spans.values import Spans
from compress.tokens import CharsOverFour
from inspector.schemas import schema_text
from tests.compress.spans.made import COUNTER, CUT, FACTS, PROFILE, cut

SPANS = cut(
    [("", "Zwölf "), ("Über > ", "👩🏽 汉ก, and so on"), ("Über > ", "the end.\n")], overlap=3
)
PROFILES = registered([PROFILE])
SCHEMA = json.loads(schema_text("spans"))
jsonschema.Draft202012Validator.check_schema(SCHEMA)
CONFORMS = jsonschema.Draft202012Validator(SCHEMA)
Json = Any


def written(spans: Spans = SPANS) -> dict[str, Json]:
    value: dict[str, Json] = json.loads(manifest_text(manifest(spans, PROFILE)))
    return value


def sealed(value: dict[str, Json]) -> str:
    """With the digest that its content has now, as whoever changes a manifest could write it."""
    body = {key: item for key, item in value.items() if key != "digest"}
    return json.dumps(body | {"digest": canonical_digest(body)})


def read(text: str, spans: Spans = SPANS, counter: CharsOverFour | None = COUNTER) -> Spans:
    return read_manifest(text, spans.document, PROFILES, counter)


@given(CUT)
def test_a_manifest_gives_the_same_spans_again(spans: Spans) -> None:
    # Two lone surrogates that follow each other are one character in JSON.
    for span in spans.spans:
        metadata = span.payload[: span.payload_start]
        assume(json.loads(json.dumps(metadata)) == metadata)
    text = manifest_text(manifest(spans, PROFILE))
    assert read(text, spans) == spans
    assert read(text.encode(), spans) == spans
    CONFORMS.validate(json.loads(text))


@pytest.mark.parametrize(
    "text",
    [
        "# Kiln\n\nIt fires at 1,240 °C.\n\n## Glaze\n\n- ash\n- feldspar\n\n" * 30,
        "汉字没有空格" * 700,
        "👩‍👩‍👧‍👦" * 900 + "e" + "\u0301" * 50,
        "no boundary at all: " + "x" * 9_000,
    ],
    ids=["headings", "han", "clusters", "nothing to cut at"],
)
def test_a_document_that_the_engine_cut_can_be_written_down(text: str) -> None:
    spans = spans_of(document("kiln.md", text), PROFILE.limits, COUNTER)
    assert len(spans.spans) > 1
    assert read(manifest_text(manifest(spans, PROFILE)), spans) == spans


def test_an_empty_document_has_a_manifest() -> None:
    empty = cut([])
    assert read(manifest_text(manifest(empty, PROFILE)), empty) == empty


def test_the_text_stands_in_the_document_alone() -> None:
    assert "and so on" not in manifest_text(manifest(SPANS, PROFILE))


def test_the_digests_are_those_of_the_bytes() -> None:
    value = written()
    assert value["document"]["digest"] == hashlib.sha256(SPANS.document.text.encode()).hexdigest()
    payload = SPANS.spans[1].payload.encode()
    assert value["spans"][1]["payload_digest"] == hashlib.sha256(payload).hexdigest()


def test_order_and_blanks_mean_nothing() -> None:
    value = dict(reversed(written().items()))
    assert read(json.dumps(value, separators=(" ,\n", "  : "))) == SPANS
    assert read(json.dumps(value, ensure_ascii=False)) == SPANS


def test_spans_of_other_limits_or_another_counter_than_the_profiles_have_no_manifest() -> None:
    other = profile(FACTS | {"hard_tokens": 999})
    with pytest.raises(ManifestError, match="cut to other limits than those of example"):
        manifest(SPANS, other)
    with pytest.raises(ManifestError, match="were counted by cl100k_base"):
        manifest(replace(SPANS, counter="cl100k_base"), PROFILE)


def test_another_document_is_refused() -> None:
    text = manifest_text(manifest(SPANS, PROFILE))
    for other in (
        cut([("", SPANS.document.text + " ")]),
        cut([("", SPANS.document.text.upper())]),
    ):
        with pytest.raises(ManifestError, match="its digest is another"):
            read(text, other)
    with pytest.raises(ManifestError, match="of another document"):
        read(text, cut([("", SPANS.document.text)], name="other.md"))


def test_another_or_no_profile_is_refused() -> None:
    text = manifest_text(manifest(SPANS, PROFILE))
    with pytest.raises(ManifestError, match="no profile example/embed-small@3"):
        read_manifest(text, SPANS.document, {})
    changed = profile(FACTS | {"dimensions": 768})
    with pytest.raises(ManifestError, match="is not the one that was cut for"):
        read_manifest(text, SPANS.document, registered([changed]))


def test_a_counter_of_another_name_cannot_check() -> None:
    with pytest.raises(ManifestError, match="counted by chars/4, which o200k_base cannot check"):
        read(json.dumps(written()), counter=CharsOverFour("o200k_base"))


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"format": "ullage.spans"', "\ud800"])
def test_what_is_no_manifest_is_refused(text: str) -> None:
    with pytest.raises(ManifestError):
        read(text)
    with pytest.raises(ManifestError):
        read_manifest(b"\xff\xfe\xff", SPANS.document, PROFILES)


@pytest.mark.parametrize("version", [0, 2, 1.0, "1", True, None])
def test_another_version_is_refused_whatever_else_it_holds(version: Json) -> None:
    with pytest.raises(ManifestError, match="version is not supported; this program reads"):
        read(sealed(written() | {"version": version, "new_field": 1}))


def test_another_format_is_refused() -> None:
    with pytest.raises(ManifestError, match=r"its format is not ullage\.spans"):
        read(sealed(written() | {"format": "ullage.packs"}))


def test_a_field_named_twice_is_refused() -> None:
    text = json.dumps(written())
    with pytest.raises(ManifestError, match="names a field twice"):
        read(text[:-1] + ', "kind": "plain"}')


def test_a_wrong_digest_is_refused() -> None:
    with pytest.raises(ManifestError, match="its digest is that of other content"):
        read(json.dumps(written() | {"kind": "log"}))


def places(value: Json, path: tuple[Json, ...] = ()) -> list[tuple[Json, ...]]:
    """The way to every value in a JSON document."""
    inside = value.items() if isinstance(value, dict) else enumerate(value)
    found = []
    for key, item in inside:
        found.append((*path, key))
        if isinstance(item, dict | list):
            found += places(item, (*path, key))
    return found


def at(value: Json, path: tuple[Json, ...]) -> Json:
    for key in path:
        value = value[key]
    return value


PLACES = places(written())
NO_JSON = (float("inf"), float("-inf"))
NEW_VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 40),
    st.floats(),
    st.text(max_size=3),
    st.just([]),
    st.just({}),
    st.just("0" * 64),
)


@given(st.sampled_from(PLACES), NEW_VALUES, st.booleans())
def test_any_changed_value_is_refused(path: tuple[Json, ...], new: Json, removed: bool) -> None:
    value = written()
    holder = at(value, path[:-1])
    assume(removed or not (type(holder[path[-1]]) is type(new) and holder[path[-1]] == new))
    if removed:
        del holder[path[-1]]
    else:
        holder[path[-1]] = new
    with pytest.raises(ManifestError):
        read(json.dumps(value))


@given(st.sampled_from([(), *(path for path in PLACES if isinstance(at(written(), path), dict))]))
def test_an_unknown_field_is_refused_wherever_it_stands(path: tuple[Json, ...]) -> None:
    value = written()
    at(value, path)["note"] = "harmless"
    with pytest.raises(ManifestError, match=r"note: it is unknown"):
        read(sealed(value))
    with pytest.raises(jsonschema.ValidationError):
        CONFORMS.validate(value)


NUMBERS = [path for path in PLACES if path[0] != "digest" and type(at(written(), path)) is int]
SETTLED = {"level", "parent"}
"""What a reader has to take as it is told: it does not follow from the text."""


@given(st.sampled_from(NUMBERS), st.integers(-3, 3).filter(bool))
def test_a_changed_offset_is_refused_although_the_digest_was_made_anew(
    path: tuple[Json, ...], by: int
) -> None:
    assume(not SETTLED & set(path))
    value = written()
    at(value, path[:-1])[path[-1]] += by
    with pytest.raises(ManifestError):
        read(sealed(value))


@given(st.sampled_from([path for path in PLACES if path != ("digest",)]), NEW_VALUES)
def test_what_the_schema_refuses_is_refused(path: tuple[Json, ...], new: Json) -> None:
    value = written()
    at(value, path[:-1])[path[-1]] = new
    if CONFORMS.is_valid(value):
        return
    with pytest.raises(ManifestError):
        # No digest can be made of what is no JSON.
        read(sealed(value) if new not in NO_JSON and new == new else json.dumps(value))


def moved(value: Json) -> None:
    value["spans"][0], value["spans"][1] = value["spans"][1], value["spans"][0]


def shifted(value: Json) -> None:
    """A range whose scalars and bytes agree, of another place of the same length."""
    for name in ("start", "end", "byte_start", "byte_end"):
        value["spans"][2]["range"][name] -= 1


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (lambda v: v["document"].update(scalars=1), "gives the document another length"),
        (lambda v: v["spans"][0]["range"].update(end=900), "span 0 is outside of the document"),
        (lambda v: v["spans"][0]["range"].update(byte_end=6), "bytes of span 0 are two places"),
        (shifted, "the source does not give span 2 again"),
        (lambda v: v["spans"][1].update(metadata="Ober > "), "does not give span 1 again"),
        (lambda v: v["spans"][1].update(overlap=2), "its spans leave a gap"),
        (lambda v: v["spans"][1].update(overlap=99), "span 1 holds nothing of its own"),
        (lambda v: v["spans"].pop(), "its spans end before the document"),
        (moved, "its spans leave a gap"),
        (lambda v: v["spans"][1].update(tokens=1), "span 1 counts 7 tokens, not 1"),
        (lambda v: v["spans"][1].update(tokens=1_001), "span 1 is above the hard limit"),
        (lambda v: v["spans"][1].update(parent=3), "a block of span 1 does not exist"),
        (lambda v: v["spans"][1].update(blocks=[0, 3]), "a block of span 1 does not exist"),
        (lambda v: v["spans"][1].update(blocks=[1, 0]), "span 1 is not in its blocks"),
        (lambda v: v["spans"][2].update(id="notes.md-1"), "two spans have one id"),
        (lambda v: v["blocks"].pop(0), "its blocks leave a gap"),
        (lambda v: v["blocks"][1].update(parent=1), "its parent of block 1 does not exist"),
        (lambda v: v["limits"].update(hard=2_000), "limits or the counter are not those of"),
        (lambda v: v.update(counter="cl100k_base"), "limits or the counter are not those of"),
        (lambda v: v.update(kind="poem"), "kind: input should be"),
    ],
)
def test_each_damage_is_named(damage: Callable[[Json], object], says: str) -> None:
    value = written()
    damage(value)
    with pytest.raises(ManifestError, match=says):
        read(sealed(value))


def test_a_refusal_holds_nothing_of_the_text() -> None:
    value = written()
    value["spans"][1]["tokens"] = "a secret of the text"
    with pytest.raises(ManifestError) as caught:
        read(sealed(value))
    assert "secret" not in str(caught.value)
