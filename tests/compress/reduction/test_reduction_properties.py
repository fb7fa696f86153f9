"""What holds for every text, profile and budget."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from compress.reduction.clean import clean
from compress.reduction.pipeline import reduce
from compress.reduction.profile import Profile
from compress.reduction.values import Budget
from compress.tokens import CharsOverFour, TokenCounter
from tests.compress.reduction.outputs import (
    SIGNS,
    is_ours,
    profile,
    shipped_profile,
    shown,
    sign_of,
)

WORDS = [
    "ok",
    "FAILED",
    "error:",
    "a/b.py:12:",
    "/long/way/to/a/folder/b.py:12: odd words here",
    "12 passed",
    "Compiling",
    "⋮",
    "…",
    "x" * 30,
    "0x1f",
    "—",
]
PIECES = [*WORDS, " ", "  ", "\t", "\r", "\x1b[31m", "\x1b[0m", "\x1b[2K", "\x08", "\x9b", "\ud800"]
LINES = st.lists(st.sampled_from(PIECES), max_size=8).map("".join)
STRUCTURED = st.lists(LINES, max_size=60).map("\n".join)
REPEATED = st.tuples(STRUCTURED, st.integers(1, 12)).map(
    lambda pair: "\n".join([pair[0]] * pair[1])
)
TEXTS = st.one_of(st.text(max_size=600), STRUCTURED, REPEATED)
BUDGETS = st.one_of(
    st.none(),
    st.integers(1, 400).map(lambda tokens: Budget(tokens=tokens)),
    st.sampled_from([0.01, 0.1, 0.25, 0.5, 0.9, 1.0]).map(lambda share: Budget(share=share)),
)
EXTRAS = st.fixed_dictionaries(
    {
        "pointer": st.sampled_from([None, "ab12cd34"]),
        "exit_code": st.sampled_from([None, 0, 1, 137]),
    }
)
COUNTER = CharsOverFour()
EAGER = profile(
    filter={"drop": ["^Compiling"], "comments": ["^#"]},
    group={
        "by": ["folder", "diagnostic"],
        "diagnostics": ["^(?P<location>\\S+:\\d+): (?P<message>.+)"],
    },
    critical=[{"pattern": "FAILED", "level": "failure", "after": 5, "until": "^ok"}],
    success={"output": ["passed"]},
)
PROFILES = st.sampled_from([EAGER, shipped_profile("generic")])
moderate = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@moderate
@given(TEXTS, PROFILES, BUDGETS, EXTRAS)
def test_never_longer_and_within_the_budget(
    text: str, chosen: Profile, budget: Budget | None, extras: dict[str, object]
) -> None:
    result = reduce(text, chosen, COUNTER, budget, generic=EAGER, **extras)  # type: ignore[arg-type]
    assert result.tokens_after == COUNTER.count(result.text) <= COUNTER.count(text)
    if budget is not None:
        limit = max(budget.of(result.tokens_before), COUNTER.count(result.header + "\n"))
        assert result.unchanged or result.tokens_after <= limit


@moderate
@given(TEXTS, PROFILES, BUDGETS, EXTRAS)
def test_twice_is_once(
    text: str, chosen: Profile, budget: Budget | None, extras: dict[str, object]
) -> None:
    once = reduce(text, chosen, COUNTER, budget, generic=EAGER, **extras)  # type: ignore[arg-type]
    twice = reduce(once.text, chosen, COUNTER, budget, generic=EAGER, **extras)  # type: ignore[arg-type]
    assert twice.text == once.text


@moderate
@given(TEXTS, BUDGETS)
def test_lines_are_copied_in_their_order(text: str, budget: Budget | None) -> None:
    plain = profile(critical=[{"pattern": "FAILED|error", "level": "failure"}])
    result = reduce(text, plain, COUNTER, budget)
    if result.unchanged or any(sign in text for sign in SIGNS):
        return
    sign = sign_of(result.text)
    source = iter([line.text for line in clean(text).lines])
    for line in result.text.removesuffix("\n").split("\n"):
        if is_ours(line, sign):
            continue
        # Around the sign stands what is left of a line that was cut; a note may stand behind.
        parts = [part.strip() for part in line.split(sign)]
        note = len(parts) > 1 and re.match(r"×|alike |also ", parts[-1]) is not None
        parts = [part for part in (parts[:-1] if note else parts) if part]
        assert any(all(part in candidate for part in parts) for candidate in source), line


@moderate
@given(TEXTS, BUDGETS, EXTRAS)
def test_the_header_says_what_it_has_room_for(
    text: str, budget: Budget | None, extras: dict[str, object]
) -> None:
    result = reduce(text, EAGER, COUNTER, budget, **extras)  # type: ignore[arg-type]
    if result.unchanged:
        assert result.text == text
        return
    sign = sign_of(result.text)
    assert sign not in text
    assert sign[0] in SIGNS
    assert result.text.startswith(result.header)
    code = extras["exit_code"]
    assert code is None or f"exit {code}" in result.header
    if budget is None or budget.of(result.tokens_before) >= 200:
        assert extras["pointer"] is None or "ab12cd34" in result.header
        assert str(result.lines_before) in result.header


@moderate
@given(TEXTS, st.integers(0, 60), st.sampled_from(["FAILED planted::case 17", "exit code: 137"]))
def test_a_planted_failure_stays_without_a_budget(text: str, place: int, planted: str) -> None:
    lines = text.split("\n")
    lines.insert(min(place, len(lines)), planted)
    result = reduce("\n".join(lines), shipped_profile("generic"), COUNTER)
    assert any(line.strip().startswith(planted) for line in shown(result.text))


@moderate
@given(TEXTS)
def test_reports_name_the_four_stages(text: str) -> None:
    result = reduce(text, EAGER, COUNTER)
    names = [stage.name for stage in result.stages]
    assert names == ([] if result.unchanged else ["filter", "group", "deduplicate", "truncate"])
    assert all(stage.lines_removed >= 0 for stage in result.stages)


@pytest.mark.parametrize("seed", ["0", "7"])
def test_the_same_bytes_in_every_process(seed: str, count: TokenCounter, generic: Profile) -> None:
    text = "\n".join(f"src/{i % 7}/f{i}.c:{i}: warning: unused {i % 5}" for i in range(300))
    script = (
        "import sys; from tests.compress.reduction.outputs import shipped_profile;"
        "from compress.reduction.pipeline import reduce; from storage.resources import counter;"
        "sys.stdout.buffer.write(reduce(sys.stdin.read(), shipped_profile('generic'),"
        " counter()).text.encode())"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        input=text.encode(),
        capture_output=True,
        check=True,
        env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path), "PYTHONUTF8": "1"},
    )
    assert done.stdout.decode() == reduce(text, generic, count).text
