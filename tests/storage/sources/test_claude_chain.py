"""The incremental surface equals the derivation from scratch, at every prefix."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compress.surface import SurfaceFold
from storage.records import parse_record
from storage.sources.claude import ClaudeAdapter
from storage.sources.claude_records import decode
from tests.derivation import records
from tests.storage.sources import claude_reference as reference

LOGS = [
    "ccl-1.0.24-summaries",
    "ccl-1.0.43-image",
    "ccl-1.0.51-system",
    "ccl-2.0.37-main-with-agents",
    "ccl-2.0.42-queue",
    "ccl-2.1.114-main",
    "entire-2.0.76-compact",
    "entire-2.1.12-microcompact",
    "entire-2.1.14-micro-compact",
    "entire-2.1.29-image",
    "entire-2.1.5-apierrors-compact2",
    "entire-2.1.7-compact3-interrupts",
    "entire-skills-2.1.108-long",
    "entire-skills-2.1.119",
]


def blocks_in_order(rows: list[Any], newest: dict[str, str]) -> list[tuple[str, int]]:
    """(native id, block index) of every block that is sent, in order, by the reference."""
    by_id = reference.index(rows)
    sent: list[tuple[str, int]] = []
    for members in reference.nodes(rows):
        parts = [
            (newest[uuid], block, part)
            for uuid in members
            for block, part in enumerate(decode(by_id[uuid]))
            if part.place is not None and part.meta.get("receipt") is None
        ]
        said = [(native, block) for native, block, part in parts if part.place == "message"]
        for native, block, part in parts:
            if part.place == "own":
                sent.append((native, block))
            elif said:
                sent.extend(said)
                said = []
    return sent


class Follower:
    """Feeds records one by one and folds what comes out."""

    def __init__(self) -> None:
        self.reader = ClaudeAdapter().open(Path("session.jsonl"))
        self.fold = SurfaceFold()
        self.names: dict[int, tuple[str, int]] = {}
        self.newest: dict[str, str] = {}
        self.count = 0

    def feed(self, raw: bytes) -> Any:
        self.count += 1
        record = parse_record(self.count, 0, raw)
        assert record is not None
        for derived in self.reader.feed(record):
            for event in derived.events:
                if derived.session == "":
                    self.fold.apply(event)
                    self.names[event.seq] = (event.native_id, event.block)
                    self.newest[event.native_id.split("~")[0]] = event.native_id
        return record.value

    def standing(self) -> list[tuple[str, int]]:
        return [self.names[seq] for seq in self.fold.snapshot().events()]


@pytest.mark.corpus
@pytest.mark.parametrize("name", LOGS)
def test_the_fold_of_a_prefix_is_the_derivation_of_that_prefix(corpus: Path, name: str) -> None:
    lines = [r.raw for r in records((corpus / "claude" / f"{name}.jsonl").read_bytes())]
    follower = Follower()
    cuts = {len(lines) * part // 10 for part in range(1, 11)}
    cuts |= {place + 1 for place, line in enumerate(lines) if b"compact_boundary" in line}
    values: list[Any] = []
    for place, line in enumerate(lines, 1):
        values.append(follower.feed(line))
        if place in cuts or place - 1 in cuts:
            expected = blocks_in_order(values, follower.newest)
            assert follower.standing() == expected, f"after record {place}"


IDS = [f"u{number}" for number in range(14)]


@st.composite
def logs(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Files in which anything may follow anything: late, missing and cyclic parents, parallel
    calls, boundaries with and without segments, pointers ahead and behind."""
    rows: list[dict[str, Any]] = []
    order = draw(st.permutations(IDS)) if draw(st.booleans()) else IDS
    for place, uuid in enumerate(order[: draw(st.integers(1, len(order)))]):
        near = st.sampled_from(order[max(0, place - 3) : place] or [None])
        parent = draw(st.one_of(near, near, near, st.sampled_from([*IDS, None, "gone"])))
        kind = draw(
            st.sampled_from(
                ["user", "result", "call", "call", "link", "attachment", "boundary", "prompt"]
            )
        )
        row: dict[str, Any] = {"uuid": uuid, "parentUuid": parent, "sessionId": "s"}
        if kind == "user":
            row |= {"type": "user", "message": {"content": f"said {uuid}"}}
        elif kind == "result":
            result = {"type": "tool_result", "tool_use_id": uuid, "content": "done"}
            row |= {"type": "user", "message": {"content": [result]}}
        elif kind == "call":
            group = draw(st.sampled_from(["m1", "m2", "m3", None]))
            call = {"type": "tool_use", "id": uuid, "name": "Read", "input": {}}
            row |= {"type": "assistant", "message": {"id": group, "content": [call]}}
        elif kind == "link":
            row |= {"type": "progress"}
        elif kind == "attachment":
            row |= {"type": "attachment", "attachment": {"type": "x", "content": uuid}}
        elif kind == "boundary":
            row |= {"type": "system", "subtype": "compact_boundary"}
            row["parentUuid"] = draw(st.sampled_from([None, parent]))
            row["logicalParentUuid"] = parent
            if draw(st.booleans()):
                names = ("headUuid", "anchorUuid", "tailUuid")
                segment = {name: draw(st.sampled_from(IDS)) for name in names}
                row["compactMetadata"] = {"preservedSegment": segment}
        else:
            row = {"type": "last-prompt", "leafUuid": draw(st.sampled_from(IDS)), "sessionId": "s"}
        rows.append(row)
        said = [r for r in rows if r["type"] == "user" and isinstance(r["message"]["content"], str)]
        if said and draw(st.integers(0, 9)) == 0:
            old = draw(st.sampled_from(said))
            again = {"message": {"content": f"said again in {place}"}}
            rows.append({**old, **draw(st.sampled_from([again, {}]))})
    return rows


@settings(max_examples=150, deadline=None)
@given(logs())
def test_any_graph_folds_to_its_derivation_at_every_prefix(rows: list[dict[str, Any]]) -> None:
    follower = Follower()
    values: list[Any] = []
    for row in rows:
        values.append(follower.feed(json.dumps(row).encode()))
        assert follower.standing() == blocks_in_order(values, follower.newest)
