"""The contract of compaction, the basic algorithm behind it, and the rule-based summary in it.

Same inputs, same bytes out: no clock, no random source, no locale, no order of a hash.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace

from compress.compaction.digest import digest
from compress.compaction.drafts import Written, compact_draft, failed_draft
from compress.compaction.errors import BudgetError, NoGainError, RegionError, SummaryError
from compress.compaction.loss import told
from compress.compaction.material import Digest
from compress.compaction.preview import Change, assemble
from compress.compaction.reach import raw_tokens
from compress.compaction.region import Span, check_region, refuse_unfinished, span_of
from compress.compaction.retention import automatic_cut
from compress.compaction.summary import frame, summarise
from compress.compaction.values import PressureInputs, Preview, SessionInput, Summary
from compress.events import NodeId
from compress.measured import Measured
from compress.operations import Origin, is_operation_id

_LEAST_BUDGET = 256
_NO_PINS: frozenset[NodeId] = frozenset()


class CompactionService(ABC):
    """Compaction as its consumers know it. Both answer a preview, and write nothing."""

    @abstractmethod
    def compact_if_needed(self, session: SessionInput, pressure: PressureInputs) -> Preview | None:
        """The compaction that the pressure asks for; ``None`` below the threshold, without a
        known window, and while only an open step is left."""

    @abstractmethod
    def compact_region(self, session: SessionInput, start: NodeId, end: NodeId) -> Preview:
        """The compaction of a region. Raises a :class:`~compress.errors.CompressError` that names
        what stands against it."""


class BasicCompaction(CompactionService):
    """The algorithm; how a region is put in words is left to :meth:`summarize`."""

    strategy = "basic"

    def __init__(
        self,
        budget: int | None = None,
        extra_pins: frozenset[NodeId] = _NO_PINS,
        origin: Origin = "user",
    ) -> None:
        self.budget = budget
        """Counted tokens of the framed summary; ``None``: a quarter of the region, at most what
        the policy allows."""
        self.extra_pins = extra_pins
        """Nodes to keep in this one operation, with their units."""
        self.origin = origin

    @abstractmethod
    def summarize(self, session: SessionInput, span: Span, budget: int) -> Summary:
        """The region in at most ``budget`` counted tokens.

        Raises :class:`BudgetError` where that is impossible, :class:`SummaryError` on failure.
        """

    def compact_if_needed(self, session: SessionInput, pressure: PressureInputs) -> Preview | None:
        """See :class:`CompactionService`. The region goes from the head to the cut, an earlier
        checkpoint included, so that one automatic checkpoint stands at the most.

        Still above the threshold: again in half the budget, as often as the policy allows, each
        time only where the attempt before gained; one that does worse is dropped. Raises
        :class:`NoGainError` where the pressure asks for a compaction and none would gain.
        """
        window = pressure.window or session.window
        if not window or pressure.used < session.policy.threshold(window):
            return None
        session = replace(session, window=window)
        refuse_unfinished(session)
        measured = session.measure()
        cut = automatic_cut(session, measured)
        if cut == 0:
            return None
        try:
            span = span_of(session, measured, 0, cut, self.extra_pins)
        except RegionError:
            return None
        if self.budget is None and _compacted(session, span):
            return None
        return self._attempts(session, measured, span, pressure.used)

    def compact_region(self, session: SessionInput, start: NodeId, end: NodeId) -> Preview:
        """See :class:`CompactionService`. Raises :class:`StaleNodeError`,
        :class:`UnbalancedBoundaryError`, :class:`RegionError`,
        :class:`UnfinishedCompactionError`, :class:`NoGainError` or :class:`BudgetError`."""
        measured = session.measure()
        span = check_region(session, measured, start, end, self.extra_pins)
        if self.budget is None and _compacted(session, span):
            raise NoGainError(
                "The region holds nothing but a checkpoint, so compacting it again changes "
                "nothing. Choose a larger region, or give a budget."
            )
        asked = self._asked(session, measured, span)
        return self._preview(session, measured, span, asked)

    def _attempts(
        self, session: SessionInput, measured: Measured, span: Span, used: int
    ) -> Preview:
        budget = self._asked(session, measured, span)
        threshold = session.policy.threshold(session.window or 0)
        best = self._preview(session, measured, span, budget)
        for _ in range(session.policy.retries):
            if _used_after(session, best, used) < threshold or budget <= _LEAST_BUDGET:
                break
            budget = max(_LEAST_BUDGET, budget // 2)
            try:
                again = self._preview(session, measured, span, budget)
            except (BudgetError, NoGainError, SummaryError):
                break
            if again.region_after >= best.region_after:
                break
            best = again
        after = _used_after(session, best, used)
        if after >= threshold:
            note = (
                f"Did not converge: {after:,} tokens would stand after the compaction, the "
                f"threshold is {threshold:,}."
            )
            best = replace(best, warnings=(note, *best.warnings))
        return best

    def _asked(self, session: SessionInput, measured: Measured, span: Span) -> int:
        """The budget of the framed summary. A checkpoint weighs what it stands for, lest every
        further compaction shrink it again."""
        if self.budget is not None:
            return self.budget
        raw = raw_tokens(session, span.gone) if _opens(session, span) else _weight(measured, span)
        asked = min(session.policy.summary_tokens, max(_LEAST_BUDGET, raw // 4))
        if session.window:
            asked = min(asked, max(_LEAST_BUDGET, session.window // 8))
        return asked

    def _preview(
        self, session: SessionInput, measured: Measured, span: Span, asked: int
    ) -> Preview:
        region = _weight(measured, span)
        most = int(region * (1 - session.policy.minimum_gain))
        reach = _reach(session, span)
        frame_tokens = session.counter.count(frame("", len(span.gone), reach, region))
        budget = min(asked, most) - frame_tokens
        try:
            if budget < 1:
                raise BudgetError(
                    f"The frame of a summary takes {frame_tokens:,} tokens, the budget is "
                    f"{asked:,}: allow more.",
                    0,
                )
            summary = self.summarize(session, span, budget)
        except BudgetError as error:
            if asked <= most:
                raise
            raise NoGainError(_no_gain(session, region, frame_tokens + error.least)) from None
        except SummaryError as error:
            raise SummaryError(str(error), failed_draft(error, self.origin)) from error
        framed = frame(summary.text, len(span.gone), reach, region)
        weight = session.counter.count(framed)
        if weight > most:
            raise NoGainError(_no_gain(session, region, weight))
        summary = replace(summary, tokens=session.counter.count(summary.text))
        draft = compact_draft(
            span,
            Written(summary, framed, reach, region, weight),
            session.policy,
            self.strategy,
            origin=self.origin,
        )
        change = Change(
            kind="compact",
            span=span,
            brought={span.start: (("+3", weight),)},
            draft=draft,
            summary=summary,
            texts=(framed,),
            found=self.harvested(session, span),
        )
        return assemble(session, measured, change, _degraded(summary))

    def harvested(self, session: SessionInput, span: Span) -> Digest | None:
        """The facts of the nodes that go, where :meth:`summarize` has them already: they are what
        can be lost."""
        return None


class RuleBasedCompaction(BasicCompaction):
    """The shipped one: the summary is written by rules, no model is called."""

    strategy = "rules"
    _newest: tuple[SessionInput, Span, Digest] | None = None

    def summarize(self, session: SessionInput, span: Span, budget: int) -> Summary:
        """See :mod:`compress.compaction.summary`."""
        return summarise(self._digest(session, span), session.counter, budget)

    def harvested(self, session: SessionInput, span: Span) -> Digest | None:
        """See :class:`BasicCompaction`. Behind a checkpoint there is more than can be lost now."""
        found = self._digest(session, span)
        return told(session, span.gone, found) if _opens(session, span) else found

    def _digest(self, session: SessionInput, span: Span) -> Digest:
        """Made once for all that a preview asks of it."""
        known = self._newest
        if known is not None and known[0] is session and known[1] is span:
            return known[2]
        found = digest(session, span.gone)
        self._newest = session, span, found
        return found


def preview_region(
    session: SessionInput,
    start: NodeId,
    end: NodeId,
    budget: int | None = None,
    extra_pins: frozenset[NodeId] = _NO_PINS,
) -> Preview:
    """The rule-based compaction of a region, as :meth:`BasicCompaction.compact_region`."""
    return RuleBasedCompaction(budget, extra_pins).compact_region(session, start, end)


def preview_auto(
    session: SessionInput,
    pressure: PressureInputs,
    budget: int | None = None,
    extra_pins: frozenset[NodeId] = _NO_PINS,
    origin: Origin = "user",
) -> Preview | None:
    """The rule-based compaction that the pressure asks for, as
    :meth:`BasicCompaction.compact_if_needed`."""
    return RuleBasedCompaction(budget, extra_pins, origin).compact_if_needed(session, pressure)


def _compacted(session: SessionInput, span: Span) -> bool:
    """Whether all that would go is checkpoints made here."""
    shadowed = session.plan.surface.shadowed
    return all(is_operation_id(node) and node in shadowed for node in span.gone)


def _reach(session: SessionInput, span: Span) -> tuple[NodeId, NodeId]:
    """The first and the last node that a checkpoint of the span stands for, seen through the
    checkpoints that it merges."""
    shadowed = session.plan.surface.shadowed
    first, last = span.gone[0], span.gone[-1]
    while shadowed.get(first):
        first = shadowed[first][0]
    while shadowed.get(last):
        last = shadowed[last][-1]
    return first, last


def _opens(session: SessionInput, span: Span) -> bool:
    """Whether a checkpoint, of the agent's or made here, is among what goes: what it stands for is
    read again."""
    shadowed = session.plan.surface.shadowed
    return bool(shadowed) and any(node in shadowed for node in span.gone)


def _weight(measured: Measured, span: Span) -> int:
    """Counted tokens of what goes."""
    kept = sum(measured.tokens[measured.position(node)] for node in span.keep)
    return measured.weight(span.start, span.stop) - kept


def _used_after(session: SessionInput, preview: Preview, used: int) -> int:
    return used - session.calibrated(preview.region_before - preview.region_after)


def _no_gain(session: SessionInput, region: int, after: int) -> str:
    return (
        f"Compacting this region of {region:,} tokens would free less than "
        f"{session.policy.minimum_gain * 100:.0f} % of it: its checkpoint would take at least "
        f"{after:,}. Choose a larger region."
    )


def _degraded(summary: Summary) -> tuple[str, ...]:
    if not summary.degraded:
        return ()
    count = len(summary.degraded)
    return (f"{count} of the user's messages stand as headline or pointer, not verbatim.",)
