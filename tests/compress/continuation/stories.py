"""Sessions to go on with, and their rebuilt contexts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from compress.beliefs.values import Belief
from compress.compaction.digest import digest
from compress.compaction.values import SessionInput
from compress.continuation.rebuild import rebuild
from compress.continuation.values import Continuation, ContinuationRequest, Material
from compress.decisions.values import DecisionPoint, Stage
from compress.packs.values import Candidate
from tests.compress.logs import Log


def repair() -> Log:
    """A request, a file read, a failing test run, a list with open items, an answer, a next
    request."""
    log = Log()
    log.user("Fix the parser in src/parse.py. Never touch poetry.lock.")
    log.assistant("reading it", "r", r={"file_path": "src/parse.py"})
    log.result("r", "def parse_header(line):\n    return line.split(':')\n")
    log.assistant("", "t", t={"command": "pytest -x tests"})
    log.result("t", "collected 3\ntests/test_parse.py:12: AssertionError\n1 failed", error=True)
    log.fact(
        "artifact/update",
        kind="todo",
        items=[
            {"text": "write a test", "status": "completed"},
            {"text": "mend parse_header", "status": "in_progress"},
            {"text": "update the docs", "status": "pending"},
        ],
    )
    log.assistant("The header fails for lines without a colon.")
    log.user("go on with parse_header")
    return log


def context(
    log: Log,
    budget: int = 4_000,
    *,
    query: str = "",
    at: Any = None,
    type_aware: bool = True,
    decisions: Sequence[DecisionPoint] = (),
    candidates: Sequence[Candidate] = (),
    session: SessionInput | None = None,
) -> Continuation:
    """The rebuilt context of a log."""
    session = log.session(at) if session is None else session
    found = digest(session, session.plan.surface.nodes)
    return rebuild(
        Material(session, found, decisions, candidates),
        ContinuationRequest(query, budget, type_aware, session="s1", agent="claude"),
    )


def section(made: Continuation, name: str) -> str:
    """The lines of a section, its heading left out; empty where it does not stand."""
    found = next((part for part in made.sections if part.name == name), None)
    return "" if found is None else found.text.split("\n", 1)[1]


def decided(title: str, *, first: int, last: int, **fields: Any) -> DecisionPoint:
    """A closed decision point."""
    fields.setdefault("outcome", "success")
    fields.setdefault("rationale", "the report says so")
    return DecisionPoint(
        id=f"{first:032x}",
        agent="claude",
        session="s1",
        project=None,
        stage=Stage(kind="turn", title=title, index=1),
        summary=fields.pop("summary", title),
        first_seq=first,
        last_seq=last,
        open=False,
        revision=last,
        **fields,
    )


def candidate(text: str, seq: int, *, match: float = 1.0, **fields: Any) -> Candidate:
    """A fact of the log that a query found."""
    fields.setdefault("retention_class", "fact")
    fields.setdefault("belief_type", "instruction")
    fields.setdefault("source_kind", "user")
    belief = Belief(id=f"b{seq}", content=text, source_event_seqs=(seq,), **fields)
    return Candidate(belief, match=match, age=1_000 - seq)
