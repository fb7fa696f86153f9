"""A JSON text is changed by structure: what is not changed keeps its bytes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inspector.integrations.json_edits import JsonText, JsonTextError

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=12,
)
OBJECTS = st.dictionaries(st.text(), VALUES, max_size=4)
STYLES = st.sampled_from(
    [
        {"indent": 2},
        {"indent": "\t"},
        {"indent": 4, "ensure_ascii": False},
        {"indent": 0},
        {},
        {"separators": (",", ":")},
    ]
)
NEW: dict[str, Any] = {"matcher": "compact", "hooks": [{"timeout": 30, "command": "u 'x y'"}]}


@given(OBJECTS, STYLES, st.sampled_from(["", "\n", " \r\n"]))
@settings(max_examples=150, deadline=None)
def test_what_is_added_and_taken_out_again_leaves_no_trace(
    value: dict[str, Any], style: dict[str, Any], end: str
) -> None:
    text = json.dumps(value, **style) + end
    document = JsonText(text)
    key = next(name for name in ("hooks", "hooks2", "hooks3", "h4", "h5") if name not in value)
    added = document.added([], key, NEW)
    assert json.loads(added.text) == {**value, key: NEW}
    assert list(json.loads(added.text)) == [*value, key]
    assert added.removed([key]).text == text


@given(OBJECTS, STYLES)
@settings(max_examples=100, deadline=None)
def test_any_member_can_be_taken_out_and_no_other_changes(
    value: dict[str, Any], style: dict[str, Any]
) -> None:
    for key in value:
        left = json.loads(JsonText(json.dumps(value, **style)).removed([key]).text)
        assert left == {name: item for name, item in value.items() if name != key}


def test_numbers_escapes_and_odd_blanks_stay_as_they_were_written() -> None:
    before = '{ "n" : 1.50e+3,\r\n  "big": 12345678901234567890123, "u": "\\u00e9\\/",\r\n\r\n '
    made = JsonText(before + '"a": [ ] }\r\n').added(["a"], None, {"x": 1})
    assert made.text.startswith(before + '"a": [')
    assert made.text.endswith("] }\r\n")
    assert json.loads(made.text)["a"] == [{"x": 1}]
    assert made.removed(["a", 0]).text == before + '"a": [] }\r\n'


def test_a_list_on_one_line_grows_on_that_line() -> None:
    text = '{\n  "a": ["x", "y"]\n}'
    assert JsonText(text).added(["a"], None, "z").text == '{\n  "a": ["x", "y", "z"]\n}'
    assert JsonText('{"a":["x"]}').added(["a"], None, {"k": 1}).text == '{"a":["x",{"k":1}]}'


def test_the_indentation_of_the_text_is_kept() -> None:
    text = '{\r\n\t"a": {\r\n\t\t"b": 1\r\n\t}\r\n}\r\n'
    assert JsonText(text).added(["a"], "c", [2]).text == (
        '{\r\n\t"a": {\r\n\t\t"b": 1,\r\n\t\t"c": [\r\n\t\t\t2\r\n\t\t]\r\n\t}\r\n}\r\n'
    )


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "line 1, column 1"),
        ('{"a": 1 // why\n}', "line 1, column 9"),
        ('{\n  "a": 1,\n}', "line 2, column 9|line 3, column 1"),
        ('{"a": 1} {"b": 2}', "line 1, column 10"),
        ('{"a": NaN}', "NaN is no JSON"),
        ('{"a": 1, "a": 2}', 'the key "a" stands in it twice'),
        ('{"deep": {"b": 1, "b": 1}}', 'the key "b" stands in it twice'),
        ("[" * 100_000, "nested too deeply"),
        ('{"a": "\x00"}', "line 1, column 8"),
    ],
)
def test_what_no_strict_parser_takes_is_refused_with_its_place(text: str, why: str) -> None:
    with pytest.raises(JsonTextError, match=why):
        JsonText(text)
