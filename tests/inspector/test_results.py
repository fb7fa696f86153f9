"""A result of a session through the pipeline for tool output: looked at, and put in its place."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from inspector.settings import load_settings
from inspector.squeeze_reports import SqueezedResult
from inspector.squeezing import Keeping
from inspector.usecases import UseCases
from storage.sources.registry import registry
from storage.store import Store
from tests.inspector.conftest import SESSION, Ullage

TESTS, ROWS = 138, 136
"""Results of the bundled session: a run of its tests, and a table of 12,000 tokens."""


@pytest.fixture
def own(store: Path, tmp_path: Path) -> Path:
    """A copy of the store that may be written."""
    return Path(shutil.copy(store, tmp_path / "own.db"))


@pytest.fixture
def usecases(own: Path) -> Iterator[UseCases]:
    opened = UseCases(Store(own, registry()), load_settings({"db": str(own)}), environment={})
    yield opened
    opened.close()


def squeezed(usecases: UseCases, seq: int) -> SqueezedResult:
    return usecases.squeezed(SESSION, seq)


def test_the_verdict_of_a_test_run_stays(usecases: UseCases) -> None:
    result = squeezed(usecases, TESTS)
    whole = b"".join(usecases.raw_content(SESSION, TESTS)).decode()
    assert result.tokens_after < result.tokens_before
    verdict = whole.splitlines()[-1]
    assert "177 passed" in verdict
    assert verdict in result.text
    assert f"{SESSION[:8]}:{TESTS}" in result.text


def test_the_pointer_of_a_reduced_result_gives_it_back(
    ullage: Ullage, own: Path, usecases: UseCases
) -> None:
    header = squeezed(usecases, ROWS).text.splitlines()[0]
    pointer = header.rpartition("all in ")[2]
    assert ullage("raw", pointer, db=own).out.encode() == b"".join(
        usecases.raw_content(SESSION, ROWS)
    )


def test_a_reduction_is_previewed_committed_and_undone(ullage: Ullage, own: Path) -> None:
    preview = ullage(
        "compact", SESSION, "--reduce", ROWS, "--budget", "10%", "--json", db=own
    ).value
    (fate,) = [fate for fate in preview["nodes"] if fate["fate"] == "reduced"]
    assert fate["seq"] == ROWS
    assert fate["tokens_after"] <= fate["tokens_before"] / 10 + 1
    assert preview["operation"] is None
    done = ullage(
        "compact", SESSION, "--reduce", ROWS, "--budget", "10%", "--commit", "--json", db=own
    ).value
    nodes = ullage("show", SESSION, "--track", "plan", "--json", db=own).value["nodes"]
    assert ROWS not in [node["seq"] for node in nodes]
    (stands,) = [node for node in nodes if str(node["seq"]).startswith("o")]
    assert stands["tokens"] == fate["tokens_after"]
    (row,) = ullage("audit", SESSION, "--json", db=own).value[-1:]
    assert (row["operation"], row["kind"]) == (done["operation"], "reduce")
    assert ullage("undo", SESSION, db=own).code == 0
    nodes = ullage("show", SESSION, "--track", "plan", "--json", db=own).value["nodes"]
    assert ROWS in [node["seq"] for node in nodes]


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("--reduce", "1"), 1, "no tool result"),
        (("--reduce", "9999"), 1, "9999"),
        (("--reduce", "136", "--micro"), 2, "exclude each other"),
        (("--reduce", "136", "--pin", "3"), 2, "leave the rest out"),
        (("--auto", "--budget", "10%"), 2, "--budget N% is for --reduce"),
        (("--reduce", "136", "--budget", "0%"), 2, "neither a number of tokens"),
    ],
)
def test_what_cannot_be_reduced_is_refused(
    ullage: Ullage, store: Path, arguments: tuple[str, ...], code: int, said: str
) -> None:
    outcome = ullage("compact", SESSION, *arguments, db=store)
    assert outcome.code == code
    assert said in outcome.err


def test_without_a_store_nothing_is_kept_and_nothing_breaks() -> None:
    keeping = Keeping(None)
    keeping.feed(b"said")
    assert keeping.finish(1.0, "make", 0) is None
    assert keeping.notes == []
