"""Who is let in, and which frames count: by hand, and for anything that may be sent."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.web.frames import Focused, Pinged, Resized, Typed, frame_of, size_of
from inspector.web.gate import Gate, loopback_names

HOSTS = loopback_names(8123)


@pytest.mark.parametrize("host", ["127.0.0.1:8123", "localhost:8123", "LOCALHOST:8123"])
def test_the_own_names_are_let_in_from_the_own_page_or_none(host: str) -> None:
    gate = Gate(HOSTS)
    assert gate.stranger(host, None) is None
    assert gate.stranger(host, f"http://{host}") is None


@pytest.mark.parametrize(
    "host",
    [
        None,
        "",
        "[::1]:8123",
        "rebind.evil:8123",
        "localhost",
        "localhost:8124",
        "127.0.0.1.evil:8123",
        "0.0.0.0:8123",
    ],
)
def test_w02_no_other_name_is(host: str | None) -> None:
    assert Gate(HOSTS).stranger(host, None)
    assert Gate(HOSTS).stranger(host, f"http://{host}")


@pytest.mark.parametrize(
    "origin",
    [
        "https://evil.example",
        "null",
        "",
        "http://localhost:8124",
        "https://127.0.0.1:8123",
        "http://localhost:8123",
        "http://127.0.0.1:8123.evil",
    ],
)
def test_w01_no_page_of_another_origin_is(origin: str) -> None:
    assert Gate(HOSTS).stranger("127.0.0.1:8123", origin)


def test_w04_bytes_that_are_no_text_are_a_wrong_cookie_and_a_wrong_token() -> None:
    gate = Gate(loopback_names(80))
    assert not gate.knows(b"\xff\xfe".decode("utf-8", "surrogateescape"))
    assert gate.admit("\udcff") is None
    assert gate.admit(gate.token) is not None


def test_a_token_opens_once() -> None:
    gate = Gate(HOSTS)
    token = gate.token
    assert gate.admit("") is None
    assert gate.admit(token[:-1]) is None
    cookie = gate.admit(token)
    assert cookie is not None
    assert gate.admit(token) is None
    assert gate.token != token
    assert gate.knows(cookie)
    assert not gate.knows(None)
    assert not gate.knows("")
    assert not gate.knows(token)
    other = gate.admit(gate.token)
    assert other is not None
    assert gate.knows(cookie)
    assert gate.knows(other)


@pytest.mark.parametrize(
    ("sent", "meant"),
    [
        (["stdin", "a"], Typed("a")),
        (["stdin", "\ud83d"], Typed("?")),
        (["resize", {"width": 100, "height": 40}], Resized(100, 40)),
        (["resize", {"width": 10**9, "height": -3}], Resized(400, 8)),
        (["ping", "17"], Pinged("17")),
        (["blur"], Focused("blur")),
        (["focus"], Focused("focus")),
        ({"not": "list"}, None),
        (["stdin"], None),
        (["stdin", 3], None),
        (["stdin", "a", "b"], None),
        (["resize", {"width": "wide", "height": 3}], None),
        (["resize", None], None),
        (["quit"], None),
        ([], None),
        (None, None),
    ],
)
def test_w06_a_frame_is_one_of_the_pages_or_nothing(sent: object, meant: object) -> None:
    assert frame_of(json.dumps(sent)) == meant


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(st.text() | JSON.map(json.dumps) | st.lists(JSON, max_size=3).map(json.dumps))
def test_no_frame_raises(text: str) -> None:
    frame_of(text)


def test_a_deep_frame_is_nothing() -> None:
    assert frame_of("[" * 100_000) is None


@given(JSON, JSON)
def test_every_size_is_within_bounds(width: Any, height: Any) -> None:
    size = size_of(width, height)
    assert size is None or (20 <= size.columns <= 400 and 8 <= size.rows <= 200)
