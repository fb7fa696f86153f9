"""Availability: what a summary keeps of the identifiers that the agent will need.

    python -m tests.benchmarks.fidelity [--quick] [--budget N] [--session NAME] [--no-cuts]
                                        [--no-schema-words] [--json]

For each compaction that an agent made itself in the corpus, and at fixed cuts (every 40,000 tokens
of log, the whole surface) in every long session: the share of identifiers that the agent uses after
the cut, that stood before it, and that no later result or message brought back first, which stand
in the summary's text. Names in the kept tail stand for every arm, so they are left out. "After"
reaches to the agent's next compaction or clear. The tools that the agent calls and the keys of
their inputs are identifiers that it uses; ``--no-schema-words`` leaves them out, since they stand
in every request anyway.

Arms, at equal tokens: the shipped rule-based summary (by the way that a preview takes), the agent's
own (at its own size only), the last tokens, head and tail, the end with tool results cleared,
random lines (mean of three drawings), a bare list of identifiers ranked by use and recency, and the
ceiling: the wanted identifiers themselves. The budget of the shipped summary includes its frame.

Availability is necessary, not sufficient: a name that stands may be told without its meaning. A
bare list does well here and would serve nobody.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from compress.errors import CompressError
from tests.benchmarks.fidelity import arms
from tests.benchmarks.fidelity.cases import SMALLEST, Case, Sessions
from tests.benchmarks.fidelity.scoring import Score, by_class, pooled, score

CORPUS = Path(os.environ.get("ULLAGE_CORPUS", "../shared/corpus"))
BUDGETS = (512, 1_024, 2_048, 4_096, 8_192)
QUICK = (1_024,)
ARMS = ("ours", "own", "last", "head+tail", "cleared", "random", "list", "ceiling")


@dataclass(frozen=True, slots=True)
class Row:
    """The figures of one case at one budget, by arm; an arm that cannot answer is left out."""

    case: str
    session: str
    kind: str
    budget: str
    tokens: int
    region: int
    scores: dict[str, Score]
    refused: str = ""
    """Why there is no shipped summary here; it then counts as nothing available."""


def measured(sessions: Sessions, case: Case, budgets: Sequence[int]) -> Iterator[Row]:
    """A row for each budget, and one at the size of the agent's own summary."""
    sizes = [(f"{budget}", budget) for budget in budgets]
    if case.own is not None:
        sizes.insert(0, ("own", case.count(case.own)))
    for label, tokens in sizes:
        if tokens >= case.region_tokens:
            continue
        texts, refused = _texts(sessions, case, tokens, label == "own")
        yield Row(
            case.name,
            case.session,
            "compaction" if case.number else "cut",
            label,
            tokens,
            case.region_tokens,
            {arm: score(case.wanted, found) for arm, found in texts.items()},
            refused,
        )


def _texts(
    sessions: Sessions, case: Case, tokens: int, own: bool
) -> tuple[dict[str, list[str]], str]:
    refused, ours = "", ""
    try:
        ours = _summary(sessions, case, tokens)
    except CompressError as error:
        refused = str(error)
    pieces, count = case.pieces, case.count
    found = {
        "ours": [ours],
        "last": [arms.last_tokens(pieces, tokens, count)],
        "head+tail": [arms.head_and_tail(pieces, tokens, count)],
        "cleared": [arms.cleared_results(pieces, tokens, count)],
        "random": arms.random_lines(pieces, tokens, count),
        "list": [arms.ranked_list(pieces, tokens, count)],
        "ceiling": [arms.ceiling(case.wanted, tokens, count)],
    }
    if own and case.own is not None:
        found["own"] = [case.own]
    return found, refused


def _summary(sessions: Sessions, case: Case, tokens: int) -> str:
    if case.number is not None:
        handle = sessions.usecases.preview(
            case.session, before_compaction=case.number, budget=tokens
        )
    else:
        handle = sessions.usecases.preview(
            case.session, start=case.first, end=case.last, at=case.at, budget=tokens
        )
    summary = handle.preview.summary
    return "" if summary is None else summary.text


def _line(row: Row) -> str:
    cells = "".join(
        f"{row.scores[arm].share:>10.0%}" if arm in row.scores else f"{'–':>10}" for arm in ARMS
    )
    wanted = next(iter(row.scores.values())).of
    return f"{row.case[-48:]:48} {row.tokens:>6,} {wanted:>4} {cells}" + (
        f"  {row.refused}" if row.refused else ""
    )


def summed(rows: Sequence[Row]) -> dict[str, object]:
    """Kind of case → budget → arm → pooled figures and shares by class."""
    report: dict[str, object] = {}
    for kind in ("compaction", "cut"):
        of_kind = [row for row in rows if row.kind == kind]
        for label in dict.fromkeys(row.budget for row in of_kind):
            found = {}
            for arm in ARMS:
                scores = [
                    (row.session, row.scores[arm])
                    for row in of_kind
                    if row.budget == label and arm in row.scores
                ]
                overall = pooled(scores)
                if overall is not None:
                    found[arm] = {
                        **_rounded(asdict(overall)),
                        "by_class": {
                            name: (round(share, 4), of)
                            for name, (share, of) in by_class(each for _, each in scores).items()
                        },
                    }
            report[f"{kind} {label}"] = found
    return report


def show(rows: Sequence[Row]) -> None:
    """The tables."""
    head = "".join(f"{arm:>10}" for arm in ARMS)
    for kind in ("compaction", "cut"):
        of_kind = [row for row in rows if row.kind == kind]
        for label in dict.fromkeys(row.budget for row in of_kind):
            title = f"{kind}s, at " + ("the own summary's size" if label == "own" else label)
            print(f"\n{title:48} {'tokens':>6} {'n':>4} {head}")
            for row in of_kind:
                if row.budget == label:
                    print(_line(row))
            _show_pooled([row for row in of_kind if row.budget == label])


def _show_pooled(rows: Sequence[Row]) -> None:
    overall = {
        arm: pooled([(row.session, row.scores[arm]) for row in rows if arm in row.scores])
        for arm in ARMS
    }
    for name, low, high in (
        ("micro", "micro_low", "micro_high"),
        ("macro", "macro_low", "macro_high"),
    ):
        print(f"{name:60}", end=" ")
        print(
            "".join(f"{getattr(o, name):>10.0%}" if o else f"{'–':>10}" for o in overall.values())
        )
        bounds = (
            f"{getattr(o, low):.0%}–{getattr(o, high):.0%}" if o else "" for o in overall.values()
        )
        print(f"{'  95 % (bootstrap over sessions)':60} " + "".join(f"{b:>10}" for b in bounds))
    cells = "".join(f"{o.weighted:>10.0%}" if o else f"{'–':>10}" for o in overall.values())
    print(f"{'weighted by 1 ÷ nodes that name it':60} {cells}")
    classes = {arm: by_class(r.scores[arm] for r in rows if arm in r.scores) for arm in ARMS}
    for kind, (_, of) in classes["ceiling"].items():
        cells = "".join(
            f"{classes[arm][kind][0]:>10.0%}" if kind in classes[arm] else f"{'–':>10}"
            for arm in ARMS
        )
        print(f"  {kind:52} {of:>4}  {cells}")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.fidelity")
    parser.add_argument("--budget", type=int, action="append", help="tokens; may be repeated")
    parser.add_argument("--session", default="", help="only sessions whose name holds this")
    parser.add_argument("--cuts", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--schema-words", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--quick", action="store_true", help="no cuts; own size and 1,024 only")
    parser.add_argument("--json", action="store_true", help="the JSON line only")
    given = parser.parse_args(arguments)
    budgets = given.budget or (QUICK if given.quick else BUDGETS)
    with tempfile.TemporaryDirectory() as folder:
        sessions = Sessions(CORPUS, Path(folder), schema=given.schema_words)
        try:
            rows = [
                row
                for case in sessions.cases(given.session, given.cuts and not given.quick)
                for row in measured(sessions, case, budgets)
            ]
            small = sessions.small
        finally:
            sessions.close()
    if not given.json:
        print("Availability: necessary, not sufficient. Share of the identifiers needed later.")
        print(f"Left out: {small} compactions whose region is below {SMALLEST:,} tokens.")
        show(rows)
    print(
        json.dumps(
            {"rows": [_plain(row) for row in rows], "pooled": summed(rows), "left_out": small}
        )
    )


def _rounded(figures: dict[str, float]) -> dict[str, float]:
    return {key: round(value, 4) for key, value in figures.items()}


def _plain(row: Row) -> dict[str, object]:
    return {
        **{key: getattr(row, key) for key in ("case", "kind", "budget", "tokens", "region")},
        "refused": row.refused,
        "availability": {arm: round(found.share, 4) for arm, found in row.scores.items()},
        "n": next(iter(row.scores.values())).of,
    }


if __name__ == "__main__":
    main()
