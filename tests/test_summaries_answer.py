"""The summaries read well: twelve questions, fixed beforehand, answered from the summary alone.

The summaries stand beside their questions in ``tests/fixtures/summaries``; after a wanted change,
``ULLAGE_UPDATE_SUMMARIES=1`` writes them anew.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from inspector.settings import Loaded, Settings
from inspector.usecases import UseCases
from storage.sources.registry import registry
from storage.store import Store
from tests.demo_session.__main__ import ASSETS, FOLDER
from tests.demo_session.story import SESSION
from tests.summary_sessions.__main__ import files

FIXTURES = Path(__file__).resolve().parent / "fixtures" / "summaries"
LOGS = {
    "tidepool": ASSETS / FOLDER / f"{SESSION}.jsonl",
    "kiln": FIXTURES / "kiln" / "session.jsonl",
    "shop": FIXTURES / "shop" / "session.jsonl",
}
BUDGET = 1_500
FEWEST = 10
UPDATE = bool(os.environ.get("ULLAGE_UPDATE_SUMMARIES"))


@pytest.fixture(scope="module", params=sorted(LOGS))
def made(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, str]:
    """A session's name, and its rule-based summary at the budget."""
    name: str = request.param
    folder = tmp_path_factory.mktemp(name)
    database = folder / "ullage.db"
    store = Store(database, registry())
    usecases = UseCases(store, Loaded(Settings(db=str(database))), environment={}, home=folder)
    try:
        usecases.ingest([LOGS[name]])
        session = usecases.find(str(LOGS[name]))
        if name == "tidepool":
            handle = usecases.preview(session, before_compaction=1, budget=BUDGET)
        else:
            nodes = usecases.view(session).state.surface.nodes
            handle = usecases.preview(session, start=nodes[0], end=nodes[-1], budget=BUDGET)
    finally:
        usecases.close()
    assert handle.preview.summary is not None
    return name, handle.preview.summary.text


def test_the_summary_is_the_one_that_was_read(made: tuple[str, str]) -> None:
    name, summary = made
    stored = FIXTURES / name / "summary.md"
    if UPDATE:
        stored.write_text(f"{summary}\n", encoding="utf-8", newline="\n")
    assert f"{summary}\n" == stored.read_text(encoding="utf-8")


def test_at_least_ten_of_twelve_questions_are_answered(made: tuple[str, str]) -> None:
    name, summary = made
    questions = _questions(name)
    assert len(questions) == 12
    missed = [each["question"] for each in questions if not _answers(summary, each["evidence"])]
    assert len(questions) - len(missed) >= FEWEST, missed


@pytest.mark.parametrize("name", sorted(LOGS))
def test_every_answer_stands_in_the_log(name: str) -> None:
    log = "\n".join(_words(json.loads(line)) for line in LOGS[name].read_text("utf-8").splitlines())
    for each in _questions(name):
        assert _answers(log, each["evidence"]), each["question"]


@pytest.mark.parametrize("name", sorted(files()))
def test_the_log_is_the_one_that_is_made(name: str) -> None:
    assert (FIXTURES / name).read_text(encoding="utf-8") == files()[name]


def _questions(name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(
        (FIXTURES / name / "questions.json").read_text("utf-8")
    )
    return found


def _answers(text: str, evidence: list[list[str]]) -> bool:
    """Whether of each group of alternatives one stands in the text as whole words, blanks and case
    aside. The letters of a word are ASCII here: Chinese has no blanks."""
    plain = " ".join(text.split())
    return all(any(_stands(one, plain) for one in group) for group in evidence)


def _stands(one: str, text: str) -> bool:
    pattern = rf"(?<![0-9A-Za-z_]){re.escape(one)}(?![0-9A-Za-z_])"
    return re.search(pattern, text, re.IGNORECASE) is not None


def _words(value: Any) -> str:
    """All texts of a record, also those inside of a text that is JSON itself."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return "\n".join(_words(each) for each in value.values())
    if isinstance(value, list):
        return "\n".join(_words(each) for each in value)
    return ""
