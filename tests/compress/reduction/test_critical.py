"""What may not be lost: by shape alone, and by the patterns of a profile."""

from __future__ import annotations

import pytest

from compress.reduction.critical import (
    DETAIL,
    FAILURE,
    NOTICE,
    PLAIN,
    VERDICT,
    Assessor,
    Marks,
)
from compress.reduction.profile import Profile
from tests.compress.reduction.outputs import profile


def marks(text: str, *profiles: Profile) -> Marks:
    return Assessor(profiles or [profile()]).assess([text])[0]


@pytest.mark.parametrize(
    "text",
    [
        "src/a.c:12:3: unused",
        "  --> src/lib.rs:309:47",
        "Program.cs(137,32): nothing",
        '"src/dummy_1.c", line 333: {D}',
        "[WARNING] /x/Report.java:[83,44] leaks",
        "Makefile:12:3: x",
    ],
)
def test_a_location_is_known_by_its_shape(text: str) -> None:
    assert marks(text).located


@pytest.mark.parametrize(
    "text", ["2026-01-02 10:00:04 INFO all well", "ratio 3.5: fine", "chrono-0.4.23/src"]
)
def test_a_time_or_a_number_is_no_location(text: str) -> None:
    assert not marks(text).located


@pytest.mark.parametrize(
    "text", ["3 failed, 40 passed in 0.1s", "2 rouges, 5 verts", "1 rot; 2 blau"]
)
def test_a_row_of_counts_is_a_verdict_in_any_language(text: str) -> None:
    assert marks(text).level == VERDICT


@pytest.mark.parametrize("text", ["ValueError: 'x1'", "java.lang.IllegalStateException: gone"])
def test_the_head_of_an_exception_is_known_by_its_shape(text: str) -> None:
    assert marks(text).level == DETAIL


def test_without_a_profile_no_word_weighs() -> None:
    assert marks("error failed fatal").level == PLAIN


@pytest.mark.parametrize(
    ("text", "level"),
    [
        ("error[E0599]: no function", FAILURE),
        ("FAILED tests/test_a.py::test_b - KeyError", FAILURE),
        ("  ✖ renders the list", FAILURE),
        ("Fehler: Datei fehlt", FAILURE),
        ("ошибка: файл не найден", FAILURE),
        ("エラー: ファイルがありません", FAILURE),
        ('{"Action":"fail","Package":"x"}', FAILURE),
        ("Tests:       2 failed, 58 passed, 60 total", VERDICT),
        ("rc=101", VERDICT),
        ("[exit 1]", VERDICT),
        ("Process exited with code 137", VERDICT),
        ("warning: unused variable", NOTICE),
        ("help: consider this: x", DETAIL),
        ("diff --git a/x.go b/x.go", DETAIL),
        ("Compiling error_chain v0.12", PLAIN),
        ("src/errors/failed.py", PLAIN),
        ("--fail-fast", PLAIN),
        ("test error::tests::unauthorized_returns_401 ... ok", PLAIN),
    ],
)
def test_the_generic_profile(text: str, level: int, generic: Profile) -> None:
    assert marks(text, generic).level == level


@pytest.mark.parametrize(
    ("text", "failing"),
    [
        ("0 failed", False),
        ("failures: 0", False),
        ("10 failed", True),
        ("test result: ok. 5 passed; 0 failed; 1 ignored", False),
        ("test result: FAILED. 5 passed; 1 failed", True),
        ("found 0 errors in 10 files, 1 error in another", True),
    ],
)
def test_a_count_of_zero_is_no_failure(text: str, failing: bool, generic: Profile) -> None:
    assert marks(text, generic).failing is failing


def test_a_pattern_asks_for_its_own_context() -> None:
    made = profile(
        truncate={"before": 1, "after": 2, "floor": 0},
        critical=[
            {"pattern": "boom", "level": "failure"},
            {"pattern": "why", "level": "detail", "after": 7, "until": "^$"},
        ],
    )
    assert (marks("boom", made).before, marks("boom", made).after) == (1, 2)
    assert (marks("why", made).before, marks("why", made).after) == (0, 7)
    assert marks("boom, why", made).after == 7


def test_a_profile_adds_to_the_one_it_inherits_from(generic: Profile) -> None:
    made = profile(critical=[{"pattern": "^kaput", "level": "failure"}])
    assert marks("kaput", made, generic).level == FAILURE
    assert marks("error: x", made, generic).level == FAILURE
    assert marks("error: x", made).level == PLAIN
