"""What the beginning of a log says of its session, before the log is read into the store.

Reading a large tree takes a while; which sessions there are can be told at once.
"""

from __future__ import annotations

from pathlib import Path

from storage.catalog import SessionRecord
from storage.sources.base import Registry
from storage.sources.registry import HEAD_RECORDS
from storage.tail import Tail
from storage.tracker import SessionTracker

BYTES, RECORDS = 64 << 10, 40
"""Of a log, at most so much is looked at."""
NOTE = "not read yet"


def glimpse(registry: Registry, path: Path) -> SessionRecord | None:
    """The first session of a log as far as its beginning tells: whose it is, its title, project
    and model. It has no row in the store: its name is the path, its figures are unknown, and its
    last event is taken for as old as the file.

    ``None`` where that takes more than the first lines of a file, or they tell nothing.
    """
    if registry.keeper(path) is not None:
        return None
    with Tail(path, batch_bytes=BYTES, batch_rows=RECORDS, max_line=BYTES * 4) as tail:
        read = tail.read()
    records = [record for record in read.records if record.value is not None]
    adapter = registry.recognise(path, [record.value for record in records[:HEAD_RECORDS]])
    if adapter is None:
        return None
    reader = adapter.open(path, {})
    trackers: dict[str, SessionTracker] = {}
    started: float | None = None
    for record in records:
        for derived in reader.feed(record):
            facts = reader.sessions.get(derived.session)
            if facts is None or derived.session != next(iter(reader.sessions)):
                continue
            tracker = trackers.setdefault(derived.session, SessionTracker(facts, ""))
            for event in derived.events:
                tracker.add(event, [0] * len(event.blocks))
                started = event.time if started is None else started
    if not trackers:
        return None
    state = next(iter(trackers.values())).state(0)
    written = read.position.mtime_ns / 1e9
    return SessionRecord(
        id=0,
        name=str(path),
        native_id=state.facts.native_id or path.stem,
        agent=adapter.agent,
        agent_version=state.facts.agent_version,
        path=str(path),
        cwd=state.facts.cwd,
        title=state.title,
        model=state.facts.model,
        relation=state.facts.relation,
        parent_native_id=state.facts.parent_native_id,
        parent_call_id=state.facts.parent_call_id,
        family=0,
        turn_open=False,
        waiting=False,
        ended=False,
        started_at=started,
        last_event_at=written,
        events=0,
        last_seq=0,
        problems=0,
        tokens=None,
        tokens_source=None,
        log_window=None,
        window=None,
        history=(),
        counter="",
        file_time=written,
        generation=0,
        gone=False,
        note=NOTE,
    )
