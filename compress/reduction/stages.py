"""The first three stages over cleaned lines, each with its report."""

from __future__ import annotations

from collections.abc import Sequence

from compress.reduction.clean import Cleaned
from compress.reduction.counting import LineCounts
from compress.reduction.critical import NOTICE, Marks
from compress.reduction.deduplicate import deduplicate
from compress.reduction.group import group
from compress.reduction.items import Item
from compress.reduction.profile import Filter, Profile
from compress.reduction.values import StageName, StageReport


def prepare(
    cleaned: Cleaned,
    marks: Sequence[Marks],
    profiles: Sequence[Profile],
    counts: LineCounts,
    before: int,
) -> tuple[list[Item], list[StageReport]]:
    """Filter, group and deduplicate. ``profiles``: the one that applies, then the one that it
    inherits from, if any. ``before``: tokens of the text as it came."""
    profile = profiles[0]
    items = [
        Item(line.index, line.part, line.text, mark)
        for line, mark in zip(cleaned.lines, marks, strict=True)
    ]
    reports: list[StageReport] = []
    tokens = before

    def report(name: StageName, after: list[Item], notes: tuple[str, ...]) -> list[Item]:
        nonlocal tokens
        left = counts.total(after) if notes else tokens
        reports.append(StageReport(name, len(items) - len(after), max(0, tokens - left), notes))
        tokens = left
        return after

    items = report("filter", *_filter(items, cleaned, profile.filter))
    items = report("group", *group(items, [p.group for p in profiles]))
    items = report("deduplicate", *deduplicate(items, profile.deduplicate))
    return items, reports


def _filter(
    items: Sequence[Item], cleaned: Cleaned, rule: Filter
) -> tuple[list[Item], tuple[str, ...]]:
    kept: list[Item] = []
    blanks = boilerplate = comments = 0
    for item in items:
        marks = item.marks
        if item.blank:
            if rule.blank_runs and (not kept or kept[-1].blank):
                blanks += 1
                continue
        elif marks.level <= NOTICE and not marks.kept and not marks.succeeded:
            if marks.dropped:
                boilerplate += 1
                continue
            if marks.comment:
                comments += 1
                continue
        kept.append(item)
    counts = (
        (cleaned.escaped, "lines with terminal sequences"),
        (cleaned.frames, "frames of progress"),
        (blanks, "blank lines in a row"),
        (boilerplate, "lines of boilerplate"),
        (comments, "comment lines"),
    )
    return kept, tuple(f"{count} {what}" for count, what in counts if count)
