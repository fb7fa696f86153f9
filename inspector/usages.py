"""Usage by day, session, model or agent."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from operator import add

from inspector.usage_reports import TokenTotals, UsageBy, UsageReport, UsageRow, UsageShare
from inspector.zones import Zone
from storage.catalog import SessionRecord
from storage.totals import FailedRequest, Spending, SpentRequest

_Spent = SpentRequest | FailedRequest
_NAMES = tuple(TokenTotals.model_fields)
_Figures = tuple[int, ...]
"""In the order of :data:`_NAMES`."""
_NOTHING: _Figures = (0,) * len(_NAMES)
_FAILURE: _Figures = tuple(int(name == "errors") for name in _NAMES)


@dataclass(slots=True)
class _Sums:
    main: _Figures = _NOTHING
    subagents: _Figures = _NOTHING

    def add(self, figures: _Figures, *, subagent: bool) -> None:
        if subagent:
            self.subagents = _plus(self.subagents, figures)
        else:
            self.main = _plus(self.main, figures)

    def share(self) -> UsageShare:
        return UsageShare(
            main=_totals(self.main),
            subagents=_totals(self.subagents),
            total=_totals(_plus(self.main, self.subagents)),
        )


def _plus(one: _Figures, other: _Figures) -> _Figures:
    return tuple(map(add, one, other))


def _totals(figures: _Figures) -> TokenTotals:
    return TokenTotals(**dict(zip(_NAMES, figures, strict=True)))


def usage_report(
    spending: Spending,
    by: UsageBy,
    zone: Zone,
    *,
    since: date | None = None,
    until: date | None = None,
) -> UsageReport:
    """Sums the requests of the days from ``since`` to ``until``, both included."""
    sums: dict[str | None, _Sums] = {}
    total, undated = _Sums(), _Sums()
    sessions: dict[str, SessionRecord] = {}
    name = _naming(by, zone)
    for spent in _all(spending):
        figures = _figures(spent)
        subagent = spent.session.relation == "subagent"
        if spent.time is None:
            undated.add(figures, subagent=subagent)
        if not _within(spent.time, zone, since, until):
            continue
        key = name(spent)
        if key not in sums:
            sums[key] = _Sums()
        sums[key].add(figures, subagent=subagent)
        total.add(figures, subagent=subagent)
        sessions[spent.main.name] = spent.main
    rows = [
        _row(key, row.share(), sessions.get(key or "") if by == "session" else None)
        for key, row in sums.items()
    ]
    rows.sort(key=lambda row: (row.key is None, 0 if by == "day" else -_tokens(row), row.key or ""))
    return UsageReport(
        by=by,
        zone=zone.name,
        since=None if since is None else since.isoformat(),
        until=None if until is None else until.isoformat(),
        rows=tuple(rows),
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


def _figures(spent: _Spent) -> _Figures:
    if isinstance(spent, FailedRequest):
        return _FAILURE
    usage = spent.usage
    return (
        1,
        usage.input or 0,
        usage.cache_read or 0,
        usage.cache_write or 0,
        usage.output or 0,
        int(usage.lower_bound),
        int(usage.input is None or usage.output is None),
        0,
    )


def _tokens(row: UsageRow) -> int:
    total = row.total
    return total.input + total.cache_read + total.cache_creation + total.output


def _row(key: str | None, share: UsageShare, session: SessionRecord | None) -> UsageRow:
    return UsageRow(
        key=key,
        agent=None if session is None else session.agent,
        title=None if session is None else session.title,
        main=share.main,
        subagents=share.subagents,
        total=share.total,
    )
