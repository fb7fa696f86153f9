"""``ullage squeeze``: an output is kept whole, and reduced to what matters in it.

The output is taken in pieces as it comes; what is held in memory does not grow with it. Where the
store cannot keep it, it is reduced all the same, and a note says so.
"""

from __future__ import annotations

import shlex
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from compress.reduction.binary import binary_notice, is_binary
from compress.reduction.choice import wants_detail
from compress.reduction.critical import Assessor
from compress.reduction.pipeline import reduce
from compress.reduction.profile import Profile
from compress.reduction.sieve import Sieve, Sifted, excerpt_of
from compress.reduction.values import Budget, Reduction
from inspector.profile_choice import AUTO, Profiles
from inspector.squeeze_reports import SqueezeReport, stage_rows
from storage import resources
from storage.connection import Connections
from storage.errors import StorageError
from storage.format import MEMORY
from storage.outputs import OutputWriter

NOT_KEPT = "So the whole output is not kept."
_EXCERPT_TOKENS = 16_000
"""What an output above the limits of memory is reduced to, unless a budget is given: a share of
hundreds of megabytes helps nobody."""


@dataclass(frozen=True, slots=True)
class Squeezed:
    """``data``: what to print; ``text`` of the report as bytes, and the output's own bytes where
    it passed untouched."""

    report: SqueezeReport
    data: bytes


class Keeping:
    """Keeps an output in the store while it comes."""

    def __init__(self, connections: Connections | None, notes: Sequence[str] = ()) -> None:
        self._writer = None if connections is None else OutputWriter(connections)
        self.notes = list(notes)
        """Why it is not kept, where it is not."""

    def feed(self, data: bytes) -> None:
        """The next piece."""
        if self._writer is not None:
            try:
                self._writer.write(data)
            except StorageError as error:
                self._give_up(error)

    def finish(self, at: float, command: str | None, exit_code: int | None) -> str | None:
        """The pointer of the whole; ``None`` where it is not kept. ``at``: seconds since 1970."""
        if self._writer is not None:
            try:
                return self._writer.finish(at, command, exit_code)
            except StorageError as error:
                self._give_up(error)
        return None

    def _give_up(self, error: StorageError) -> None:
        self._writer = None
        self.notes.append(f"{error} {NOT_KEPT}")


class Squeezing:
    """Feed it an output, then finish it."""

    def __init__(
        self,
        profiles: Profiles,
        keeping: Keeping,
        *,
        named: str = AUTO,
        command: Sequence[str] = (),
        budget: Budget | None = None,
    ) -> None:
        """``command`` is empty where the output comes through a pipe.

        Raises :class:`inspector.profile_choice.UnknownProfileError`.
        """
        self._profiles = profiles
        self._profile = profiles.named(named)
        self.command = shlex.join(command) or None
        self.keeping = keeping
        self._budget = budget
        self._sieve = Sieve(self._assessor)
        # The vocabulary takes half a second to load: beside the command.
        threading.Thread(target=resources.counter, daemon=True).start()

    @property
    def detail_wanted(self) -> bool:
        """The command has a flag that asks for all of its output."""
        profile = self._profile or self._profiles.chosen(command=self.command)
        return wants_detail(profile, self.command)

    def feed(self, data: bytes) -> None:
        """The next piece of the output."""
        self.keeping.feed(data)
        self._sieve.feed(data)

    def finish(self, at: float, exit_code: int | None = None) -> Squeezed:
        """Keeps the whole, and reduces it. ``at``: seconds since 1970."""
        sifted = self._sieve.finish()
        pointer = self.keeping.finish(at, self.command, exit_code)
        text = sifted.text
        reduction = self._reduced(text, sifted, pointer, exit_code)
        untouched = reduction.unchanged
        report = SqueezeReport(
            text=reduction.text,
            tokens_before=reduction.tokens_before,
            tokens_after=reduction.tokens_after,
            counter=resources.counter().name,
            estimated=sifted.places is not None,
            lines_before=reduction.lines_before,
            lines_after=reduction.lines_after,
            bytes=sifted.size,
            profile=reduction.profile,
            stages=stage_rows(reduction),
            verdicts=reduction.verdicts,
            exit_code=exit_code,
            raw=pointer,
            notes=tuple(self.keeping.notes),
        )
        data = sifted.data if untouched else reduction.text.encode("utf-8", "replace")
        return Squeezed(report, data)

    def _reduced(
        self, text: str, sifted: Sifted, pointer: str | None, exit_code: int | None
    ) -> Reduction:
        counter = resources.counter()
        excerpt = excerpt_of(sifted, counter.count(text) if sifted.places is not None else 0)
        if is_binary(text):
            notice = binary_notice(text, sifted.size, counter, pointer=pointer, exit_code=exit_code)
            if notice is not None:
                return notice
        budget = self._budget
        if excerpt is not None:
            budget = budget or Budget(tokens=_EXCERPT_TOKENS)
        elif self.detail_wanted:
            budget = Budget(share=1.0)  # all of it
        return reduce(
            text,
            self._chosen(text),
            counter,
            budget,
            pointer=pointer,
            exit_code=exit_code,
            generic=self._profiles.generic,
            excerpt=excerpt,
        )

    def _assessor(self, head: str) -> Assessor:
        return Assessor(self._profiles.inheriting(self._chosen(head)))

    def _chosen(self, output: str) -> Profile:
        if self._profile is None:
            self._profile = self._profiles.chosen(command=self.command, output=output)
        return self._profile


@contextmanager
def keeping_in(path: str) -> Iterator[Keeping]:
    """Keeps an output in this store. One that cannot be used is no reason not to run a command:
    then a note says that nothing is kept."""
    if path == MEMORY:
        yield Keeping(None)
        return
    try:
        connections = Connections(path)
    except StorageError as error:
        yield Keeping(None, [f"{error} {NOT_KEPT}"])
        return
    try:
        yield Keeping(connections)
    finally:
        connections.close()
