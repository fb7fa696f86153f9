"""Balance per cut, units, and the cache that extends them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from compress.errors import StaleNodeError
from compress.pairing import BalanceCache, pairing
from compress.units import log_unit
from tests.compress.logs import Log, logs


def balance_of(log: Log) -> tuple[list[int], list[str]]:
    found = pairing(log.fold(), log.entries)
    return list(found.balance), [problem.kind for problem in found.problems]


def test_the_balance_counts_open_calls_at_each_cut() -> None:
    log = Log()
    log.user("go")
    log.assistant("two at once", "a", "b")
    log.result("a")
    log.result("b")
    log.assistant("done")
    # +1 per call, -1 per result, in surface order: five nodes, six cuts.
    assert balance_of(log) == ([0, 0, 2, 1, 0, 0], [])


def test_balance_walks_the_surface_not_the_seqs() -> None:
    log = Log()
    log.user("one")
    log.assistant("", "a")
    log.result("a")
    log.user("two")
    checkpoint = log.compact(1, 3)
    found = pairing(log.fold(), log.entries)
    assert list(found.nodes) == [checkpoint, 4]
    assert list(found.balance) == [0, 0, 0]
    assert found.balanced_before(4)
    assert found.balanced_after(checkpoint)


def test_a_result_between_two_blocks_of_its_message_stands_after_it() -> None:
    log = Log()
    first = log.assistant("", "a")
    log.result("a")
    log.add("assistant/message", node=first, role="assistant", step=1)
    assert balance_of(log) == ([0, 1, 0], [])


def test_a_call_without_a_result_blocks_no_cut_but_keeps_the_tail_open() -> None:
    log = Log()
    log.user("go")
    log.assistant("", "a")
    found = pairing(log.fold(), log.entries)
    assert list(found.balance) == [0, 0, 0]
    assert found.unanswered == {1}
    assert found.open_from == 1
    log.user("never mind")
    assert pairing(log.fold(), log.entries).open_from is None


def test_orphans_are_reported_and_never_paired() -> None:
    log = Log()
    log.result("nobody")
    log.assistant("", "a")
    log.result("a")
    log.result("a")
    assert balance_of(log) == ([0, 0, 1, 0, 0], ["orphan_result", "orphan_result"])


def test_a_reused_id_means_its_newest_call() -> None:
    log = Log()
    log.assistant("", "x")
    log.user("interrupted")
    log.assistant("", "x")
    log.result("x")
    assert balance_of(log) == ([0, 0, 0, 1, 0], ["reused_call_id"])


def test_an_empty_id_never_matches_all() -> None:
    log = Log()
    log.assistant("", "")
    log.result("")
    log.result("")
    assert balance_of(log) == ([0, 1, 0, 0], ["orphan_result"])


def test_a_closed_step_is_one_unit_and_a_message_outside_is_its_own() -> None:
    log = Log()
    log.user("go")
    log.assistant("", "a", "b")
    log.result("b")
    log.result("a")
    log.assistant("done")
    found = pairing(log.fold(), log.entries)
    assert list(found.units) == [0, 1, 4]
    assert found.unit_of(2) == range(1, 4)
    assert [found.unit_index(position) for position in range(5)] == [0, 1, 1, 1, 2]


def test_a_node_that_does_not_stand_has_no_balance() -> None:
    log = Log()
    log.user("go")
    with pytest.raises(StaleNodeError, match="99"):
        pairing(log.fold(), log.entries).balanced_before(99)


def test_the_unit_of_a_removed_result_is_found_in_the_log() -> None:
    log = Log()
    log.user("go")
    log.assistant("", "a", "b")
    log.result("a")
    log.result("b")
    log.user("more")
    log.compact(1, 4)
    fold = log.fold()
    assert log_unit(4, fold.members, log.entries) == (2, 3, 4)
    assert log_unit(2, fold.members, log.entries) == (2, 3, 4)
    assert log_unit(1, fold.members, log.entries) == (1,)


def test_the_cache_extends_while_the_generation_stands_and_is_rebuilt_after() -> None:
    log = Log()
    log.user("go")
    log.assistant("", "a")
    cache = BalanceCache()
    cache.pairing(log.fold(), log.entries)
    log.fact("turn/start")
    log.result("a")
    log.user("next")
    found = cache.pairing(log.fold(), log.entries)
    assert list(found.balance) == [0, 0, 1, 0, 0]
    assert cache.rebuilds == 1
    log.compact(1, 4)
    assert list(cache.pairing(log.fold(), log.entries).balance) == [0, 0, 0]
    assert cache.rebuilds == 2


@settings(max_examples=60, deadline=None)
@given(logs())
def test_an_extended_cache_equals_a_fresh_one(log: Log) -> None:
    cache, entries = BalanceCache(), log.entries
    for upto in range(1, len(log.events) + 1):
        fold = log.fold(upto)
        extended, fresh = cache.pairing(fold, entries), pairing(fold, entries)
        assert extended.balance == fresh.balance
        assert extended.unanswered == fresh.unanswered
        assert list(extended.units) == list(fresh.units)


@settings(max_examples=60, deadline=None)
@given(logs())
def test_no_legal_cut_parts_a_call_from_the_result_that_follows(log: Log) -> None:
    fold, entries = log.fold(), log.entries
    found = pairing(fold, entries)
    calls: dict[str, int] = {}
    for position, node in enumerate(fold.nodes):
        for seq in fold.members[node]:
            for call in entries[seq].results:
                asked = calls.pop(call, None)
                if asked is not None:
                    assert not any(found.balance[c] == 0 for c in range(asked + 1, position + 1))
            for call, _ in entries[seq].calls:
                calls[call] = position
