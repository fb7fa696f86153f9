"""Random and hostile input, by the million; each finding is told with the number that makes it.

    python -m tests.benchmarks.fuzz --lines 10000000 --seed 1
    python -m tests.benchmarks.fuzz --only read --number 4294967301

Lines of every agent's log, damaged, through its reader and the surface; bytes that grow under the
tail; logs that grow under a store; opencode's rows and files; and, beside each few thousand lines,
texts for the screen, spans, frames of a browser, queries, packs, questions over MCP, profiles,
settings and manifests. What is counted are lines and rows of logs, each read at least once.
"""

from __future__ import annotations

import argparse
import ctypes
import faulthandler
import gc
import json
import os
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import NamedTuple

from pydantic_core import from_json

from compress.compaction.identifiers import identifiers
from storage.arenas import use_one_arena
from storage.word_parts import word_parts
from tests.fuzzing import loaders, logs, rows, texts

_TOO_LONG = 20.0
"""Seconds of the processor for one turn, of up to a thousand lines."""
_HANGS = 120.0
"""Seconds on the clock after which the process ends with all its stacks."""
_LOOKS = 20
"""How often memory is looked at, at equal distances."""
_WARM = {"profiles": 6_000, "questions": 1_500, "contexts": 300, "spans": 300, "queries": 300}
"""Turns before memory is first looked at."""
_MOST_FINDINGS = 20
Way = Callable[[Random], int | None]


def _ways(folder: Path, corpus: Path | None, clock: logs.Clock) -> dict[str, tuple[int, Way]]:
    """Name → how often of a hundred turns and more, and what is done."""
    for part in ("asked", "logs", "rows", "files", "loaded"):
        (folder / part).mkdir()
    sessions = texts.Sessions(folder / "asked")
    foods = logs.foods(corpus)
    return {
        "read": (60, lambda chance: logs.read(foods, chance, clock)),
        "tail": (25, lambda chance: logs.tailed(foods, folder / "logs", chance)),
        "store": (2, lambda chance: logs.ingested(foods, folder / "logs", chance)),
        "rows": (4, lambda chance: rows.database(folder / "rows", chance)),
        "files": (2, lambda chance: rows.tree(folder / "files", chance)),
        "screen": (6, texts.screen),
        "spans": (1, texts.spans),
        "frames": (2, texts.frame),
        "queries": (6, sessions.searched),
        "questions": (1, sessions.asked),
        "contexts": (1, sessions.packed),
        "profiles": (2, lambda chance: loaders.profiles(folder / "loaded", chance)),
        "settings": (2, lambda chance: loaders.settings(folder / "loaded", chance)),
        "manifests": (1, loaders.manifests),
    }


class Memory(NamedTuple):
    """What the process holds, garbage collected."""

    resident_mb: float
    blocks: int
    """Of Python's allocator: what objects live. Those of other libraries are not among them."""
    modules: int
    """Loaded till now: some ways load theirs when they first need them."""
    used_mb: float | None
    """Of the C library's allocator, what is in use: of all that is resident beside Python's own
    blocks, the rest is free. ``None`` where it is not glibc's."""


class _MallocInfo(ctypes.Structure):
    """``struct mallinfo2`` of glibc 2.33 and later."""

    _fields_ = tuple(
        (name, ctypes.c_size_t)
        for name in (
            "arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks",
            "fordblks", "keepcost",
        )
    )  # fmt: skip


def _used() -> float | None:
    try:
        ask = ctypes.CDLL(None).mallinfo2
    except (AttributeError, OSError):
        return None
    ask.restype = _MallocInfo
    told = ask()
    return round((told.uordblks + told.hblkhd) / 2**20, 1)


def _memory() -> Memory:
    gc.collect()
    pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    resident = int(pages) * os.sysconf("SC_PAGE_SIZE") / 2**20
    return Memory(round(resident, 1), sys.getallocatedblocks(), len(sys.modules), _used())


def _fill_caches(ways: Mapping[str, tuple[int, Way]]) -> None:
    """Loads what is loaded at first use, and fills what keeps things up to a bound, so that what
    still grows in a run is neither: the JSON parser's names, the parts of names, identifiers;
    compiled patterns, of which profiles bring theirs."""
    chance = Random(0)
    names = [f"{chance.getrandbits(240):x}"[: chance.randrange(4, 60)] for _ in range(200_000)]
    for name in names:
        from_json(f'{{"{name}": 1}}', cache_strings="keys")
    for number, name in enumerate(names[:60_000]):
        word_parts(f"getName{name[:6]}Of{number}".encode())
        list(identifiers(f"src/{name}/{number}.py"))
    for way, turns in _WARM.items():
        for number in range(turns):
            with suppress(Exception):  # told when the same comes in the run
                ways[way][1](Random(number))


class _Run:
    """What was done, what it took, what was found."""

    def __init__(self) -> None:
        self.done: Counter[str] = Counter()
        self.lines: Counter[str] = Counter()
        self.took: Counter[str] = Counter()
        """Seconds of the processor."""
        self.longest: dict[str, float] = {}
        self.findings: Counter[str] = Counter()

    def turn(self, name: str, way: Way, number: int) -> None:
        """One turn; a finding is told and counted."""
        faulthandler.dump_traceback_later(_HANGS, exit=True)
        begun = time.process_time()
        try:
            self.lines[name] += way(Random(number)) or 0
            took = time.process_time() - begun
            if took > _TOO_LONG:
                raise TimeoutError(f"{took:.0f} s of the processor")
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt | SystemExit):
                raise
            self._found(name, number, error)
        took = time.process_time() - begun
        self.longest[name] = max(self.longest.get(name, 0.0), took)
        self.took[name] += took
        self.done[name] += 1

    def _found(self, name: str, number: int, error: BaseException) -> None:
        place = traceback.extract_tb(error.__traceback__)[-1]
        what = f"{name}: {type(error).__name__} in {place.name}: {str(error)[:20]!r}"
        self.findings[what] += 1
        if self.findings[what] == 1:
            print(f"--only {name} --number {number}", flush=True)
            traceback.print_exc(limit=-6)
            sys.stderr.flush()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lines", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--corpus", type=Path)
    parser.add_argument("--only")
    parser.add_argument("--number", type=int)
    asked = parser.parse_args()
    use_one_arena()  # as the program does
    run, clock = _Run(), logs.Clock()
    with tempfile.TemporaryDirectory(prefix="fuzz-") as place:
        ways = _ways(Path(place), asked.corpus, clock)
        if asked.number is not None:
            ways[asked.only][1](Random(asked.number))
            return
        _fill_caches(ways)
        turns = [
            w for w, (often, _) in ways.items() for _ in range(often) if asked.only in (None, w)
        ]
        number, begun, memory = asked.seed << 32, time.monotonic(), [_memory()]
        while (done := run.lines.total()) < asked.lines and len(run.findings) < _MOST_FINDINGS:
            turn = Random(number).choice(turns)
            run.turn(turn, ways[turn][1], number)
            number += 1
            if done * _LOOKS >= asked.lines * len(memory):
                memory.append(_memory())
                print(
                    f"{done:,} lines, {time.monotonic() - begun:.0f} s, "
                    f"{memory[-1].resident_mb} MiB, {memory[-1].blocks:,} blocks, "
                    f"{memory[-1].modules:,} modules, {memory[-1].used_mb} MiB used, "
                    f"worst line {clock.worst:.3f} s",
                    flush=True,
                )
        faulthandler.cancel_dump_traceback_later()
    print(json.dumps({
        "lines": run.lines.total(), "seconds": round(time.monotonic() - begun),
        "processor": round(time.process_time()), "by_way": run.lines, "turns": run.done,
        "worst_line": round(clock.worst, 4), "worst_line_of": clock.what,
        "took": {way: round(took) for way, took in run.took.items()},
        "longest_turn": {way: round(took, 2) for way, took in run.longest.items()},
        "memory": [*memory, _memory()], "findings": run.findings,
    }))  # fmt: skip
    sys.exit(bool(run.findings))


if __name__ == "__main__":
    main()
