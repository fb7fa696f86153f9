"""An output of any size, held in bounded memory."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from compress.reduction.critical import Assessor
from compress.reduction.pipeline import reduce
from compress.reduction.profile import Profile
from compress.reduction.sieve import LONGEST, REPEATS, Limits, Sieve, Sifted, excerpt_of
from compress.reduction.values import Budget
from compress.tokens import CharsOverFour

SMALL = Limits(whole=2_000, head=500, tail=500, strong=600, weak=200)


def sifted(generic: Profile, pieces: Sequence[bytes], limits: Limits = SMALL) -> Sifted:
    sieve = Sieve(lambda _: Assessor([generic]), limits)
    for piece in pieces:
        sieve.feed(piece)
    return sieve.finish()


def cut(data: bytes, size: int) -> list[bytes]:
    return [data[start : start + size] for start in range(0, len(data), size)]


@settings(max_examples=60, deadline=None)
@given(data=st.binary(max_size=2_000), size=st.integers(1, 700))
def test_what_fits_is_kept_byte_for_byte(generic: Profile, data: bytes, size: int) -> None:
    found = sifted(generic, cut(data, size))
    assert (found.data, found.places, found.size) == (data, None, len(data))


@settings(max_examples=40, deadline=None)
@given(
    at=st.integers(0, 8_999),
    failure=st.sampled_from(
        [
            b"FAILED tests/test_a.py::test_one - assert 1 == 2",
            b"error[E0308]: mismatched types",
            b"3 failed, 7 passed in 1.2s",
            b"\x1b[31mERROR\x1b[0m: cannot open the ledger",
            b"thread 'main' panicked at src/main.rs:3:5:",
        ]
    ),
    size=st.integers(50, 40_000),
)
def test_a_failure_planted_anywhere_stays_under_its_number(
    generic: Profile, at: int, failure: bytes, size: int
) -> None:
    lines = [b"unit %d is well" % number for number in range(9_000)]
    lines[at] = failure
    data = b"\n".join(lines) + b"\n"
    found = sifted(generic, cut(data, size))
    assert found.places is not None
    held = dict(zip(found.places, found.data.split(b"\n"), strict=False))
    assert held[at] == failure
    assert all(held[number] == lines[number] for number in found.places)


@settings(max_examples=30, deadline=None)
@given(data=st.binary(max_size=30_000), size=st.integers(1, 5_000))
def test_places_rise_and_the_memory_is_bounded(generic: Profile, data: bytes, size: int) -> None:
    found = sifted(generic, cut(data, size))
    if found.places is not None:
        assert list(found.places) == sorted(set(found.places))
        assert len(found.places) == found.data.count(b"\n")
        assert found.total == data.count(b"\n") + (not data.endswith(b"\n"))
        longest = max(map(len, data.split(b"\n"))) + 1
        # Each of the rooms may be exceeded by one line.
        assert len(found.data) <= SMALL.head + SMALL.tail + SMALL.strong + SMALL.weak + 6 * longest


def test_the_pieces_do_not_matter(generic: Profile) -> None:
    lines = [b"line %d" % number for number in range(40_000)]
    lines[777] = lines[12_345] = b"Error: no such ledger"
    data = b"\n".join(lines)
    # What is evicted when may differ, what is found between the ends does not.
    one, other = (sifted(generic, cut(data, size)) for size in (1_000, 64_000))
    assert (one.total, one.size) == (other.total, other.size) == (40_000, len(data))
    for found in (one, other):
        assert found.places is not None
        assert {777, 12_345} <= set(found.places)


def test_a_million_equal_complaints_do_not_push_out_another(generic: Profile) -> None:
    lines = [b"ERROR: timeout contacting registry, attempt %d" % n for n in range(20_000)]
    lines[9_000] = b"ERROR: the ledger is corrupt"
    found = sifted(generic, cut(b"\n".join(lines), 10_000))
    assert found.data.count(b"ledger is corrupt") == 1
    ends = (SMALL.head + SMALL.tail) // 45 + 4
    assert found.data.count(b"timeout") <= ends + REPEATS + 10


def test_a_line_without_an_end_counts_as_several(generic: Profile) -> None:
    found = sifted(generic, cut(b"x" * (10 * LONGEST), 50_000))
    assert found.total == 10
    assert found.size == 10 * LONGEST
    assert len(found.data) < 4 * LONGEST


def test_lines_of_an_excerpt_are_counted_in_the_whole(generic: Profile) -> None:
    lines = [f"unit {number} is well" for number in range(9_000)]
    lines[4_000] = "Error: unit 4000 has no ledger"
    found = sifted(generic, cut("\n".join(lines).encode(), 4_096))
    counter = CharsOverFour()
    excerpt = excerpt_of(found, counter.count(found.text))
    reduction = reduce(
        found.text,
        generic,
        counter,
        Budget(tokens=60),
        pointer="abcd1234",
        generic=generic,
        excerpt=excerpt,
    )
    assert reduction.lines_before == 9_000
    assert "of 9000 lines" in reduction.header or "/9000" in reduction.header
    assert "Error: unit 4000 has no ledger" in reduction.text
    assert 4_000 in reduction.kept
    assert not reduction.unchanged
