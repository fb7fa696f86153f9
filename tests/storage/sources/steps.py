"""How much work reading a log is: bytecodes that run, which no load of a machine changes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from types import FrameType
from typing import Any

from compress.events import Rebase, Replace
from storage.sources.base import Record, SourceAdapter


def steps(work: Callable[[], object]) -> int:
    """The bytecodes that this runs."""
    counted = 0

    def within(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal counted
        counted += event == "opcode"
        return within

    def entered(frame: FrameType, _: str, __: Any) -> Any:
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        return within

    before = sys.gettrace()
    sys.settrace(entered)
    try:
        work()
    finally:
        sys.settrace(before)
    return counted


def steps_of(adapter: SourceAdapter, path: Path, log: Iterable[Record]) -> int:
    """The steps of reading these records."""
    reader = adapter.open(path)

    def read() -> None:
        for record in log:
            for derived in reader.feed(record):
                assert derived.events

    return steps(read)


def listed(adapter: SourceAdapter, path: Path, log: Iterable[Record]) -> int:
    """How many nodes the operations name that reading these records gives."""
    reader = adapter.open(path)
    ops = [e.op for record in log for made in reader.feed(record) for e in made.events]
    rebased = sum(len(op.seqs) for op in ops if isinstance(op, Rebase))
    return rebased + sum(len(op.keep) for op in ops if isinstance(op, Replace))
