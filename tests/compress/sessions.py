"""Real logs as sessions of the engine, without a store."""

from __future__ import annotations

from pathlib import Path

from compress.events import SessionEvent
from storage.sources.registry import adapter_of, registry
from tests.compress.logs import Log
from tests.derivation import read


def log_of(path: Path) -> Log:
    """The main session of a file, as a log that operations can be committed to."""
    adapter = adapter_of(registry(), path)
    assert adapter is not None
    _, by_session = read(adapter, path)
    events: list[SessionEvent] = by_session.get("") or next(iter(by_session.values()))
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    log = Log(events=events)
    log.turn = max((event.turn or 0 for event in events), default=0)
    return log
