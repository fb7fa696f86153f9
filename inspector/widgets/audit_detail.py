"""What is said of one operation: sections and tabs. Pure functions from a row to text."""

from __future__ import annotations

from datetime import tzinfo

from inspector.reports import AuditRow
from inspector.widgets import figures
from inspector.widgets.audit_list import gain_words, state_words
from inspector.widgets.compacting import BOTH, region_words
from inspector.widgets.loss import loss
from inspector.widgets.loss_list import total_of
from inspector.widgets.text_pane import Section

LOST, DIFF, RAW = "lost", "diff", "raw"
"""The views of an operation, beside the comparison with what Ullage would have kept."""


def audit_tabs(row: AuditRow | None, *, comparable: bool) -> list[tuple[str, str]]:
    """The views that there are of an operation."""
    lost = f"lost {total_of(row.lost):,}" if row is not None else "lost"
    tabs = [(LOST, lost), (DIFF, "diff"), (RAW, "raw")]
    return [*tabs, (BOTH, "agent's | Ullage's")] if comparable else tabs


def fact_sections(row: AuditRow, zone: tzinfo | None) -> list[Section]:
    """Who, when, by which rule, what it did to which nodes, and what became of it."""
    name, when = figures.event_name(row.operation), figures.moment(row.at, zone)
    parts = [f"{name} · {row.kind} by the {row.origin} · {when} · {state_words(row)}"]
    did = []
    if row.region is not None:
        did.append(region_words(row.region.start, row.region.end))
    if row.shadowed_seqs:
        did.append(f"{figures.counted(len(row.shadowed_seqs), 'node')} taken away")
    gain = gain_words(row)
    if gain:
        did.append(f"{gain} as counted")
    if row.cache_invalidated_tokens is not None:
        did.append(f"cache lost {figures.tokens(row.cache_invalidated_tokens)}")
    if did:
        parts.append(" · ".join(did))
    why = " · ".join(words for words in (row.rule, row.note) if words)
    return [Section("\n".join(parts), "muted"), *([Section(why, "muted")] if why else [])]


def lost_sections(row: AuditRow) -> list[Section]:
    """What stood nowhere any more right after it."""
    return loss(row.lost)
