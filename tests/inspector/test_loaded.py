"""A long session is given up within moments, and what was done of it by then is not done again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any, cast

import pytest

from compress.entries import LogEntry
from compress.meter import TokenMeter
from compress.operations import OperationRow
from inspector.compactions import CancelledError
from inspector.loaded import LoadedSession
from storage.catalog import SessionRecord
from storage.store import Store
from tests.compress.logs import Log

LONG = 20_000
"""Events: several times as many as are taken between two looks."""


class LongStore:
    """Holds one session."""

    def __init__(self, log: Sequence[LogEntry]) -> None:
        self.log = list(log)

    def entries(self, record: SessionRecord, asked: Callable[[], None]) -> list[LogEntry]:
        return self.log

    def operations(self, record: SessionRecord) -> list[OperationRow]:
        return []

    def opened(self, asked: Callable[[], None]) -> LoadedSession:
        record: Any = SimpleNamespace(id=1, name="s", last_seq=len(self.log), events=len(self.log))
        return LoadedSession(cast("Store", self), record, asked)


class Patience:
    """Lasts for so many looks."""

    def __init__(self, looks: int) -> None:
        self.looks = looks

    def __call__(self) -> None:
        self.looks -= 1
        if self.looks < 0:
            raise CancelledError("Nobody waits.")


@pytest.fixture(scope="module")
def log() -> list[LogEntry]:
    made = Log()
    made.user("look")
    made.assistant("I look.", "a")
    made.result("a", "one")
    first = list(made.entries.values())
    return [
        entry._replace(
            seq=at * 3 + index,
            node=at * 3 + index,
            calls=tuple((f"c{at}", name) for _, name in entry.calls),
            results=tuple(f"c{at}" for _ in entry.results),
        )
        for at in range(LONG // 3)
        for index, entry in enumerate(first, 1)
    ]


def test_a_meter_that_was_given_up_goes_on_where_it_was(log: list[LogEntry]) -> None:
    loaded = LongStore(log).opened(lambda: None)
    for _ in range(2):
        with pytest.raises(CancelledError):
            loaded.meter(asked=Patience(0))
    # What is left is taken in one step, without a look.
    assert loaded.meter(asked=Patience(0)).reading() == TokenMeter("live").feed_all(log).reading()


def test_a_look_back_that_was_given_up_is_made_anew(log: list[LogEntry]) -> None:
    loaded, past = LongStore(log).opened(lambda: None), log[: LONG - 100]
    with pytest.raises(CancelledError):
        loaded.meter(LONG - 100, asked=Patience(1))
    expected = TokenMeter("live").feed_all(past).reading()
    assert loaded.meter(LONG - 100).reading() == expected


def test_leaving_ends_the_fold_and_the_meter_wherever_they_are(log: list[LogEntry]) -> None:
    patience = Patience(1)
    loaded = LongStore(log).opened(patience)
    with pytest.raises(CancelledError):
        loaded.plan()
    with pytest.raises(CancelledError):
        loaded.meter()
    patience.looks = 1_000
    assert loaded.plan().surface.nodes == tuple(range(1, len(log) + 1))


def test_a_short_session_is_never_given_up(log: list[LogEntry]) -> None:
    loaded = LongStore(log[:300]).opened(Patience(0))
    assert len(loaded.plan().surface.nodes) == 300
    assert loaded.meter().reading().counted == sum(entry.tokens for entry in log[:300])
