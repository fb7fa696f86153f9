"""What was done while a stage ran: results, words, files, reasons; and how that ended."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeVar

from compress.decisions.calls import Answer, Call
from compress.decisions.results import Reading
from compress.decisions.span import IntSeqs, Told, rising
from compress.decisions.values import Evidence, OutcomeKind, TouchedFile

_FIRST, _LIMIT = 4, 16
_FILES = 100
_SAID = 800
_T = TypeVar("_T")


def keep(items: list[_T], item: _T) -> int:
    """Append, and drop from the middle what is beyond the limit of a record. Returns how many
    were dropped."""
    items.append(item)
    if len(items) <= _LIMIT:
        return 0
    del items[_FIRST]
    return 1


@dataclass(slots=True)
class Verdict:
    """What one result says about how things stand."""

    key: str
    failed: bool
    seqs: IntSeqs
    evidence: Evidence


@dataclass(slots=True)
class Work:
    """Grows by one result, word or reason at a time; its size is bounded but for the failures
    that nothing resolved."""

    unresolved: dict[str, Verdict] = field(default_factory=dict)
    """By key of the call: its newest result failed."""
    ran: Verdict | None = None
    """Of the newest command whose result says how it ended."""
    check: Verdict | None = None
    """Of the newest result with totals."""
    worked: Verdict | None = None
    """The newest result that says that it went well."""
    last_ran: int = 0
    """The seq of the newest result of a command, whatever it says."""
    changed: int = 0
    """The seq of the newest result of a change that did not fail."""
    evidence: list[Evidence] = field(default_factory=list)
    files: dict[str, TouchedFile] = field(default_factory=dict)
    said: Told | None = None
    """The agent's newest words."""
    did: Told | None = None
    """The newest call."""
    reasons: dict[int, Told] = field(default_factory=dict)
    """By rank, the lowest counts: see :meth:`reason`."""
    left_out: int = 0

    def say(self, text: str, seq: int) -> None:
        """The agent's words."""
        if text.strip():
            self.said = (text.strip()[:_SAID], (seq,))

    def called(self, call: Call) -> None:
        """A call was made. One whose input tells nothing of what it does says nothing here."""
        if call.sort != "other":
            self.did = (call.headline, (call.seq,))

    def reason(self, rank: int, text: str, *seqs: int) -> None:
        """Why something was done: 0 an explicit answer, 1 a commit's body, 2 an explanation."""
        self.reasons[rank] = (text, seqs)

    def note(self, evidence: Evidence) -> None:
        """A fact about how the stage went."""
        self.left_out += keep(self.evidence, evidence)

    def answered(self, answer: Answer) -> None:
        """The result of a call that is the stage's."""
        call, reading, seqs = answer.call, answer.reading, (answer.call.seq, answer.seq)
        if call.commit and not reading.failed and not reading.unclear:
            self.reason(1, call.commit, call.seq)
        if call.sort == "ran" and not call.background:
            self.last_ran = answer.seq
        if call.sort == "looked" or answer.unclear:
            return
        verdict = Verdict(call.key, reading.failed, seqs, ending(call, reading, seqs))
        self.unresolved.pop(call.key, None)
        if reading.failed:
            self.unresolved[call.key] = verdict
            self._note_failure(answer, verdict)
        else:
            self._note_change(call, answer.seq, seqs)
            if reading.worked and not call.background:
                self.worked = verdict
        if call.sort == "ran" and not call.background and (reading.failed or reading.worked):
            self.ran = verdict
        if self.check is not None and self.check.key == call.key and reading.worked:
            self.check = None
        if reading.totals is not None:
            totals = Evidence(kind="totals", text=reading.totals, source_event_seqs=(answer.seq,))
            self.note(totals)
            if reading.failed or reading.totals_failed is not None:
                self.check = Verdict(call.key, reading.failed, seqs, totals)

    def _note_failure(self, answer: Answer, verdict: Verdict) -> None:
        reading = answer.reading
        if reading.exit_code or reading.is_error:
            self.note(verdict.evidence)
        if reading.head and reading.head != reading.totals:
            self.note(Evidence(kind="error", text=reading.head, source_event_seqs=(answer.seq,)))

    def _note_change(self, call: Call, seq: int, seqs: IntSeqs) -> None:
        if call.sort == "changed":
            self.changed = seq
        for path, action in call.files:
            known = self.files.get(path)
            if known is None and len(self.files) >= _FILES:
                self.left_out += 1
            elif known is None or len(known.source_event_seqs) < 2 * _LIMIT:
                before = known.source_event_seqs if known is not None else ()
                first = known.action if known is not None else action
                self.files[path] = TouchedFile(
                    path=path,
                    action=first,
                    source_event_seqs=rising(before, seqs),
                )


def ending(call: Call, reading: Reading, seqs: IntSeqs) -> Evidence:
    """How a call ended, as evidence: its exit code, else the agent's flag."""
    if reading.exit_code is not None:
        return Evidence(
            kind="exit_code", text=call.headline, value=reading.exit_code, source_event_seqs=seqs
        )
    flagged = reading.failed
    return Evidence(kind="flag", text=call.headline, value=int(flagged), source_event_seqs=seqs)


def summary(work: Work) -> Told:
    """What was done: the agent's last words, else the files it changed, else its last call."""
    if work.said is not None:
        return work.said
    if work.files:
        files = list(work.files.values())[:8]
        seqs = rising(*(file.source_event_seqs for file in files))
        return "; ".join(f"{file.action} {file.path}" for file in files)[:_SAID], seqs
    return work.did or ("", ())


def outcome(work: Work) -> tuple[OutcomeKind, IntSeqs]:
    """How the work stands, with the events that decide it.

    The newest command decides where it failed, and nothing was run or changed after it; else the
    newest totals, as long as nothing was changed after failed ones, and no later failure was left
    after good ones; else that nothing failed without being made good, and something is said to
    have worked. Everything else is unknown, never guessed.
    """
    ran, check = work.ran, work.check
    if ran is not None and ran.failed:
        later = max(work.changed, work.last_ran)
        return ("unknown" if later > ran.seqs[-1] else "failure"), ran.seqs
    if check is not None and check.failed:
        return ("unknown" if work.changed > check.seqs[-1] else "failure"), check.seqs
    left = list(work.unresolved.values())
    if check is not None and left and left[-1].seqs[-1] < check.seqs[-1]:
        left = []
    if check is not None and not left:
        return "success", check.seqs
    if left:
        return "unknown", left[-1].seqs
    if work.worked is not None:
        return "success", work.worked.seqs
    return "unknown", ()


def rationale(work: Work) -> Told:
    """The reason that counts most, or nothing."""
    return work.reasons[min(work.reasons)] if work.reasons else ("", ())


def supported(
    work: Work, evidence: list[Evidence], ended: tuple[OutcomeKind, IntSeqs]
) -> tuple[Evidence, ...]:
    """The evidence, with the result that a success rests on, where that is not among it."""
    good = work.worked
    if ended[0] == "success" and good is not None and ended[1] == good.seqs:
        return (*evidence, good.evidence)
    return tuple(evidence)
