"""Two compactions side by side, and what an operation costs the prompt cache."""

from __future__ import annotations

from compress.compaction.comparison import kept_only_by, resent_tokens
from compress.compaction.values import Lost
from compress.operations import OperationRow
from compress.plan import PlanState
from tests.compress.logs import Log
from tests.compress.test_plan import compact, talk


def state(log: Log, rows: list[OperationRow] | None = None) -> PlanState:
    kept, log.rows = log.rows, log.rows if rows is None else rows
    found = log.plan()
    log.rows = kept
    return found


def test_what_only_one_side_kept_is_named_in_the_order_of_the_others_loss() -> None:
    ours = Lost(identifiers=("b", "d"), instructions=("say x",), errors=())
    theirs = Lost(identifiers=("c", "b", "a"), instructions=("say x", "say y"), errors=("E1",))
    here, there = kept_only_by(ours, theirs), kept_only_by(theirs, ours)
    assert here == Lost(identifiers=("c", "a"), instructions=("say y",), errors=("E1",))
    assert there == Lost(identifiers=("d",))


def test_all_from_the_first_other_node_on_is_sent_anew() -> None:
    log = talk()
    compact(log, 4, 5)
    before, after = state(log, []), state(log)
    assert after.surface.nodes == (1, 2, 3, "o3", 6, 7)
    weights = {node: log.entries[node].tokens for node in (6, 7)}
    checkpoint = after.entries["o3"].tokens
    assert resent_tokens(before, after) == checkpoint + weights[6] + weights[7]


def test_where_only_the_end_is_taken_nothing_is_sent_anew() -> None:
    log = talk()
    before = state(log)
    log.rebase([1, 2, 3], "rewind")
    assert resent_tokens(before, state(log)) == 0


def test_where_nothing_changes_nothing_is_sent_anew() -> None:
    log = talk()
    assert resent_tokens(state(log), state(log)) == 0
