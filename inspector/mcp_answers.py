"""What a running agent may ask of its own past: bounded, clean texts over the use-cases.

Everything here only looks, but for :meth:`Answers.pin` and :meth:`Answers.unpin`, which are offered
where a person allowed it.
"""

from __future__ import annotations

import codecs
import os
from collections import deque
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

from compress.decisions.text import memory_text
from compress.errors import CompressError
from compress.packs.errors import PackBudgetError
from inspector.findings import finding
from inspector.pack_reports import PackScope
from inspector.reports import SessionRow
from inspector.sanitize import NEWLINE_MARK, clean, line
from inspector.usecases import UseCases
from storage.errors import UnknownSessionError

MOST_CHARACTERS = 20_000
"""Of one answer."""
MOST_HITS = 50
MOST_TOKENS = 50_000
"""Of one pack."""
_DIGITS = 10
"""Of a seq, at most."""
_HEADLINE = 200


class PointerError(CompressError):
    """A pointer that names no output."""

    code = "unknown_pointer"


class AnswerBudgetError(CompressError):
    """A pack that fits its budget only as long as nobody cleans it."""

    code = "pack_budget"


class Answers:
    """``folder``: the working directory of the agent that asks; where it names no session, its
    newest one there is meant."""

    def __init__(self, cases: UseCases, folder: Path) -> None:
        self._cases = cases
        self._folder = folder

    def session(self, reference: str | None) -> str:
        """The name of the session that is meant.

        Raises :class:`storage.errors.UnknownSessionError`.
        """
        if reference:
            return self._cases.find(reference)
        own = next((row.id for row in self._cases.sessions() if _is_of(row, self._folder)), None)
        if own is None:
            # The newest of another folder would be told as if it were the agent's own.
            raise UnknownSessionError(
                f"No session in the store was in {line(str(self._folder), 200)}: name one, as "
                "search lists them, or last for the newest of all."
            )
        return own

    def search(self, query: str, limit: int = 10) -> str:
        """Events whose text holds the words, the best first: one line each, with the pointer under
        which :meth:`fetch` gives the whole."""
        hits = self._cases.search(query, min(max(limit, 1), MOST_HITS))
        rows = [
            f"{clean(hit.session, NEWLINE_MARK)}:{hit.seq}  {hit.type}  "
            f"{line(hit.excerpt or hit.headline, _HEADLINE)}"
            for hit in hits
        ]
        return "\n".join(filter(None, (finding(query, hits), *rows)))

    def fetch(self, pointer: str, offset: int = 0, length: int = MOST_CHARACTERS) -> str:
        """The output or record that a pointer names, ``SESSION:SEQ``, from ``offset`` on, at most
        ``length`` characters; the last line tells where to go on.

        Raises :class:`PointerError` for what is no pointer.
        """
        name, colon, event = pointer.rpartition(":")
        if not colon or not event.isdecimal() or len(event) > _DIGITS:
            raise PointerError(
                f"{line(pointer, 80)!r} is no pointer: they read SESSION:SEQ, as search lists them."
            )
        start = max(offset, 0)
        most = min(max(length, 1), MOST_CHARACTERS)
        session = self.session(name or None)
        text, more = _part(self._cases.raw_content(session, int(event)), start, most)
        rest = f"\n[more: fetch {line(pointer, 200)} from offset {start + most}]" if more else ""
        return clean(text) + rest

    def pack(
        self,
        query: str,
        budget: int = 2_000,
        scope: PackScope = "session",
        session: str | None = None,
    ) -> str:
        """What the logs know about a query, within so many tokens (50,000 at most), whole."""
        where = None if scope == "store" else self.session(session)
        most = min(budget, MOST_TOKENS)
        room, least = most, 0
        while True:
            try:
                found = self._cases.pack(where, query, budget=room, project=scope == "project")
            except PackBudgetError as error:
                if room == most or least:
                    raise
                room = least = error.least
                continue
            report = found.report
            text = clean(report.text) if report.lines or report.note is None else ""
            answer = "\n\n".join(filter(None, (report.note, text)))
            taken = self._cases.weigh(answer, where)
            if taken <= most or not text:
                return answer
            if least:
                raise AnswerBudgetError(
                    f"What must stand in the pack takes {taken:,} tokens, more than the budget of "
                    f"{most:,}, once control characters are shown by their names: allow {taken:,}."
                )
            # Names take more tokens than the characters that they stand for.
            room = min(room - 1, room * most // taken)

    def decisions(self, session: str | None = None, limit: int = 20) -> str:
        """What was done, stage by stage, and how it ended: the newest stages last."""
        rows = self._cases.decisions(self.session(session)).rows
        found: deque[str] = deque()
        room = MOST_CHARACTERS
        for row in reversed(rows[-max(limit, 1) :]):
            text = clean(memory_text(row.point))
            room -= len(text) + 2
            if room < 0 and found:
                # What happened last is what is asked for.
                found.appendleft("[older ones are left out: ask for fewer]")
                break
            found.appendleft(text[:MOST_CHARACTERS])
        return "\n\n".join(found)

    def pressure(self, session: str | None = None) -> str:
        """How full the context window is, of what, and when it will overflow."""
        report = self._cases.pressure(self.session(session))
        of = f" of {report.window:,}" if report.window else ", of a window that is unknown"
        share = f" ({100 * report.used / report.window:.0f} %)" if report.window else ""
        source = "as the provider counted" if report.used_source == "provider" else "estimated"
        parts = report.composition.model_dump()
        filled = [f"{name.replace('_', ' ')} {count:,}" for name, count in parts.items() if count]
        ahead = report.forecast.steps_to_compact
        when = "" if ahead is None else f"\nAt this pace compaction is due in {ahead:,.0f} steps."
        return f"{report.used:,} tokens{of}{share}, {source}.\nOf: {'; '.join(filled)}.{when}"

    def pin(self, seqs: Sequence[int], session: str | None = None) -> str:
        """Keep these messages in every compaction that Ullage makes."""
        report = self._cases.pin(self.session(session), list(seqs))
        return f"Pinned, as operation {report.operation}."

    def unpin(self, seqs: Sequence[int], session: str | None = None) -> str:
        """Let go of them again."""
        report = self._cases.unpin(self.session(session), list(seqs))
        return f"Unpinned, as operation {report.operation}."


def _is_of(row: SessionRow, folder: Path) -> bool:
    if row.project is None or row.relation == "subagent":
        return False
    return os.path.realpath(row.project) == os.path.realpath(folder)


def _part(pieces: Iterator[bytes], start: int, most: int) -> tuple[str, bool]:
    """Characters from ``start``, and whether there are more. Reads no further than it must."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    texts = (decoder.decode(piece, final=not piece) for piece in chain(pieces, (b"",)))
    found: list[str] = []
    passed = have = 0
    for text in texts:
        begin = min(max(start - passed, 0), len(text))
        passed += len(text)
        found.append(text[begin:])
        have += len(text) - begin
        if have > most:
            break
    return "".join(found)[:most], have > most
