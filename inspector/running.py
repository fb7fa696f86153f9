"""A command of the user's, run with its output in one stream, as the wrapper of ``squeeze`` does.

Both streams of the command go into one pipe, so that they come in the order in which they were
written; its input is ours. With a pseudo-terminal it takes itself to be on a screen, and prints
colours and progress; a pipe is the default, since that is what it gets from an agent.
"""

from __future__ import annotations

import errno
import os
import select
import shutil
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from types import FrameType

CHUNK = 64 << 10
GRACE = 0.5
"""Seconds without output after which a command that has ended is not waited for, though a program
that it started still holds the stream."""
_LOOK = 0.1

FROM_TERMINAL = (signal.SIGINT, signal.SIGQUIT)
"""What a terminal's keys send, to all programs in the foreground."""
FORWARDED = (
    *FROM_TERMINAL,
    signal.SIGTERM,
    signal.SIGHUP,
    signal.SIGUSR1,
    signal.SIGUSR2,
)


class CommandError(Exception):
    """A command that cannot be run. ``exit_code`` as a shell would give it."""

    code = "command"
    choices: tuple[object, ...] = ()

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code


class Running:
    """A command on its way: iterate over what it prints, then ask for its exit code.

    Signals that come meanwhile are the command's. Use it in the main thread, as a context.
    """

    def __init__(self, command: Sequence[str], *, pty: bool = False) -> None:
        self._command = list(command)
        self._pty = pty
        self._process: subprocess.Popen[bytes] | None = None
        self._early: list[int] = []
        self._stream = -1
        self.exit_code: int | None = None
        """128 + n where signal n ended it; ``None`` while it runs."""
        self.left_open = False
        """A program that the command started still holds its output."""

    @property
    def leaves_with(self) -> int | None:
        """The exit code to leave with: the command's."""
        return self.exit_code

    @property
    def remarks(self) -> tuple[str, ...]:
        """What the person should know about its end."""
        return ("a program that the command started is still running",) * self.left_open

    @contextmanager
    def started(self) -> Iterator[Running]:
        """Starts it. Raises :class:`CommandError` where it cannot be."""
        heard = [number for number in FORWARDED if signal.getsignal(number) != signal.SIG_IGN]
        before = [(number, signal.signal(number, self._forward)) for number in heard]
        try:
            self._start()
            yield self
        finally:
            if self._stream >= 0:
                os.close(self._stream)
            for number, handler in before:
                signal.signal(number, handler)

    def chunks(self) -> Iterator[bytes]:
        """What it prints, until it has ended."""
        assert self._process is not None
        quiet = 0.0
        while True:
            ready, _, _ = select.select([self._stream], [], [], _LOOK)
            if ready:
                data = self._read()
                if not data:
                    break
                quiet = 0.0
                yield data
            elif self._process.poll() is not None:
                quiet += _LOOK
                if quiet >= GRACE:
                    self.left_open = True
                    break
        code = self._process.wait()
        self.exit_code = code if code >= 0 else 128 - code

    def _start(self) -> None:
        self._stream, theirs = _pseudo_terminal() if self._pty else os.pipe()
        try:
            # What the user typed is what is run; no shell reads it.
            self._process = subprocess.Popen(  # noqa: S603
                self._command, stdout=theirs, stderr=theirs
            )
        except OSError as error:
            raise _refused(self._command[0], error) from error
        except ValueError as error:
            raise CommandError(f"The command cannot be run: {error}.", 126) from error
        finally:
            os.close(theirs)
        for number in self._early:
            self._process.send_signal(number)

    def _read(self) -> bytes:
        try:
            return os.read(self._stream, CHUNK)
        except OSError as error:
            if error.errno == errno.EIO:  # a pseudo-terminal that nobody holds any more
                return b""
            raise

    def _forward(self, number: int, _frame: FrameType | None) -> None:
        if number in FROM_TERMINAL and _in_foreground():
            return  # the command was told by the terminal itself
        if self._process is None:
            self._early.append(number)
        else:
            self._process.send_signal(number)


def _in_foreground() -> bool:
    """Whether a key on the terminal reaches us and all that we started."""
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(terminal)


def _pseudo_terminal() -> tuple[int, int]:
    import fcntl  # noqa: PLC0415
    import struct  # noqa: PLC0415
    import termios  # noqa: PLC0415

    ours, theirs = os.openpty()
    modes = termios.tcgetattr(theirs)
    modes[1] &= ~termios.OPOST  # a line feed stays one
    termios.tcsetattr(theirs, termios.TCSANOW, modes)
    size = shutil.get_terminal_size()
    with suppress(OSError):
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", size.lines, size.columns, 0, 0))
    return ours, theirs


def _refused(name: str, error: OSError) -> CommandError:
    if isinstance(error, FileNotFoundError):
        return CommandError(f"There is no command {name}.", 127)
    return CommandError(f"The command {name} cannot be run: {error.strerror}.", 126)
