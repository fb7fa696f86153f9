"""What holds of every summary, whatever the log and the budget."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from compress.compaction.digest import digest
from compress.compaction.errors import BudgetError
from compress.compaction.facts import FactsCache
from compress.compaction.reach import RAW_NODES
from compress.compaction.service import preview_region
from compress.compaction.summary import summarise
from compress.errors import CompressError
from tests.compress.logs import COUNTER, Log, logs

BUDGETS = st.integers(256, 32_000)


@settings(max_examples=60, deadline=None)
@given(logs(), BUDGETS)
def test_the_framed_summary_fits_or_is_refused_with_both_numbers(log: Log, budget: int) -> None:
    nodes = log.nodes()
    if not nodes:
        return
    refusal = ""
    try:
        preview = preview_region(log.session(), nodes[0], nodes[-1], budget=budget)
    except BudgetError as error:
        refusal = str(error)
    except CompressError:
        return
    if refusal:
        assert len(re.findall(r"\d[\d,]*", refusal)) >= 2
        return
    checkpoint = preview.draft.events[2]
    assert COUNTER.count(checkpoint.blocks[0].text) <= budget
    assert preview.summary is not None
    assert preview.summary.tokens == COUNTER.count(preview.summary.text)


@settings(max_examples=60, deadline=None)
@given(logs(), st.data())
def test_a_cache_changes_no_byte(log: Log, data: st.DataObject) -> None:
    cache = FactsCache(kept=data.draw(st.integers(1, 8)))
    kept = log.session(cache=cache)
    fresh = log.session()
    nodes = fresh.plan.surface.nodes
    for _ in range(3):
        start = data.draw(st.integers(0, len(nodes)))
        part = nodes[start : data.draw(st.integers(start, len(nodes)))]
        assert digest(kept, part) == digest(fresh, part)


def test_far_back_words_of_a_user_stand_though_their_nodes_are_not_read() -> None:
    log, turns = Log(), RAW_NODES // 2 + 50
    for turn in range(turns):
        log.user(f"request {turn}")
        log.assistant(f"answer_{turn}")
    session = log.session(cache=FactsCache())
    nodes = session.plan.surface.nodes
    found = digest(session, nodes)
    assert [one.text for one in found.said] == [f"request {turn}" for turn in range(turns)]
    assert [one.rank for one in found.said] == [1, *[2] * (turns - 2), 0]
    assert found.length == RAW_NODES
    assert "answer_3" not in found.mentions
    assert digest(session, nodes[1:]).said[0].text == "request 1"


@settings(max_examples=25, deadline=None)
@given(logs(), logs())
def test_a_summary_of_a_checkpoint_and_more_is_merged_not_nested(first: Log, more: Log) -> None:
    once, twice = Log(), Log()
    for log in (once, twice):
        _repeat(first, log)
    nodes = twice.nodes()
    if not nodes:
        return
    try:
        preview = preview_region(twice.session(), nodes[0], nodes[-1], budget=2_000)
    except CompressError:
        return
    twice.commit(preview.draft)
    for log in (once, twice):
        _repeat(more, log)
    text = _summary(twice)
    assert "<checkpoint>" not in text
    titles = [line for line in text.split("\n") if line.startswith("## ")]
    assert len(titles) == len(set(titles))
    assert text == _summary(once)


@settings(max_examples=40, deadline=None)
@given(st.integers(30, 400), st.integers(300, 3_000))
def test_every_list_says_how_many_it_leaves_out(files: int, budget: int) -> None:
    log = Log()
    log.user("go")
    for number in range(files):
        log.assistant("", f"c{number}", **{f"c{number}": {"file_path": f"src/f{number}.py"}})
        log.result(f"c{number}")
    session = log.session()
    text = summarise(digest(session, session.plan.surface.nodes), COUNTER, budget).text
    listed = text.split("## Files\n")[1].split("\n\n")[0].split("\n")
    if listed == [f"- {files} files read or changed"]:
        return
    more = re.fullmatch(r"- … and (\d+) more", listed[-1])
    assert len(listed) == files if more is None else len(listed) - 1 + int(more[1]) == files


def test_the_same_bytes_under_any_seed_of_the_hash() -> None:
    root = Path(__file__).resolve().parents[2]
    code = (
        "from tests.compress.test_summary import summary_of, work\n"
        "import sys\n"
        "for budget in (300, 700, 4_000):\n"
        "    sys.stdout.write(summary_of(work(), budget).text)\n"
    )
    texts = [
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(root)},
            capture_output=True,
            check=True,
            cwd=root,
        ).stdout
        for seed in ("1", "2")
    ]
    assert texts[0] == texts[1]
    assert texts[0]


def _repeat(source: Log, target: Log) -> None:
    """The messages of a log, said again in another."""
    for event in source.events:
        if event.type in ("user/message", "assistant/message", "tool/result", "steering/message"):
            target.add(event.type, event.blocks, role=event.role, step=event.step)


def _summary(log: Log) -> str:
    session = log.session()
    return summarise(digest(session, session.plan.surface.nodes), COUNTER, 3_000).text
