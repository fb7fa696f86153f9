"""The ends of a stream of output: standard input, a person's screen, a reader who may leave."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from inspector.cli_shell import Shell, put, put_all, put_bytes

if TYPE_CHECKING:
    from inspector.squeeze_reports import SqueezeReport

_CHUNK = 64 << 10


class Printing:
    """Bytes to stdout: as they are to a pipe, cleaned to a terminal. Ends quietly where the
    reader leaves."""

    def __init__(self, *, force: bool = False) -> None:
        import codecs

        self._plain = force or not sys.stdout.isatty()
        self.left = False
        """The reader has left."""
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def write(self, data: bytes, *, last: bool = False) -> None:
        """Raises :class:`inspector.cli_shell.OutputError` on a full disk."""
        with self._to_a_reader():
            if self._plain:
                put_bytes(data)
            else:
                from inspector.sanitize import clean

                put(clean(self._decoder.decode(data, last)), end="")
                put_all()

    def document(self, shell: Shell, report: SqueezeReport) -> None:
        """The report as JSON."""
        with self._to_a_reader():
            shell.document(report, lambda _: ())
            put_all()

    def end(self) -> None:
        """What is left of a character that was cut."""
        self.write(b"", last=True)

    @contextmanager
    def _to_a_reader(self) -> Iterator[None]:
        try:
            yield
        except BrokenPipeError:
            # What comes now goes nowhere, so that nothing raises again.
            self.left = True
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class Pipe:
    """Standard input, until it ends or a signal ends it: then what came is what there is.

    Of a Ctrl-C the program before the pipe hears too; what it says then is waited for, unless
    another signal comes.
    """

    remarks: Sequence[str] = ()
    _PATIENCE = 3.0
    _LOOK = 0.1

    def __init__(self) -> None:
        self.exit_code: int | None = None
        self._signals: list[int] = []

    @property
    def leaves_with(self) -> int | None:
        return 128 + self._signals[0] if self._signals else None

    def stop(self, number: int) -> None:
        self._signals.append(number)

    def chunks(self) -> Iterator[bytes]:
        import select

        stream = sys.stdin.fileno()
        silence = 0.0
        while len(self._signals) < 2 and not (self._signals and silence >= self._PATIENCE):
            ready, _, _ = select.select([stream], [], [], self._LOOK)
            silence = 0.0 if ready else silence + self._LOOK
            if ready:
                data = os.read(stream, _CHUNK)
                if not data:
                    return
                yield data


class Watch:
    """What a person sees while a command runs: one line on a terminal, or all of it."""

    _EVERY = 0.1

    def __init__(self, *, stream: bool) -> None:
        import codecs

        self._stream = stream
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._terminal = sys.stderr.isatty()
        self._live = self._terminal and not stream
        self._begun = self._shown = time.monotonic()
        self._lines = 0
        self._drawn = False

    def saw(self, data: bytes) -> None:
        """A piece of the output came."""
        self._lines += data.count(b"\n")
        with suppress(OSError):
            if self._stream and not self._terminal:
                sys.stderr.flush()
                sys.stderr.buffer.write(data)
                sys.stderr.flush()
            elif self._stream:
                from inspector.sanitize import clean

                print(clean(self._decoder.decode(data)), end="", file=sys.stderr, flush=True)
            elif self._live and time.monotonic() - self._shown >= self._EVERY:
                self._shown = time.monotonic()
                self._draw(data)

    def done(self) -> None:
        """Leaves nothing of the line behind."""
        if self._drawn:
            with suppress(OSError):
                print("\r\x1b[K", end="", file=sys.stderr, flush=True)

    def _draw(self, data: bytes) -> None:
        import shutil

        from inspector.sanitize import line

        self._drawn = True
        newest = data.rstrip().rpartition(b"\n")[2].rpartition(b"\r")[2].decode("utf-8", "replace")
        seconds = int(self._shown - self._begun)
        text = line(
            f"{self._lines:,} lines · {seconds} s · {newest}",
            shutil.get_terminal_size().columns - 1,
        )
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)
