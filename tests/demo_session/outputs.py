"""What the tools of the story print: logs, dumps and test runs, made by rule, not by chance."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator

GAUGES = (
    ("SKP", "Skerry Point"),
    ("HVN", "Havnes Inner"),
    ("GRB", "Grey Rib"),
    ("LNG", "Langbar"),
    ("OTT", "Otter Sound"),
    ("KVL", "Kvalen"),
    ("STB", "Stubb Light"),
    ("MIR", "Mirkhol"),
)


def level(gauge: int, minute: int) -> float:
    """Metres above chart datum: two tides a day and a little wind."""
    tide = 1.62 * math.sin(minute / 745.2 * 2 * math.pi + gauge * 0.37)
    wind = 0.11 * math.sin(minute / 97.0 + gauge * 1.9)
    return round(2.2 + tide + wind, 2)


def nightly_log(day: int, rounds: int, *, lossy: bool = True) -> str:
    """A night's log of the sync job; where two gauges answer within a second, one is lost."""
    begin = f"2026-04-{day:02d} 01:00:00,004 INFO    tidepool.sync run=n{day}04 begin"
    lines = [f"{begin} gauges=8 window=24h db=/srv/tidepool/readings.db"]
    for number in range(rounds):
        minute = 60 + number * 6
        at = f"2026-04-{day:02d} {1 + number // 40:02d}:{number % 40 + 4:02d}"
        batch = f"b{day:02d}{number:03d}"
        for index, (code, _) in enumerate(GAUGES):
            second = 7 + index * 2 + (number * 5 + index * 3) % 2
            took = 38 + (number * 37 + index * 61) % 240
            lines.append(
                f"{at}:{second:02d},{(number * 131 + index * 67) % 1000:03d} DEBUG  "
                f" tidepool.gauges gauge={code} level={level(index, minute):.2f} quality="
                f"{'ok' if (number + index) % 23 else 'suspect'} took={took}ms batch={batch}"
            )
        kept = 7 if lossy and number % 3 == 0 else 8
        lines.append(
            f"{at}:31,{(number * 89) % 1000:03d} INFO    tidepool.merge batch={batch} in=8"
            f" out={kept} late={number % 2} duplicates={8 - kept}"
        )
        if number % 17 == 9:
            lines.append(
                f"{at}:33,118 WARNING tidepool.gauges gauge=MIR answered after 3 tries"
                " (timeout 2.0s, 2.0s); using last good calibration 2026-03-30"
            )
        if lossy and number % 29 == 21:
            lines.append(
                f"{at}:34,402 ERROR   tidepool.sync batch={batch} gauge=SKP gap of 12 min closed by"
                " interpolation: no reading between"
                f" {minute - 6} and {minute + 6} (see TP-214)"
            )
    lost = len(range(0, rounds, 3)) if lossy else 0
    errors = len(range(21, rounds, 29)) if lossy else 0
    lines.append(
        f"2026-04-{day:02d} 05:58:12,771 INFO    tidepool.sync run=n{day}04 end in={rounds * 8}"
        f" out={rounds * 8 - lost} dropped={lost} errors={errors} took=17892s"
    )
    return "\n".join(lines)


def readings_csv(first: int, rows: int) -> str:
    """A dump of the readings table, oldest first."""
    lines = ["id,gauge,taken_at,received_at,level_m,quality,batch,source_revision"]
    for number in range(rows):
        index = (number * 3) % 8
        code = GAUGES[index][0]
        minute = 60 + number * 2
        hour, rest = divmod(minute % 1440, 60)
        taken = f"2026-04-{24 + minute // 1440:02d}T{hour:02d}:{rest:02d}:{(number * 7) % 60:02d}Z"
        received = taken.replace("Z", f".{(number * 173) % 1000:03d}Z")
        lines.append(
            f"{first + number},{code},{taken},{received},{level(index, minute):.2f},"
            f"{'ok' if number % 19 else 'suspect'},b25{number // 8:03d},r{4100 + number % 13}"
        )
    return "\n".join(lines)


def stations_json(network: int) -> str:
    """The gauge network's own description, as its service answers."""
    stations = []
    for index in range(network):
        code, name = GAUGES[index % 8]
        stations.append(
            {
                "code": f"{code}{index // 8 or ''}",
                "name": name if index < 8 else f"{name} {index // 8 + 1}",
                "position": {
                    "lat": round(58.1 + index * 0.0313, 4),
                    "lon": round(5.2 + index * 0.0171, 4),
                },
                "datum": "CD",
                "interval_s": 360 if index % 5 else 60,
                "sensors": [
                    {"kind": "pressure", "serial": f"PT-{20411 + index * 17}", "offset_m": -0.02},
                    {"kind": "radar", "serial": f"RL-{7719 + index * 5}", "offset_m": 0.0},
                ],
                "calibrated": f"2026-0{1 + index % 3}-{10 + index % 18}",
                "revision": 4100 + index % 13,
                "contact": "gauges@tidepool.example",
            }
        )
    return json.dumps({"network": "north-shelf", "stations": stations}, indent=2)


_AREAS = {
    "gauges": ("parses_reply", "retries", "calibrates", "refuses_reply", "marks_quality"),
    "merge": ("keeps_order", "drops_repeat", "prefers_newest", "accepts_late", "keeps_quality"),
    "store": ("writes_batch", "is_idempotent", "reads_range", "exports_rows", "migrates"),
    "sync": ("runs_round", "closes_gap", "resumes", "reports", "survives_timeout"),
    "export": ("csv_header", "csv_order", "json_shape", "units", "empty_range"),
}
_CASES = ("one_gauge", "two_gauges", "empty", "late_reply", "clock_change", "year_end", "bad_value")


def test_names() -> Iterator[str]:
    """The names of the project's tests, in the order in which they run."""
    for area, verbs in _AREAS.items():
        for verb in verbs:
            for case in _CASES:
                yield f"tests/test_{area}.py::test_{verb}[{case}]"


def pytest_run(failure: str | None = None, traceback: str = "", extra: tuple[str, ...] = ()) -> str:
    """A verbose test run; ``failure`` names the test that fails, with its traceback."""
    names = [*test_names(), *extra]
    lines = [
        "python -m pytest -q -x --maxfail=5 -vv tests",
        "============================= test session starts ==============================",
        "platform linux -- Python 3.12.9, pytest-8.4.1, pluggy-1.6.0",
        "rootdir: /home/sam/tidepool",
        f"collecting ... collected {len(names)} items",
        "",
    ]
    for number, name in enumerate(names, 1):
        result = "FAILED" if name == failure else "PASSED"
        lines.append(f"{name} {result} [{number * 100 // len(names):3d}%]")
    if failure is None:
        lines += ["", f"============================= {len(names)} passed in 4.61s ============"]
    else:
        lines += [
            "",
            "=================================== FAILURES ===========================",
            "",
        ]
        lines += [
            traceback,
            "",
            "=========================== short test summary info =============",
        ]
        lines += [
            f"FAILED {failure}",
            f"==================== 1 failed, {len(names) - 1} passed =====",
        ]
        lines.append("make: *** [Makefile:14: test-fast] Error 1")
    return "\n".join(lines)


def backfill_log(target: str, rows: int, *, dry: bool) -> str:
    """What the backfill prints, one line a recovered reading."""
    lines = [f"backfill source=/srv/tidepool/raw target={target} dry_run={dry} since=2026-04-18"]
    for number in range(rows):
        index = 0 if number % 4 else (number // 4) % 8
        code = GAUGES[index][0]
        minute = 66 + number * 18
        hour, rest = divmod(minute % 1440, 60)
        taken = f"2026-04-{18 + minute // 1440:02d}T{hour:02d}:{rest:02d}:{(number * 11) % 60:02d}Z"
        verb = "would insert" if dry else "inserted"
        lines.append(
            f"{verb} gauge={code} taken_at={taken} level={level(index, minute):.2f}"
            f" batch=b{18 + minute // 1440}{number % 240:03d}"
            f" raw=raw/{taken[:10]}/{code}-{number:04d}.json"
        )
        if number % 61 == 40:
            lines.append(
                f"  skip  gauge={code} raw=raw/{taken[:10]}/{code}-{number:04d}b.json: checksum"
                " differs, left for inspection"
            )
    skipped = len(range(40, rows, 61))
    lines.append(f"backfill done: {rows} readings, {skipped} skipped, 8 gauges, 0 conflicts")
    return "\n".join(lines)
