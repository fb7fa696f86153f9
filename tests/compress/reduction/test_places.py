"""Where a line names a place in a file, by shape."""

from __future__ import annotations

from itertools import pairwise

import pytest

from compress.reduction.places import place_in
from compress.reduction.shorten import without_folders


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("src/a.c:12:3: unused x", ("", "src/", "a.c:12:3: ", "unused x")),
        (
            "1>C:\\w\\my files\\b.cs(13,2): gone",
            ("1>", "C:\\w\\my files\\", "b.cs(13,2): ", "gone"),
        ),
        ('"x/y.f90", line 7: no', ('"', "x/", 'y.f90", line 7: ', "no")),
        (
            "w: /v/K.kt: (35, 35): Typen passen nicht",
            ("w: ", "/v/", "K.kt: (35, 35): ", "Typen passen nicht"),
        ),
        ("[WARNING] /x/R.java:[83,44] leaks", ("[WARNING] ", "/x/", "R.java:[83,44] ", "leaks")),
        ("/with a blank/p.py:3: 2 errors", ("", "/with a blank/", "p.py:3: ", "2 errors")),
        ("D:/inc/memory(1801): narrowing", ("", "D:/inc/", "memory(1801): ", "narrowing")),
        ("Makefile:12:3: missing separator", ("", "", "Makefile:12:3: ", "missing separator")),
    ],
)
def test_a_place_parts_a_line(text: str, parts: tuple[str, str, str, str]) -> None:
    place = place_in(text)
    assert place is not None
    cuts = (0, place.folders, place.name, place.said, len(text))
    assert tuple(text[a:b] for a, b in pairwise(cuts)) == parts


@pytest.mark.parametrize("text", ["10:00:04 all well", "ratio 3.5: fine", "see a.b", "", "e.g.: 3"])
def test_no_place_is_found_where_none_is_named(text: str) -> None:
    assert place_in(text) is None


def test_folders_give_way_to_the_sign() -> None:
    assert without_folders("/a/b/c.h:7: odd [D:\\work\\tree\\all.csproj]", "…") == "…c.h:7: odd …"
    assert (
        without_folders("  c:\\p\\q\\Item.package : warning 6", "…")
        == "  …Item.package : warning 6"
    )
    assert without_folders("read /a/b/c", "…") == "read /a/b/c"


@pytest.mark.parametrize("piece", ["a/", "a.b:", ".a(", "C:\\a", "/a b", "1:1:", "a.a(1,"])
def test_a_line_of_any_length_is_read_once(piece: str) -> None:
    # Were it read from each character on, this would take minutes.
    text = (piece * 100_000)[:100_000] + " plain words"
    without_folders(text, "…")
