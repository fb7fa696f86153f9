"""Totals by day, session, model and agent, from the logs to what is printed."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.cli_paint import Paint
from inspector.cli_usage import usage_text
from inspector.usage_reports import TokenTotals, UsageReport
from inspector.usecases import UseCases
from inspector.zones import UnknownZoneError, zone_named
from tests.inspector.conftest import SESSION, Ullage
from tests.inspector.logs import Log

Read = Callable[[str], UseCases]


@pytest.fixture
def read(hard_inputs: Path, cases: UseCases) -> Read:
    def ingest(name: str) -> UseCases:
        cases.ingest([hard_inputs / name])
        return cases

    return ingest


def requests(report: UsageReport) -> dict[str | None, int]:
    return {row.key: row.total.requests for row in report.rows}


def at(cases: UseCases, folder: Path, *moments: str | None) -> UseCases:
    """A log of requests at these moments (``None``: no time), each of 1,000 and 20 tokens."""
    log = Log(folder)
    for moment in moments:
        log.user("go on")
        log.assistant({"type": "text", "text": "done"}, timestamp=moment)
    cases.ingest([log.path])
    return cases


@pytest.mark.hard
@pytest.mark.parametrize(
    ("zone", "days"),
    [
        # Replies at 2 Jan 00:00:00, 2 Jan 23:59:59, 8 Mar 10:00:00 and 1 Nov 09:30:00, UTC.
        ("UTC", {"2026-01-02": 2, "2026-03-08": 1, "2026-11-01": 1}),
        (
            "America/Los_Angeles",
            {"2026-01-01": 1, "2026-01-02": 1, "2026-03-08": 1, "2026-11-01": 1},
        ),
        ("Asia/Tokyo", {"2026-01-02": 1, "2026-01-03": 1, "2026-03-08": 1, "2026-11-01": 1}),
        ("Pacific/Kiritimati", {"2026-01-02": 1, "2026-01-03": 1, "2026-03-09": 1,
                                "2026-11-01": 1}),
    ],
)  # fmt: skip
def test_t15_a_day_is_one_of_the_zone_that_is_named(
    read: Read, zone: str, days: dict[str, int]
) -> None:
    report = read("T15").usage(zone=zone)
    assert report.zone == zone
    assert requests(report) == days


def test_t15_half_past_eleven_at_night_is_the_next_day_further_east(
    cases: UseCases, tmp_path: Path
) -> None:
    at(cases, tmp_path, "2026-01-02T23:30:00Z")
    assert requests(cases.usage(zone="Asia/Tokyo")) == {"2026-01-03": 1}
    assert requests(cases.usage(zone="Europe/London")) == {"2026-01-02": 1}


@pytest.mark.parametrize(
    ("day", "begins", "hours"),
    [
        ("2026-03-29", "2026-03-28T23:00:00+00:00", 23),
        ("2026-06-01", "2026-05-31T22:00:00+00:00", 24),
        ("2026-10-25", "2026-10-24T22:00:00+00:00", 25),
    ],
)
def test_t15_a_day_on_which_the_clocks_change_is_as_long_as_it_is(
    cases: UseCases, tmp_path: Path, day: str, begins: str, hours: int
) -> None:
    """A request each hour, from one before the day to one behind it."""
    first = datetime.fromisoformat(begins)
    moments = [(first + timedelta(hours=n)).isoformat() for n in range(-1, hours + 1)]
    found = requests(at(cases, tmp_path, *moments).usage(zone="Europe/Berlin"))
    assert found[day] == hours
    assert sum(found.values()) == hours + 2
    assert len(found) == 3


@given(st.datetimes(datetime(1990, 1, 1), datetime(2199, 12, 31), timezones=st.just(UTC)))
def test_t15_every_moment_falls_between_the_borders_of_its_day(moment: datetime) -> None:
    zone = zone_named("America/New_York", {})
    day = zone.day(moment.timestamp())
    begin = datetime(day.year, day.month, day.day, tzinfo=zone.info)
    after = day + timedelta(days=1)
    end = datetime(after.year, after.month, after.day, tzinfo=zone.info)
    assert begin.astimezone(UTC) <= moment < end.astimezone(UTC)


@pytest.mark.hard
@pytest.mark.parametrize(
    ("by", "keys"),
    [
        ("day", ["2026-01-02"]),
        ("model", ["claude-haiku-4-5", "claude-sonnet-4-5"]),
        ("agent", ["claude"]),
    ],
)
def test_t08_sub_agents_are_apart_and_in_the_grand_total(
    read: Read, by: str, keys: list[str]
) -> None:
    report = read("T08").usage(by, zone="UTC")  # type: ignore[arg-type]
    assert report.total.main == TokenTotals(requests=1, input=10, output=20)
    assert report.total.subagents == TokenTotals(requests=2, input=1 + 1, output=40 + 80)
    assert report.total.total == TokenTotals(requests=3, input=12, output=140)
    assert [row.key for row in report.rows] == keys


@pytest.mark.hard
def test_t08_sub_agents_of_sub_agents_are_in_the_row_of_the_session(read: Read) -> None:
    cases = read("T08")
    (row,) = cases.usage("session").rows
    (main,) = (session for session in cases.sessions() if session.relation == "main")
    assert (row.key, row.agent, row.title) == (main.id, "claude", main.title)
    assert (row.main.output, row.subagents.output, row.total.output) == (20, 40 + 80, 140)


@pytest.mark.hard
def test_t08_sub_agents_are_printed_below_what_they_are_a_part_of(read: Read) -> None:
    cases = read("T08")
    shown = list(usage_text(cases.usage("model", zone="UTC"), Paint(width=80)))
    assert [line.split() for line in shown] == [
        ["Tokens", "by", "model"],
        ["MODEL", "REQUESTS", "INPUT", "CACHE", "READ", "WRITTEN", "OUTPUT"],
        ["claude-haiku-4-5", "2", "2", "0", "0", "120"],
        ["↳", "sub-agents", "2", "2", "0", "0", "120"],
        ["claude-sonnet-4-5", "1", "10", "0", "0", "20"],
        ["total", "3", "12", "0", "0", "140"],
        ["↳", "sub-agents", "2", "2", "0", "0", "120"],
    ]


@pytest.mark.hard
def test_r16_a_request_without_a_time_is_undated_and_not_dropped(read: Read) -> None:
    """Of six replies the times of three can be read; the others say "", an epoch in milliseconds
    and the year 1."""
    cases = read("R16")
    report = cases.usage(zone="UTC")
    assert requests(report) == {"2026-01-01": 1, "2026-01-02": 2, None: 3}
    assert report.rows[-1].key is None, "behind the days"
    assert report.undated.total == report.rows[-1].total
    assert report.total.total.requests == 6


@pytest.mark.hard
def test_t11_what_a_provider_did_not_tell_is_unknown_and_adds_nothing(read: Read) -> None:
    """Of eight replies two have figures: zeroes, and an output of 3 with an input that cannot
    be."""
    total = read("T11").usage().total.total
    assert total == TokenTotals(requests=2, input=0, output=3, unknown=1)


def test_a_range_holds_its_first_and_its_last_day(cases: UseCases, tmp_path: Path) -> None:
    at(
        cases,
        tmp_path,
        *("2026-01-01T23:59:59Z", "2026-01-02T00:00:00Z", "2026-01-03T23:59:59Z"),
        *("2026-01-04T00:00:00Z", None),
    )
    since, until = date(2026, 1, 2), date(2026, 1, 3)
    report = cases.usage(zone="UTC", since=since, until=until)
    assert (report.since, report.until) == ("2026-01-02", "2026-01-03")
    assert requests(report) == {"2026-01-02": 1, "2026-01-03": 1}
    assert report.total.total.requests == 2
    assert report.undated.total.requests == 1, "told apart: it may belong to the range or not"
    assert requests(cases.usage(zone="UTC", since=since)) == {
        "2026-01-02": 1,
        "2026-01-03": 1,
        "2026-01-04": 1,
    }
    assert cases.usage("agent", zone="UTC").rows[0].total.requests == 5, "without a range: all"


def test_the_local_zone_is_named(tmp_path: Path) -> None:
    shared = tmp_path / "zoneinfo" / "Asia"
    shared.mkdir(parents=True)
    (shared / "Tokyo").touch()
    link = tmp_path / "localtime"
    link.symlink_to(shared / "Tokyo")
    assert zone_named("local", {}, link).name == "Asia/Tokyo"
    assert zone_named("local", {"TZ": ":Europe/Paris"}, link).name == "Europe/Paris"
    assert zone_named("local", {"TZ": "CET-1"}, link).name.startswith("local (")
    assert zone_named("local", {}, tmp_path / "none").name.startswith("local (")


@pytest.mark.parametrize("name", ["Europe/Berlim", "", "America", "../etc", "/etc/passwd", "\0"])
def test_an_unknown_zone_is_refused(name: str) -> None:
    with pytest.raises(UnknownZoneError) as refusal:
        zone_named(name, {})
    if name == "Europe/Berlim":
        assert refusal.value.choices[0] == "Europe/Berlin"


def test_usage_is_one_document_and_its_lines_are_the_rows(ullage: Ullage, store: Path) -> None:
    for by in ("day", "session", "model", "agent"):
        outcome = ullage("usage", "--by", by, "--zone", "UTC", "--json", db=store)
        assert (outcome.code, outcome.err) == (0, "")
        report = UsageReport.model_validate_json(outcome.out)
        assert report.total.total.requests == sum(row.total.requests for row in report.rows) > 0
        lines = ullage("usage", "--by", by, "--zone", "UTC", "--jsonl", db=store).out.splitlines()
        assert len(lines) == len(report.rows)


def test_usage_says_what_it_counts_in(ullage: Ullage, store: Path) -> None:
    shown = ullage("usage", "--zone", "Asia/Tokyo", "--since", "2026-04-01", db=store).out
    assert shown.startswith("Tokens by day from 2026-04-01, days of Asia/Tokyo\n")
    assert "2026-04-2" in shown
    assert SESSION[:8] in ullage("usage", "--by", "session", db=store).out


def test_usage_of_nothing_says_what_to_do(ullage: Ullage) -> None:
    outcome = ullage("usage", "--zone", "UTC")
    assert outcome.code == 0
    assert "ullage ingest" in outcome.out


def test_wrong_usage_of_usage_is_refused(ullage: Ullage) -> None:
    assert ullage("usage", "--since", "2026-02-01", "--until", "2026-01-01").code == 2
    assert ullage("usage", "--since", "yesterday").code == 2
    refused = ullage("usage", "--zone", "Mars/Olympus")
    assert refused.code == 1
    assert refused.err.startswith("ullage: There is no time zone Mars/Olympus; ")
