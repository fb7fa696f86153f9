"""Packs of meetings: of the turns that answer a question, how many stand in it, and how whole.

    python -m tests.benchmarks.packs_meetings [--folder DIR] [--budget N] [--most N] [--aged]

Reads meetings of QMSum (``*.json``: ``meeting_transcripts``, ``specific_query_list`` with
``relevant_text_span``). Every turn of a meeting is a candidate, a snapshot with its speaker as
label; its match is BM25 of the question over the meeting's turns, in an index as the store's own.
A turn of a meeting is what was true when it was said: were it a fact, compression would change
nothing. All turns are of one age; ``--aged``: the later, the newer, as in a log.

At each budget of the *rendered* pack, with compression on and off, as averages over questions:

* *ids* – the share of the labelled turns that have a line in the pack;
* *whole* – the share of the labelled text, in characters, of turns that stand whole;
* *text* – the same with what stands of turns by their headline.

The differences have the 95 % interval of a paired bootstrap over questions. Prints a table and one
JSON line.
"""

from __future__ import annotations

import argparse
import json
import os
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from random import Random
from statistics import fmean

from compress.beliefs.values import Belief
from compress.packs.fit import pack
from compress.packs.values import Candidate, Pack, PackRequest
from compress.tokens import TokenCounter
from storage import resources
from storage.scripts import TOKENIZER, any_of, index_text

FOLDER = Path(os.environ.get("ULLAGE_QMSUM", "../shared/eval/qmsum"))
BUDGETS = (500, 1_000, 2_000)
FIGURES = ("ids", "whole", "text")
_DRAWS = 2_000


@dataclass(frozen=True, slots=True)
class Question:
    """A question, the numbers of the turns that answer it, and all turns as candidates."""

    text: str
    answers: frozenset[int]
    candidates: Sequence[Candidate]


@dataclass(frozen=True, slots=True)
class Figures:
    """Of one pack; see the module."""

    ids: float
    whole: float
    text: float


def questions(folder: Path, *, aged: bool) -> Iterator[Question]:
    """Of all meetings, in the order of their files."""
    for path in sorted(folder.glob("*.json")):
        meeting = json.loads(path.read_text(encoding="utf-8"))
        turns = meeting["meeting_transcripts"]
        beliefs = [
            Belief(
                id=f"{number:08x}",
                content=turn["content"],
                retention_class="snapshot",
                belief_type="context",
                source_kind="context",
                source_event_seqs=(number,),
                label=turn["speaker"],
            )
            for number, turn in enumerate(turns, 1)
        ]
        index = sqlite3.connect(":memory:")
        index.execute(
            f"CREATE VIRTUAL TABLE t USING fts5(text, content='', tokenize=\"{TOKENIZER}\")"
        )
        index.executemany(
            "INSERT INTO t (rowid, text) VALUES (?, ?)",
            ((number, index_text(turn["content"])) for number, turn in enumerate(turns, 1)),
        )
        for asked in meeting["specific_query_list"]:
            answers = frozenset(
                number
                for first, last in asked["relevant_text_span"]
                for number in range(int(first) + 1, min(int(last) + 1, len(turns)) + 1)
            )
            found = matches(index, asked["query"])
            yield Question(
                asked["query"],
                answers,
                [
                    Candidate(belief, found.get(number, 0.0), len(beliefs) - number if aged else 0)
                    for number, belief in enumerate(beliefs, 1)
                ],
            )
        index.close()


def matches(index: sqlite3.Connection, query: str) -> dict[int, float]:
    """Turn → BM25."""
    expression = any_of(query)
    if expression is None:
        return {}
    return dict(index.execute("SELECT rowid, -bm25(t) FROM t WHERE t MATCH ?", (expression,)))


def figures(made: Pack, question: Question) -> Figures:
    """Of one pack."""
    total = lines = whole = text = 0
    for line in made.lines:
        if line.belief.source_event_seqs[0] not in question.answers:
            continue
        content = line.belief.content
        total += len(content)
        if line.packed:
            lines += 1
            whole += len(content) * (line.rendered == content)
            text += min(len(content), len(line.rendered))
    return Figures(lines / len(question.answers), whole / total, text / total)


def measured(
    asked: Sequence[Question], budget: int, counter: TokenCounter, *, on: bool
) -> list[Figures]:
    """Of every question."""
    found = []
    for question in asked:
        request = PackRequest(question.text, budget, type_aware=on)
        made = pack(question.candidates, request, counter)
        if counter.count(made.text) > budget:
            raise SystemExit(f"a pack of {budget} tokens is above its budget")
        found.append(figures(made, question))
    return found


def interval(differences: Sequence[float]) -> tuple[float, float]:
    """The 95 % interval of their mean."""
    random = Random(1)
    means = sorted(fmean(random.choices(differences, k=len(differences))) for _ in range(_DRAWS))
    return means[_DRAWS // 40], means[-_DRAWS // 40 - 1]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.packs_meetings")
    parser.add_argument("--folder", type=Path, default=FOLDER)
    parser.add_argument("--budget", type=int, action="append", help="tokens; may be repeated")
    parser.add_argument("--most", type=int, help="questions, evenly spread")
    parser.add_argument("--aged", action="store_true", help="a later turn is newer")
    given = parser.parse_args()
    if not given.folder.is_dir():
        raise SystemExit(f"no meetings in {given.folder}: give --folder or set ULLAGE_QMSUM")
    asked = list(questions(given.folder, aged=given.aged))
    if given.most:
        asked = asked[:: max(1, len(asked) // given.most)]
    counter = resources.counter("o200k_base")
    print(f"{len(asked)} questions; averages; differences with their 95 % intervals")
    print(f"{'tokens':>6}  {'':11}" + "".join(f"{name:>26}" for name in FIGURES))
    report: dict[str, object] = {"questions": len(asked)}
    for budget in given.budget or BUDGETS:
        off = measured(asked, budget, counter, on=False)
        on = measured(asked, budget, counter, on=True)
        rows: dict[str, object] = {}
        for name, found in (("off", off), ("on", on)):
            means = [fmean(column) for column in zip(*map(astuple, found), strict=True)]
            print(f"{budget:6,}  {name:11}" + "".join(f"{mean:26.3f}" for mean in means))
            rows[name] = dict(zip(FIGURES, (round(mean, 4) for mean in means), strict=True))
        told = []
        for name in FIGURES:
            gains = [getattr(b, name) - getattr(a, name) for a, b in zip(off, on, strict=True)]
            low, high = interval(gains)
            told.append(f"{fmean(gains):+.3f} ({low:+.3f} to {high:+.3f})")
            rows[f"{name} gain"] = [round(value, 4) for value in (fmean(gains), low, high)]
        print(f"{budget:6,}  {'on − off':11}" + "".join(f"{text:>26}" for text in told), flush=True)
        report[str(budget)] = rows
    print(json.dumps(report))


if __name__ == "__main__":
    main()
