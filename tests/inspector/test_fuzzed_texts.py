"""Hostile texts by seed: as queries, on screens, in the files that a person writes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import pytest

from tests.fuzzing import loaders, texts


@pytest.fixture(scope="module")
def sessions(tmp_path_factory: pytest.TempPathFactory) -> Iterator[texts.Sessions]:
    asked = texts.Sessions(tmp_path_factory.mktemp("asked"))
    yield asked
    asked.close()


def test_s11_any_text_is_a_legal_query(sessions: texts.Sessions) -> None:
    for seed in range(150):
        sessions.searched(Random(seed))


def test_s11_any_text_makes_a_pack_within_its_budget(sessions: texts.Sessions) -> None:
    for seed in range(5):
        sessions.packed(Random(seed))


@pytest.mark.parametrize("way", [loaders.profiles, loaders.settings])
def test_files_of_a_person_are_taken_or_refused_in_words(
    tmp_path: Path, way: Callable[[Path, Random], None]
) -> None:
    for seed in range(60):
        way(tmp_path, Random(seed))


def test_manifests_are_taken_or_refused_in_words() -> None:
    for seed in range(60):
        loaders.manifests(Random(seed))


def test_nothing_acts_on_a_terminal() -> None:
    for seed in range(30):
        texts.screen(Random(seed))
        texts.frame(Random(seed))
