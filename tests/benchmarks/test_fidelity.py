"""The benchmark's own identifier rules and its scoring, on cases worked by hand."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.benchmarks.fidelity import arms, names
from tests.benchmarks.fidelity.__main__ import measured
from tests.benchmarks.fidelity.cases import Sessions
from tests.benchmarks.fidelity.names import identifiers, stands
from tests.benchmarks.fidelity.scoring import Later, Score, Target, pooled, score, targets
from tests.inspector.logs import Log


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("see https://example.org/a/b?x=1#top.", {"https://example.org/a/b?x=1#top": "url"}),
        ("open src/app/main.py:120", {"src/app/main.py": "path", "120": "number"}),
        ("`/etc/hosts`, then ./run/", {"/etc/hosts": "path", "./run": "path"}),
        ("edit main.py and Makefile", {"main.py": "file"}),
        ("call get_user_name(id)", {"get_user_name": "symbol"}),
        ("useState and HttpClient, not Word", {"useState": "symbol", "HttpClient": "symbol"}),
        ("MAX_RETRIES=5", {"MAX_RETRIES": "symbol"}),
        ("commit 3ae0e90, not decade", {"3ae0e90": "hex"}),
        ("port 8080, 42 of 12,345 in 3.142", {"8080": "number"}),
        ("ECONNREFUSED or EOF", {"ECONNREFUSED": "code"}),
        ("on 2026-01-02 and 1/2 and n/a", {}),
        ("3e1f0a62-77aa-4b1c-9d10-0123456789ab", {}),
        ("请看src/app/main.py。", {"src/app/main.py": "path"}),
    ],
)
def test_identifiers_of_each_class(text: str, expected: dict[str, str]) -> None:
    assert identifiers(text) == expected


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("main.py", "src/main.py", True),
        ("main.py", "domain.py", False),
        ("main.py", "test-main.py", False),
        ("src/a.py", "- src/a.py: read", True),
        ("src/a.py", "src/a.pyc", False),
        ("/src/a.py", "home/src/a.py", False),
        ("8080", "port 8080.", True),
        ("8080", "18080 80801", False),
        ("user_id", "--user_id->", True),
        ("user_id", "user_ids, then user_id", True),
    ],
)
def test_a_name_stands_on_token_boundaries_only(name: str, text: str, expected: bool) -> None:
    assert stands(name, text) is expected


def test_what_counts_is_used_by_the_agent_stood_before_and_came_back_by_nothing_else() -> None:
    region = ["read src/a.py and src/b.py, run.sh", "read_config 4040", "src/a.py src/kept.py"]
    later = [
        Later(own=False, text="look at 4040 in lib/run.sh"),
        Later(own=True, text="4040 is in src/a.py, src/new.py, src/kept.py and run.sh"),
        Later(own=False, text="read_config"),
        Later(own=True, text="read_config"),
    ]
    assert targets(region, "src/kept.py stays", later) == [Target("src/a.py", "path", 1 / 2)]


def test_the_share_is_plain_and_weighted_and_by_class() -> None:
    wanted = [
        Target("src/a.py", "path", 1.0),
        Target("src/b.py", "path", 0.5),
        Target("404", "number", 0.5),
    ]
    found = score(wanted, ["src/a.py 404"])
    assert (found.hits, found.of, found.weighted_hits, found.weighted_of) == (2, 3, 1.5, 2.0)
    assert found.by_class == {"path": (1, 2), "number": (1, 1)}


def test_several_drawings_give_their_mean() -> None:
    assert score([Target("404", "number", 1.0)], ["404", "", "405", "404"]).share == 0.5


def test_micro_weighs_names_and_macro_weighs_cases() -> None:
    cases = [
        ("a", Score(1, 1, 1, 1, {})),
        ("b", Score(0, 3, 0, 3, {})),
        ("c", Score(0, 0, 0, 0, {})),
    ]
    found = pooled(cases)
    assert found is not None
    assert (found.cases, found.sessions, found.targets) == (2, 2, 4)
    assert (found.micro, found.macro, found.weighted) == (0.25, 0.5, 0.25)
    assert (found.macro_low, found.macro_high) == (0.0, 1.0)


def test_no_figure_without_names() -> None:
    assert pooled([("a", Score(0, 0, 0, 0, {}))]) is None


_PIECES = [
    arms.Piece("alpha_one 111\nfirst line", "alpha_one 111\nfirst line", own=True),
    arms.Piece("beta_two beta_two", "[cleared]", own=False),
    arms.Piece("gamma_three alpha_one", "gamma_three alpha_one", own=True),
]


def test_every_arm_keeps_to_its_budget_and_takes_what_it_says() -> None:
    assert arms.last_tokens(_PIECES, 9, len) == "alpha_one"
    assert arms.head_and_tail(_PIECES, 19, len) == "alpha_one\nalpha_one"
    assert arms.cleared_results(_PIECES, 31, len) == "[cleared]\ngamma_three alpha_one"
    assert arms.ranked_list(_PIECES, 22, len) == "alpha_one\ngamma_three"
    assert all(len(text) <= 20 for text in arms.random_lines(_PIECES, 20, len))
    wanted = [Target("gamma_three", "symbol", 1.0), Target("111", "number", 1.0)]
    assert arms.ceiling(wanted, 6, len) == "111"


def test_a_whole_case_from_a_log(tmp_path: Path) -> None:
    """By hand: the agent needs src/net/retry.py, f2.py and 5432 again; f9.py was never there, and
    a result brings back /p/f1.py before the agent says it."""
    folder = tmp_path / "claude"
    folder.mkdir()
    log = Log(folder)
    log.user("Mend src/net/retry.py, the port is 5432.")
    for number in range(1, 4):
        log.step(number)
    log.compact("The work is about src/net/retry.py.")
    log.step(9)
    log.result("toolu_x", "see /p/f1.py")
    log.assistant({"type": "text", "text": "src/net/retry.py, /p/f1.py, /p/f2.py, port 5432"})
    sessions = Sessions(tmp_path, tmp_path, schema=False)
    try:
        [case] = sessions.cases(cuts=False)
        rows = list(measured(sessions, case, [600]))
    finally:
        sessions.close()
    assert {target.name for target in case.wanted} == {"src/net/retry.py", "/p/f2.py", "5432"}
    assert [(row.budget, row.region) for row in rows] == [
        ("own", case.region_tokens),
        ("600", case.region_tokens),
    ]
    assert rows[0].scores["own"].hits == 1
    assert rows[1].scores["ceiling"].share == 1.0
    assert rows[1].scores["ours"].of == 3


def test_the_identifier_rules_are_the_benchmarks_own() -> None:
    source = Path(names.__file__).read_text(encoding="utf-8")
    assert not re.search(
        r"^\s*(?:from|import) (?:compress|storage|inspector)", source, re.MULTILINE
    )
