"""The order in which a pack takes candidates."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compress.packs.rank import K, Weights, ranked
from compress.packs.values import Candidate
from tests.compress.packs.made import belief, candidates

ALONE = Weights(around=0.0, near=0.0, far=0.0)
"""Nothing spreads."""


def order(found: list[Candidate], *, floor: bool = False, weights: Weights = ALONE) -> list[str]:
    return [one.candidate.belief.id for one in ranked(found, floor=floor, weights=weights)]


def one(name: str, seq: int = 1, *, locked: bool = False, **signals: float) -> Candidate:
    return Candidate(belief(name, name, seq=seq, locked=locked), **signals)  # type: ignore[arg-type]


def test_a_better_match_comes_first() -> None:
    assert order([one("a", match=1.0), one("b", match=3.0), one("c", match=2.0)]) == ["b", "c", "a"]


def test_what_is_locked_comes_before_all() -> None:
    assert order([one("a", match=9.0), one("pin", locked=True)]) == ["pin", "a"]


def test_of_equal_matches_the_newer_one_and_the_more_used_one_come_first() -> None:
    assert order([one("old", match=1.0, age=5), one("new", match=1.0, age=1)]) == ["new", "old"]
    assert order([one("a", match=1.0), one("used", match=1.0, uses=2)]) == ["used", "a"]


def test_without_a_query_recency_decides() -> None:
    assert order([one("a", age=2), one("b", age=0), one("c", age=1)]) == ["b", "c", "a"]


def test_equals_stand_in_log_order_and_then_by_id() -> None:
    found = [one("d", 2), one("a", 3), one("c", 1), one("b", 1)]
    assert order(found) == ["b", "c", "d", "a"]
    own = [
        Candidate(belief("x", "x", seq=1)),
        Candidate(belief("y", "y", seq="o2")),  # type: ignore[arg-type]
        Candidate(belief("z", "z", seq="o10")),  # type: ignore[arg-type]
    ]
    assert order(own[::-1]) == ["x", "y", "z"]


def test_the_score_is_the_sum_of_weights_over_k_and_rank() -> None:
    found = [one("a", match=2.0, age=1, uses=1), one("b", match=1.0, age=0)]
    weights = Weights(1.0, 0.125, 0.5, 0.25, near=0.0, far=0.0)
    scores = {r.candidate.belief.id: r.score for r in ranked(found, weights=weights)}
    assert scores["a"] == pytest.approx(1.125 / (K + 1) + 0.5 / (K + 2) + 0.25 / (K + 1))
    assert scores["b"] == pytest.approx(1.125 / (K + 2) + 0.5 / (K + 1))


# -- neighbours ---------------------------------------------------------------------------------


def test_a_match_spreads_to_what_stands_beside_it() -> None:
    found = [one("far", 90), one("hit", 11, match=4.0), one("next", 12), one("third", 14)]
    weights = Weights(recency=0.0, near=0.5, far=0.5)
    assert order(found, weights=weights) == ["hit", "next", "third", "far"]


def test_it_does_not_spread_to_another_session_nor_to_operations() -> None:
    other = belief("other", "other", seq=2)
    found = [
        one("hit", 1, match=4.0),
        Candidate(replace(other, session="s2")),
        one("own", "o1"),  # type: ignore[arg-type]
    ]
    low = {r.candidate.belief.id: r.is_below_floor for r in ranked(found, floor=True)}
    assert low == {"hit": False, "other": True, "own": True}


def test_below_the_floor_is_what_has_no_match_and_none_around() -> None:
    found = [one("hit", 1, match=4.0), one("near", 2), one("far", 1_000), one("pin", locked=True)]
    low = {r.candidate.belief.id: r.is_below_floor for r in ranked(found, floor=True)}
    assert low == {"hit": False, "near": False, "far": True, "pin": False}
    assert not any(r.is_below_floor for r in ranked(found))
    assert order(found, floor=True, weights=Weights())[-1] == "far"


def test_what_says_nothing_is_below_the_floor_in_any_case() -> None:
    (blank,) = ranked([Candidate(belief("b", " \n"), match=3.0)])
    assert blank.is_below_floor


# -- duplicates ---------------------------------------------------------------------------------


def test_the_same_content_folds_into_the_best_that_has_it() -> None:
    found = [
        Candidate(belief("worse", "Same."), match=1.0),
        Candidate(belief("best", "Same."), match=9.0),
        Candidate(belief("other", "Other."), match=2.0),
        Candidate(belief("padded", " Same.\n"), match=0.5),
    ]
    folded = {r.candidate.belief.id: r.duplicate_of for r in ranked(found, weights=ALONE)}
    assert folded == {"best": None, "worse": "best", "other": None, "padded": "best"}


def test_a_locked_one_is_the_one_that_stays() -> None:
    found = [
        Candidate(belief("best", "Same."), match=9.0),
        Candidate(belief("pin", "Same.", locked=True)),
    ]
    assert [r.duplicate_of for r in ranked(found)] == [None, "pin"]


@settings(max_examples=60)
@given(candidates(), st.booleans(), st.randoms(use_true_random=False))
def test_every_candidate_has_one_place_whatever_the_order(
    found: list[Candidate], floor: bool, random: object
) -> None:
    best = ranked(found, floor=floor)
    assert [r.rank for r in best] == list(range(1, len(found) + 1))
    assert sorted(r.candidate.belief.id for r in best) == sorted(c.belief.id for c in found)
    shuffled = list(found)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert ranked(shuffled, floor=floor) == best
    seen: set[str] = set()
    for place in best:
        assert place.duplicate_of is None or place.duplicate_of in seen
        seen.add(place.candidate.belief.id)
