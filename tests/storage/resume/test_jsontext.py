"""Records are cut and joined as text: what they hold stays byte for byte."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from storage.resume.base import Original
from storage.resume.jsontext import items, list_text, members, object_text, text_of

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=5,
)


def test_numbers_escapes_and_blanks_keep_their_bytes() -> None:
    text = '{ "a" : 1.0e5 , "b":"\\u00e9\\ud83d", "c":[ 1 ,{ "d":12345678901234567890123 } ] }'
    parts = members(text)
    assert parts == {
        "a": "1.0e5",
        "b": '"\\u00e9\\ud83d"',
        "c": '[ 1 ,{ "d":12345678901234567890123 } ]',
    }
    assert items(parts["c"]) == ["1", '{ "d":12345678901234567890123 }']
    assert object_text(parts) == (
        '{"a":1.0e5,"b":"\\u00e9\\ud83d","c":[ 1 ,{ "d":12345678901234567890123 } ]}'
    )


def test_of_a_key_that_comes_twice_the_last_counts() -> None:
    assert members('{"a":1,"a":2}') == {"a": "2"}


@settings(max_examples=40, deadline=None)
@given(st.dictionaries(st.text(max_size=4), VALUES), st.sampled_from([None, 1]))
def test_an_object_is_the_sum_of_its_members(value: dict[str, Any], indent: int | None) -> None:
    parts = members(json.dumps(value, indent=indent))
    assert {key: json.loads(part) for key, part in parts.items()} == value
    assert json.loads(object_text(parts)) == value


@settings(max_examples=40, deadline=None)
@given(st.lists(VALUES, max_size=4), st.booleans())
def test_a_list_is_the_sum_of_its_items(value: list[Any], ascii_only: bool) -> None:
    parts = items(json.dumps(value, ensure_ascii=ascii_only))
    assert json.loads(list_text(parts)) == value


@pytest.mark.parametrize("text", ["[1]", '"x"', "1", ""])
def test_what_is_no_object_has_no_members(text: str) -> None:
    with pytest.raises(ValueError, match="expected"):
        members(text)


def test_a_byte_order_mark_is_no_part_of_the_first_record() -> None:
    assert text_of(Original(1, b'\xef\xbb\xbf{"a":1}')) == '{"a":1}'


def test_a_damaged_record_is_carried_as_it_was_understood() -> None:
    assert text_of(Original(3, b'{"a":"\xff\x01"}')) == '{"a":"\ufffd\\u0001"}'


def test_what_is_not_understood_is_refused() -> None:
    with pytest.raises(ValueError, match="line 7"):
        text_of(Original(7, b"nonsense"))
