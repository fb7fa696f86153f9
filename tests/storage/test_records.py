"""One line → one record, whatever it holds."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.records import parse_record, parse_text


def parsed(raw: bytes, line: int = 2) -> tuple[Any, str | None]:
    record = parse_record(line, 0, raw)
    assert record is not None
    return record.value, record.damage


@pytest.mark.parametrize("raw", [b"", b"  \t", b"\r", b"\x0b\x0c"])
def test_a_blank_line_is_no_record(raw: bytes) -> None:
    assert parse_record(2, 0, raw) is None


def test_a_byte_order_mark_is_one_only_at_the_start_of_the_file() -> None:
    assert parsed(b"\xef\xbb\xbf{}", line=1) == ({}, None)
    assert parsed(b"\xef\xbb\xbf{}", line=2)[0] is None


@pytest.mark.parametrize("depth", [201, 600, 990, 3000, 100_000])
@pytest.mark.parametrize("brackets", [(b"[", b"]"), (b'{"a":', b"}")])
def test_what_is_nested_too_deeply_costs_one_line(
    depth: int, brackets: tuple[bytes, bytes]
) -> None:
    value, damage = parsed(brackets[0] * depth + b'"\\ud83d"' + brackets[1] * depth)
    assert (value, damage) == (None, "nested deeper than 200 levels")


def test_numbers_beyond_64_bits_are_read_and_absurd_ones_cost_one_line() -> None:
    assert parsed(b'{"a": 1180591620717411303424}') == ({"a": 2**70}, None)
    value, damage = parsed(b'{"a": ' + b"9" * 5000 + b"}")
    assert value is None
    assert damage is not None


@given(st.binary(max_size=40))
def test_no_bytes_raise_and_every_text_can_be_encoded(raw: bytes) -> None:
    record = parse_record(1, 0, raw)
    if record is not None:
        json.dumps(record.value, ensure_ascii=False).encode("utf-8")
        assert record.value is not None or record.damage or raw.strip().endswith(b"null")


@given(st.text(alphabet=st.characters(), max_size=8))
def test_lone_surrogates_are_replaced_and_pairs_joined(text: str) -> None:
    value, _ = parsed(json.dumps({text: [text]}).encode())
    joined = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    assert list(value.values()) == [list(value)]
    if "\ufffd" not in joined:
        assert value == {joined: [joined]}


@pytest.mark.parametrize(
    ("text", "found"),
    [('{"a": 1}', {"a": 1}), ('{"a": "\\ud800"}', {"a": "\ufffd"}), ("{", None), (" ", None)],
)
def test_json_in_a_text_of_a_record_is_read_as_leniently(text: str, found: object) -> None:
    assert parse_text(text) == found
