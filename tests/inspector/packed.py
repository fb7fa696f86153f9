"""The pack of the story that the fakes tell."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from compress.beliefs.values import Strategy
from compress.continuation.values import Availability, Continuation, ContinuationRequest
from compress.errors import CompressError
from compress.packs.values import Pack, PackRequest
from inspector.pack_reports import PackHandle, PackLineReport, PackReport
from inspector.rebuild_reports import (
    AvailabilityReport,
    MissingReport,
    RebuildHandle,
    RebuildReport,
    SectionReport,
)
from storage.scripts import is_searchable

SYMBOLS = (
    "holds no letter and no digit, so it says nothing to look for: what is newest and most used is "
    "taken."
)
HEADER = 40
"""Tokens beside the lines."""
SHARES: Mapping[Strategy, float] = {
    "verbatim": 1.0,
    "headline": 0.25,
    "query_headline": 0.3,
    "stub": 0.02,
}


class NoRoomError(CompressError):
    code = "pack_budget"


def _line(number: int, kind: str, retention: str, tokens: int, text: str, **more: Any) -> Any:
    strategy = {"snapshot": "headline", "transient": "stub"}.get(retention, "verbatim")
    fields: dict[str, Any] = {
        "belief": f"b{number}", "type": kind, "retention": retention,
        "label": text, "locked": False, "strategy": strategy, "rank": number,
        "score": 1 / (60 + number), "tokens_raw": tokens, "tokens_rendered": tokens,
        "packed": False, "reason": "over_budget", "session": "s1",
        "source_event_seqs": (number * 3,), "rendered": f"{text}.\nMore of it.",
    }  # fmt: skip
    return {**fields, **more}


LINES = [
    _line(1, "instruction", "fact", 64, "never push to main", locked=True),
    _line(2, "decision", "fact", 210, "turn 2: the jitter made two waits equal [success]"),
    _line(3, "file_snapshot", "snapshot", 2_900, "src/backoff.py"),
    _line(4, "tool_result", "transient", 1_450, "pytest tests/test_retry.py"),
    _line(5, "answer", "unknown", 180, "The jitter can make two waits equal."),
    _line(6, "file_snapshot", "snapshot", 2_900, "src/backoff.py", duplicate_of="b3"),
    _line(7, "plan_step", "fact", 22, "再試行の待ち時間を決定的にする", session="s3"),
    _line(8, "summary", "snapshot", 1_620, "# What stands\n[bold]not markup[/]"),
    _line(9, "tool_result", "transient", 88, "git status --short"),
]


def note_of(query: str | None) -> str | None:
    return None if not query or is_searchable(query) else f"“{query}” {SYMBOLS}"


def pack_of(
    query: str,
    budget: int,
    *,
    scope: str,
    compression: bool,
    overrides: Mapping[str, Strategy],
    excluded: Collection[str],
    included: Collection[str],
    allow_overflow: bool,
) -> PackHandle:
    """Lines in their order, as long as they fit; those that were asked for by hand first."""
    rows, left = [], budget - HEADER
    wanted = [row for row in LINES if scope == "store" or row["session"] == "s1"]
    wanted.sort(key=lambda row: (not row["locked"], row["belief"] not in included, row["rank"]))
    overflow = 0
    for row in wanted:
        chosen: Strategy = row["strategy"] if compression else "verbatim"
        chosen = "verbatim" if row["locked"] else overrides.get(row["belief"], chosen)
        cost = max(8, round(row["tokens_raw"] * SHARES[chosen]))
        if row["locked"] and cost > left:
            if not allow_overflow:
                raise NoRoomError(
                    f"What is pinned alone takes {cost + HEADER} tokens, and the budget is "
                    f"{budget}: raise the budget, unpin something, or allow the overflow."
                )
            overflow = cost - left
        reason = "packed" if cost <= left else "over_budget"
        if row["locked"]:
            reason = "locked"
        elif row["belief"] in excluded:
            reason = "excluded"
        elif row.get("duplicate_of"):
            reason = "duplicate"
        packed = reason in ("packed", "locked")
        left -= cost if packed else 0
        found = {"strategy": chosen, "tokens_rendered": cost, "packed": packed, "reason": reason}
        rows.append(PackLineReport(**{**row, **found, "rank": len(rows) + 1}))
    text = f"# Retrieved context\n\nFor: {query or 'what is newest'}\n" + "".join(
        f"\n## {row.label}\n\n{row.rendered}\n" for row in rows if row.packed
    )
    report = PackReport(
        query=query, scope=scope, session="s1", budget=budget, tokens=budget - left,
        overflow=overflow, counter="o200k_base", compression=compression,
        compression_source="default", text=text, lines=tuple(rows),
        note=note_of(query),
    )  # fmt: skip
    request = PackRequest(query, budget)
    return PackHandle(report, Pack(request, text, report.tokens, report.counter, ()))


def context_of(newest: int, query: str | None, budget: int, compression: bool) -> RebuildHandle:
    """The context that the story's session is gone on with."""
    parts: list[tuple[Any, str, int, int, int, str]] = [
        ("pinned", "Pinned", 64, 1, 0, "never push to main"),
        ("instructions", "What was asked for", 120, 2, 0, "Find out why it is flaky and fix it."),
        ("open_items", "Open", 44, 2, 1, "- [ ] make the jitter deterministic\n- [ ] 再試行"),
        ("errors", "Unresolved errors", 31, 1, 0, "FAILED tests/test_retry.py::test_backoff"),
        ("retrieved", "From earlier", 900, 6, 3, "src/backoff.py, as it was read"),
        ("turns", "The newest turns", 1_480, 4, 9, "[40] agent: Now the tests are run again."),
        ("names", "Names in use", 90, 24, 0, "src/backoff.py tests/test_retry.py"),
    ]
    sections = tuple(
        SectionReport(
            name=name, title=title, tokens=tokens, items=items, left_out=left,
            degraded=1 if left > 2 else 0, text=f"## {title}\n\n{text}",
        )
        for name, title, tokens, items, left, text in parts
    )  # fmt: skip
    tokens = sum(section.tokens for section in sections) + 20
    report = RebuildReport(
        query=query or "Find out why it is flaky and fix it.",
        query_source="given" if query else "session", scope="session", session="s1",
        budget=budget, tokens=tokens, counter="o200k_base", compression=compression,
        compression_source="default", text="\n\n".join(section.text for section in sections),
        lines=(), at_seq=newest, sections=sections, note=note_of(query),
        availability=AvailabilityReport(
            share=0.83,
            identifiers=MissingReport(total=12, of=71, items=("seed", "MAX_DELAY", "conftest.py")),
            instructions=MissingReport(total=0, of=5),
            errors=MissingReport(total=1, of=2, items=("exit 2: pytest --lf",)),
        ),
    )  # fmt: skip
    made = Continuation(
        ContinuationRequest(report.query, budget), report.text, tokens, report.counter, (), (),
        Availability(identifiers=71, standing=59),
    )  # fmt: skip
    return RebuildHandle(report, made, past=False)
