"""A pack: the best of the candidates, under a budget that is a promise about the whole text.

Locked beliefs come first and are never trimmed. Then what a person put in, then the others by
rank. What does not fit is passed over, and its tokens go to the next best.

With compression on, most of the budget goes to beliefs that stand whole, those first that are worth
most for their tokens: of two that rank alike, the longer one, since a pointer costs the same for
both. The rest goes to what stands around the best, each as its class asks for: a headline says much
for little. What is left then makes the best of those whole, too.

Tokens are added up entry by entry, which is exact for the public vocabularies, and the whole is
counted at the end: by a counter that does not add up, the last ones in are taken out again.
"""

from __future__ import annotations

from collections.abc import Sequence

from compress.beliefs.values import CompressedBelief
from compress.packs.errors import too_small
from compress.packs.frame import Frame
from compress.packs.lines import AT_ONCE, Line, count_entries, lines_of
from compress.packs.rank import WEIGHTS, Ranked, Weights, ranked
from compress.packs.render import Entry, heading, pack_text, shown
from compress.packs.values import Candidate, Pack, PackRequest, Reason
from compress.tokens import TokenCounter

WHOLE_SHARE = 0.88
"""Of the budget: with compression on, so much goes to beliefs that stand whole."""
_POINTER = 8
"""Tokens that an entry takes beside its content, about."""
_THRIFT = 0.2
"""How much a belief's worth follows from the share of the tokens that is its content."""


def pack(
    candidates: Sequence[Candidate],
    request: PackRequest,
    counter: TokenCounter,
    *,
    weights: Weights = WEIGHTS,
    whole_share: float = WHOLE_SHARE,
) -> Pack:
    """The pack of these candidates, each of which has a line in it.

    The same candidates, in whatever order, and the same request give the same bytes. Raises
    :class:`~compress.packs.errors.PackBudgetError` where what must stand exceeds the budget.
    """
    floor = any(map(str.isalnum, request.query))
    excluded = request.excluded
    chosen = [one for one in candidates if one.belief.id not in excluded]
    order = ranked(chosen, floor=floor, weights=weights)
    fitting = _Fitting(order, request, counter, whole_share)
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


def _worth(line: Line) -> float:
    tokens = line.whole.rendered_tokens
    thrift: float = (tokens / (tokens + _POINTER)) ** _THRIFT
    return line.ranked.score * thrift


class _Fitting:
    """One pack in the making."""

    def __init__(
        self, order: Sequence[Ranked], request: PackRequest, counter: TokenCounter, share: float
    ) -> None:
        self._request = request
        self._counter = counter
        self.lines = lines_of(order, request, counter)
        self._frame = Frame(text for line in self.lines for text in shown(line.belief))
        self._taken: list[Line] = []
        self._headings: dict[str, int] = {}
        self._room = request.budget - counter.count(self._frame.head)
        self._room -= counter.count(self._frame.foot)
        self._whole_room = int(request.budget * share) if request.type_aware else request.budget

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
        self._fill([line for line in others if line.belief.id in request.included])
        others = [line for line in others if line.belief.id not in request.included]
        if request.type_aware:
            self._fill(sorted(others, key=_worth, reverse=True), whole=True)
            others.sort(key=lambda line: (-line.ranked.around, line.ranked.rank))
        self._fill(others)
        self._enrich()
        self._verify()

    def text(self) -> str:
        """The pack as it stands now. Sessions stand in the order of their best belief."""
        taken = sorted(self._taken, key=lambda line: line.ranked.rank)
        entries = [Entry(line.belief, line.form.rendered) for line in taken]
        sessions = list(dict.fromkeys(one.belief.session for one in entries))
        return pack_text(entries, self._frame, sessions)

    def _fill(self, lines: Sequence[Line], *, whole: bool = False) -> None:
        """Take what fits, in this order; ``whole``: of what may stand whole, as far as the share
        of the budget for that goes."""
        wanted = [(line, line.whole if line.is_free and whole else line.form) for line in lines]
        wanted = [
            (line, form)
            for line, form in wanted
            if not line.packed and (form.strategy == "verbatim" or not whole)
        ]
        for at, (line, form) in enumerate(wanted):
            if at % AT_ONCE == 0:
                # What surely does not fit is not counted.
                ahead = wanted[at : at + AT_ONCE]
                count_entries([one for one in ahead if self._may_fit(one[1], whole)], self._counter)
            if self._may_fit(form, whole) and self._fits(line, form, whole):
                self._take(line, form, "packed")

    def _may_fit(self, form: CompressedBelief, whole: bool) -> bool:
        room = min(self._room, self._whole_room) if whole else self._room
        return form.rendered_tokens < room

    def _fits(self, line: Line, form: CompressedBelief, whole: bool) -> bool:
        count_entries([(line, form)], self._counter)
        if whole and line.cost(form) > self._whole_room:
            return False
        return line.cost(form) + self._heading(line) <= self._room

    def _take(self, line: Line, form: CompressedBelief, reason: Reason) -> None:
        self._room -= line.cost(form) + self._heading(line)
        if form.strategy == "verbatim":
            self._whole_room -= line.cost(form)
        self._headings[line.belief.session] = 0
        line.form, line.packed, line.reason = form, True, reason
        self._taken.append(line)

    def _heading(self, line: Line) -> int:
        """What the line over its session costs, if it is the first of it."""
        session = line.belief.session
        if session not in self._headings:
            self._headings[session] = self._counter.count(heading(session))
        return self._headings[session]

    def _enrich(self) -> None:
        """Make the best of those whole that are not, as far as the rest goes."""
        for line in self._taken:
            if line.is_free and line.form.strategy != "verbatim":
                more = line.whole.rendered_tokens - line.form.rendered_tokens
                if more > self._room:
                    continue
                count_entries([(line, line.whole)], self._counter)
                more = line.cost(line.whole) - line.cost(line.form)
                if more <= self._room:
                    self._room -= more
                    line.form = line.whole

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
