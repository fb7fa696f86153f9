"""What the detail pane says of a reduced result: the stages' counts, then the text."""

from __future__ import annotations

from inspector.squeeze_reports import SqueezedResult, StageRow
from inspector.widgets import figures
from inspector.widgets.text_pane import Section

UNTOUCHED = "Nothing to leave out: the result passes as it is."


def squeezed_sections(result: SqueezedResult) -> list[Section]:
    """By which profile, what each stage removed, and what stays."""
    if not result.stages:
        return [Section(UNTOUCHED, "accent", f"squeezed · {result.profile}"), Section(result.text)]
    saved = figures.percent(1 - result.tokens_after / max(result.tokens_before, 1))
    tokens = f"{result.tokens_before:,} → {result.tokens_after:,} tokens, {saved} less"
    lines = f"{result.lines_before:,} → {figures.counted(result.lines_after, 'line')}"
    said = [f"{tokens} · {lines}", *(_stage(stage) for stage in result.stages)]
    title = f"squeezed · {result.profile}"
    return [Section("\n".join(said), "accent", title), Section(""), Section(result.text)]


def _stage(stage: StageRow) -> str:
    if not stage.lines_removed and not stage.tokens_removed:
        return f"{stage.name}: nothing"
    lines = figures.counted(stage.lines_removed, "line")
    notes = f" ({', '.join(stage.notes)})" if stage.notes else ""
    return f"{stage.name}: {lines}, {stage.tokens_removed:,} tokens{notes}"
