"""A record as a few lines of memory: what L2 and L3 show, and what its weight is counted of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from compress.decisions.values import DecisionPoint

_MOST = 4
_SUMMARY, _ITEM = 320, 160


def memory_text(point: DecisionPoint) -> str:
    """The record in at most nine lines: what it was, how it ended, what was done and why."""
    stage = point.stage
    state = "running" if point.open else point.outcome
    kind = stage.kind.replace("_", " ")
    lines = [f"{kind} {stage.index}: {stage.title} [{state}]"]
    if point.summary and point.summary != stage.title:
        lines.append(f"did: {_cut(point.summary, _SUMMARY)}")
    if point.rationale:
        lines.append(f"why: {_cut(point.rationale, _SUMMARY)}")
    lines.extend(_listed("user", (f"{item.kind} {item.text}".strip() for item in point.steering)))
    lines.extend(_listed("evidence", (_evidence(e.text, e.value) for e in point.evidence)))
    lines.extend(_listed("files", (f"{file.action} {file.path}" for file in point.files)))
    return "\n".join(lines)


def _listed(name: str, items: Iterable[str]) -> Sequence[str]:
    found = [_cut(item, _ITEM) for item in items]
    if not found:
        return ()
    more = f" … {len(found) - _MOST} more" if len(found) > _MOST else ""
    return (f"{name}: {'; '.join(found[-_MOST:])}{more}",)


def _evidence(text: str, value: int | None) -> str:
    return text if value is None else f"{text} = {value}"


def _cut(text: str, limit: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"
