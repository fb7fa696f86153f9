"""Usage by day, session, model or agent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import date

from inspector.usage_reports import TokenTotals, UsageBy, UsageReport, UsageRow, UsageShare
from inspector.zones import Zone
from storage.catalog import SessionRecord
from storage.totals import FailedRequest, Spending, SpentRequest

_Spent = SpentRequest | FailedRequest


@dataclass(slots=True)
class _Sums:
    main: Counter[str] = field(default_factory=Counter)
    subagents: Counter[str] = field(default_factory=Counter)

    def add(self, spent: _Spent, figures: Counter[str]) -> None:
        own = self.subagents if spent.session.relation == "subagent" else self.main
        own.update(figures)

    @property
    def tokens(self) -> int:
        both = self.main + self.subagents
        return sum(both[name] for name in ("input", "cache_read", "cache_creation", "output"))

    def share(self) -> UsageShare:
        return UsageShare(
            main=TokenTotals(**self.main),
            subagents=TokenTotals(**self.subagents),
            total=TokenTotals(**(self.main + self.subagents)),
        )


def usage_report(
    spending: Spending,
    by: UsageBy,
    zone: Zone,
    *,
    since: date | None = None,
    until: date | None = None,
) -> UsageReport:
    """Sums the requests of the days from ``since`` to ``until``, both included."""
    rows: dict[str | None, _Sums] = {}
    total, undated = _Sums(), _Sums()
    sessions: dict[str, SessionRecord] = {}
    name = _naming(by, zone)
    for spent in _all(spending):
        figures = _figures(spent)
        if spent.time is None:
            undated.add(spent, figures)
        if not _within(spent.time, zone, since, until):
            continue
        key = name(spent)
        rows.setdefault(key, _Sums()).add(spent, figures)
        total.add(spent, figures)
        sessions[spent.main.name] = spent.main
    return UsageReport(
        by=by,
        zone=zone.name,
        since=None if since is None else since.isoformat(),
        until=None if until is None else until.isoformat(),
        rows=tuple(
            _row(key, sums, sessions.get(key or "") if by == "session" else None)
            for key, sums in sorted(rows.items(), key=lambda row: _place(by, row[0], row[1].tokens))
        ),
        total=total.share(),
        undated=undated.share(),
    )


def _all(spending: Spending) -> Iterator[_Spent]:
    yield from spending.requests
    yield from spending.failures


def _naming(by: UsageBy, zone: Zone) -> Callable[[_Spent], str | None]:
    def day(spent: _Spent) -> str | None:
        return None if spent.time is None else zone.day(spent.time).isoformat()

    def model(spent: _Spent) -> str | None:
        return spent.model if isinstance(spent, SpentRequest) else None

    names: dict[UsageBy, Callable[[_Spent], str | None]] = {
        "day": day,
        "session": lambda spent: spent.main.name,
        "model": model,
        "agent": lambda spent: spent.session.agent,
    }
    return names[by]


def _within(time: float | None, zone: Zone, since: date | None, until: date | None) -> bool:
    if since is None and until is None:
        return True
    if time is None:
        return False
    day = zone.day(time)
    return (since is None or since <= day) and (until is None or day <= until)


def _figures(spent: _Spent) -> Counter[str]:
    if isinstance(spent, FailedRequest):
        return Counter(errors=1)
    usage = spent.usage
    return Counter(
        requests=1,
        input=usage.input or 0,
        cache_read=usage.cache_read or 0,
        cache_creation=usage.cache_write or 0,
        output=usage.output or 0,
        lower_bounds=int(usage.lower_bound),
        unknown=int(usage.input is None or usage.output is None),
    )


def _place(by: UsageBy, key: str | None, tokens: int) -> tuple[bool, int, str]:
    return key is None, 0 if by == "day" else -tokens, key or ""


def _row(key: str | None, sums: _Sums, session: SessionRecord | None) -> UsageRow:
    share = sums.share()
    return UsageRow(
        key=key,
        agent=None if session is None else session.agent,
        title=None if session is None else session.title,
        main=share.main,
        subagents=share.subagents,
        total=share.total,
    )
