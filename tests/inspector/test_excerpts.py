"""A hit of a search shows where in its event the words stand."""

from __future__ import annotations

from pathlib import Path

from inspector.usecases import UseCases
from tests.inspector.logs import Log


def test_a_hit_shows_the_line_that_holds_the_words(cases: UseCases, tmp_path: Path) -> None:
    log = Log(tmp_path, "searched")
    log.user("Look.")
    hay = [f"straw {number}" for number in range(300)]
    hay[250] = "here the needle lies"
    log.user("\n".join(hay))
    cases.ingest([log.path])
    (hit,) = cases.search("needle")
    assert hit.headline == "straw 0"
    assert hit.excerpt == "…here the needle lies…"


def test_the_words_may_stand_in_what_a_call_is_given(cases: UseCases, tmp_path: Path) -> None:
    log = Log(tmp_path, "searched")
    log.user("Look.")
    block = {
        "type": "tool_use",
        "id": "toolu_1",
        "name": "Bash",
        "input": {"command": "cat < hay.txt\ngrep -c 'needle' hay.txt", "timeout": 3},
    }
    log.assistant(block)
    cases.ingest([log.path])
    (hit,) = cases.search("needle")
    assert hit.excerpt == "…grep -c 'needle' hay.txt"


def test_a_surrogate_in_a_text_costs_nothing(cases: UseCases, tmp_path: Path) -> None:
    log = Log(tmp_path, "searched")
    log.user("broken \ud83d emoji beside the needle")
    cases.ingest([log.path])
    (hit,) = cases.search("needle")
    assert "needle" in hit.excerpt
