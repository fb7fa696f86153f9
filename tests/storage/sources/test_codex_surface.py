"""What stands on the surface of a Codex rollout, judged by Codex itself."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from compress.compaction.summary import frame
from compress.events import Rebase
from compress.messages import derive_messages
from compress.surface import SurfaceFold, fold
from storage.sources.base import Numbering
from tests.derivation import check_surface, content, messages_report, read, records
from tests.storage.sources.codex_logs import (
    ADAPTER,
    call,
    compacted,
    data,
    events,
    meta,
    note,
    output,
    rolled_back,
    said,
    summarised,
    texts,
    turn,
)
from tests.storage.sources.codex_reference import reconstruct
from tests.storage.sources.paths import NOWHERE

NAMES = (
    "entire-0.125.0-prefix",
    "entire-skills-0.118.0",
    "opk-0.34.0-long",
    "yt-0.106.0",
    "yt-0.106.0-early-snapshot",
)


@pytest.mark.corpus
@pytest.mark.parametrize("name", NAMES)
def test_messages_are_those_that_codex_sends_on_resume(
    corpus: Path, tmp_path: Path, name: str
) -> None:
    report = messages_report(ADAPTER, corpus / "codex" / f"{name}.jsonl")
    assert check_surface(corpus, "codex", name, report, tmp_path) == ""


def test_a_rollback_names_no_more_than_the_last_that_stays() -> None:
    rows = [meta(), *turn("t1", "one", "so"), *turn("t2", "two", "no")]
    log = events([*rows, rolled_back(1)])
    assert log[-1].op == Rebase(seqs=(), after=fold(log).nodes[-1])
    assert texts([*rows, rolled_back(1)]) == ["one", "so"]
    # Where none stays there is none to name.
    assert events([*rows, rolled_back(2)])[-1].op == Rebase(seqs=())


@pytest.mark.corpus
@pytest.mark.parametrize("name", NAMES)
def test_content_comes_from_the_record_alone(corpus: Path, name: str) -> None:
    path = corpus / "codex" / f"{name}.jsonl"
    reader = ADAPTER.open(path)
    for record in records(path.read_bytes()):
        for derived in reader.feed(record):
            for event in derived.events:
                assert ADAPTER.blocks(record.value, event.block) == event.blocks


@pytest.mark.corpus
def test_an_earlier_snapshot_of_a_session_has_the_same_events(corpus: Path) -> None:
    numbering = {"": Numbering()}
    early, late = (
        [
            event
            for record in records((corpus / "codex" / f"{name}.jsonl").read_bytes())
            for derived in reader.feed(record)
            for event in derived.events
        ]
        for name, reader in (
            (name, ADAPTER.open(NOWHERE, numbering))
            for name in ("yt-0.106.0-early-snapshot", "yt-0.106.0")
        )
    )
    assert late[: len(early)] == early
    assert [event.seq for event in late] == list(range(1, len(late) + 1))


@pytest.mark.corpus
@pytest.mark.parametrize("name", ["yt-0.106.0", "entire-skills-0.118.0"])
def test_each_prefix_stands_as_if_it_were_the_whole(corpus: Path, name: str) -> None:
    rows = records((corpus / "codex" / f"{name}.jsonl").read_bytes())
    log, bounds = [], [0]
    reader = ADAPTER.open(NOWHERE)
    for record in rows:
        for derived in reader.feed(record):
            log.extend(derived.events)
        bounds.append(len(log))
    for end in range(0, len(rows), 97):
        alone = read(ADAPTER, NOWHERE, rows[:end])[1].get("", [])
        assert alone == log[: bounds[end]]


# The expected texts are what Codex 0.171.0 sent when it resumed these very records.
ROLLBACKS = {
    "one turn": ([*turn("1", "u1", "a1"), *turn("2", "u2", "a2"), rolled_back(1)], ["u1", "a1"]),
    "the turn after a compaction": (
        [
            *turn("1", "u1", "a1"),
            *turn("2", "u2", "a2", compacted("k", "S")),
            *turn("3", "u3", "a3"),
            rolled_back(1),
        ],
        ["k", "S", "a2"],
    ),
    "the turn of a compaction, which brings back what it had replaced": (
        [
            *turn("1", "u1", "a1"),
            *turn("2", "u2", "a2", compacted("k", "S")),
            *turn("3", "u3", "a3"),
            rolled_back(2),
        ],
        ["u1", "a1"],
    ),
    "the turn of the second of two compactions": (
        [
            *turn("1", "u1", "a1", compacted("k1", "S1")),
            *turn("2", "u2", "a2", compacted("k2", "S2")),
            *turn("3", "u3", "a3"),
            rolled_back(2),
        ],
        ["k1", "S1", "a1"],
    ),
    "and then another turn": (
        [
            *turn("1", "u1", "a1"),
            *turn("2", "u2", "a2", compacted("k", "S")),
            rolled_back(1),
            *turn("4", "u4", "a4"),
        ],
        ["u1", "a1", "u4", "a4"],
    ),
    "the turn of a legacy compaction": (
        [
            *turn("1", "u1", "a1"),
            *turn("2", "u2", "a2", summarised("L")),
            *turn("3", "u3", "a3"),
            rolled_back(2),
        ],
        ["u1", "u2"],
    ),
    "a compaction between two turns": (
        [*turn("1", "u1", "a1"), compacted("k", "S"), *turn("2", "u2", "a2"), rolled_back(2)],
        [],
    ),
    "twice": (
        [
            *turn("1", "u1", "a1"),
            *turn("2", "u2", "a2", compacted("k", "S")),
            *turn("3", "u3", "a3"),
            rolled_back(1),
            *turn("4", "u4", "a4"),
            rolled_back(2),
        ],
        ["u1", "a1"],
    ),
    "only the words that steered": (
        [
            *turn("1", "u1", "a1"),
            *turn("2", "u2", "a2", said("user", "steer")),
            rolled_back(1),
        ],
        ["u1", "a1", "u2"],
    ),
    "with the context that Codex put before the turn": (
        [
            *turn("1", "u1", "a1"),
            said("developer", "<model_switch>x"),
            said("user", "<environment_context>x</environment_context>"),
            *turn("2", "u2", "a2"),
            rolled_back(1),
        ],
        ["u1", "a1"],
    ),
    "in a file without turn records, which is one turn to Codex": (
        [
            *(said("user", "u1"), said("assistant", "a1"), compacted("k", "S")),
            *(said("user", "u2"), said("assistant", "a2"), rolled_back(1)),
            *(said("user", "u3"), said("assistant", "a3")),
        ],
        ["u1", "a1", "u3", "a3"],
    ),
}


@pytest.mark.parametrize("name", ROLLBACKS)
def test_rollback_of(name: str) -> None:
    rows, expected = ROLLBACKS[name]
    assert texts([meta(), *rows]) == expected


# Also as sent by Codex 0.171.0.
SUMMARY = (
    "Another language model started to solve this problem and produced a summary; "
    "use the information in this summary to assist with your own analysis:\nS1"
)


def test_a_legacy_compaction_keeps_the_words_of_the_user() -> None:
    rows = [*turn("1", "u1", "a1"), *turn("2", "u2", "a2"), summarised("L"), said("user", "u3")]
    assert texts([meta(), *rows]) == ["u1", "u2", "L", "u3"]


def test_a_legacy_compaction_without_a_text_says_so() -> None:
    rows = [*turn("1", "u1", "a1"), summarised("")]
    assert texts([meta(), *rows]) == ["u1", "(no summary available)"]


def test_an_earlier_summary_is_not_kept_as_words() -> None:
    rows = [said("user", "u1"), summarised(SUMMARY), said("user", "u2"), summarised("L2")]
    assert texts([meta(), *rows]) == ["u1", "u2", "L2"]


def test_the_summary_is_no_turn_of_its_own() -> None:
    rows = [said("user", "u1"), summarised(SUMMARY), said("user", "u2"), rolled_back(1)]
    assert texts([meta(), *rows]) == ["u1", SUMMARY]


def test_words_beyond_the_budget_lose_their_middle() -> None:
    rows = [said("user", "first"), said("user", "x" * 100_000), said("user", "last")]
    sent = texts([meta(), *rows, summarised("L")])
    assert sent == ["x" * 39_998, "…5001 tokens truncated…", "x" * 39_998, "last", "L"]


def test_words_are_cut_again_by_the_next_compaction() -> None:
    rows = [
        *(said("user", "p1", "x" * 100_000, "p3"), said("user", "last"), summarised("L")),
        *(said("user", "z" * 40_000), summarised("L2")),
    ]
    kept = ["p1", "x" * 19_994, "…10008 tokens truncated…", "x" * 19_994, "p3", "last", "L"]
    assert texts([meta(), *rows]) == [*kept, "z" * 40_000, "L2"]


def test_a_compaction_stands_as_one_replace_with_its_copies_in_their_order() -> None:
    rows = [meta(), *turn("1", "u1", "a1"), compacted("k1", "k2", "S"), said("user", "u2")]
    log = events(rows)
    assert texts(rows) == ["k1", "k2", "S", "u2"]
    checkpoint = next(event for event in log if event.meta.get("checkpoint") == "agent")
    surface = fold(log)
    before = [event.seq for event in log if event.blocks and event.seq < checkpoint.seq]
    assert list(surface.shadowed[checkpoint.seq]) == before
    assert [event.type for event in log if event.type.startswith("compact/")] == [
        "compact/start",
        "compact/summary",
        "compact/end",
    ]


def test_a_compaction_that_leaves_nothing_clears_the_surface() -> None:
    assert texts([meta(), *turn("1", "u1", "a1"), compacted(), said("user", "u2")]) == ["u2"]


def test_an_encrypted_summary_stands_as_an_opaque_block() -> None:
    history = [said("user", "k")["payload"], {"type": "compaction", "encrypted_content": "gAAA"}]
    row = compacted()
    row["payload"]["replacement_history"] = history
    log = events([meta(), *turn("1", "u1", "a1"), row])
    messages = derive_messages(content(fold(log), log), "codex")
    kinds = [block.kind for message in messages for block in message.blocks]
    assert kinds == ["text", "opaque"]


def test_a_stated_history_without_a_summary_is_made_of_copies_only() -> None:
    history = [said("user", "k"), call("c"), output("c")]
    row = compacted()
    row["payload"]["replacement_history"] = [copied["payload"] for copied in history]
    log = events([meta(), row])
    standing = [(event.type, event.meta) for event in log if event.node is not None]
    assert sorted(kind for kind, _ in standing) == [
        "assistant/message",
        "tool/result",
        "user/message",
    ]
    assert all(facts.get("copy") and "checkpoint" not in facts for _, facts in standing)
    assert texts([meta(), row]) == ["k", "", "ok"]


def test_a_summary_of_our_own_is_the_checkpoint_of_the_copy_that_holds_it() -> None:
    own = frame("what was", 3, (1, 4), 900)
    log = events([meta(), compacted("k1", own, "k2")])
    marked = [event.blocks[0].text for event in log if event.meta.get("checkpoint") == "agent"]
    assert marked == [own]


def _rows(draw: st.DrawFn) -> list[dict[str, object]]:
    """Well-formed turns with compactions, calls, context and rollbacks between and within."""
    number = iter(range(10_000))
    rows = [meta()]
    for index in range(draw(st.integers(1, 5))):
        rows.append(note("task_started", turn_id=f"t{index}"))
        if draw(st.booleans()):
            rows.append(said("user", "<environment_context>x</environment_context>"))
        words = f"u{next(number)}"
        rows += [said("user", words), note("user_message", message=words)]
        for kind in draw(st.lists(st.sampled_from("crlks"), max_size=3)):
            tag = next(number)
            rows += {
                "c": [call(f"c{tag}"), output(f"c{tag}")],
                "r": [said("developer", "<model_switch>")],
                "l": [summarised(f"L{tag}")],
                "k": [compacted(*(f"k{tag}.{i}" for i in range(draw(st.integers(0, 3)))))],
                "s": [said("user", f"s{tag}")],
            }[kind]
        rows.append(said("assistant", f"a{next(number)}"))
        if draw(st.integers(0, 5)):
            rows.append(note("task_complete", turn_id=f"t{index}"))
        rows += [rolled_back(n) for n in draw(st.lists(st.integers(0, 3), max_size=2))]
    return rows


def _long_log(seed: int) -> list[dict[str, object]]:
    """Many turns with compactions of both kinds, and rollbacks within them and behind them."""
    pick = random.Random(seed)
    rows, turns = [meta()], pick.randint(10, 40)
    rollbacks, compactions = pick.random() / 2, pick.random()
    for number in range(turns):
        rows.append(note("task_started", turn_id=f"t{number}"))
        if pick.random() < 0.3:
            rows.append(said("user", "<environment_context>x</environment_context>"))
        rows.append(said("user", f"u{number}"))
        if pick.random() < compactions:
            texts = [f"k{number}.{at}" for at in range(pick.randint(0, 3))]
            rows += pick.choice([[summarised(f"L{number}")], [compacted(*texts)]])
        if pick.random() < rollbacks / 4:
            rows.append(rolled_back(pick.randint(0, 2)))
        rows.append(said("assistant", f"a{number}"))
        if pick.random() < 0.9:
            rows.append(note("task_complete", turn_id=f"t{number}"))
        while pick.random() < rollbacks:
            rows.append(rolled_back(pick.choice([1, 1, 1, 2, 5])))
    return rows


@pytest.mark.parametrize("seed", range(20))
def test_a_long_log_with_many_rollbacks_is_deriving_from_scratch(seed: int) -> None:
    _check_each_prefix(_long_log(seed))


@settings(max_examples=120, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.composite(_rows)())
def test_reading_on_is_deriving_from_scratch(rows: list[dict[str, object]]) -> None:
    _check_each_prefix(rows)


def _check_each_prefix(rows: list[dict[str, object]]) -> None:
    reader, state, labels = ADAPTER.open(NOWHERE), SurfaceFold(), {}
    for end, record in enumerate(records(data(rows)), 1):
        for derived in reader.feed(record):
            for event in derived.events:
                state.apply(event)
                assert ADAPTER.blocks(record.value, event.block) == event.blocks
                for block in event.blocks:
                    suffix = "_output" if block.kind == "tool_result" else ""
                    named = f"function_call{suffix}:{block.id}" if block.id else block.text
                    labels[event.seq] = named
        standing = [labels[seq] for node in state.nodes for seq in state.members[node]]
        assert standing == reconstruct(rows[:end])
