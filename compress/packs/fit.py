"""A pack: the best of the candidates, under a budget that is a promise about the whole text.

Locked beliefs come first and are never trimmed. Then what a person put in, then the others, in the
order of :mod:`compress.packs.phases`. What does not fit is passed over, and its tokens go to the
next best.

Tokens are added up entry by entry, which is exact for the public vocabularies, and the whole is
counted at the end: by a counter that does not add up, the last ones in are taken out again.
"""

from __future__ import annotations

from collections.abc import Sequence

from compress.beliefs.values import CompressedBelief
from compress.packs.errors import too_small
from compress.packs.frame import Frame
from compress.packs.lines import AT_ONCE, Line, count_entries, lines_of
from compress.packs.phases import SHARES, Phase, Shares, phases
from compress.packs.rank import WEIGHTS, Ranked, Weights, ranked
from compress.packs.render import Entry, heading, pack_text, shown
from compress.packs.values import Candidate, Pack, PackRequest, Reason
from compress.tokens import TokenCounter


def pack(
    candidates: Sequence[Candidate],
    request: PackRequest,
    counter: TokenCounter,
    *,
    weights: Weights = WEIGHTS,
    shares: Shares = SHARES,
) -> Pack:
    """The pack of these candidates, each of which has a line in it.

    The same candidates, in whatever order, and the same request give the same bytes. Raises
    :class:`~compress.packs.errors.PackBudgetError` where what must stand exceeds the budget.
    """
    floor = any(map(str.isalnum, request.query))
    excluded = request.excluded
    chosen = [one for one in candidates if one.belief.id not in excluded]
    order = ranked(chosen, floor=floor, weights=weights)
    fitting = _Fitting(order, request, counter, shares)
    fitting.run()
    text = fitting.text()
    tokens = counter.count(text)
    out = ranked([one for one in candidates if one.belief.id in excluded], weights=weights)
    lines = fitting.lines + lines_of(out, request, counter)
    for line in lines[len(order) :]:
        line.reason = "excluded"
    return Pack(
        request=request,
        text=text,
        tokens=tokens,
        counter=counter.name,
        lines=tuple(line.told(rank) for rank, line in enumerate(lines, 1)),
        overflow=max(0, tokens - request.budget),
    )


class _Fitting:
    """One pack in the making."""

    def __init__(
        self, order: Sequence[Ranked], request: PackRequest, counter: TokenCounter, shares: Shares
    ) -> None:
        self._request = request
        self._counter = counter
        self.lines = lines_of(order, request, counter)
        self._frame = Frame(text for line in self.lines for text in shown(line.belief))
        self._taken: list[Line] = []
        self._headings: dict[str, int] = {}
        self._room = request.budget - counter.count(self._frame.head)
        self._room -= counter.count(self._frame.foot)
        self._shares = shares

    def run(self) -> None:
        """Fill it."""
        request = self._request
        for line in self.lines:
            if line.ranked.duplicate_of is not None:
                line.reason = "duplicate"
            elif line.ranked.is_below_floor and line.belief.id not in request.included:
                line.reason = "below_floor"
        open_lines = [line for line in self.lines if line.reason == "over_budget"]
        locked = [line for line in open_lines if line.belief.locked]
        count_entries([(line, line.form) for line in locked], self._counter)
        for line in locked:
            self._take(line, line.form, "locked")
        least = self._counter.count(self.text())
        if least > request.budget:
            if not (locked and request.allow_overflow):
                raise too_small(least, request.budget, len(locked))
            return
        others = [line for line in open_lines if not line.belief.locked]
        included = [line for line in others if line.belief.id in request.included]
        self._fill(Phase([(line, line.form) for line in included]))
        for phase in phases(others, type_aware=request.type_aware, shares=self._shares):
            self._fill(phase)
        self._verify()

    def text(self) -> str:
        """The pack as it stands now. Sessions stand in the order of their best belief."""
        taken = sorted(self._taken, key=lambda line: line.ranked.rank)
        entries = [Entry(line.belief, line.form.rendered) for line in taken]
        sessions = list(dict.fromkeys(one.belief.session for one in entries))
        return pack_text(entries, self._frame, sessions)

    def _fill(self, phase: Phase) -> None:
        """Take what fits, in the order in which it is wanted; one that is packed takes the new
        form."""
        least = self._room - int(self._room * phase.share)
        for at, (line, form) in enumerate(phase.wanted):
            if at % AT_ONCE == 0:
                # What surely does not fit is not counted.
                ahead = phase.wanted[at : at + AT_ONCE]
                room = self._room - least
                count_entries([one for one in ahead if _more(*one) < room], self._counter)
            if _more(line, form) < self._room - least:
                count_entries([(line, form)], self._counter)
                if self._price(line, form) <= self._room - least:
                    self._take(line, form, "packed")

    def _price(self, line: Line, form: CompressedBelief) -> int:
        """What the pack grows by."""
        if line.packed:
            return line.cost(form) - line.cost(line.form)
        return line.cost(form) + self._heading(line)

    def _take(self, line: Line, form: CompressedBelief, reason: Reason) -> None:
        self._room -= self._price(line, form)
        self._headings[line.belief.session] = 0
        if not line.packed:
            self._taken.append(line)
        line.form, line.packed, line.reason = form, True, reason

    def _heading(self, line: Line) -> int:
        """What the line over its session costs, if it is the first of it."""
        session = line.belief.session
        if session not in self._headings:
            self._headings[session] = self._counter.count(heading(session))
        return self._headings[session]

    def _verify(self) -> None:
        """Count the whole, and take the last ones out again while it is above the budget."""
        while True:
            excess = self._counter.count(self.text()) - self._request.budget
            if excess <= 0:
                return
            while excess > 0 and self._taken[-1:] and not self._taken[-1].belief.locked:
                line = self._taken.pop()
                line.packed, line.reason = False, "over_budget"
                excess -= line.cost(line.form)


def _more(line: Line, form: CompressedBelief) -> int:
    """What the text of the belief grows by, its entry left out."""
    return form.rendered_tokens - (line.form.rendered_tokens if line.packed else 0)
