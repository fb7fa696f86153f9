"""A process that exports until it is killed, and what must hold of what it leaves.

    python -m tests.inspector.killing_exports decisions|lake FOLDER KILLS

Everything is imported before the first child is made, and used in children alone: threads of the
libraries would not survive a fork. So it is a program of its own, and never runs in the process of
other tests.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import inspector.decision_parquet
import inspector.lake_files  # noqa: F401 - read before any process is made
from inspector import cli
from inspector.cli_shell import Shell
from tests.inspector.lakes import exported, rows, stored
from tests.inspector.logs import NAME, Log, usecases

FORMS = ("jsonl", "csv", "md", "parquet")
LIMIT = 0.2
"""Seconds from the first export on in which the kill comes."""


def prepared(folder: Path) -> Path:
    """A store of one session, and what its decision points look like in every form."""
    (folder / "logs").mkdir()
    log = Log(folder / "logs")
    for number in range(12):
        log.user(f"Do the work number {number}.")
        log.step(number, size=30)
        log.assistant({"type": "text", "text": f"Work {number} is done."})
    db = folder / "own.db"
    in_a_child(lambda: _first_exports(db, folder))
    return db


def _first_exports(db: Path, folder: Path) -> None:
    cases = usecases(db, folder)
    cases.ingest([folder / "logs"])
    cases.close()
    for form in FORMS:
        _decisions(db, folder / f"expected.{form}")


def _decisions(db: Path, path: Path) -> None:
    shell = Shell(flags={"db": str(db)})
    assert cli.run(["decisions", "--out", str(path), "--force"], shell) == 0


def decisions_killed(db: Path, folder: Path, chance: random.Random) -> bool:
    """Kills ``decisions --out`` amid its work. Each file is then whole, or not there."""

    def export() -> Iterator[None]:
        for number in count():
            yield _decisions(db, folder / f"out.{FORMS[number % len(FORMS)]}")

    killed = _killed(export, chance)
    for form in FORMS:
        path = folder / f"out.{form}"
        assert not path.exists() or path.read_bytes() == _expected(folder, form).read_bytes()
        if chance.random() < 0.3:
            path.unlink(missing_ok=True)
    return killed


def _expected(folder: Path, form: str) -> Path:
    return folder / f"expected.{form}"


def lake_killed(db: Path, folder: Path, chance: random.Random) -> bool:
    """Kills ``export --lake`` amid its work, while the session grows."""
    seed = chance.randrange(1 << 30)

    def export() -> Iterator[None]:
        own = random.Random(seed)
        cases = usecases(db, folder)
        for _ in count():
            exported(cases, folder / "lake", rows=own.choice((3, 20, 10_000)))
            yield None
            name = f"{own.randrange(1 << 30):08x}"
            log = Log(folder / "logs", name)
            for number in range(own.randrange(1, 4)):
                log.user(f"More of {name}", uuid=f"{name}{number}")
            cases.ingest([log.path])

    return _killed(export, chance)


def lake_is_whole(db: Path, folder: Path) -> None:
    """After one more export the lake holds every row of the store once."""
    in_a_child(lambda: _same_rows(db, folder))


def _same_rows(db: Path, folder: Path) -> None:
    cases = usecases(db, folder)
    cases.ingest([folder / "logs"])
    exported(cases, folder / "lake", rows=20)
    exported(cases, folder / "fresh")
    assert rows(folder / "lake", "events", "session, generation, seq") == stored(cases)
    assert rows(folder / "lake", "events") == rows(folder / "fresh", "events")
    versions = rows(folder / "lake", "decisions", "session, id, version")
    assert len(versions) == len(set(versions))
    assert {NAME} <= {row[0] for row in versions}


def in_a_child(work: Callable[[], None]) -> None:
    """Does it in a process of its own, and fails where it fails."""
    with _child(work) as child:
        assert os.waitpid(child, 0)[1] == 0


def _killed(exports: Callable[[], Iterator[None]], chance: random.Random) -> bool:
    begun, begins = os.pipe()

    def work() -> None:
        os.write(begins, b"!")
        for _ in exports():
            pass

    with _child(work) as child:
        os.close(begins)
        assert os.read(begun, 1)
        os.close(begun)
        time.sleep(chance.uniform(0, LIMIT))
        os.kill(child, signal.SIGKILL)
        return os.WIFSIGNALED(os.waitpid(child, 0)[1])


@contextmanager
def _child(work: Callable[[], None]) -> Iterator[int]:
    child = os.fork()
    if child == 0:
        try:
            work()
        except BaseException:  # noqa: BLE001 - told by its exit code
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    yield child


def main() -> int:
    """Exit code 0 if every kill came amid the work and nothing was lost, doubled or half there."""
    kind, folder, kills = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    db = prepared(folder)
    chance = random.Random(20261130)
    kill = lake_killed if kind == "lake" else decisions_killed
    assert sum(kill(db, folder, chance) for _ in range(kills)) == kills
    if kind == "lake":
        lake_is_whole(db, folder)
    else:
        in_a_child(lambda: _decisions(db, folder / "out.csv"))
        assert not list(folder.glob(".ullage-*"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
