"""Every adapter is held to the kit: on made logs, on damaged ones, and on those of the corpus."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from storage.sources.base import SourceAdapter
from storage.sources.registry import adapter_of, registry
from storage.tail import Tail
from tests.storage.sources import kit
from tests.storage.sources.made_logs import MADE, MadeLog

ADAPTERS = {adapter.agent: adapter for adapter in registry().adapters}
LOGS = [
    pytest.param(ADAPTERS[agent], log, id=f"{agent}-{Path(log.path).name}")
    for agent, logs in MADE.items()
    for log in logs
]
MOST = 5
"""Logs of the corpus that are read for each agent, the smallest first: all of them are read by
their adapters' own tests."""
MOST_RECORDS = 200


def test_every_adapter_has_a_made_log() -> None:
    assert MADE.keys() == ADAPTERS.keys()


@pytest.mark.parametrize(("adapter", "log"), LOGS)
def test_a_made_log(adapter: SourceAdapter, log: MadeLog) -> None:
    path = Path(log.path)
    records = kit.rows_as_records(log.rows)
    assert adapter.recognises(path, [record.value for record in records])
    kit.check(adapter, path, records)


@pytest.mark.parametrize(("adapter", "log"), LOGS)
def test_a_made_log_is_no_other_adapters(adapter: SourceAdapter, log: MadeLog) -> None:
    values = [record.value for record in kit.rows_as_records(log.rows)]
    found = registry().recognise(Path(log.path), values)
    assert found is not None
    assert found.agent == adapter.agent


@pytest.mark.parametrize(("adapter", "log"), [param for param in LOGS if param.values[1].lines])
def test_a_record_of_an_unheard_type(adapter: SourceAdapter, log: MadeLog) -> None:
    records = kit.rows_as_records(log.rows)
    kit.check_stranger(adapter, Path(log.path), records, strict=not log.states_operations)


@pytest.mark.parametrize(("adapter", "log"), [param for param in LOGS if param.values[1].lines])
def test_of_an_unheard_type_the_name_is_cut_in_the_count_too(
    adapter: SourceAdapter, log: MadeLog
) -> None:
    reader = adapter.open(Path(log.path))
    for record in kit.rows_as_records([*log.rows, {"type": "é" * 10_000}]):
        list(reader.feed(record))
    assert reader.unknown_types
    assert all(len(name) <= 200 for name in reader.unknown_types)


@pytest.mark.parametrize(("adapter", "log"), LOGS)
@settings(max_examples=30)
@given(data=st.data())
def test_damaged_records(adapter: SourceAdapter, log: MadeLog, data: st.DataObject) -> None:
    values = data.draw(kit.damaged(log.rows))
    kit.check_damage(adapter, Path(log.path), values, strict=not log.states_operations)


@pytest.mark.corpus
@pytest.mark.parametrize("agent", ADAPTERS)
def test_logs_of_the_corpus(corpus: Path, agent: str) -> None:
    logs = _logs_of(corpus)[agent]
    for path in sorted(logs, key=lambda path: path.stat().st_size)[:MOST]:
        with Tail(path) as tail:
            batch = tail.read(final=True)
        whole = [record for record in batch.records if record.damage is None]
        kit.check(ADAPTERS[agent], path, whole[:MOST_RECORDS])


@cache
def _logs_of(corpus: Path) -> Mapping[str, Sequence[Path]]:
    """The files of the corpus that an adapter takes, by its agent."""
    found: dict[str, list[Path]] = {agent: [] for agent in ADAPTERS}
    own = registry()
    for path in corpus.rglob("*.json*"):
        if "surfaces" not in path.parts and path.stat().st_size:
            adapter = adapter_of(own, path)
            if adapter is not None:
                found[adapter.agent].append(path)
    return found
