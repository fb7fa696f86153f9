"""TokenMeter: how full the window is, from what a session's log says.

The provider's own usage is the truth wherever it exists; between two of its figures the meter
predicts, and each new figure teaches it. The model is one sum: ``input = anchor + Σ weight ×
(what came to stand since − what fell since)``, with weights learned online (``fit``), so the same
few numbers give the prediction of the next request, the overhead (anchor − Σ weights of what
stood then), the composition and the estimate of a surface that no provider has seen.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from compress.entries import LogEntry
from compress.events import NodeId, Usage
from compress.meter.composition import KINDS, apportion, kinds_of, tools_of
from compress.meter.features import Features, Reply, is_checkpoint
from compress.meter.fit import RecursiveFit
from compress.meter.ledger import Ledger, Mark
from compress.meter.priors import prior_of, ratio_of
from compress.surface import View
from compress.tokens import model_name

MOST_TOKENS = 50_000_000
"""A provider's figure above this is a defect of the log and counts as unknown (T11)."""
_PENDING = 4
"""Requests that may wait for their usage; older ones never get it."""
_NUMBERS = frozenset({"calls", "output_calls", "results", "users", "contexts", "request"})
"""Features that are no tokens: they weigh nothing in a plain count."""


@dataclass(frozen=True, slots=True)
class Request:
    """One request to the model, predicted from what stood in the log before it."""

    seq: NodeId
    """The first event that it produced."""
    model: str | None
    predicted_input: int
    tail_counted: int
    """Counted tokens, before calibration, of what came to stand since the anchor."""
    actual_input: int | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """What the meter shows at one moment. All figures in provider tokens."""

    used: int
    """What the next request would hold if it were sent now."""
    used_source: Literal["provider", "estimated"]
    """``provider``: a provider's figure of a prefix that still stands, plus the counted tail."""
    overhead: int
    composition: Mapping[str, int]
    """Kind → tokens; the sum is ``used``."""
    tool_results_by_tool: Mapping[str, int]
    calibration: float
    """Provider tokens per counted token of what stands on the surface, thinking left out (much of
    it is not in the log); 1 without an anchor."""
    counted: int
    """The plain count of the surface."""
    model: str | None
    observed: int
    """The largest input that the provider ever reported for this model."""


class TokenMeter:
    """Feed a session's entries in log order; ask at any moment. Never raises for what they hold.

    ``view`` is the surface that is metered: what the running agent saw, or what a resume sends.
    """

    def __init__(self, view: View = "live") -> None:
        self.compactions: list[NodeId] = []
        """Events at which the agent's surface was compacted."""
        self.model: str | None = None
        """The model of the newest request."""
        self._requests: list[Request] = []
        self._row: dict[NodeId, int] = {}
        self._ledger = Ledger(view)
        self._fits: dict[str | None, RecursiveFit] = {}
        self._observed: dict[str, int] = {}
        self._replies: dict[NodeId, Reply] = {}
        self._reply: Reply | None = None
        self._step: int | None = None
        self._anchor: Mark | None = None
        self._pending: dict[NodeId, Mark] = {}
        self._earlier: list[tuple[NodeId, int, int, str | None]] = []
        """Anchors whose prefix stands: (seq, actual, position, model), positions ascending."""

    @property
    def requests(self) -> tuple[Request, ...]:
        """All main-chain requests so far, oldest first."""
        return tuple(self._requests)

    def feed(self, entry: LogEntry) -> None:
        """Take one event. A request is predicted before its first event is looked at."""
        if self._opens_a_request(entry):
            self._open(entry.seq, entry)
        if entry.op is not None:
            self._fold(entry)
        if entry.usage is not None:
            self._settle(entry, entry.usage)
        elif entry.type == "usage" and entry.meta.get("estimated"):
            self._restate(entry)

    def feed_all(self, entries: Iterable[LogEntry]) -> TokenMeter:
        """Take many events; returns the meter itself."""
        for entry in entries:
            self.feed(entry)
        return self

    def reading(self) -> Reading:
        """What the gauge shows now. Costs the number of tools, not the length of the log."""
        ledger = self._ledger
        return self._read(ledger.totals, ledger.detail, ledger.counted)

    def reading_of(self, nodes: Iterable[NodeId], new_text: int = 0) -> Reading:
        """What the gauge shows for a surface that no provider has seen: known nodes as the fit
        weighs them, and ``new_text`` counted tokens of checkpoints. Always estimated."""
        found = self._ledger.sum_of(nodes if isinstance(nodes, Sequence) else tuple(nodes))
        if new_text:
            found.add({"checkpoint": float(new_text)}, {}, new_text)
        return self._read(found.features, found.detail, found.counted, self.reading().overhead)

    def _read(
        self, totals: Features, detail: Features, counted: int, overhead: int | None = None
    ) -> Reading:
        """``overhead``: as it was measured; without it, what the content leaves of the anchor."""
        anchor = self._anchor
        kinds = kinds_of(totals, detail, self._weight)
        content = sum(kinds.values())
        if overhead is None:
            used = self._used()
            rest = 0.0 if anchor is None else max(0.0, used - content)
        else:
            used, rest = overhead + round(content), float(overhead)
        parts = apportion(used, {KINDS[0]: rest, **kinds})
        tools = tools_of(totals, detail, self._weight)
        seen = content - kinds["thinking"]
        countable = counted - detail.get("counted/thinking", 0.0)
        calibrated = anchor is not None and seen > 0 and countable > 0
        provided = anchor is not None and anchor.intact and not anchor.stated and overhead is None
        return Reading(
            used=used,
            used_source="provider" if provided else "estimated",
            overhead=parts[KINDS[0]],
            composition=parts,
            tool_results_by_tool=apportion(parts["tool_results"], tools),
            calibration=seen / countable if calibrated else 1.0,
            counted=counted,
            model=self.model,
            observed=self._observed.get(model_name(self.model), 0),
        )

    def estimate(self, surface_tokens: int) -> int:
        """Provider tokens of a request that no provider has seen, whose surface counts so much:
        counted × calibration + overhead. Where the nodes are known, :meth:`reading_of` is closer:
        much thinking cannot be counted."""
        now = self.reading()
        return round(surface_tokens * now.calibration) + now.overhead

    def node_tokens(self, node: NodeId) -> int:
        """Provider tokens of one node; 0 where it is unknown."""
        found = self._ledger.nodes.get(node)
        return 0 if found is None else max(0, round(self._weigh(found.features)))

    # Requests: opened by the first event of a reply, settled by the provider's usage.

    def _opens_a_request(self, entry: LogEntry) -> bool:
        if entry.type != "assistant/message" or entry.op is None:
            return False
        if entry.seq in self._row or (entry.node is not None and entry.node in self._ledger.nodes):
            return False
        return entry.step is None or entry.step != self._step

    def _open(self, seq: NodeId, entry: LogEntry) -> None:
        if model_name(entry.model):
            self.model = entry.model
        self._step = entry.step
        self._reply = self._replies[seq] = Reply(seq)
        anchor = self._anchor
        mark = self._ledger.mark(seq, self.model)
        if anchor is not None:
            mark.tail = {**anchor.features, "request": 1.0}
            if anchor.intact and not anchor.stated and anchor.model == self.model:
                mark.base = anchor.actual
        self._pending[seq] = mark
        while len(self._pending) > _PENDING:
            oldest = next(iter(self._pending))
            del self._pending[oldest]
            self._replies.pop(oldest, None)
        self._keep_marks()
        self._row[seq] = len(self._requests)
        tail = self._ledger.counted if anchor is None else anchor.counted
        self._requests.append(Request(seq, self.model, self._used(), tail))

    def _settle(self, entry: LogEntry, usage: Usage) -> None:
        seq = entry.request
        if seq is None:
            seq = entry.seq if self._reply is None else self._reply.seq
        if seq not in self._row:
            self._open(seq, entry)
        reply = self._replies.get(seq)
        if reply is None:
            return
        output = usage.output
        known = reply.output, reply.lower_bound, reply.reasoning
        told = output, usage.lower_bound, usage.reasoning
        if output is not None and (reply.output or 0) <= output <= MOST_TOKENS and told != known:
            reply.output, reply.lower_bound, reply.reasoning = told
            self._ledger.reweigh(reply, ratio_of(self.model))
        actual = usage.total_input
        if actual is None or not 0 < actual <= MOST_TOKENS or actual == reply.actual:
            return
        first = reply.actual is None
        reply.actual = actual
        row = self._row[seq]
        self._requests[row] = replace(self._requests[row], actual_input=actual)
        name = model_name(self._requests[row].model)
        self._observed[name] = max(self._observed.get(name, 0), actual)
        if first and seq in self._pending:
            self._anchor_at(seq, actual)
        elif self._anchor is not None and self._anchor.seq == seq:
            self._anchor.actual = actual

    def _restate(self, entry: LogEntry) -> None:
        """The agent itself says what the window holds now, where no provider's figure can: after
        a compaction (T06)."""
        context = entry.meta.get("context")
        if not isinstance(context, int) or not 0 < context <= MOST_TOKENS:
            return
        mark = self._ledger.mark(entry.seq, self.model)
        mark.actual, mark.stated = context, True
        self._anchor = mark
        self._keep_marks()

    def _anchor_at(self, seq: NodeId, actual: int) -> None:
        mark = self._pending[seq]
        for older in list(self._pending):
            del self._pending[older]
            if older == seq:
                break
        if mark.base is not None:
            self._fit(mark.model).observe(mark.tail, actual - mark.base)
        mark.actual = actual
        self._anchor = mark
        if mark.intact:
            self._earlier.append((seq, actual, mark.position, mark.model))
        self._keep_marks()
        for old in list(self._replies)[: -_PENDING - 1]:
            del self._replies[old]

    # The surface.

    def _fold(self, entry: LogEntry) -> None:
        ledger = self._ledger
        broken = ledger.take(entry, self._reply, ratio_of(self.model))
        if broken is not None:
            if is_checkpoint(entry):
                self.compactions.append(entry.seq)
                # A figure of a surface on which nothing stood says nothing of what follows.
                self._earlier = [each for each in self._earlier if each[2] > 0]
            self._find_anchor(broken)

    def _find_anchor(self, broken: int) -> None:
        """After a change at position ``broken``: the newest figure whose prefix stands, where it
        leaves less to be counted than the newest figure of all."""
        while self._earlier and self._earlier[-1][2] > broken:
            self._earlier.pop()
        anchor = self._anchor
        if anchor is None or anchor.intact or not self._earlier:
            return
        seq, actual, position, model = self._earlier[-1]
        if self._ledger.counted_behind(position) > anchor.churn:
            return
        self._anchor = self._ledger.mark_back(seq, position, model)
        self._anchor.actual = actual
        self._keep_marks()

    def _keep_marks(self) -> None:
        self._ledger.marks = [*self._pending.values(), *filter(None, (self._anchor,))]

    # Weights.

    def _used(self) -> int:
        anchor = self._anchor
        if anchor is None:
            return self._ledger.counted
        scale = ratio_of(self.model) / ratio_of(anchor.model)
        change = self._weigh(anchor.features)
        if anchor.features:
            change += self._weight("request")
        return max(0, round(anchor.actual * scale + change))

    def _weigh(self, features: Mapping[str, float]) -> float:
        if self._anchor is None:
            return sum(self._weight(name) * value for name, value in features.items())
        return self._fit(self.model).predict(features)

    def _weight(self, feature: str) -> float:
        if self._anchor is None:
            return 0.0 if feature in _NUMBERS or ":" in feature else 1.0
        return self._fit(self.model).weight(feature)

    def _fit(self, model: str | None) -> RecursiveFit:
        found = self._fits.get(model)
        if found is None:
            found = self._fits[model] = RecursiveFit(prior_of(model))
        return found
