"""Two instances on one store: both read, pin, compact, pack and export; nothing of either is lost
(S01)."""

from __future__ import annotations

import json
import os
import random
from collections import Counter
from contextlib import suppress
from pathlib import Path

from compress.errors import CompressError
from storage.connection import Connections
from storage.errors import StorageError
from storage.verification import verify
from tests.inspector.kilns import write_logs
from tests.inspector.logs import NAME, Log, usecases

OPERATIONS = 6


def test_s01_what_two_instances_do_at_once_is_all_there(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    write_logs(logs)
    db = tmp_path / "store.db"
    opened = usecases(db, tmp_path)
    opened.ingest([logs])
    opened.close()
    told = [_instance(db, tmp_path, number) for number in range(2)]
    done = []
    for heard in told:
        with os.fdopen(heard) as pipe:
            done.append(json.load(pipe))
    assert [one["error"] for one in done] == [None, None]
    made = [operation for one in done for operation in one["made"]]
    assert len(made) == len(set(made)), "no two operations have one number"
    assert all(one["made"] for one in done)
    connections = Connections(db)
    assert verify(connections).findings == ()
    with connections.read() as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        raws = connection.execute(
            "SELECT f.path, r.generation, r.line FROM records r "
            "JOIN sources f ON f.id = r.source_id"
        ).fetchall()
    connections.close()
    assert max(Counter(raws).values()) == 1, "no record is there twice"
    again = usecases(db, tmp_path)
    standing = {str(row.operation) for row in again.audit(NAME) if row.origin == "user"}
    assert standing == set(made)
    lines = sum(path.read_bytes().count(b"\n") for path in logs.glob("*.jsonl"))
    again.ingest([logs])
    assert sum(source.records for source in again._store.sources()) == lines
    assert len(again.sessions()) == 3 + 2 * OPERATIONS
    again.close()


def _instance(db: Path, folder: Path, number: int) -> int:
    """A process with use-cases of its own; where it tells what it made."""
    heard, tells = os.pipe()
    if os.fork() == 0:
        told: dict[str, object] = {"error": None, "made": []}
        try:
            told["made"] = _operate(db, folder, number)
        except BaseException as error:  # noqa: BLE001 - told to the test
            told["error"] = repr(error)
        os.write(tells, json.dumps(told).encode())
        os._exit(0)
    os.close(tells)
    return heard


def _operate(db: Path, folder: Path, number: int) -> list[str]:
    chance = random.Random(number)
    cases = usecases(db, folder)
    made: list[str] = []
    for step in range(OPERATIONS):
        Log(folder / "logs", f"{number}{step}".rjust(8, "0")).user(
            f"of {number}", uuid=f"{number}{step}"
        )
        cases.ingest([folder / "logs"])
        # A refusal (pinned already, another plan meanwhile) is an answer; a lost operation is none.
        with suppress(CompressError, StorageError):
            if step % 3 == 0:
                made.append(str(cases.pin(NAME, [chance.randrange(1, 9)]).operation))
            elif step % 3 == 1:
                pack = cases.pack(NAME, chance.choice(("kiln", "glaze")), budget=300)
                made.append(str(cases.commit_pack(pack, NAME).operation))
            else:
                made.append(str(cases.commit_rebuild(cases.rebuild(NAME, budget=900)).operation))
    cases.close()
    return [operation for operation in made if operation != "None"]
