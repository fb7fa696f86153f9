"""What a retrieval pack costs in a store of a million events.

    python -m tests.benchmarks.pack_scale --folder DIR [--events 1000000] [--rounds 5]

Makes believable Claude Code logs of 40 sessions in 8 projects, one of them with a fifth of all
events, ingests them into a store in DIR once, and then times ``UseCases.pack`` for queries of rare,
frequent and mixed words in a session, a project and the whole store. The words follow Zipf's law,
so that the most frequent stand in most events. Beside each: the same store asked by FTS5 alone,
with any of the words, ordered by BM25. Every figure is the median of the rounds that follow a
first one, in milliseconds on the clock and, in brackets, of the processor: where others use the
machine, the second is what an idle one would take. Nothing of an earlier query is kept in the
process.

Prints a table and one JSON line.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
from collections.abc import Callable, Iterator
from itertools import accumulate
from pathlib import Path
from time import perf_counter, process_time

from inspector.settings import load_settings
from inspector.usecases import UseCases
from storage.scripts import all_of, any_of
from storage.sources.registry import registry
from storage.store import Store

SESSIONS, PROJECTS = 40, 8
LARGEST = 5
"""The first session has one of so many events."""
VOCABULARY = 30_000
STEPS = 6
BUDGET = 4_000
AIM = 300
"""Milliseconds."""
Spent = tuple[float, float]
"""Milliseconds: on the clock, of the processor."""
_SYLLABLES = [c + v for c in "bdfgklmnprstvz" for v in "aeiou"]


class Words:
    """Made words by Zipf's law; the n-th most frequent is :meth:`word` of n."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._all = [self.word(n) for n in range(VOCABULARY)]
        self._weights = list(accumulate(1 / (n + 2) for n in range(VOCABULARY)))

    @staticmethod
    def word(n: int) -> str:
        """A word of two syllables and more."""
        parts, n = [], n + len(_SYLLABLES)
        while n:
            n, rest = divmod(n, len(_SYLLABLES))
            parts.append(_SYLLABLES[rest])
        return "".join(parts)

    def text(self, low: int, high: int) -> str:
        """So many words, in lines."""
        count = self._random.randint(low, high)
        drawn = self._random.choices(self._all, cum_weights=self._weights, k=count)
        return "\n".join(" ".join(drawn[at : at + 12]) for at in range(0, count, 12))

    def below(self, limit: int) -> int:
        return self._random.randrange(limit)


def records(session: int, events: int) -> Iterator[dict[str, object]]:
    """One session of so many records: turns of a person's words, steps with a call and its result,
    and an answer."""
    words, parent, number, turn = Words(session), None, 0, 0
    while number < events:
        for record in _turn(words, session, turn):
            number += 1
            uuid = f"s{session}u{number}"
            yield {
                "uuid": uuid,
                "parentUuid": parent,
                "sessionId": f"session-{session:02}",
                "isSidechain": False,
                "cwd": f"/home/dev/project_{session % PROJECTS}",
                "version": "2.1.0",
                "timestamp": f"2026-01-{session % 28 + 1:02}T00:00:00.000Z",
                **record,
            }
            parent = uuid
        turn += 1


def _turn(words: Words, session: int, turn: int) -> Iterator[dict[str, object]]:
    name = f"{session}_{turn}"
    ask = f"Look at case_{name}: {words.text(8, 30)}"
    yield {"type": "user", "message": {"role": "user", "content": ask}}
    for step in range(STEPS):
        call = f"toolu_{name}_{step}"
        path = f"src/mod_{words.below(40)}/part_{words.below(400)}.py"
        block = {"type": "tool_use", "id": call, "name": "Read", "input": {"file_path": path}}
        yield _message(f"msg_{name}_{step}", block)
        long = words.below(100) == 0
        answer = words.text(600, 1_500) if long else words.text(10, 60)
        result = {"type": "tool_result", "tool_use_id": call, "content": answer}
        yield {"type": "user", "message": {"role": "user", "content": [result]}}
    said = {"type": "text", "text": f"case_{name} is done: {words.text(8, 40)}."}
    yield _message(f"end_{name}", said)


def _message(identity: str, block: dict[str, object]) -> dict[str, object]:
    message = {"id": identity, "role": "assistant", "model": "claude-sonnet-4-5"}
    usage = {"input_tokens": 10, "output_tokens": 40, "cache_read_input_tokens": 9_000}
    return {"type": "assistant", "message": {**message, "content": [block], "usage": usage}}


def prepared(folder: Path, events: int) -> Path:
    """The store of so many events, made and ingested once."""
    folder.mkdir(parents=True, exist_ok=True)
    db, done = folder / f"packs-{events}.db", folder / f"packs-{events}.done"
    if done.exists():
        return db
    logs = folder / f"packs-{events}"
    logs.mkdir(exist_ok=True)
    largest = events // LARGEST
    for session in range(SESSIONS):
        size = largest if session == 0 else (events - largest) // (SESSIONS - 1)
        with (logs / f"session-{session:02}.jsonl").open("w") as out:
            out.writelines(json.dumps(record) + "\n" for record in records(session, size))
    usecases = UseCases(Store(db, registry()), load_settings())
    try:
        print("ingest:", usecases.ingest([logs]).seconds, "s")
    finally:
        usecases.close()
    done.touch()
    return db


def queries() -> dict[str, str]:
    """By what they ask for."""
    word = Words.word
    return {
        "rare": f"case_0_77 {word(21_000)} {word(27_500)}",
        "frequent": " ".join(word(n) for n in range(8)),
        "mixed": f"{word(0)} {word(3)} {word(40)} {word(900)} {word(9_000)} part_17.py",
        "one frequent": word(0),
        "long": " ".join(word(n * n) for n in range(60)),
        "nothing": "",
    }


def median_of(rounds: int, work: Callable[[], object]) -> Spent:
    """Of the rounds after the first."""
    work()
    clock, processor = [], []
    for _ in range(rounds):
        begun, used = perf_counter(), process_time()
        work()
        clock.append((perf_counter() - begun) * 1000)
        processor.append((process_time() - used) * 1000)
    return statistics.median(clock), statistics.median(processor)


def bare(store: Store, query: str) -> int:
    """What FTS5 does with any of the words, ordered by BM25."""
    expression = any_of(query) or all_of(query)
    if expression is None:
        return 0
    with store.connections.read() as connection:
        return len(
            connection.execute(
                "SELECT rowid, -bm25(search) AS score FROM search WHERE search MATCH ? "
                "ORDER BY score DESC LIMIT 200",
                (expression,),
            ).fetchall()
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--folder", type=Path, required=True, help="where the store is kept")
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    db = prepared(asked.folder, asked.events)
    figures: dict[str, dict[str, Spent]] = {}
    print(f"{'query':<14}{'session':>14}{'project':>14}{'store':>14}{'bare FTS5':>16}  ms")
    for name, query in queries().items():
        row = figures[name] = timed(db, query, asked.rounds)
        cells = [f"{clock:.0f} ({processor:.0f})" for clock, processor in row.values()]
        print(f"{name:<14}{cells[0]:>14}{cells[1]:>14}{cells[2]:>14}{cells[3]:>16}")
    packs = [spent for row in figures.values() for where, spent in row.items() if where != "bare"]
    worst = max(clock for clock, _ in packs), max(processor for _, processor in packs)
    print(f"worst {worst[0]:.0f} ms ({worst[1]:.0f} ms of the processor), aim {AIM} ms")
    print(json.dumps({"events": asked.events, "worst_ms": worst, "figures": figures}))


def timed(db: Path, query: str, rounds: int) -> dict[str, Spent]:
    """One query in each place."""
    store = Store(db, registry())
    usecases = UseCases(store, load_settings())
    session = max(store.sessions(), key=lambda record: record.events).name

    def pack(where: str | None, *, project: bool = False) -> None:
        usecases.pack(where, query, budget=BUDGET, project=project, kept=False)

    try:
        return {
            "session": median_of(rounds, lambda: pack(session)),
            "project": median_of(rounds, lambda: pack(session, project=True)),
            "store": median_of(rounds, lambda: pack(None)),
            "bare": median_of(rounds, lambda: bare(store, query)),
        }
    finally:
        usecases.close()


if __name__ == "__main__":
    main()
