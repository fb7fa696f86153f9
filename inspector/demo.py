"""The bundled session, written again as if its agent were at work, in a throw-away folder.

Nothing outside that folder is read or written, and it is removed at the end.
"""

from __future__ import annotations

import json
import re
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inspector.cli_shell import ENDING, on_signals, put
from storage.resources import ASSET_FOLDERS, ResourceError

if TYPE_CHECKING:
    from inspector.cli_paint import Paint
    from inspector.cli_shell import Shell
    from inspector.usecases import UseCases

COMPRESSION = 0.12
"""A pause of the replay, as a share of the pause in the log …"""
SHORTEST, LONGEST = 0.02, 1.2
"""… within these bounds, in seconds."""
_STAMP = re.compile(rb'"timestamp":"\d{4}-\d\d-\d\dT[\d:.]+Z"')
ENDED = "The replay has ended; q leaves, and ullage demo plays it again."
HEAD, TAIL = 6, 6
"""Nodes at the ends of the surface that the report shows."""

Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Step:
    """One record that is to be appended."""

    path: Path
    """Relative to the agent's own folder."""
    line: bytes
    """Newline included."""
    pause: float
    """Seconds before it, at rate 1."""


def bundled_session() -> Path:
    """The folder of the bundled session. Raises :class:`ResourceError` where it is missing."""
    for folder in ASSET_FOLDERS:
        if (folder / "demo" / "projects").is_dir():
            return folder / "demo"
    raise ResourceError("The demo session is missing from this installation; install Ullage again.")


def steps(folder: Path) -> list[Step]:
    """The records of all files below the folder in the order of their times, a record without a
    time directly behind the one before it. A file's own order is kept."""
    timed: list[tuple[float, int, int, Path, bytes]] = []
    for number, path in enumerate(sorted(folder.rglob("*.jsonl"))):
        at = 0.0
        for place, line in enumerate(path.read_bytes().splitlines(keepends=True)):
            at = max(at, _time(json.loads(line)) or at)
            timed.append((at, number, place, path.relative_to(folder), line))
    timed.sort(key=lambda entry: entry[:3])
    found: list[Step] = []
    before = 0.0
    for at, _, _, relative, line in timed:
        gap = at - before if before else 0.0
        found.append(Step(relative, line, min(max(gap * COMPRESSION, SHORTEST), LONGEST)))
        before = at or before
    return found


def _time(record: Any) -> float | None:
    stamp = record.get("timestamp")
    return datetime.fromisoformat(stamp).timestamp() if isinstance(stamp, str) else None


def replay(
    home: Path,
    records: Sequence[Step],
    *,
    rate: float = 1.0,
    sleep: Callable[[float], object],
    stopped: Callable[[], bool] = lambda: False,
    clock: Callable[[], float] | None = None,
) -> int:
    """Append the records to files below ``home``, each after its pause divided by ``rate``, until
    all are written or ``stopped()`` says so. With a ``clock`` (seconds since 1970) each record is
    of the moment when it is written, else of its own time. The number of records written."""
    for written, step in enumerate(records):
        sleep(step.pause / rate)
        if stopped():
            return written
        path = home / step.path
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab") as file:
            file.write(step.line if clock is None else _retimed(step.line, clock()))
    return len(records)


def _retimed(line: bytes, now: float) -> bytes:
    moment = datetime.fromtimestamp(now, UTC).isoformat(timespec="milliseconds")
    stamp = f'"timestamp":"{moment.replace("+00:00", "Z")}"'
    return _STAMP.sub(stamp.encode(), line)


def demo_home(folder: Path) -> Path:
    """The whole session at once, below ``folder``; the agent's own folder there."""
    home = folder / "claude"
    replay(home, steps(bundled_session()), sleep=lambda _: None)
    return home


def run_live(
    shell: Shell,
    rate: float,
    run_app: Callable[[UseCases, tuple[Path, ...], Callable[[Tell], None]], None],
) -> None:
    """The app on a session that grows while one looks; ``run_app`` opens it on use-cases and
    the paths to follow, hands out a way to show a note in it, and returns when the person
    leaves."""
    with on_signals(ENDING, _leave), tempfile.TemporaryDirectory(prefix="ullage-demo-") as name:
        home = Path(name) / "claude" / "projects"
        home.mkdir(parents=True)
        shell.flags["db"] = str(Path(name) / "demo.db")
        records = steps(bundled_session())
        over = threading.Event()

        def play(tell: Tell) -> None:
            replay(
                home.parent,
                records,
                rate=rate,
                sleep=over.wait,
                stopped=over.is_set,
                clock=time.time,
            )
            if not over.is_set():
                tell(ENDED)

        writers: list[threading.Thread] = []

        def opened(tell: Tell) -> None:
            writers.append(
                threading.Thread(target=play, args=(tell,), name="ullage-demo", daemon=True)
            )
            writers[0].start()

        with shell.usecases(makes=True) as usecases:
            try:
                run_app(usecases, (home,), opened)
            finally:
                over.set()
                for writer in writers:
                    writer.join()
    shell.note("Nothing is left of the demo. Again: ullage demo; your own sessions: ullage.")


def _leave() -> None:
    """Through every ``finally``, so that the folder is removed."""
    raise SystemExit(128 + signal.SIGTERM)


def run_once(shell: Shell) -> None:
    """Write the session, read it, print a report; needs no terminal."""
    with (
        on_signals(ENDING, _leave),
        tempfile.TemporaryDirectory(prefix="ullage-demo-") as name,
    ):
        shell.flags["db"] = str(Path(name) / "demo.db")
        home = demo_home(Path(name))
        with shell.usecases(makes=True) as usecases:
            usecases.ingest([home])
            for text in report(usecases, shell.paint()):
                put(text)


def report(usecases: UseCases, paint: Paint) -> Iterator[str]:
    """The bundled session in one page: surface, pressure, the agent's own compaction, and what a
    compaction by rule would have kept and lost at the same place."""
    from inspector.cli_compaction import compaction_lines, losses  # noqa: PLC0415
    from inspector.cli_gauges import composition_lines, gauge_lines  # noqa: PLC0415
    from inspector.cli_output import heading, node_lines  # noqa: PLC0415
    from inspector.cli_paint import counted  # noqa: PLC0415

    rows = [row for row in usecases.sessions() if row.relation == "main"]
    session = rows[0].id
    boundary = next(row for row in usecases.audit(session) if row.origin == "agent")
    surface = usecases.surface(session)
    preview = usecases.preview(session, mode="region", before_compaction=1, budget="own").report
    at = preview.at_seq
    full, now = usecases.pressure(session, at=at), usecases.pressure(session)

    yield from heading(surface.session, paint, f"{rows[0].events} events, a bundled session")
    yield ""
    yield paint(f"1. Just before the agent compacted, at event {at}", "bold")
    yield from gauge_lines(full, paint)
    yield ""
    yield from composition_lines(full, paint)
    yield ""
    then = usecases.surface(session, at=at).nodes
    yield f"The surface, the first {HEAD} and the last {TAIL} of {len(then)} nodes:"
    yield from _ends(list(node_lines(then, paint)))
    yield ""
    yield paint("2. What the agent did about it, and where it stands now", "bold")
    yield (
        f"Event {boundary.operation}: {len(boundary.shadowed_seqs)} nodes became one summary,"
        f" {boundary.tokens_before or 0:,} → {boundary.tokens_after or 0:,} tokens as counted."
    )
    gone = [counted(total, kind) for kind, _, total in losses(boundary.lost)]
    if gone:
        yield f"Gone from its window: {', '.join(gone)}."
    yield from gauge_lines(now, paint)
    yield ""
    yield paint("3. A compaction by rule at the same place, with as many tokens", "bold")
    yield from compaction_lines(preview, paint)
    yield ""
    yield "See it live: ullage demo. Your own sessions: ullage."


def _ends(lines: list[str]) -> Iterator[str]:
    heading, nodes = lines[0], lines[1:]
    yield heading
    yield from nodes[:HEAD]
    if len(nodes) > HEAD + TAIL:
        yield f"{'⋮':>7}"
    yield from nodes[max(HEAD, len(nodes) - TAIL) :]
