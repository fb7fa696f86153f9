"""An entry survives the store's columns unchanged, whatever it holds."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from compress.entries import LogEntry
from compress.events import Append, Rebase, Replace, Usage
from storage.rows import decode_entry, decode_op, encode_entry, encode_op, seq_of, session_of

nodes = st.one_of(st.integers(1, 2**32 - 1), st.integers(1, 99).map(lambda n: f"o{n}"))
node_lists = st.lists(nodes, max_size=12).map(tuple)
ops = st.one_of(
    st.builds(Append, view=st.sampled_from([None, "resume", "live"])),
    st.builds(Replace, start=nodes, end=nodes, keep=node_lists, live_only=st.booleans()),
    st.builds(Rebase, seqs=node_lists, after=st.one_of(st.none(), nodes)),
)
counts = st.one_of(st.none(), st.integers(0, 2**53))
usages = st.builds(
    Usage, input=counts, cache_read=counts, cache_write=counts, output=counts, reasoning=counts
)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)


@given(
    entry=st.builds(
        LogEntry,
        seq=st.integers(1, 2**32 - 1),
        type=st.just("assistant/message"),
        node=st.one_of(st.none(), st.integers(1, 2**32 - 1)),
        op=st.one_of(st.none(), ops),
        source_event_seqs=node_lists,
        tokens=st.integers(0, 10**9),
        calls=st.lists(st.tuples(texts, texts), max_size=3).map(tuple),
        results=st.lists(texts, max_size=3).map(tuple),
        is_error=st.booleans(),
        time=st.one_of(st.none(), st.floats(0, 1e10)),
        usage=st.one_of(st.none(), usages),
        headline=texts,
        meta=st.dictionaries(texts, st.one_of(texts, st.integers(), st.booleans()), max_size=3),
    ),
    session=st.integers(1, 2**30),
)
def test_an_entry_survives_its_columns(entry: LogEntry, session: int) -> None:
    row: tuple[Any, ...] = encode_entry(session, entry)
    assert decode_entry(row) == entry
    assert (session_of(row[0]), seq_of(row[0])) == (session, entry.seq)


def test_a_rebase_to_a_long_run_is_stored_as_a_range() -> None:
    op = Rebase(seqs=tuple(range(1, 100_001)))
    text = encode_op(op)
    assert text == '{"op":"rebase","seqs":[[1,100000]]}'
    assert decode_op(text) == op
