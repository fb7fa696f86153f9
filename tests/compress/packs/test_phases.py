"""How a budget is shared out with compression on."""

from __future__ import annotations

from dataclasses import replace

from compress.beliefs.values import BeliefType
from compress.packs.fit import pack
from compress.packs.phases import Shares
from compress.packs.values import Candidate, Pack, PackRequest
from tests.compress.packs.made import belief, counter

LONG = "It reads tabs. " + "Then it goes on for long, line by line, word by word. " * 12


def file(
    name: str, path: str, match: float, *, kind: BeliefType = "file_snapshot", seq: int = 1
) -> Candidate:
    made = belief(name, f"{name}: {LONG}", "snapshot", seq=seq)
    return Candidate(replace(made, belief_type=kind, label=path), match=match)


def built(found: list[Candidate], budget: int, shares: Shares) -> Pack:
    return pack(found, PackRequest("tabs", budget), counter(), shares=shares)


POINTERS = Shares(pointers=0.9, whole=0.0)


def standing(made: Pack) -> dict[str, str]:
    return {line.belief.id: line.strategy for line in made.lines if line.packed}


def test_what_can_be_had_again_stands_by_a_pointer_once_for_each_label() -> None:
    found = [file(f"b{n}", f"src/{n % 3}.py", 9.0 - n, seq=100 * n) for n in range(9)]
    made = built(found, 85, POINTERS)
    assert list(standing(made)) == ["b0", "b1", "b2"]
    assert all(f"file src/{n}.py" in made.text for n in range(3))


def test_actions_share_their_label_and_stand_each() -> None:
    found = [file(f"b{n}", "shell", 9.0 - n, kind="action", seq=100 * n) for n in range(4)]
    assert len(standing(built(found, 200, POINTERS))) == 4


def test_words_have_no_pointers() -> None:
    said = belief("said", LONG, "snapshot", seq=1)
    words = Candidate(replace(said, belief_type="answer"), match=9.0)
    found = [words, file("read", "a.py", 1.0, seq=500)]
    # Room for one headline: the words come first by rank, and the file by its name.
    assert list(standing(built(found, 42, POINTERS))) == ["read"]


def test_a_pointer_that_ranks_best_is_made_whole() -> None:
    found = [file(f"b{n}", f"{n}.py", 9.0 - n, seq=1_000 * n) for n in range(4)]
    made = built(found, 330, Shares(pointers=0.5, whole=0.9))
    assert standing(made) == {
        "b0": "verbatim",
        "b1": "headline",
        "b2": "headline",
        "b3": "headline",
    }


def test_headlines_go_to_what_stands_around_the_best_match() -> None:
    far = [belief(f"far{n}", f"far{n}: {LONG}", "snapshot", seq=9_000 + 90 * n) for n in range(9)]
    near = [belief(f"near{n}", f"near{n}: {LONG}", "snapshot", seq=20 + n) for n in range(9)]
    hit = Candidate(belief("hit", "Tabs are read here.", seq=24), match=9.0)
    found = [hit, *(Candidate(replace(one, belief_type="answer")) for one in [*far, *near])]
    made = built(found, 130, Shares(pointers=0.0, whole=0.3))
    names = [line.belief.id for line in made.lines if line.packed]
    assert names[0] == "hit"
    assert len(names) > 4
    assert not any(name.startswith("far") for name in names)
