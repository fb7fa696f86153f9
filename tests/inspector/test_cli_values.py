"""What options take, and the sentence in which they refuse the rest."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.inspector.conftest import SESSION, Ullage


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("profiles", "pytest"), "a profile is printed by ullage profiles show pytest"),
        (("sessions", "--limit", "0"), "0 is no whole number from 1 to 1,000,000,000"),
        (("search", "x", "--limit", "many"), "many is no whole number from 1 to"),
        (("pack", "x", "--budget", "9" * 30), f"{'9' * 30} is no whole number from 1 to"),
        (("rebuild", "last", "--budget", "-1"), "-1 is no whole number from 1 to"),
        (("compact", "last", "--before-compaction", "½"), "½ is no whole number from 1 to"),
        (("serve", "--port", "70000"), "70000 is no whole number from 0 to 65,535"),
        (("show", "last", "--at", "soon"), "'soon' is no event: give its number as ullage show"),
        (("show", "last", "--at", ""), "'' is no event"),
        (("show", "last", "--at", "-3"), "'-3' is no event"),
        (("pin", "last", "9" * 30), f"{'9' * 30} is greater than the number of any event"),
        (("usage", "--since", "yesterday"), "'yesterday' is no day: write year, month and day"),
        (("decisions", "--until", "2026-13-01"), "like 2026-03-01"),
        (("undo", "last", "o" + "9" * 30), "is greater than the number of any event"),
    ],
)
def test_a_value_is_refused_by_what_would_be_one(
    ullage: Ullage, store: Path, arguments: tuple[str, ...], said: str
) -> None:
    outcome = ullage(*arguments, db=store)
    assert (outcome.code, outcome.out) == (2, "")
    assert said in " ".join(outcome.err.split())


@pytest.mark.parametrize(
    "arguments",
    [
        ("rebuild", SESSION, "--save", ""),
        ("pack", SESSION, "retry", "--save", " "),
        ("decisions", "--out", ""),
        ("export", "--lake", ""),
        ("resume", SESSION, "--out", ""),
    ],
)
def test_an_empty_word_is_not_the_folder_one_is_in(
    ullage: Ullage, store: Path, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    before = sorted(tmp_path.iterdir())
    outcome = ullage(*arguments, db=store)
    assert (outcome.code, outcome.out) == (2, "")
    assert "the name is empty: a dot (.) is the folder you are in" in outcome.err
    assert sorted(tmp_path.iterdir()) == before


def test_a_seq_that_the_session_does_not_have_is_refused_with_the_last_one(
    ullage: Ullage, store: Path
) -> None:
    outcome = ullage("show", SESSION, "--at", "999999", db=store)
    assert outcome.code == 1
    assert "its newest is" in outcome.err


def test_a_refusal_of_the_engine_names_the_command_that_helps(ullage: Ullage, store: Path) -> None:
    outcome = ullage("compact", SESSION, "--from", "99999", "--to", "99999", db=store)
    assert outcome.code == 1
    assert outcome.err.count("\n") == 1
    assert outcome.err.endswith("ullage show SESSION lists the events that stand.\n")


def test_words_of_a_search_need_no_quotes(ullage: Ullage, store: Path) -> None:
    apart = ullage("search", "harbour", "master", "--json", db=store)
    assert apart.code == 0
    assert apart.value == ullage("search", "harbour master", "--json", db=store).value != []


def test_a_file_that_is_there_is_refused_with_the_ways_that_there_are(
    ullage: Ullage, store: Path, tmp_path: Path
) -> None:
    for name in ("there.md", "there.csv"):
        (tmp_path / name).write_text("mine")
    pack = ullage("pack", SESSION, "harbour", "--save", "there", db=store)
    assert pack.err.endswith("there.md is there already; name another file.\n")
    table = ullage("decisions", SESSION, "--out", "there.csv", db=store)
    assert table.err.endswith("is there already; name another file, or add --force.\n")


def test_a_moment_before_everything_and_a_file_that_is_none_are_told(
    ullage: Ullage, store: Path
) -> None:
    assert (
        "Nothing stood in the window at event 0."
        in ullage("show", SESSION, "--at", 0, db=store).out
    )
    missing = ullage("show", "logs/none.jsonl", db=store)
    assert missing.code == 1
    assert "There is no file logs/none.jsonl, and no session of that name" in missing.err
    elsewhere = ullage("decisions", "--project", "/somewhere/else", db=store)
    assert "No session in the store was in /somewhere/else" in elsewhere.err


@pytest.mark.parametrize("command", [("search",), ("pack", "last")])
def test_a_query_that_looks_like_an_option_is_told_where_it_stands(
    ullage: Ullage, command: tuple[str, ...]
) -> None:
    done = ullage(*command, "->")
    assert done.code == 2
    assert f"follows --: ullage {command[0]} -- …" in " ".join(done.err.split())
    slip = ullage(*command, "--limt", "3").err if command == ("search",) else ""
    assert "follows --" not in slip


def test_help_tells_a_range_only_where_it_matters(ullage: Ullage) -> None:
    assert "[default: 20]" in ullage("search", "--help").out
    assert "[default: 4; from 1 to 32]" in ullage("serve", "--help").out
