"""A sequence of stretches is the sequence that a copy of them would be."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compress.pieces import CHUNK, Pieces

WORDS = ("a", "b", "c", "d", "e", "f")
_place = st.integers(0, len(WORDS))
_parts = st.lists(st.tuples(st.just(WORDS) | st.just(list(WORDS)), _place, _place), max_size=6)
_index = st.none() | st.integers(-40, 40)


def copied(parts: Sequence[tuple[Sequence[str], int, int]]) -> tuple[str, ...]:
    return tuple(word for words, start, stop in parts for word in words[start:stop])


@given(_parts)
def test_it_reads_as_a_copy_would(parts: list[tuple[Sequence[str], int, int]]) -> None:
    pieces, copy = Pieces(parts), copied(parts)

    assert tuple(pieces) == copy
    assert tuple(reversed(pieces)) == copy[::-1]
    assert [pieces[at] for at in range(-len(copy), len(copy))] == [*copy, *copy]
    assert len(pieces) == len(copy)
    assert bool(pieces) == bool(copy)
    assert pieces == copy
    assert pieces == list(copy)
    assert pieces != (*copy, "g")
    assert ("g" in pieces, "a" in pieces) == (False, "a" in copy)
    for outside in (len(copy), -len(copy) - 1):
        with pytest.raises(IndexError):
            pieces[outside]


@given(_parts, _index, _index, st.sampled_from((None, 1, 2, -1, -3)))
def test_a_slice_of_it_is_a_slice_of_the_copy(
    parts: list[tuple[Sequence[str], int, int]],
    start: int | None,
    stop: int | None,
    step: int | None,
) -> None:
    assert tuple(Pieces(parts)[start:stop:step]) == copied(parts)[start:stop:step]


@given(st.sets(st.integers(2, 8)), _parts)
def test_what_is_left_out_is_missing_and_pieces_may_hold_pieces(
    left: set[int], parts: list[tuple[Sequence[str], int, int]]
) -> None:
    inner = Pieces([(WORDS, 0, 6), (WORDS, 0, 6)])
    without = Pieces.without(inner, 2, 9, sorted(left))

    assert without == tuple((WORDS * 2)[at] for at in range(2, 9) if at not in left)
    assert Pieces([(without, 0, len(without)), *parts]) == (*without, *copied(parts))


@settings(max_examples=20)
@given(st.integers(-2, 2), st.integers(-2, 2))
def test_long_stretches_are_the_same_across_the_edges_of_its_chunks(more: int, less: int) -> None:
    numbers = range(3 * CHUNK)
    start, stop = 1, 2 * CHUNK + 1 + more
    pieces = Pieces([(numbers, start, stop), (numbers, 0, CHUNK + less)])
    copy = [*numbers[start:stop], *numbers[: CHUNK + less]]

    assert list(pieces) == copy
    assert list(reversed(pieces)) == copy[::-1]
    assert pieces == copy
    assert pieces != [*copy[: CHUNK + 1], -1, *copy[CHUNK + 2 :]]
    edge = stop - start
    assert list(pieces[edge - 3 : edge + 3]) == copy[edge - 3 : edge + 3]
    assert list(pieces[edge - CHUNK : edge]) == copy[edge - CHUNK : edge]
