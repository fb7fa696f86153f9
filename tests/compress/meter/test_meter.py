"""The meter on logs that were worked out by hand."""

# Long because: each case is a log worked out by hand.

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compress.entries import LogEntry
from compress.events import Append, NodeId, Rebase, Replace, Usage
from compress.meter import Reading, TokenMeter, accuracy

MODEL = "gpt-5-codex"
"""A family whose counted tokens are the provider's: its starting ratio is 1."""


class Log:
    """Writes entries as an adapter would."""

    def __init__(self, model: str | None = MODEL) -> None:
        self.entries: list[LogEntry] = []
        self.model = model
        self.step = 0

    def add(self, type_: str, **fields: Any) -> int:
        seq = len(self.entries) + 1
        fields.setdefault("node", seq)
        fields.setdefault("op", Append())
        self.entries.append(LogEntry(seq=seq, type=type_, **fields))  # type: ignore[arg-type]
        return seq

    def user(self, tokens: int, **fields: Any) -> int:
        return self.add("user/message", tokens=tokens, **fields)

    def reply(self, tokens: int, input_: int | None, output: int | None, **fields: Any) -> int:
        self.step += 1
        seq = len(self.entries) + 1
        usage = None if input_ is None and output is None else Usage(input=input_, output=output)
        fields = {"usage": usage, "step": self.step, "model": self.model} | fields
        return self.add("assistant/message", tokens=tokens, request=seq, **fields)

    def call(self, tokens: int, input_: int | None, output: int | None, tool: str) -> int:
        name = f"c{len(self.entries)}"
        return self.reply(tokens, input_, output, call_tokens=tokens, calls=((name, tool),))

    def result(self, tokens: int, **fields: Any) -> int:
        call = next(e.calls[0][0] for e in reversed(self.entries) if e.calls)
        return self.add("tool/result", tokens=tokens, results=(call,), **fields)

    @property
    def meter(self) -> TokenMeter:
        return TokenMeter().feed_all(self.entries)


def test_without_a_providers_figure_the_plain_count_stands_and_says_estimated() -> None:
    log = Log()
    log.user(70)
    log.reply(30, None, None)
    now = log.meter.reading()
    assert (now.used, now.used_source, now.overhead) == (100, "estimated", 0)
    assert now.composition["user"] == 70
    assert now.composition["assistant"] == 30
    assert now.calibration == 1.0


def test_overhead_is_the_anchor_minus_what_stood_then() -> None:
    log = Log()
    log.user(100)
    log.reply(40, 5_110, 40)
    now = log.meter.reading()
    assert now.used_source == "provider"
    # 5,110 = 100 of the user, 10 of his message's frame, and what the log does not hold.
    assert now.overhead == pytest.approx(5_000, abs=1 + 2)
    # What the next request would hold: the anchor, the reply, and 2 that each request adds.
    assert now.used == 5_110 + 40 + 2
    assert sum(now.composition.values()) == now.used


def test_each_request_is_predicted_before_its_figure_is_seen() -> None:
    log = Log()
    log.user(100)
    log.call(60, 5_110, 80, "Bash")
    log.result(1_000)
    log.reply(10, 999_999, 20)
    first, second = log.meter.requests
    assert (first.seq, first.predicted_input, first.actual_input) == (2, 100, 5_110)
    # anchor + output + 1,000 of the result + 12 of its frame + 2 a request
    assert second.predicted_input == 5_110 + 80 + 1_000 + 12 + 2
    assert second.tail_counted == 60 + 1_000
    assert second.actual_input == 999_999


def test_what_is_fed_later_never_changes_an_earlier_prediction() -> None:
    log = long_log()
    whole = log.meter.requests
    for length in range(1, len(log.entries), 7):
        part = TokenMeter().feed_all(log.entries[:length]).requests
        assert [r.predicted_input for r in part] == [r.predicted_input for r in whole[: len(part)]]


def long_log(ratio: float = 1.3, requests: int = 40) -> Log:
    """A log whose provider counts ``ratio`` tokens for one of a tool's results."""
    log = Log()
    log.user(100)
    stands = 5_110
    for turn in range(requests):
        size = 200 + 90 * (turn % 6)
        log.call(60, stands, 90, "Read")
        log.result(size)
        stands += round(90 + ratio * size + 14)
    log.reply(5, stands, 5)
    return log


def test_the_meter_learns_how_the_provider_counts() -> None:
    found = accuracy(long_log().meter.requests[20:])
    assert found.median_of_increment is not None
    assert found.median_of_increment < 0.02


def test_calibration_says_what_was_learned() -> None:
    now = long_log(ratio=1.3).meter.reading()
    # A result: 425 counted are 1.3 × 425 + 14. A call: 60 are 60, its other 30 were thinking.
    expected = (1.3 * 425 + 14 + 60) / (425 + 60)
    assert now.calibration == pytest.approx(expected, rel=0.02)


def test_t01_of_several_records_of_one_message_the_largest_output_counts() -> None:
    log = Log()
    log.user(10)
    first = log.reply(5, 1_000, 3)
    for output in (9, 159, 12):
        log.add(
            "assistant/message",
            node=first,
            tokens=5,
            step=1,
            request=first,
            usage=Usage(input=1_000, output=output),
        )
    meter = log.meter
    assert len(meter.requests) == 1
    assert meter.reading().used == 1_000 + 159 + 2


def test_an_output_that_cannot_be_final_is_not_believed() -> None:
    # Some versions log the first chunk's count: 500 counted tokens are no reply of 1.
    log = Log()
    log.user(10)
    seq = log.reply(500, None, None)
    log.entries[-1] = log.entries[-1]._replace(
        usage=Usage(input=1_000, output=1, lower_bound=True), request=seq
    )
    assert log.meter.reading().used == 1_000 + 500 + 2


def test_usage_may_come_after_the_items_that_it_is_of() -> None:
    log = Log()
    log.user(50)
    first = log.reply(20, None, None)
    log.add("assistant/message", tokens=30, step=1, calls=(("x", "exec"),), call_tokens=30)
    log.add(
        "usage", node=None, op=None, request=first, usage=Usage(input=3_000, output=70, reasoning=0)
    )
    log.add("tool/result", tokens=400, results=("x",))
    log.reply(9, 3_484, 9)
    one, two = log.meter.requests
    assert (one.seq, one.actual_input) == (first, 3_000)
    assert two.predicted_input == 3_000 + 70 + 400 + 12 + 2


def test_thinking_of_an_ended_turn_is_not_counted_again_where_the_model_drops_it() -> None:
    log = Log()
    log.user(50)
    log.reply(100, 3_000, 900)  # 100 visible, 800 were reasoning
    log.entries[-1] = log.entries[-1]._replace(usage=Usage(input=3_000, output=900, reasoning=800))
    log.user(20)
    log.reply(10, 3_125, 10)
    assert log.meter.requests[1].predicted_input == 3_000 + 900 + 20 + 10 + 2 - 800


def test_a_reply_that_broke_off_is_never_sent_again() -> None:
    # pi shows such replies and leaves them out of every request.
    log = Log()
    log.user(50)
    log.reply(100, 3_000, 100)
    log.reply(900, 3_102, 1, meta={"stop": "aborted"})
    log.user(20)
    log.reply(10, 3_132, 10)
    now = log.meter.reading()
    assert log.meter.requests[2].predicted_input == 3_102 + 20 + 10 + 2
    assert now.composition["assistant"] == pytest.approx(110, abs=6)


def test_images_count_by_their_formula() -> None:
    log = Log()
    log.user(10)
    log.reply(5, 1_000, 5)
    log.user(1_610, image_tokens=1_600)
    now = log.meter.reading()
    assert now.used == 1_000 + 5 + 1_600 + 10 + 10 + 2
    assert now.composition["user"] == pytest.approx(1_640, abs=3)


def test_results_are_told_apart_by_tool() -> None:
    log = Log()
    log.user(10)
    log.call(10, 1_000, 40, "Bash")
    log.result(300)
    log.call(10, 1_354, 40, "Read")
    log.result(600)
    now = log.meter.reading()
    assert set(now.tool_results_by_tool) == {"Bash", "Read"}
    assert sum(now.tool_results_by_tool.values()) == now.composition["tool_results"]
    assert now.tool_results_by_tool["Read"] == pytest.approx(612, abs=20)


def compacted(log: Log, kept: Sequence[NodeId] = ()) -> int:
    """The agent replaces everything that stands by a summary of 200 tokens."""
    nodes = [entry.seq for entry in log.entries if entry.op is not None]
    return log.add(
        "context/message",
        tokens=200,
        meta={"checkpoint": "agent"},
        op=Replace(start=nodes[0], end=nodes[-1], keep=tuple(kept)),
    )


def test_after_a_compaction_the_overhead_stays_and_the_rest_is_estimated() -> None:
    log = Log()
    log.user(100)
    log.reply(4_000, 5_110, 4_000)
    overhead = log.meter.reading().overhead
    checkpoint = compacted(log)
    meter = log.meter
    now = meter.reading()
    assert meter.compactions == [checkpoint]
    assert now.used_source == "estimated"
    assert now.used == pytest.approx(overhead + 200, abs=3)
    assert now.composition["checkpoints"] == pytest.approx(200, abs=1)
    assert now.composition["assistant"] == 0
    log.reply(10, 5_300, 10)
    assert log.meter.reading().used_source == "provider"


def test_after_a_rewind_the_older_figure_whose_prefix_stands_is_the_anchor() -> None:
    log = Log()
    first = log.user(100)
    second = log.reply(40, 5_110, 40)
    log.user(3_000)
    log.reply(70, 8_200, 70)
    log.add("context/message", op=Rebase(seqs=(first, second)), meta={"marker": "rewind"})
    now = log.meter.reading()
    assert now.used_source == "provider"
    assert now.used == 5_110 + 40 + 2


def test_micro_compaction_is_seen_by_the_running_agent_only() -> None:
    log = Log()
    log.user(100)
    log.call(10, 5_110, 40, "Read")
    result = log.result(2_000)
    log.reply(5, 7_164, 5)
    log.add("tool/result", tokens=10, op=Replace(start=result, end=result, live_only=True))
    live = TokenMeter("live").feed_all(log.entries).reading()
    resume = TokenMeter("resume").feed_all(log.entries).reading()
    assert resume.used - live.used == pytest.approx(1_990, abs=60)


def test_another_model_starts_from_its_own_ratio() -> None:
    log = Log("claude-opus-4-6")
    log.user(100)
    log.reply(10, 10_000, 10)
    log.model = "claude-opus-4-7"
    log.reply(10, 12_000, 10)
    # 1.5 ÷ 1.25: the same prompt by the newer tokenizer.
    assert log.meter.requests[1].predicted_input == 12_000 + 10 + 2


@pytest.mark.parametrize("figure", [None, 0, -5, 10**12])
def test_t11_a_figure_that_cannot_be_is_unknown(figure: int | None) -> None:
    log = Log()
    log.user(100)
    log.reply(10, 2_000, 10)
    log.reply(10, figure, 10)
    meter = log.meter
    assert meter.requests[1].actual_input is None
    assert meter.reading().observed == 2_000
    assert meter.reading().used < 3_000


def test_t10_the_largest_input_is_kept_for_each_model() -> None:
    log = Log("claude-sonnet-4-5")
    log.reply(10, 250_000, 10)
    log.model = "<synthetic>"
    log.reply(10, None, None)
    assert log.meter.reading().model == "claude-sonnet-4-5"
    assert log.meter.reading().observed == 250_000
    log.model = "claude-haiku-4-5"
    log.reply(10, 9_000, 10)
    assert log.meter.reading().observed == 9_000


def test_the_estimate_of_the_surface_that_stands_is_what_is_used() -> None:
    log = long_log()
    meter = log.meter
    nodes = [entry.seq for entry in log.entries]
    now = meter.reading()
    assert meter.reading_of(nodes).used == pytest.approx(now.used, abs=3)
    assert meter.reading_of(nodes).used_source == "estimated"
    assert meter.reading_of([], new_text=100).used == pytest.approx(now.overhead + 100, abs=1)
    assert meter.estimate(0) == now.overhead
    shorter = meter.reading_of(nodes[:-2]).used
    assert now.used - shorter == pytest.approx(
        meter.node_tokens(nodes[-1]) + meter.node_tokens(nodes[-2]), abs=3
    )


# Any log whatever: nothing is refused, and the parts are the whole.

AMOUNTS = st.one_of(st.none(), st.integers(-5, 3_000), st.just(2**60))
EVENTS = st.lists(
    st.tuples(
        st.sampled_from(["user", "reply", "call", "result", "context", "compact", "rewind", "bad"]),
        st.integers(0, 3_000),
        AMOUNTS,
        AMOUNTS,
    ),
    max_size=25,
)


def written(events: Sequence[tuple[str, int, int | None, int | None]]) -> list[LogEntry]:
    log = Log()
    standing: list[NodeId] = []
    for kind, tokens, input_, output in events:
        if kind == "user":
            standing.append(log.user(tokens))
        elif kind == "reply":
            standing.append(log.reply(tokens, input_, output))
        elif kind == "call":
            standing.append(log.call(tokens, input_, output, "Bash"))
        elif kind == "result" and any(e.calls for e in log.entries):
            standing.append(log.result(tokens, image_tokens=tokens // 2))
        elif kind == "context":
            standing.append(log.add("context/message", tokens=tokens))
        elif kind == "compact" and standing:
            op = Replace(start=standing[0], end=standing[-1])
            seq = log.add("context/message", tokens=tokens, op=op, meta={"checkpoint": "agent"})
            standing = [seq]
        elif kind == "rewind" and standing:
            standing = standing[: tokens % (len(standing) + 1)]
            log.add("context/message", op=Rebase(seqs=tuple(standing)))
        elif kind == "bad":
            log.add("context/message", tokens=tokens, op=Replace(start=998, end=999))
    return log.entries


@given(EVENTS)
@settings(max_examples=150, deadline=None)
def test_the_composition_is_what_is_used(
    events: list[tuple[str, int, int | None, int | None]],
) -> None:
    meter = TokenMeter()
    for entry in written(events):
        meter.feed(entry)
        check(meter.reading())


def check(now: Reading) -> None:
    assert now.used >= 0
    assert sum(now.composition.values()) == now.used
    assert all(value >= 0 for value in now.composition.values())
    assert sum(now.tool_results_by_tool.values()) <= now.composition["tool_results"]


@given(EVENTS)
@settings(max_examples=60, deadline=None)
def test_the_running_totals_are_those_of_a_fresh_sum(
    events: list[tuple[str, int, int | None, int | None]],
) -> None:
    entries = written(events)
    ledger = TokenMeter().feed_all(entries)._ledger
    standing = [ledger.nodes[name] for name in ledger.fold.nodes]
    assert ledger.counted == sum(node.counted for node in standing)
    for feature, total in ledger.totals.items():
        fresh = sum(node.features.get(feature, 0.0) for node in standing)
        assert total == pytest.approx(fresh, abs=1e-3)


@given(EVENTS)
@settings(max_examples=40, deadline=None)
def test_the_same_log_gives_the_same_figures(
    events: list[tuple[str, int, int | None, int | None]],
) -> None:
    entries = written(events)
    one, two = TokenMeter().feed_all(entries), TokenMeter().feed_all(entries)
    assert one.requests == two.requests
    assert one.reading() == two.reading()
