"""Sections on what an operation loses."""

from __future__ import annotations

from inspector.reports import LostReport
from inspector.widgets.text_pane import Section

_LOST = (
    ("instructions", "user instructions"),
    ("errors", "errors"),
    ("identifiers", "identifiers"),
)


def loss(lost: LostReport, verb: str = "lost") -> list[Section]:
    """One section a kind."""
    sections = []
    for name, title in _LOST:
        values: tuple[str, ...] = getattr(lost, name)
        if values:
            text = "\n".join(f"• {value}" for value in values)
            shown, total = len(values), getattr(lost, f"{name}_total")
            figure = f"{shown:,} of {total:,}" if total > shown else f"{shown:,}"
            sections.append(Section(text, "text", f"{verb} {title} ({figure})"))
    return sections or [Section("Nothing that was named is lost.", "muted")]
