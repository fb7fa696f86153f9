"""The tail: whatever happens to a file, each complete line comes once, and nothing else does."""

# Long because: a test for each way in which a file can change.

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from storage.sources.base import Record
from storage.tail import Batch, Position, Tail

LINES = [b'{"n":%d,"text":"caf\xc3\xa9"}\n' % n for n in range(10)]


def drain(tail: Tail, *, final: bool = False) -> list[Batch]:
    """Batches until there is nothing new."""
    batches = [tail.read(final=final)]
    while batches[-1].more:
        batches.append(tail.read(final=final))
    return batches


def records(batches: list[Batch]) -> list[Record]:
    return [record for batch in batches for record in batch.records]


def numbers(batches: list[Batch]) -> list[int]:
    return [record.value["n"] for record in records(batches)]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "live.jsonl"
    path.write_bytes(b"".join(LINES[:4]))
    return path


def append(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


def test_lines_carry_their_number_and_byte_offset(log: Path) -> None:
    with Tail(log) as tail:
        found = records(drain(tail))
    assert [(r.line, r.offset, r.size) for r in found] == [
        (n + 1, n * len(LINES[0]), len(LINES[0]) - 1) for n in range(4)
    ]


def test_r01_a_partial_line_is_pending_and_comes_once_when_it_is_finished(log: Path) -> None:
    with Tail(log) as tail:
        drain(tail)
        append(log, LINES[4][:9])
        waiting = tail.read()
        assert (waiting.state, waiting.records, waiting.pending) == ("unchanged", (), 9)
        assert waiting.position.offset == 4 * len(LINES[0])
        append(log, LINES[4][9:])
        assert numbers(drain(tail)) == [4]
        assert tail.read().state == "unchanged"


def test_r01_a_character_split_between_two_writes_is_whole_in_the_record(log: Path) -> None:
    cut = LINES[4].index(b"\xc3") + 1
    with Tail(log) as tail:
        drain(tail)
        append(log, LINES[4][:cut])
        assert tail.read().records == ()
        append(log, LINES[4][cut:])
        (record,) = records(drain(tail))
    assert (record.value, record.damage) == ({"n": 4, "text": "café"}, None)


def test_a_position_given_back_goes_on_where_it_was_taken(log: Path) -> None:
    with Tail(log, batch_rows=3) as tail:
        position = tail.read().position
    append(log, LINES[4])
    with Tail(log, position) as tail:
        assert numbers(drain(tail)) == [3, 4]


def test_an_unchanged_file_is_not_read_again_after_a_restart(log: Path) -> None:
    with Tail(log) as tail:
        position = drain(tail)[-1].position
    with Tail(log, position) as tail:
        batch = tail.read()
    assert (batch.state, batch.position) == ("unchanged", position)


def test_r31_a_file_cut_to_nothing_is_read_from_its_start(log: Path) -> None:
    with Tail(log) as tail:
        drain(tail)
        log.write_bytes(b"")
        assert tail.read().state == "restarted"
        append(log, LINES[5])
        batch = tail.read()
    assert batch.state == "appended"
    assert [(r.line, r.offset, r.value["n"]) for r in batch.records] == [(1, 0, 5)]


def test_r31_a_file_cut_and_grown_beyond_the_old_offset_is_told_by_its_bytes(log: Path) -> None:
    with Tail(log) as tail:
        drain(tail)
        with log.open("r+b") as file:  # the same inode
            file.truncate(0)
            file.write(b"".join(LINES[5:10]))
        batch = tail.read()
    assert batch.state == "restarted"
    assert numbers([batch]) == [5, 6, 7, 8, 9]


def test_r32_a_renamed_file_is_read_to_its_end_before_the_new_one(log: Path) -> None:
    with Tail(log) as tail:
        drain(tail)
        old = log.rename(log.with_suffix(".1"))
        append(old, LINES[4])
        log.write_bytes(LINES[5])
        rest, new = drain(tail)
    assert (rest.state, numbers([rest])) == ("appended", [4])
    assert (new.state, numbers([new])) == ("restarted", [5])


def test_r32_a_replaced_file_is_another_file(log: Path) -> None:
    with Tail(log) as tail:
        drain(tail)
        fresh = log.with_name("fresh")
        fresh.write_bytes(b"".join(LINES[:8]))
        fresh.replace(log)
        (batch,) = drain(tail)
    assert (batch.state, numbers([batch])) == ("restarted", list(range(8)))


def test_r32_an_old_inode_with_new_content_is_another_file(log: Path) -> None:
    with Tail(log) as tail:
        position = drain(tail)[-1].position
    log.write_bytes(b'{"n":77}\n' * 40)
    facts = log.stat()
    reused = Position(**{f: getattr(position, f) for f in position.__slots__})
    assert facts.st_ino == reused.inode
    with Tail(log, reused) as tail:
        assert tail.read().state == "restarted"


def test_r34_a_deleted_file_is_gone_and_its_successor_is_read_from_the_start(log: Path) -> None:
    with Tail(log) as tail:
        drain(tail)
        append(log, LINES[4])
        log.unlink()
        last, gone = drain(tail)
        assert (numbers([last]), gone.state) == ([4], "gone")
        assert tail.read().state == "gone"
        log.write_bytes(LINES[5])
        (batch,) = drain(tail)
    assert numbers([batch]) == [5]
    assert batch.records[0].line == 1


def test_r09_a_whole_last_line_without_newline_is_taken_when_the_file_is_at_rest(
    log: Path,
) -> None:
    append(log, LINES[4].rstrip())
    with Tail(log) as tail:
        assert numbers(drain(tail)) == [0, 1, 2, 3]
        assert numbers(drain(tail, final=True)) == [4]
        append(log, b"\r\n" + LINES[5])
        (record,) = records(drain(tail))
    assert (record.line, record.value["n"]) == (6, 5)


def test_a_line_taken_at_rest_that_goes_on_after_all_restarts_the_file(log: Path) -> None:
    append(log, b'{"n":4}')
    with Tail(log) as tail:
        assert numbers(drain(tail, final=True)) == [0, 1, 2, 3, 4]
        append(log, b',{"n":5}\n' + LINES[6])
        (batch,) = drain(tail)
    assert batch.state == "restarted"
    assert [r.line for r in batch.records if r.value is None] == [5]
    assert batch.records[-1].value["n"] == 6


def test_half_a_json_value_is_never_taken_at_rest(log: Path) -> None:
    append(log, b'{"n":4')
    with Tail(log) as tail:
        assert numbers(drain(tail, final=True)) == [0, 1, 2, 3]
        assert tail.read(final=True).pending == 6


def test_r11_a_line_above_the_cap_is_a_stub_and_its_bytes_come_in_pieces(log: Path) -> None:
    long = b'{"image":"' + b"A" * 700_000 + b'"}\n'
    append(log, long + LINES[5])
    with Tail(log, max_line=100_000) as tail:
        found = records(drain(tail))
        stub = found[4]
        pieces = list(tail.pieces(stub.offset, stub.size))
    assert (stub.raw, stub.value, stub.size) == (b"", None, len(long) - 1)
    assert stub.damage is not None
    assert "700,012 bytes" in stub.damage
    assert b"".join(pieces) == long[:-1]
    assert max(map(len, pieces)) < 300_000
    assert found[5].value["n"] == 5


def test_r11_a_long_line_that_grows_is_not_scanned_from_its_start_again(log: Path) -> None:
    with Tail(log) as tail:
        drain(tail)
        append(log, b'{"n":4,"pad":"' + b"A" * 3_000_000)
        assert tail.read().pending == 3_000_014
        append(log, b"A" * 1000)
        assert tail.read().pending == 3_001_014
        append(log, b'"}\n' + LINES[5])
        assert numbers(drain(tail)) == [4, 5]


def test_r39_many_files_are_read_without_leaving_one_open(tmp_path: Path) -> None:
    before = len(list(Path("/proc/self/fd").iterdir())) if Path("/proc/self/fd").is_dir() else 0
    for n in range(50):
        path = tmp_path / f"{n}.jsonl"
        path.write_bytes(LINES[0])
        with Tail(path) as tail:
            assert numbers(drain(tail)) == [0]
    after = len(list(Path("/proc/self/fd").iterdir())) if before else 0
    assert after == before


def test_r37_what_is_no_file_is_skipped_with_its_reason(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.jsonl")
    (tmp_path / "folder.jsonl").mkdir()
    (tmp_path / "dangling.jsonl").symlink_to("/nonexistent/x")
    (tmp_path / "self.jsonl").symlink_to("self.jsonl")
    reasons = {}
    for path in sorted(tmp_path.iterdir()):
        with Tail(path) as tail:
            batch = tail.read()
        assert batch.state == "skipped"
        reasons[path.name] = batch.reason
    assert reasons == {
        "pipe.jsonl": "is a named pipe, not a file",
        "folder.jsonl": "is a directory, not a file",
        "dangling.jsonl": "is a link to nothing",
        "self.jsonl": "is a link that cannot be followed",
    }


def test_r28_an_empty_file_gives_nothing_and_is_read_when_it_fills(tmp_path: Path) -> None:
    path = tmp_path / "zero.jsonl"
    path.touch()
    with Tail(path) as tail:
        assert (tail.read().records, tail.read().state) == ((), "unchanged")
        append(path, LINES[0])
        assert numbers(drain(tail)) == [0]


def test_a_document_is_one_record_and_comes_anew_when_it_changes(tmp_path: Path) -> None:
    path = tmp_path / "chat.json"
    path.write_bytes(b'[\n {"n": 1}\n]\n')
    with Tail(path) as tail:
        (batch,) = drain(tail)
        assert (batch.state, batch.records[0].value) == ("appended", [{"n": 1}])
        assert tail.read().state == "unchanged"
        path.write_bytes(b'[\n {"n": 1},\n {"n"')
        half = tail.read()
        assert (half.state, half.records) == ("unchanged", ())
        assert half.reason is not None
        assert half.reason.startswith("not a whole document")
        path.write_bytes(b'[\n {"n": 1},\n {"n": 2}\n]\n')
        (batch,) = drain(tail)
    assert (batch.state, batch.records[0].value) == ("restarted", [{"n": 1}, {"n": 2}])


# -------------------------------------------------------------------------------- compressed logs


def frame(data: bytes) -> bytes:
    return zstandard.ZstdCompressor(write_checksum=True).compress(data)


def test_frames_are_read_as_they_come(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl.zstd"
    path.write_bytes(frame(LINES[0]))
    with Tail(path) as tail:
        assert numbers(drain(tail)) == [0]
        append(path, frame(LINES[1] + LINES[2]))
        assert numbers(drain(tail)) == [1, 2]
        position = tail.position
        append(path, frame(LINES[3]))
    assert position.offset == 3 * len(LINES[0])
    with Tail(path, position) as tail:
        (record,) = records(drain(tail))
        assert (record.line, record.value["n"]) == (4, 3)
        assert b"".join(tail.pieces(len(LINES[0]), record.size)) == LINES[1].rstrip()


def test_a_torn_last_frame_keeps_its_complete_lines(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl.zstd"
    body = b"".join(
        b'{"n":%d,"pad":"%s"}\n' % (n, os.urandom(300).hex().encode()) for n in range(1000)
    )
    whole = frame(LINES[0]) + frame(body)
    path.write_bytes(whole[: len(whole) * 2 // 3])
    with Tail(path) as tail:
        found = numbers(drain(tail))
        assert found == [0, *range(len(found) - 1)]
        assert 1 < len(found) < 1001
        path.write_bytes(whole)
        assert numbers(drain(tail)) == list(range(len(found) - 1, 1000))


def test_bytes_that_are_no_frame_end_the_log_with_a_reason(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl.zstd"
    path.write_bytes(frame(LINES[0]) + b"not a frame at all, but long enough")
    with Tail(path) as tail:
        (batch,) = drain(tail)
    assert numbers([batch]) == [0]
    assert batch.reason is not None
    assert "damaged" in batch.reason


# ------------------------------------------------------------------------------------- properties

pieces = st.lists(st.binary(max_size=12) | st.sampled_from([b"\n", b"\r\n", b'{"a":1}\n']))
limits: st.SearchStrategy[dict[str, int]] = st.builds(
    dict,
    batch_rows=st.integers(1, 4),
    batch_bytes=st.integers(1, 40),
    max_line=st.integers(4, 60),
)


def all_lines(data: bytes) -> list[tuple[int, int, int]]:
    """(number, offset, size) of each complete line, by the definition."""
    found, offset = [], 0
    for number, line in enumerate(data.split(b"\n")[:-1], 1):
        found.append((number, offset, len(line)))
        offset += len(line) + 1
    return found


def lines_of(data: bytes) -> list[tuple[int, int, int]]:
    """The same without blank lines, and without a line that is nothing but a byte order mark."""
    return [
        (number, offset, size)
        for number, offset, size in all_lines(data)
        if data[offset : offset + size]
        .removeprefix(b"\xef\xbb\xbf" if number == 1 else b"")
        .strip(b" \t\r\x0b\x0c")
    ]


@given(pieces, limits)
def test_any_split_into_appends_gives_the_same_records(
    parts: list[bytes], limit: dict[str, int]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.jsonl"
        path.touch()
        batches: list[Batch] = []
        position = None
        for part in parts:
            append(path, part)
            with Tail(path, position, **limit) as tail:
                batches += drain(tail)
                position = tail.position
        with Tail(path) as whole:
            expected = records(drain(whole))
    found = records(batches)
    assert [(r.line, r.offset, r.size) for r in expected] == lines_of(b"".join(parts))
    cap = limit["max_line"]
    assert [r for r in found if r.size <= cap] == [r for r in expected if r.size <= cap]
    # What is above the cap is not looked into, so that blank lines count among it too.
    stubs = [(r.line, r.offset, r.size, r.raw) for r in found if r.size > cap]
    assert stubs == [(*line, b"") for line in all_lines(b"".join(parts)) if line[2] > cap]
    assert {batch.state for batch in batches} <= {"appended", "unchanged"}


@given(st.lists(st.binary(max_size=30), max_size=6), st.data())
def test_any_split_of_a_compressed_log_gives_the_same_records(
    parts: list[bytes], data: st.DataObject
) -> None:
    whole = b"".join(map(frame, parts))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=4)))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "session.jsonl.zstd"
        path.touch()
        found: list[Record] = []
        position = None
        for begin, end in zip([0, *cuts], [*cuts, len(whole)], strict=True):
            append(path, whole[begin:end])
            with Tail(path, position, batch_rows=2) as tail:
                found += records(drain(tail))
                position = tail.position
    assert [(r.line, r.offset, r.size) for r in found] == lines_of(b"".join(parts))


# ---------------------------------------------------------------------------------- live mutations


Live = Callable[[str], tuple[list[Batch], Path]]


def states(batches: list[Batch]) -> list[str]:
    return [batch.state for batch in batches if batch.state != "unchanged"]


@pytest.fixture
def live(hard_generator: Path, tmp_path: Path) -> Iterator[Live]:
    """Runs one scenario of the generator and tails its file meanwhile."""
    running: list[subprocess.Popen[bytes]] = []

    def run(scenario: str) -> tuple[list[Batch], Path]:
        command = [sys.executable, str(hard_generator), "live", str(tmp_path), scenario]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        running.append(process)
        path = tmp_path / "live.jsonl"
        batches: list[Batch] = []
        with Tail(path) as tail:
            while process.poll() is None:
                batches += drain(tail)
                try:
                    process.wait(0.02)
                except subprocess.TimeoutExpired:
                    continue
            batches += drain(tail)
            batches += drain(tail)
        return batches, path

    yield run
    for process in running:
        process.kill()
        process.wait()


@pytest.mark.hard
@pytest.mark.parametrize("scenario", ["partial", "utf8split", "burst"])
def test_a_file_that_only_grows_gives_each_line_once(live: Live, scenario: str) -> None:
    batches, path = live(scenario)
    found = records(batches)
    assert b"".join(r.raw + b"\n" for r in found) == path.read_bytes()
    assert not [r for r in found if r.damage]
    assert set(states(batches)) <= {"gone", "appended"}


@pytest.mark.hard
@pytest.mark.parametrize("scenario", ["truncate", "rename", "replace", "delete"])
def test_a_file_that_becomes_another_one_is_read_from_its_start(live: Live, scenario: str) -> None:
    batches, path = live(scenario)
    began = max(i for i, batch in enumerate(batches) if batch.state == "restarted")
    before, after = batches[:began], batches[began:]
    assert len(records(before)) == 4
    assert b"".join(r.raw + b"\n" for r in records(after)) == path.read_bytes()
    seen = states(before)
    was_gone = "gone" in seen[seen.index("appended") :]
    # Between a rename and the new file the name is free for a moment, which may be seen or not.
    assert was_gone or scenario != "delete"
    assert not was_gone or scenario in ("delete", "rename")
