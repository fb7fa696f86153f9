"""The words of a compaction: titles, questions, sections. Pure functions from values to text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from compress.events import NodeId
from inspector.reports import CompactionMode, CompactionReport
from inspector.widgets import figures
from inspector.widgets.balance import loses
from inspector.widgets.loss import loss
from inspector.widgets.loss_list import total_of
from inspector.widgets.markdown import bulleted, markdown
from inspector.widgets.text_pane import Section
from inspector.widgets.tones import Cells

SUMMARY, CHANGES, LOST, BOTH = "summary", "changes", "lost", "both"
"""The views of what a compaction would come to. ``BOTH``: beside the agent's own summary."""

MODE_WORDS: dict[CompactionMode, str] = {
    "region": "region",
    "auto": "whole surface by policy",
    "micro": "old tool results only",
    "reduce": "one tool result",
}
COLUMNS = 60
"""Cells from which on two summaries stand beside each other."""


def tabs_of(report: CompactionReport | None, *, compared: bool) -> list[tuple[str, str]]:
    """The views there are, with how much would be lost."""
    lost = f"lost {total_of(report.lost):,}" if report is not None else "lost"
    tabs = [(SUMMARY, "summary"), (CHANGES, "changes"), (LOST, lost)]
    return [(BOTH, "agent's | Ullage's"), *tabs] if compared else tabs


def region_words(start: NodeId, end: NodeId) -> str:
    """``#9 … #12``; one name where both ends are one node."""
    first, last = figures.event_name(start), figures.event_name(end)
    return first if first == last else f"{first} … {last}"


def moment_words(at: NodeId | None, number: int | None) -> str:
    """Which moment is meant, where it is not now."""
    if number is not None:
        return f"before compaction {number}"
    return f"as of {figures.event_name(at)}, the past" if at is not None else ""


def wish_words(
    mode: CompactionMode, region: tuple[NodeId, NodeId] | None, moment: str, *, own: bool
) -> Cells:
    """What is wanted, for a title. ``own``: the region is the one that the agent compacted."""
    what = "the agent's region" if own and mode != "region" else MODE_WORDS[mode]
    if region is not None:
        what += f" {region_words(*region)}"
    left: Cells = [(" ullage", "accent"), ("  compaction  ", "strong"), (what, "text")]
    return [*left, (f"  {moment}", "warm")] if moment else left


def budget_words(budget: int | None, kept: int, *, own: bool) -> list[str]:
    """The budget in force, and how many nodes are kept by hand: what matters less comes first."""
    size = f"budget {budget:,}" if budget is not None else "default budget"
    if budget is None and own:
        size = "budget as the agent's"
    if budget is None and kept:
        return [f"{size} · ", f"{kept:,} kept here "]
    return [f"{kept:,} kept here · ", f"{size} "] if kept else [f"{size} "]


def snap_words(moved: Sequence[str], region: tuple[NodeId, NodeId]) -> str:
    """That edges moved by themselves, and why."""
    if not moved:
        return ""
    names = dict(zip(("start", "end"), map(figures.event_name, region), strict=True))
    where = " and ".join(f"the {edge} to {names[edge]}" for edge in moved)
    return f"Snapped {where}: a call stays with its result."


def confirmation(report: CompactionReport) -> str:
    """All figures of what is about to be committed."""
    region = report.region
    where = region_words(region.start, region.end) if region is not None else "–"
    if report.summary is not None:
        size = figures.tokens(report.summary.tokens)
        what = f"Put a checkpoint of {size} counted tokens in the place of {where}?"
    else:
        what = f"Put receipts in the place of old results within {where}?"
    before, after = figures.tokens(report.tokens_before), figures.tokens(report.tokens_after)
    share = ""
    if report.window:
        shares = map(figures.percent, (report.pressure_before, report.pressure_after))
        share = f", {' → '.join(shares)} of {report.window:,}"
    cache = figures.tokens(report.cache_invalidated_tokens)
    return f"{what} {before} → {after} tokens{share}; cache loses {cache}; {loses(report.lost)}."


def summary_sections(report: CompactionReport) -> list[Section]:
    """The summary as it would stand, with the tokens of its sections."""
    if report.summary is None:
        return [Section("No summary: only old tool results are replaced by receipts.", "muted")]
    sizes = " · ".join(
        f"{title} {figures.tokens(count)}" for title, count in report.summary.sections.items()
    )
    facts = [Section(f"tokens as counted: {sizes}", "muted")] if sizes else []
    if report.oversized_units:
        names = ", ".join(figures.event_name(seq) for seq in report.oversized_units)
        facts.append(Section(f"units larger than the budget: {names}", "warm"))
    return [*facts, *markdown(report.summary.text)]


def both_sections(ours: CompactionReport, compared: CompactionReport) -> list[Section]:
    """The agent's own summary and ours beside each other, and what each of them lost. ``ours`` may
    be newer than ``compared``, which holds the agent's side."""
    theirs = compared.theirs
    if theirs is None:
        return [Section("The agent's own side is not known.", "muted")]
    sections = [
        _beside(
            "the agent's own summary" + _head(theirs.summary, theirs.tokens_before,
                                              theirs.tokens_after, theirs.pressure_after),
            "what Ullage would have kept" + _head(ours.summary, ours.tokens_before,
                                                  ours.tokens_after, ours.pressure_after),
            "accent",
        ),
        _beside(loses(theirs.lost), loses(ours.lost), "muted"),
        Section(""),
    ]  # fmt: skip
    own = theirs.summary.text if theirs.summary is not None else None
    unread = "It cannot be read: its content is encrypted, or not in the log."
    mine = ours.summary.text if ours.summary is not None else ""
    sections.append(_beside(bulleted(own) if own is not None else unread, bulleted(mine), "text"))
    for title, lost in (
        ("only the agent's keeps", compared.kept_only_there),
        ("only Ullage's keeps", compared.kept_only_here),
    ):
        found = loss(lost, title) if ours is compared else []
        sections += found
    return sections


def _head(summary: Any, before: int, after: int, pressure: float | None) -> str:
    size = f"{summary.tokens:,} counted" if summary is not None else "unreadable"
    share = f" · {figures.percent(pressure)}" if pressure is not None else ""
    return f"\n{size} · {figures.tokens(before)} → {figures.tokens(after)}{share}"


def _beside(left: str, right: str, tone: str) -> Section:
    return Section(left, tone, beside=right, beside_tone=tone, split=COLUMNS)


def choice_words(choice: Any) -> str:
    """What a way on is called on its key."""
    if isinstance(choice, int) or (isinstance(choice, str) and choice[:1] == "o"):
        return f"boundary {figures.event_name(choice)}"
    if isinstance(choice, Sequence) and not isinstance(choice, str) and len(choice) == 2:
        return f"{figures.event_name(choice[0])} … {figures.event_name(choice[1])}"
    return str(choice)
