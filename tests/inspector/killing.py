"""A process that operates on a session until it is killed, and what must hold of its store then."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from compress.errors import CompressError
from inspector.decision_choice import Wanted
from storage.chain import StrandRow
from storage.connection import Connections
from storage.errors import StorageError
from storage.verification import verify
from tests.inspector.kilns import write_logs
from tests.inspector.logs import NAME, Log, usecases

QUERIES = ("kiln degrees", "glaze", "limit of the kiln", "controller", "")
LIMIT = 0.5
"""Seconds from the first operation on in which the kill comes."""


def prepared(folder: Path) -> Path:
    """A store with three small sessions, and counters at hand for the processes to come."""
    logs = folder / "logs"
    logs.mkdir()
    write_logs(logs)
    db = folder / "store.db"
    opened = usecases(db, folder)
    opened.ingest([logs])
    opened.pack(NAME, "kiln")
    opened.close()
    return db


def strand(db: Path, folder: Path) -> Sequence[StrandRow]:
    """The operations of the session, and that the whole chain and file are sound."""
    connections = Connections(db)
    try:
        assert verify(connections).findings == ()
        with connections.read() as connection:
            assert connection.execute("PRAGMA quick_check").fetchall() == [("ok",)]
            assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
    finally:
        connections.close()
    opened = usecases(db, folder)
    try:
        return tuple(opened._store.operations(opened._store.find(NAME)))
    finally:
        opened.close()


def killed(db: Path, folder: Path, chance: random.Random) -> bool:
    """Whether the kill came while it was at work: it grows a log, ingests it, pins, packs,
    rebuilds, undoes and exports."""
    begun, begins = os.pipe()
    seed = chance.randrange(1 << 30)
    child = os.fork()
    if child == 0:
        _operate(db, folder, seed, begins)
    os.close(begins)
    assert os.read(begun, 1), "it opened the store"
    os.close(begun)
    time.sleep(chance.uniform(0, LIMIT))
    os.kill(child, signal.SIGKILL)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def _operate(db: Path, folder: Path, seed: int, begins: int) -> None:
    try:
        chance = random.Random(seed)
        cases = usecases(db, folder)
        cases.view(NAME, track="plan")
        os.write(begins, b"!")
        while True:
            step = chance.randrange(6)
            with suppress(CompressError, StorageError):
                if step == 0:
                    _grow(folder, chance)
                    cases.ingest([folder / "logs"])
                elif step == 1:
                    cases.pin(NAME, [chance.randrange(1, 8)])
                elif step == 2:
                    handle = cases.pack(NAME, chance.choice(QUERIES), budget=300)
                    cases.commit_pack(handle, NAME)
                elif step == 3:
                    cases.commit_rebuild(cases.rebuild(NAME, budget=900))
                elif step == 4:
                    cases.undo(NAME)
                else:
                    cases.decisions(NAME, Wanted())
    finally:
        os._exit(1)


def _grow(folder: Path, chance: random.Random) -> None:
    name = f"{chance.randrange(1 << 30):08x}"
    log = Log(folder / "logs", name)
    log.user(f"Another shop: {name}", uuid=name)
