from __future__ import annotations

import pytest

from compress.reduction.templates import frame_template, name_template, number_template, shape


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("page 3 fetched in 12.5 ms", "page 417 fetched in 8 ms"),
        ("at 0x7ffe12 in main", "at 0xdeadbeef in main"),
        ("commit 1f3c9a2 done", "commit 98aa0c71b done"),
    ],
)
def test_lines_that_differ_in_numbers_have_one_template(one: str, other: str) -> None:
    assert number_template(one) == number_template(other)


def test_words_make_another_template() -> None:
    assert number_template("page 3 fetched") != number_template("page 3 refused")
    assert number_template("deadbee") == "deadbee"


def test_names_and_paths_are_masked_too() -> None:
    one = name_template("src/a/x.c:12: unused variable 'left'")
    assert one == name_template("lib/y.c:7: unused variable 'right'")
    assert one != name_template("lib/y.c:7: unused function 'right'")


def test_a_shape_is_what_the_punctuation_makes() -> None:
    assert shape("+--- org.slf4j:api:1.2") == shape("+--- com.google:guava:33")
    assert shape("+--- org.slf4j:api:1.2") != shape("\\--- org.slf4j:api:1.2")


def test_frames_share_their_words() -> None:
    assert frame_template("10% [=   ] load") == frame_template("100% [====] load")
    assert frame_template("load") != frame_template("save")
