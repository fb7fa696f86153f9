"""What is carried over an agent's own compaction: pins first, never above the budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compress.compaction.digest import digest
from compress.compaction.values import SessionInput
from compress.continuation.carry import Carried, CarryRequest, carry
from compress.continuation.values import Material
from compress.decisions.values import DecisionPoint
from compress.pins import pin_draft
from storage.resources import counter_for
from tests.compress.continuation.stories import decided, repair
from tests.compress.logs import COUNTER, Log, attempt, logs


def carried(
    log: Log,
    budget: int = 2_000,
    *,
    whole: bool = False,
    largest: int | None = None,
    decisions: Sequence[DecisionPoint] = (),
    session: SessionInput | None = None,
) -> Carried | None:
    session = log.session() if session is None else session
    material = Material(session, digest(session, session.plan.surface.nodes), decisions)
    asked = CarryRequest(budget, largest, whole, session="s1", agent="claude")
    return carry(material, asked)


def told(made: Carried | None) -> Carried:
    assert made is not None
    return made


def pinned(log: Log, *nodes: int) -> Log:
    for node in nodes:
        log.commit(pin_draft(log.plan(), node))
    return log


def test_pins_open_items_and_decisions_stand_in_this_order_and_nothing_else() -> None:
    made = told(carried(pinned(repair(), 1), decisions=[decided("the header", first=2, last=5)]))
    assert list(made.sections) == ["pinned", "open_items", "decisions"]
    body = made.text.split("\n\n", 1)[1]
    assert body.startswith(
        "## Pinned\n### [event 1] user\n```\n"
        "Fix the parser in src/parse.py. Never touch poetry.lock.\n```\n\n"
        "## Open items\n- mend parse_header (in progress)\n- update the docs\n\n"
        "## Decision points\n- [event 5] "
    )
    assert made.tokens == COUNTER.count(made.text)
    assert made.shortened == 0


def test_in_the_place_of_a_summary_the_users_words_errors_and_names_stand_too() -> None:
    made = told(carried(repair(), whole=True))
    assert {"instructions", "open_items", "errors"} <= set(made.sections)
    assert "go on with parse_header" in made.text
    assert "tests/test_parse.py:12: AssertionError" in made.text
    assert "turns" not in made.sections, "the newest turns are kept by the agent"


def test_it_says_that_it_is_no_request_and_where_its_raw_is() -> None:
    head = told(carried(repair())).text.split("\n\n")[0]
    assert "This is context, not a request" in head
    assert "claude s1 up to event 8" in head


def test_where_there_is_nothing_to_say_nothing_is_said() -> None:
    log = Log()
    log.user("hello")
    log.assistant("Hello.")
    assert carried(log) is None
    assert carried(Log()) is None


def test_a_pin_that_is_too_long_stands_as_its_headline_and_the_users_words_come_first() -> None:
    log = Log()
    log.user("Keep the limit at 1240.")
    log.assistant("reading", "r", r={"file_path": "kiln.py"})
    log.result("r", "LIMIT = 1300\n" * 900)
    made = told(carried(pinned(log, 1, 3), 200))
    assert "```\nKeep the limit at 1240.\n```" in made.text
    assert "too long to stand here: LIMIT = 1300" in made.text
    assert made.shortened == 1
    assert made.tokens <= 200


def test_what_pins_leave_goes_to_what_needs_it() -> None:
    log = repair()
    decisions = [
        decided(f"stage {number} of the long way to go", first=number, last=number)
        for number in range(1, 40)
    ]
    made = told(carried(log, 700, decisions=decisions))
    room = 700 - COUNTER.count(made.text.split("\n\n")[0]) - made.sections["open_items"]
    assert made.sections["decisions"] > room * 0.8, "open items took little of their half"


def test_a_limit_in_bytes_holds_too() -> None:
    log = Log()
    log.user("窯の温度は千二百四十度を超えてはならない。" * 300)
    pinned(log, 1)
    for largest in (600, 1_000, 4_000):
        made = carried(log, 50_000, largest=largest)
        assert made is None or len(made.text.encode()) <= largest
    assert carried(log, 50_000, largest=4_000) is not None


@st.composite
def stories(draw: st.DrawFn) -> tuple[Log, int]:
    """A log, some of its nodes pinned, and a budget."""
    log = draw(logs())
    for _ in range(draw(st.integers(0, 3))):
        nodes = log.nodes()
        if nodes:
            node = draw(st.sampled_from(nodes))
            attempt(log, lambda node=node: pin_draft(log.plan(), node))
    return log, draw(st.integers(1, 1_500))


@settings(max_examples=40, deadline=None)
@given(stories(), st.booleans(), st.sampled_from([None, 300, 2_000]))
@pytest.mark.parametrize("model", ["gpt-5", None])
def test_it_is_never_above_its_budget_and_always_the_same(
    model: str | None, story: tuple[Log, int], whole: bool, largest: int | None
) -> None:
    log, budget = story
    session = log.session()
    if model is not None:
        session = replace(session, counter=counter_for(model))
    made = carried(log, budget, whole=whole, largest=largest, session=session)
    assert made == carried(log, budget, whole=whole, largest=largest, session=session)
    if made is not None:
        assert made.tokens == session.counter.count(made.text) <= budget
        assert largest is None or len(made.text.encode("utf-8", "replace")) <= largest
        assert made.sections
