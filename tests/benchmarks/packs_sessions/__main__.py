"""Availability of packs and rebuilt contexts, with compression on and off.

    python -m tests.benchmarks.packs_sessions [--budget N] [--session NAME] [--cuts N] [--json]

A cut is the moment just before a message of the user's that follows at least 20,000 counted tokens
of log; of each session as many as ``--cuts`` says, evenly spread. The message is the query. The
figure is availability as in ``tests.benchmarks.fidelity``: of the identifiers that the agent uses
after the cut, until it compacts or clears or its log ends, that stood before it, and that no result
and no message (the query included) brought back first, the share that stands in the text. Nothing
is kept beside the text. ``soon``: only of those that it uses before the user speaks again.

Arms, at equal tokens of the whole text: the pack of the query over the session's history and the
rebuilt context, each with compression on and off; the last tokens; the events that BM25 finds for
the message, whole; the ceiling: the wanted identifiers themselves. Nothing that is newer than the
cut is looked at, but for the weights of the words, which are of the whole session's index.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from tests.benchmarks.fidelity.scoring import Score, pooled, score
from tests.benchmarks.packs_sessions import arms
from tests.benchmarks.packs_sessions.cuts import HISTORY, Cut, Sessions
from tests.benchmarks.packs_sessions.difference import Difference, difference

CORPUS = Path(os.environ.get("ULLAGE_CORPUS", "../shared/corpus"))
BUDGETS = (1_000, 2_000, 4_000)
ARMS = ("pack on", "pack off", "rebuild on", "rebuild off", "last", "bm25", "ceiling")
PAIRS = (("pack on", "pack off"), ("rebuild on", "rebuild off"))


@dataclass(frozen=True, slots=True)
class Row:
    """The figures of one cut at one budget, by arm: of all that is needed, and of what is needed
    soon."""

    session: str
    at: int
    budget: int
    scores: Mapping[str, Score]
    soon: Mapping[str, Score]
    tokens: Mapping[str, int]


def measured(sessions: Sessions, cut: Cut, budget: int) -> Row:
    """All arms at one cut."""

    def packed(*, on: bool) -> str:
        handle = sessions.usecases.pack(
            cut.session, cut.query, budget=budget, compression=on, at=cut.at
        )
        return handle.report.text

    def rebuilt(*, on: bool) -> str:
        handle = sessions.usecases.rebuild(
            cut.session, budget=budget, query=cut.query, at=cut.at, compression=on
        )
        return handle.report.text

    texts = {
        "pack on": packed(on=True),
        "pack off": packed(on=False),
        "rebuild on": rebuilt(on=True),
        "rebuild off": rebuilt(on=False),
        "last": arms.last_tokens(cut, budget),
        "bm25": arms.best_events(cut, budget),
        "ceiling": arms.ceiling(cut, budget),
    }
    tokens = {arm: cut.count(text) for arm, text in texts.items()}
    assert max(tokens.values()) <= budget, "an arm is above the budget"
    return Row(
        cut.session,
        cut.at,
        budget,
        {arm: score(cut.wanted, [text]) for arm, text in texts.items()},
        {arm: score(cut.wanted_soon, [text]) for arm, text in texts.items()},
        tokens,
    )


Pick = Callable[[Row], Mapping[str, Score]]


def show(rows: Sequence[Row], title: str, pick: Pick) -> dict[str, object]:
    """One table, and its figures."""
    report: dict[str, object] = {}
    print(f"\n{title}: micro average, 95 % of a bootstrap over sessions; macro average")
    for budget in sorted({row.budget for row in rows}):
        own = [row for row in rows if row.budget == budget]
        print(f"\n  {budget:,} tokens")
        found: dict[str, object] = {}
        for arm in ARMS:
            over = pooled([(row.session, pick(row)[arm]) for row in own])
            if over is None:
                continue
            found[arm] = {key: round(value, 4) for key, value in asdict(over).items()}
            print(
                f"    {arm:12} {over.micro:6.1%} ({over.micro_low:.1%}–{over.micro_high:.1%})"
                f"  macro {over.macro:6.1%}  n {over.targets:,} of {over.cases} cuts"
            )
        for one, two in PAIRS:
            pairs = [(row.session, pick(row)[one], pick(row)[two]) for row in own]
            gain = difference(pairs)
            if gain is not None:
                found[f"{one} − {two}"] = {k: round(v, 4) for k, v in asdict(gain).items()}
                print(f"    {one} − {two}: {_told(gain)}")
        report[str(budget)] = found
    return report


def _told(gain: Difference) -> str:
    return (
        f"{gain.points:+.1%} ({gain.low:+.1%} to {gain.high:+.1%}), "
        f"{gain.relative:+.0%} ({gain.relative_low:+.0%} to {gain.relative_high:+.0%})"
    )


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.packs_sessions")
    parser.add_argument("--budget", type=int, action="append", help="tokens; may be repeated")
    parser.add_argument("--session", default="", help="only sessions whose name holds this")
    parser.add_argument("--cuts", type=int, default=12, help="a session, at most")
    parser.add_argument("--json", action="store_true", help="print each cut, too")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        sessions = Sessions(CORPUS, Path(folder), only=given.session, most=given.cuts)
        try:
            rows = [
                measured(sessions, cut, budget)
                for cut in sessions.cuts()
                for budget in given.budget or BUDGETS
            ]
            found = sessions.found
        finally:
            sessions.close()
    print(f"Cuts: before a message of the user's behind {HISTORY:,} tokens of log or more.")
    for name, (all_, taken) in found.items():
        print(f"  {name[:50]:50} {taken:3} of {all_}")
    report = {
        "all": show(rows, "Needed until the agent compacts", lambda row: row.scores),
        "soon": show(rows, "Needed before the user speaks again", lambda row: row.soon),
        "cuts": found,
    }
    if given.json:
        report["rows"] = [
            {
                "session": row.session,
                "at": row.at,
                "budget": row.budget,
                "of": next(iter(row.scores.values())).of,
                "hits": {arm: each.hits for arm, each in row.scores.items()},
                "tokens": dict(row.tokens),
            }
            for row in rows
        ]
    print(json.dumps(report))


if __name__ == "__main__":
    main()
