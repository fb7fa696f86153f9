from __future__ import annotations

import pytest

from compress.reduction.patterns import PatternSet
from compress.reduction.profile import ProfileError, parse_profile
from compress.reduction.values import Budget, BudgetError


@pytest.mark.parametrize(
    ("table", "told"),
    [
        (
            {"critical": [{"pattern": "ok"}, {"pattern": "ab(?=c)"}]},
            "x.toml: critical.1.pattern: position 3: invalid perl operator: (?=.",
        ),
        ({"filter": {"drop": ["[z-a]"]}}, "x.toml: filter.drop.0: position 2: "),
        ({"match": {"output": [r"(a)\1"]}}, "x.toml: match.output.0: position 4: "),
        ({"critical": [{"pattern": "ab(c"}]}, "x.toml: critical.0.pattern: position 3: missing )"),
        (
            {"filter": {"drop": ["a.{0,900}b.{0,900}c"]}},
            "x.toml: filter.drop.0: position 1: pattern too",
        ),
        ({"critical": [{"pattern": "x", "level": "loud"}]}, "x.toml: critical.0.level: "),
        ({"colour": True}, "x.toml: colour: "),
        ({"truncate": {"share": 0}}, "x.toml: truncate.share: "),
    ],
)
def test_a_bad_profile_is_refused_with_file_key_and_position(
    table: dict[str, object], told: str
) -> None:
    with pytest.raises(ProfileError) as refused:
        parse_profile({"name": "x", **table}, "x.toml")
    assert str(refused.value).startswith(told)


def test_the_name_may_come_from_outside() -> None:
    assert parse_profile({}, "tool.toml", name="tool").name == "tool"
    assert parse_profile({"name": "own"}, "tool.toml", name="tool").name == "own"


def test_a_budget_is_tokens_or_a_share() -> None:
    assert Budget.parse("2000").of(10_000) == 2000
    assert Budget.parse("25%").of(10_000) == 2500
    assert Budget.parse(" 12.5% ").of(800) == 100


@pytest.mark.parametrize("text", ["", "0", "-5", "0%", "101%", "many", "25 %%", "nan%", "1e3"])
def test_any_other_budget_is_refused(text: str) -> None:
    with pytest.raises(BudgetError, match="neither a number of tokens"):
        Budget.parse(text)


def test_many_patterns_are_looked_for_at_once() -> None:
    patterns = [f"a.{{0,90}}{letter}.{{0,90}}x{i}$" for i, letter in enumerate("bcdefghij" * 3)]
    found = PatternSet(patterns).matches("a" + "z" * 50 + "b" + "y" * 50 + "x0")
    assert found == [0]
    assert PatternSet([]).matches("x") == []
    assert PatternSet(["x", "\\d", "^x$"]).matches("x") == [0, 2]
