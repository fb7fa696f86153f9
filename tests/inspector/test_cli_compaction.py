"""A compaction, and its losses, as lines for a person."""

from __future__ import annotations

from pathlib import Path

import pytest

from inspector.cli_compaction import (
    SUMMARY_LINES,
    compaction_lines,
    fates,
    losses,
)
from inspector.cli_paint import Paint
from inspector.reports import (
    CompactionReport,
    LostReport,
    NodeFate,
    SessionHeader,
    SummaryReport,
)
from tests.inspector.conftest import SESSION, Ullage

NODES = (
    NodeFate(seq=1, fate="kept", rule="outside the region", tokens_before=50, tokens_after=50),
    NodeFate(seq=2, fate="shadowed", rule="outcome", tokens_before=900, tokens_after=0),
    NodeFate(seq=3, fate="shadowed", rule="outcome", tokens_before=600, tokens_after=0),
    NodeFate(seq=4, fate="receipt", rule="cleared", tokens_before=400, tokens_after=30),
)
REPORT = CompactionReport(
    session=SessionHeader(id="s", agent="claude"),
    at_seq=4,
    replace_generation=0,
    region=None,
    nodes=NODES,
    tokens_before=60_000,
    tokens_after=20_000,
    pressure_before=0.6,
    pressure_after=0.2,
)
PAINT = Paint(width=80)


def lines(report: CompactionReport = REPORT, **options: bool) -> list[str]:
    return list(compaction_lines(report, PAINT, **options))


def test_each_rule_says_of_how_many_nodes_and_tokens_it_decides() -> None:
    assert list(fates(NODES, PAINT, each=False)) == [
        "FATE      NODES  COUNTED TOKENS  RULE",
        "shadowed      2  1.5k → 0        outcome",
        "receipt       1  400 → 30        cleared",
        "kept          1  50 → 50         outside the region",
    ]


def test_every_node_is_listed_on_demand_only() -> None:
    one = "  2  shadowed  900 → 0         outcome"
    assert one in lines(nodes=True)
    assert one not in lines()


def test_a_share_is_one_of_the_window() -> None:
    before, after = (text for text in lines() if text.startswith(("before", "after")))
    assert before.endswith("60,000 tokens   60 % of the window")
    assert after.endswith("20,000 tokens   20 % of the window")
    unknown = REPORT.model_copy(update={"pressure_before": None, "pressure_after": None})
    assert not [text for text in lines(unknown) if "%" in text]


def test_losses_are_told_with_their_totals() -> None:
    lost = LostReport(
        identifiers=tuple(f"name{n}" for n in range(200)),
        identifiers_total=1_503,
        instructions=("never push",),
        instructions_total=1,
    )
    text = "\n".join(lines(REPORT.model_copy(update={"lost": lost})))
    assert "1 instruction: never push" in text
    assert "1,503 identifiers (--json lists 200): name0" in text
    wide = "\n".join(compaction_lines(REPORT.model_copy(update={"lost": lost}), Paint(width=160)))
    assert "… 1,495 more" in wide


def test_losses_without_totals_are_those_that_are_listed() -> None:
    assert losses(LostReport(errors=("a", "b"))) == [("error", ("a", "b"), 2)]


@pytest.mark.parametrize(("written", "shown"), [(40, 40), (41, 39), (500, 39)])
def test_a_long_summary_is_cut_unless_all_is_asked_for(written: int, shown: int) -> None:
    text = "\n".join(f"- line {n}" for n in range(written))
    report = REPORT.model_copy(update={"summary": SummaryReport(text=text, tokens=9)})
    drawn = [text for text in lines(report) if text.startswith("│")]
    assert len(drawn) == shown <= SUMMARY_LINES
    assert len([text for text in lines(report, full=True) if text.startswith("│")]) == written
    assert (f"… {written - shown} more lines (--full shows all)" in lines(report)) == (
        shown < written
    )


def test_the_commands_options_reach_the_text(ullage: Ullage, store: Path) -> None:
    command = ("compact", SESSION, "--before-compaction", 1, "--budget", "own")
    short = ullage(*command, db=store).out
    every = ullage(*command, "--nodes", "--full", db=store).out
    assert "--full shows all" in short
    assert "--full shows all" not in every
    assert "SEQ  FATE" in every
    assert "SEQ  FATE" not in short


@pytest.mark.parametrize("mode", ["--auto", "--micro"])
def test_another_mode_beside_the_agents_own_compaction_is_refused_not_ignored(
    ullage: Ullage, store: Path, mode: str
) -> None:
    refused = ullage("compact", SESSION, "--before-compaction", 1, mode, db=store)
    assert refused.code == 2
    assert "leave --auto and --micro out" in refused.err
