"""Whole outputs: kept byte for byte, found by a pointer, each content once."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from storage.connection import Connections
from storage.errors import StoreUnusableError, UnknownOutputError
from storage.outputs import PIECE, OutputWriter, is_pointer, output_runs, read_output


@pytest.fixture
def connections(tmp_path: Path) -> Iterator[Connections]:
    opened = Connections(tmp_path / "store.db")
    yield opened
    opened.close()


def kept(connections: Connections, *pieces: bytes, command: str | None = None) -> str:
    writer = OutputWriter(connections)
    for piece in pieces:
        writer.write(piece)
    return writer.finish(1.0, command, 0)


def count(connections: Connections, table: str) -> int:
    with connections.read() as connection:
        return int(connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0])


@settings(max_examples=40, deadline=None)
@given(pieces=st.lists(st.binary(max_size=5_000), max_size=6))
def test_what_was_written_is_read_back(pieces: list[bytes]) -> None:
    connections = Connections(":memory:")
    pointer = kept(connections, *pieces)
    assert b"".join(read_output(connections, pointer)) == b"".join(pieces)
    connections.close()


def test_a_pointer_is_the_beginning_of_the_content_s_sha256(connections: Connections) -> None:
    pointer = kept(connections, b"hello\n")
    assert pointer == hashlib.sha256(b"hello\n").hexdigest()[:8]
    assert is_pointer(pointer)
    assert b"".join(read_output(connections, pointer[:4].upper())) == b"hello\n"


def test_an_output_of_many_pieces_is_read_in_pieces(connections: Connections) -> None:
    data = os.urandom(3 * PIECE + 17)
    pointer = kept(connections, data[:100], data[100:])
    pieces = list(read_output(connections, pointer))
    assert [len(piece) for piece in pieces] == [PIECE, PIECE, PIECE, 17]
    assert b"".join(pieces) == data


def test_the_same_content_is_kept_once_and_each_run_is_listed(connections: Connections) -> None:
    data = os.urandom(2 * PIECE)
    first = kept(connections, data, command="make")
    blobs = count(connections, "blobs")
    second = kept(connections, data, command="make again")
    assert first == second
    assert count(connections, "outputs") == 1
    assert count(connections, "output_pieces") == 2
    assert count(connections, "blobs") == blobs
    assert [run.command for run in output_runs(connections, 10)] == ["make again", "make"]


def test_nothing_is_an_output_too(connections: Connections) -> None:
    assert list(read_output(connections, kept(connections))) == []


def test_an_unfinished_output_answers_to_no_pointer(connections: Connections) -> None:
    data = b"x" * PIECE
    OutputWriter(connections).write(data)
    assert output_runs(connections, 10) == []
    with pytest.raises(UnknownOutputError):
        read_output(connections, hashlib.sha256(data).hexdigest())


def test_a_pointer_that_two_outputs_share_is_refused_with_both(connections: Connections) -> None:
    # Found by trial: the digests of these two begin with the same four digits.
    first, second = _colliding()
    one, other = kept(connections, first), kept(connections, second)
    assert one != other
    with pytest.raises(UnknownOutputError, match="several outputs") as caught:
        read_output(connections, one[:4])
    assert sorted(caught.value.choices) == sorted([one, other])


def _colliding() -> tuple[bytes, bytes]:
    seen: dict[str, bytes] = {}
    for number in range(100_000):
        data = b"%d" % number
        digits = hashlib.sha256(data).hexdigest()[:4]
        if digits in seen:
            return seen[digits], data
        seen[digits] = data
    raise AssertionError


@pytest.mark.parametrize("pointer", ["", "abc", "zzzzzzzz", "deadbeef", "../../x", "a" * 65])
def test_what_names_no_output_is_refused(connections: Connections, pointer: str) -> None:
    with pytest.raises(UnknownOutputError, match="No output is kept as"):
        read_output(connections, pointer)


def test_a_store_that_may_only_be_read_says_so(tmp_path: Path) -> None:
    Connections(tmp_path / "store.db").close()
    read_only = Connections(tmp_path / "store.db", read_only=True)
    with pytest.raises(StoreUnusableError):
        OutputWriter(read_only).finish(1.0)
    read_only.close()


def test_outputs_are_private(connections: Connections) -> None:
    kept(connections, b"token=secret")
    assert Path(connections.path).stat().st_mode & 0o777 == 0o600
