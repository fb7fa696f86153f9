"""A tool's output, reduced: worked by hand."""

from __future__ import annotations

import pytest

from compress.reduction.pipeline import reduce
from compress.reduction.profile import Profile
from compress.reduction.render import is_reduced
from compress.reduction.values import Budget
from compress.tokens import TokenCounter
from tests.compress.reduction.outputs import LOG, profile, shown

FAILURES = profile(
    truncate={"head": 2, "tail": 3, "share": 0.05, "floor": 20, "before": 1, "after": 1},
    critical=[
        {"pattern": "^FAILED", "level": "failure"},
        {"pattern": r"^=+ .*\d+ failed", "level": "verdict"},
    ],
    success={"output": [r"^=+ \d+ passed"]},
)
RUN = [
    *(f"tests/test_{i}.py::case_{i} PASSED" for i in range(300)),
    "before the failure",
    "FAILED tests/test_x.py::case - assert 1 == 2",
    "after the failure",
    *(f"cleaning cache number {i} of {'abcdefg'[i % 7] * 9}" for i in range(80)),
    "==== 1 failed, 300 passed in 3.1s ====",
]


def test_the_failure_its_context_and_the_totals_stay(count: TokenCounter) -> None:
    result = reduce("\n".join(RUN), FAILURES, count, pointer="ab12cd34", exit_code=1)
    assert set(RUN[300:303]) <= set(shown(result.text))
    assert RUN[-1] in shown(result.text)
    assert (
        result.header
        == f"⋮ ullage: {len(shown(result.text))} of 384 lines · exit 1 · all in ab12cd34"
    )
    assert result.verdicts == (RUN[-1],)
    assert result.tokens_after < result.tokens_before / 8
    assert not result.success


def test_marks_say_how_many_lines_of_how_many_stand_behind_which_pointer(
    count: TokenCounter,
) -> None:
    lines = [f"{'zyxwvutsrq'[i % 10] * (i % 13 + 3)} {chr(97 + i % 26)}{i}k" for i in range(400)]
    lines[200] = "FAILED one"
    rule = profile(deduplicate={"templates": False}, critical=[{"pattern": "FAILED"}])
    result = reduce("\n".join(lines), rule, count, Budget(tokens=450), pointer="ab12cd34")
    marks = [line for line in result.text.split("\n")[1:] if line.startswith("⋮")]
    assert all(" of 400 lines in ab12cd34" in mark for mark in marks if "of" in mark)
    left_out = sum(int(mark.lstrip("⋮ ").split()[0]) for mark in marks)
    assert left_out + len(result.kept) == 400


def test_a_short_output_passes_untouched(count: TokenCounter, generic: Profile) -> None:
    text = "\x1b[31mFAILED\x1b[0m a\r\nb\r\n"
    result = reduce(text, generic, count, exit_code=1)
    assert result.unchanged
    assert result.text == text
    assert (result.lines_before, result.lines_after, result.stages) == (2, 2, ())


def test_a_budget_holds_for_short_outputs_too(count: TokenCounter, generic: Profile) -> None:
    text = "\n".join(["starting", "a.c:1:2: error: bad thing", "x " * 30, "leaving the folder"])
    result = reduce(text, generic, count, Budget(tokens=24))
    assert "a.c:1:2: error: bad thing" in shown(result.text)
    assert result.header == "…"
    assert result.tokens_after <= 24


def test_a_log_becomes_its_template_and_what_differs(count: TokenCounter, generic: Profile) -> None:
    log = [*LOG[:120], "2026-01-02 10:00:04 ERROR worker: job failed", *LOG[120:]]
    result = reduce("\n".join(log), generic, count)
    assert shown(result.text)[:2] == [LOG[0], "2026-01-02 10:00:04 ERROR worker: job failed"]
    assert "⋮alike ×200 to line 201" in result.text


def test_success_is_shown_by_little_and_said_by_none(count: TokenCounter) -> None:
    passed = [*RUN[:300], "==== 300 passed in 3.1s ===="]
    result = reduce("\n".join(passed), FAILURES, count, exit_code=0)
    assert result.success
    assert passed[-1] in shown(result.text)
    assert result.tokens_after < result.tokens_before / 10


@pytest.mark.parametrize(("exit_code", "success"), [(None, True), (0, True), (1, False)])
def test_an_exit_code_overrules_words(
    exit_code: int | None, success: bool, count: TokenCounter
) -> None:
    passed = [*RUN[:300], "==== 300 passed in 3.1s ===="]
    assert reduce("\n".join(passed), FAILURES, count, exit_code=exit_code).success is success


def test_an_output_that_is_not_recognised_goes_to_the_generic_profile(
    count: TokenCounter, generic: Profile
) -> None:
    known = profile(
        match={"output": ["^=+ test session starts"]},
        filter={"drop": ["."]},
        success={"output": ["."]},
    )
    result = reduce(
        "\n".join(["ImportError: no module conftest", *LOG]), known, count, generic=generic
    )
    assert result.profile == "generic"
    assert not result.success
    assert "ImportError: no module conftest" in result.text


def test_boilerplate_goes_unless_it_is_critical(count: TokenCounter) -> None:
    rule = profile(filter={"drop": ["^note"], "comments": ["^#"]}, critical=[{"pattern": "broken"}])
    lines = ["note: fine", "# why", "note: broken pipe", *(f"line {c * 20}" for c in "abcdefgh")]
    result = reduce("\n".join(lines), rule, count, Budget(share=0.9))
    assert "note: broken pipe" in shown(result.text)
    assert result.stages[0].notes == ("1 lines of boilerplate", "1 comment lines")
    assert result.stages[0].lines_removed == 2


def test_foreign_frames_in_the_middle_go_first(count: TokenCounter, generic: Profile) -> None:
    stack = [f"    at lib{i}.call (node_modules/lib/{i}.js:{i}:1)" for i in range(60)]
    text = "\n".join(["TypeError: x is undefined", *stack, "    at own (src/own.js:3:1)"])
    result = reduce(text, generic, count, Budget(share=0.2))
    assert "    at own (src/own.js:3:1)" in shown(result.text)
    assert "TypeError: x is undefined" in shown(result.text)
    assert len(shown(result.text)) < 20


def test_a_sign_that_the_input_holds_is_not_ours(count: TokenCounter, generic: Profile) -> None:
    text = "\n".join(["⋮ ullage: 2 of 9 lines", "⋮12", *LOG, "error: ⋮⋮ odd"])
    result = reduce(text, generic, count)
    assert result.header.startswith("⋮⋮⋮ ullage: ")
    assert "error: ⋮⋮ odd" in result.text
    assert is_reduced(result.text, result.tokens_after)
    assert not is_reduced(text, result.tokens_before)


def test_a_reduction_with_more_behind_it_is_reduced_again(
    count: TokenCounter, generic: Profile
) -> None:
    once = reduce("\n".join(LOG), generic, count)
    assert reduce(once.text, generic, count).unchanged
    # Only what the header speaks of is a reduction; this is one with a log behind it.
    assert not reduce(once.text + "\n" + "\n".join(LOG), generic, count).unchanged


def test_a_line_too_long_for_the_budget_is_cut_in_the_middle(
    count: TokenCounter, generic: Profile
) -> None:
    text = "error: " + " ".join(f"word{i}" for i in range(120)) + "\nend\n"
    result = reduce(text, generic, count, Budget(tokens=40))
    line = next(line for line in result.text.split("\n") if line.startswith("error: word0"))
    assert " … " in line
    assert line.endswith("word119")
    assert result.tokens_after <= 40


def test_the_middle_of_a_single_line_is_left_out(count: TokenCounter, generic: Profile) -> None:
    rows = [f'{{"id": {i}, "state": "ready", "owner": "nobody"}}' for i in range(400)]
    rows[222] = '{"id": 222, "state": "error", "owner": "worker-7"}'
    result = reduce("[" + ", ".join(rows) + "]", generic, count, Budget(share=0.1))
    assert "worker-7" in result.text
    assert result.tokens_after <= result.tokens_before * 0.1


def test_a_tight_budget_shortens_paths_before_it_drops_messages(
    count: TokenCounter, generic: Profile
) -> None:
    lines = [
        f"/home/build/workspace/project/component/unit{i}.cpp:{i}:3: warning: thing {c} is odd"
        for i, c in enumerate("abcdefghijklmnopqrst")
    ]
    kept = shown(reduce("\n".join(lines), generic, count, Budget(share=0.4)).text)
    assert all(line.startswith("…unit") for line in kept)
    # Of whole lines of equal length, at most seven would fit beside a header.
    assert len(kept) >= 8
