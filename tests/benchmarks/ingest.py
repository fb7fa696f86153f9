"""Ingest, against parsing and counting the same texts once on one thread, in the same run.

    python -m tests.benchmarks.ingest [--megabytes 400] [--runs 5] [--fast]

Prints a table and one JSON line. ``cold``: all corpus sessions into an empty store, ÷ the
baseline; both in turns, each in a process of its own, since an encoder is quicker for the thread
that used it first. ``nothing new``: a second ingest of salted copies (every id and text its own)
with nothing changed, ÷ the first. ``peak``: resident memory of the whole process tree while they
are ingested. The events are derived first, untimed, in both processes; what is timed of the
baseline is one parse of every line, by the parser that the ingest uses (``pydantic_core``, else
``json``), and one count of every block, one at a time. Beside the time on the clock stands that of
the processor, which tells more where others use the machine, too. tiktoken counts on both sides;
with ``--fast`` the ingest counts by the fast counter, the baseline still by tiktoken.
"""

from __future__ import annotations

import argparse
import gc
import json
import multiprocessing
import os
import re
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from pydantic_core import from_json

from compress.events import ContentBlock
from compress.tokens import TokenCounter, count_block, profile_of
from storage import resources
from storage.ingest import Ingest
from storage.records import parse_record
from storage.sources.registry import adapter_of, registry
from storage.store import Store

CORPUS = Path(os.environ.get("ULLAGE_CORPUS", "../shared/corpus"))
AGENTS = ("claude", "codex", "pi", "dsh", "openai")


def corpus_logs() -> list[Path]:
    """The sessions of the agents that are read, in a fixed order."""
    return [p for agent in AGENTS for p in sorted((CORPUS / agent).glob("*.json*")) if p.is_file()]


class Seconds(NamedTuple):
    """How long something took."""

    wall: float
    processor: float
    """Of all threads."""


def _now() -> Seconds:
    return Seconds(time.perf_counter(), time.process_time())


def _since(begun: Seconds) -> Seconds:
    return Seconds(*(now - then for now, then in zip(_now(), begun, strict=True)))


def _prepared(paths: list[Path]) -> tuple[list[bytes], list[tuple[ContentBlock, str | None]]]:
    """The lines, and the blocks that come of them with the model in force. Vocabularies and all
    that is loaded at first use are there when it returns."""
    for vocabulary in resources.DIGESTS:
        resources.counter(vocabulary)
        resources.tiktoken_counter(vocabulary)
    adapters = registry()
    blocks, lines = [], []
    for path in paths:
        adapter = adapter_of(adapters, path)
        if adapter is None:
            continue
        reader = adapter.open(path)
        for number, line in enumerate(path.read_bytes().split(b"\n"), 1):
            record = parse_record(number, 0, line)
            if record is None or record.value is None:
                continue
            lines.append(line)
            for derived in reader.feed(record):
                facts = reader.sessions.get(derived.session)
                for event in derived.events:
                    model = event.model or (facts.model if facts else None)
                    blocks.extend((block, model) for block in event.blocks)
    return lines, blocks


def baseline(paths: list[Path]) -> Seconds:
    """To parse every line and to count every block, on this thread."""
    lines, blocks = _prepared(paths)
    begun = _now()
    for line in lines:
        try:
            from_json(line, allow_inf_nan=True, cache_strings="keys")
        except ValueError:
            json.loads(line)
    for block, model in blocks:
        count_block(block, _tiktoken_for(model), profile_of(model).images)
    return _since(begun)


def _tiktoken_for(model: str | None) -> TokenCounter:
    return resources.tiktoken_counter(profile_of(model).vocabulary)


def cold(paths: list[Path], *, fast: bool) -> Seconds:
    """To ingest everything into an empty store."""
    _prepared(paths)
    gc.collect()
    with tempfile.TemporaryDirectory() as name:
        store = Store(Path(name) / "cold.db", registry())
        ingest = Ingest(store, counter_for=resources.counter_for if fast else _tiktoken_for)
        begun = _now()
        ingest.run(paths, final=True)
        taken = _since(begun)
        ingest.close()
        store.close()
    return taken


def _apart(measure: Callable[[list[Path]], Seconds], paths: list[Path]) -> Seconds:
    """What is measured, in a fresh process."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as process:
        return process.submit(measure, paths).result()


_ID = re.compile(rb"[0-9a-f]{8}-[0-9a-f]{4}|toolu_\w{6}|msg_\w{6}|call_\w{6}|\"id\":\"\w{4}")
_TEXT = re.compile(rb'"(text|content|thinking|output|arguments)":"')


def salted(data: bytes, number: int) -> bytes:
    """A log with ids and texts of its own."""
    salt = f"{number:06x}".encode()
    data = _ID.sub(lambda found: found[0][:-4] + salt[-4:], data)
    return _TEXT.sub(lambda found: found[0] + salt + b" ", data)


def salted_copies(folder: Path, megabytes: int) -> list[Path]:
    """Copies of the corpus until there are so many megabytes, each id and text made its own."""
    made: list[Path] = []
    size, number = 0, 0
    while size < megabytes << 20:
        for path in corpus_logs():
            if path.suffix != ".jsonl" or "NOT-A-SESSION" in path.name:
                continue
            data = salted(path.read_bytes(), number)
            copy = folder / path.parent.name / f"{path.stem}-{number:06x}{path.suffix}"
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(data)
            made.append(copy)
            size += len(data)
            number += 1
            if size >= megabytes << 20:
                break
    return made


def _ingest_twice(paths: list[Path], folder: Path, result: str) -> None:
    store = Store(folder / "large.db", registry())
    ingest = Ingest(store)
    begun = time.perf_counter()
    ingest.run(paths, final=True)
    first = time.perf_counter() - begun
    seconds = []
    for _ in range(5):
        begun = time.perf_counter()
        ingest.run(paths, final=True)
        seconds.append(time.perf_counter() - begun)
    Path(result).write_text(json.dumps([first, sorted(seconds)[2]]), encoding="utf-8")
    ingest.close()
    store.close()


def large(megabytes: int, folder: Path) -> tuple[float, float, float, float]:
    """(MB, seconds first, seconds again, peak MB) in a process of its own."""
    paths = salted_copies(folder, megabytes)
    total = sum(path.stat().st_size for path in paths) / 2**20
    result = folder / "result.json"
    process = multiprocessing.get_context("spawn").Process(
        target=_ingest_twice, args=(paths, folder, str(result))
    )
    process.start()
    peak = [0]
    sampler = threading.Thread(target=_sample, args=(process.pid, process, peak))
    sampler.start()
    process.join()
    sampler.join()
    first, again = json.loads(result.read_text(encoding="utf-8"))
    return total, first, again, peak[0] / 2**20


def _sample(pid: int, process: multiprocessing.process.BaseProcess, peak: list[int]) -> None:
    while process.is_alive():
        peak[0] = max(peak[0], sum(resident(one) for one in tree_of(pid)))
        time.sleep(0.02)


def tree_of(pid: int) -> Iterator[int]:
    """A process and all that it started."""
    yield pid
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
    except OSError:
        return
    for child in children:
        yield from tree_of(int(child))


def resident(pid: int) -> int:
    """Bytes of memory that a process holds; 0 once it has ended."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


def main() -> None:
    """Runs everything and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=400)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--fast", action="store_true")
    options = parser.parse_args()
    paths = corpus_logs()
    ours = partial(cold, fast=options.fast)
    pairs = [(_apart(baseline, paths), _apart(ours, paths)) for _ in range(options.runs)]
    base, best = min(b.wall for b, _ in pairs), min(c.wall for _, c in pairs)
    processor = [sum(pair[side].processor for pair in pairs) for side in (0, 1)]
    figures: dict[str, Any] = {
        "corpus_mb": round(sum(p.stat().st_size for p in paths) / 2**20, 1),
        "parse_and_count_s": round(base, 2),
        "cold_ingest_s": round(best, 2),
        "cold_ratio": round(best / base, 2),
        "cold_ratios": [round(c.wall / b.wall, 2) for b, c in pairs],
        "processor_ratio": round(processor[1] / processor[0], 2),
    }
    if options.megabytes:
        with tempfile.TemporaryDirectory() as name:
            total, first, again, peak = large(options.megabytes, Path(name))
        figures |= {
            "large_mb": round(total, 1),
            "large_first_s": round(first, 1),
            "large_nothing_new_s": round(again, 4),
            "nothing_new_ratio": round(first / again),
            "peak_mb": round(peak),
        }
    for name, value in figures.items():
        print(f"{name:24} {value!s:>12}")
    print(json.dumps(figures))


if __name__ == "__main__":
    sys.exit(main())
