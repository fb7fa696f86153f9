"""On real outputs: what is critical stays, planted failures stay, and damage does no harm."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from compress.reduction.choice import choose
from compress.reduction.pipeline import reduce
from compress.reduction.profile import Profile
from compress.reduction.values import Budget, Reduction
from compress.tokens import TokenCounter
from tests.benchmarks.tool_output import (
    LARGE,
    MESSAGES,
    Output,
    Score,
    arms,
    message_scores,
    outputs,
    pooled,
    ratio,
    score,
)
from tests.compress.reduction.outputs import shipped_profiles

pytestmark = pytest.mark.corpus

PLANTED = (
    "FAILED tests/test_planted.py::test_seventeen - AssertionError: assert 41 == 42",
    "src/planted.c:77:3: error: 'quux' undeclared (first use in this function)",
    "process exited with code 137",
    "===== 17 failed, 4 passed in 0.31s =====",
    "panicked at src/planted.rs:17:5: index out of bounds",
)


@pytest.fixture(scope="module")
def members(corpus: Path) -> list[Output]:
    return outputs(corpus / "tool-output")


def reduced(
    text: str, command: str, count: TokenCounter, generic: Profile, budget: Budget | None = None
) -> Reduction:
    chosen = choose(shipped_profiles(), command=command, output=text) or generic
    return reduce(text, chosen, count, budget, generic=generic)


def test_critical_lines_stay_with_the_generic_profile_alone(
    members: list[Output], count: TokenCounter, generic: Profile
) -> None:
    figures = pooled([score(m, arms(count, [generic])["generic"], count) for m in members])
    assert figures["recall_micro"] >= 0.95
    assert figures["saved_micro"] >= 0.60


def test_messages_stay_within_a_quarter_of_each_file(count: TokenCounter, generic: Profile) -> None:
    if not MESSAGES.is_dir():
        pytest.skip("no messages here: set ULLAGE_EVAL")
    kept = message_scores(MESSAGES, count, generic)
    assert ratio([k for k in kept if k.tokens > LARGE], "messages") >= 0.85
    # Whole lines, the shortest first and without a header, are the measure.
    assert sum(min(k.kept, k.possible) for k in kept) >= 0.9 * sum(k.possible for k in kept)
    assert all(k.over == 0 for k in kept)


def test_a_curve_rises(members: list[Output], count: TokenCounter, generic: Profile) -> None:
    sample = [m for m in members if m.critical][::4]
    recalls = []
    for share in (0.1, 0.3, 0.6):
        scores = [
            Score(m.name, s.atoms, s.held, s.before, s.after)
            for m in sample
            for s in [
                score(
                    m,
                    lambda text, _, share=share: (
                        reduce(text, generic, count, Budget(share=share)).text
                    ),
                    count,
                )
            ]
        ]
        recalls.append(pooled(scores)["recall_micro"])
    assert recalls == sorted(recalls)


@pytest.mark.parametrize("planted", PLANTED)
def test_a_planted_failure_stays(
    planted: str, members: list[Output], count: TokenCounter, generic: Profile
) -> None:
    places = random.Random(planted)
    for member in members:
        lines = member.text.split("\n")
        lines.insert(places.randrange(len(lines)), planted)
        result = reduced("\n".join(lines), member.command, count, generic)
        assert planted in result.text, member.name


def test_a_changed_count_stays(
    members: list[Output], count: TokenCounter, generic: Profile
) -> None:
    for member in members:
        lines = member.text.split("\n")
        counts = [
            i for i, line in enumerate(lines) if " failed" in line and line in member.critical
        ]
        for index in counts:
            lines[index] = lines[index].replace(" failed", f" failed, {7000 + index} failed", 1)
        text = reduced("\n".join(lines), member.command, count, generic).text
        assert all(f"{7000 + index} failed" in text for index in counts), member.name


def coloured(text: str, _: str) -> str:
    lines = enumerate(text.split("\n"))
    return "\n".join(f"\x1b[3{number % 8}m{line}\x1b[0m" for number, line in lines)


def interleaved(text: str, other: str) -> str:
    pairs = zip(text.split("\n"), other.split("\n"), strict=False)
    return "\n".join(line for pair in pairs for line in pair)


DAMAGES: dict[str, Callable[[str, str], str]] = {
    "truncated": lambda text, _: text[: len(text) * 2 // 3],
    "CRLF": lambda text, _: text.replace("\n", "\r\n"),
    "coloured": coloured,
    "interleaved": interleaved,
    "progress": lambda text, _: text.replace("\n", "\n 10%\r 50%\r100%\r\r\x1b[2K"),
    "not UTF-8": lambda text, _: text.encode()[1::2].decode("utf-8", "replace"),
    "blank": lambda text, _: "\n" * len(text),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_does_no_harm(
    damage: str, members: list[Output], count: TokenCounter, generic: Profile
) -> None:
    for member, other in zip(members, [*members[1:], members[0]], strict=True):
        text = DAMAGES[damage](member.text[:12_000], other.text[:12_000])
        once = reduced(text, member.command, count, generic)
        assert once.tokens_after <= count.count(text), member.name
        assert reduced(once.text, member.command, count, generic).text == once.text, member.name
        assert "\x1b" not in once.text or once.unchanged, member.name


@pytest.mark.parametrize("damage", ["CRLF", "coloured", "progress"])
def test_what_a_terminal_obeys_hides_no_critical_line(
    damage: str, members: list[Output], count: TokenCounter, generic: Profile
) -> None:
    for member in members:
        if "\x1b" in member.text or "\r" in member.text:
            continue
        plain = reduced(member.text, "", count, generic).text
        damaged = reduced(DAMAGES[damage](member.text, ""), "", count, generic).text
        for line in member.critical:
            assert line in damaged or line not in plain, (member.name, line)
