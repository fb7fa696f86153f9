"""The meter's figure of merit, on the real sessions of the corpus.

    python -m tests.benchmarks.meter_error

Before each request its input is predicted from what stood in the log before it. Error =
|predicted − actual| ÷ (actual − previous actual), over all requests whose increment is above 20
tokens, nothing clipped or left out; per session the median and the 90th percentile, for sessions
with at least 12 such requests; then the median over the sessions of each. Beside the meter: the
plain count (previous actual + counted tokens of what came since) and characters ÷ 4 in its place.
Prints a table and one line of JSON.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

from compress.entries import LogEntry, entry_of
from compress.events import SessionEvent
from compress.meter import TokenMeter
from compress.meter.accuracy import SMALLEST_INCREMENT, quantile
from compress.meter.ledger import Ledger
from compress.tokens import CharsOverFour, TokenCounter, count_block, profile_of
from storage.resources import counter_for
from storage.sources.base import SourceAdapter
from storage.sources.claude import ClaudeAdapter
from storage.sources.codex import CodexAdapter
from storage.sources.pi import PiAdapter
from tests.derivation import read

CORPUS = Path(os.environ.get("ULLAGE_CORPUS", "../shared/corpus"))
ADAPTERS: dict[str, type[SourceAdapter]] = {
    "claude": ClaudeAdapter,
    "codex": CodexAdapter,
    "pi": PiAdapter,
}
FEWEST_REQUESTS = 12
METHODS = ("meter", "plain", "chars")


@dataclass(frozen=True)
class SessionError:
    """Errors as shares of the increment, by method: (median, 90th percentile)."""

    agent: str
    session: str
    n: int
    requests: int
    meter: tuple[float, float]
    plain: tuple[float, float]
    chars: tuple[float, float]


def events_of(agent: str, path: Path) -> list[SessionEvent]:
    """The events of a file's main session."""
    return read(ADAPTERS[agent](), path)[1].get("", [])


def entries_of(
    events: Iterable[SessionEvent], counter: TokenCounter | None = None
) -> list[LogEntry]:
    """The events, weighed by this counter (default: the one of each event's model)."""
    rows = []
    for event in events:
        pricing = profile_of(event.model).images
        by = counter or counter_for(event.model)
        rows.append(entry_of(event, [count_block(block, by, pricing) for block in event.blocks]))
    return rows


def errors(actual: Sequence[int | None], predicted: Sequence[int]) -> list[float]:
    """The error of each request that is judged."""
    found: list[float] = []
    previous: int | None = None
    for truth, guess in zip(actual, predicted, strict=True):
        if truth is None:
            continue
        if previous is not None and truth - previous > SMALLEST_INCREMENT:
            found.append(abs(guess - truth) / (truth - previous))
        previous = truth
    return found


def by_count(entries: Sequence[LogEntry], meter: TokenMeter) -> list[int]:
    """The same requests, by adding what these entries count: the last figure, plus what came to
    stand and minus what fell since."""
    actual = {request.seq: request.actual_input for request in meter.requests}
    ledger = Ledger("live")
    anchor = at = 0
    predicted = []
    for entry in entries:
        if entry.seq in actual:
            predicted.append(anchor + ledger.counted - at)
            figure = actual[entry.seq]
            if figure is not None:
                anchor, at = figure, ledger.counted
        if entry.op is not None:
            ledger.take(entry, None, 1.0)
    return predicted


def session_error(agent: str, path: Path) -> SessionError | None:
    """The errors of one session; ``None`` where too few requests can be judged."""
    events = events_of(agent, path)
    entries = entries_of(events)
    meter = TokenMeter().feed_all(entries)
    actual = [request.actual_input for request in meter.requests]
    predictions = (
        [request.predicted_input for request in meter.requests],
        by_count(entries, meter),
        by_count(entries_of(events, CharsOverFour()), meter),
    )
    rows = [errors(actual, predicted) for predicted in predictions]
    if len(rows[0]) < FEWEST_REQUESTS:
        return None
    figures = [(quantile(row, 0.5), quantile(row, 0.9)) for row in rows]
    return SessionError(agent, path.stem, len(rows[0]), len(actual), *figures)


def measure(corpus: Path, agent: str) -> list[SessionError]:
    """All sessions of an agent that can be judged."""
    paths = sorted((corpus / agent).glob("*.jsonl"))
    return [found for path in paths if (found := session_error(agent, path)) is not None]


def pooled(sessions: Sequence[SessionError]) -> dict[str, tuple[float, float]]:
    """Method → (median over the sessions of the medians, of the 90th percentiles)."""
    return {
        method: (
            median(getattr(s, method)[0] for s in sessions),
            median(getattr(s, method)[1] for s in sessions),
        )
        for method in METHODS
    }


def main() -> None:
    report = {}
    head = "  ".join(f"{method:>14}" for method in METHODS)
    print(f"{'error of the increment: median / p90':40} {'n':>4}  {head}")
    for agent in ADAPTERS:
        sessions = measure(CORPUS, agent)
        for session in sessions:
            print(row(session.session, session.n, asdict(session)))
        overall = pooled(sessions)
        print(row(f"{agent}: median of {len(sessions)} sessions", 0, overall))
        report[agent] = {"sessions": [asdict(s) for s in sessions], "pooled": overall}
    print(json.dumps(report))


def row(name: str, n: int, figures: dict[str, tuple[float, float]]) -> str:
    """One line of the table."""
    cells = (f"{figures[m][0]:6.1%} / {figures[m][1]:5.0%}" for m in METHODS)
    return f"{name:40} {n or '':>4}  " + "  ".join(cells)


if __name__ == "__main__":
    main()
