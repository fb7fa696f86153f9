"""TokenMeter: how full the window is, from what a session's log says.

The provider's own usage is the truth wherever it exists; between two of its figures the meter
predicts, and each new figure teaches it. The model is one sum: ``input = anchor + Σ weight ×
(what came to stand since − what fell since)``, with weights learned online (``fit``), so the same
few numbers give the prediction of the next request, the overhead (anchor − Σ weights of what
stood then), the composition and the estimate of a surface that no provider has seen.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from compress.entries import LogEntry
from compress.events import Append, NodeId, Rebase, Usage
from compress.meter.composition import KINDS, apportion, kinds_of, tools_of
from compress.meter.features import Features, Node, Reply, is_checkpoint, take, weigh_reply
from compress.meter.fit import RecursiveFit
from compress.meter.priors import prior_of, ratio_of
from compress.surface import SurfaceFold, View
from compress.tokens import model_name

MOST_INPUT = 50_000_000
"""Tokens; a provider's figure above this is a defect of the log and counts as unknown (T11)."""
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
    """Provider tokens per counted token on the present surface; 1 without an anchor."""
    counted: int
    """The plain count of the surface."""
    model: str | None
    observed: int
    """The largest input that the provider ever reported for this model."""


@dataclass(slots=True)
class _Mark:
    """A moment before a request, and what changed on the surface since."""

    seq: NodeId
    position: int
    """How many nodes stood then."""
    order: int
    model: str | None
    features: Features = field(default_factory=dict)
    counted: int = 0
    churn: int = 0
    """Counted tokens that came plus those that fell since."""
    intact: bool = True
    """Whether the nodes that stood then are still the first of the surface."""
    actual: int = 0
    base: int | None = None
    """The anchor's input when this request was opened; ``None`` if it must teach nothing."""
    tail: Features = field(default_factory=dict)
    """The features of the tail when this request was opened."""


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
        self._fold = SurfaceFold(view)
        self._nodes: dict[NodeId, Node] = {}
        self._tools: dict[str, str] = {}
        self._totals: Features = {}
        self._detail: Features = {}
        self._counted = 0
        self._order = 0
        self._fits: dict[str, RecursiveFit] = {}
        self._observed: dict[str, int] = {}
        self._replies: dict[NodeId, Reply] = {}
        self._reply: Reply | None = None
        self._step: int | None = None
        self._after_reply = False
        self._anchor: _Mark | None = None
        self._pending: dict[NodeId, _Mark] = {}
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
            self._stand_or_fall(entry)
        if entry.usage is not None:
            self._settle(entry, entry.usage)

    def feed_all(self, entries: Iterable[LogEntry]) -> TokenMeter:
        """Take many events; returns the meter itself."""
        for entry in entries:
            self.feed(entry)
        return self

    def reading(self) -> Reading:
        """What the gauge shows now. Costs the number of tools, not the length of the log."""
        used = self._used()
        kinds = kinds_of(self._totals, self._detail, self._weight)
        content = sum(kinds.values())
        overhead = 0.0 if self._anchor is None else max(0.0, used - content)
        parts = apportion(used, {KINDS[0]: overhead, **kinds})
        tools = tools_of(self._totals, self._detail, self._weight)
        anchored = self._anchor is not None
        return Reading(
            used=used,
            used_source="provider" if self._anchor and self._anchor.intact else "estimated",
            overhead=parts[KINDS[0]],
            composition=parts,
            tool_results_by_tool=apportion(parts["tool_results"], tools),
            calibration=content / self._counted if anchored and self._counted else 1.0,
            counted=self._counted,
            model=self.model,
            observed=self._observed.get(model_name(self.model), 0),
        )

    def estimate(self, surface_tokens: int) -> int:
        """Provider tokens of a request that no provider has seen, whose surface counts so much:
        counted × calibration + overhead. Always an estimate."""
        now = self.reading()
        return round(surface_tokens * now.calibration) + now.overhead

    def estimate_of(self, nodes: Iterable[NodeId], new_text: int = 0) -> int:
        """The same, closer, for a surface that is made of known nodes and ``new_text`` counted
        tokens of text: each node weighs what the fit makes of it. Unknown nodes weigh nothing."""
        known = (self._nodes[node] for node in nodes if node in self._nodes)
        content = sum(self._weigh(node.features) for node in known)
        return self.reading().overhead + round(content + self._weight("checkpoint") * new_text)

    def node_tokens(self, node: NodeId) -> int:
        """Provider tokens of one node; 0 where it is unknown."""
        found = self._nodes.get(node)
        return 0 if found is None else max(0, round(self._weigh(found.features)))

    # Requests: opened by the first event of a reply, settled by the provider's usage.

    def _opens_a_request(self, entry: LogEntry) -> bool:
        if entry.type != "assistant/message" or entry.op is None:
            return False
        if entry.seq in self._row or (entry.node is not None and entry.node in self._nodes):
            return False
        if entry.step is None:
            return not self._after_reply
        return entry.step != self._step

    def _open(self, seq: NodeId, entry: LogEntry) -> None:
        if model_name(entry.model):
            self.model = entry.model
        self._step = entry.step
        self._reply = self._replies[seq] = Reply(seq)
        anchor = self._anchor
        mark = _Mark(seq, len(self._fold.nodes), self._order, self.model)
        if anchor is not None:
            mark.tail = {**anchor.features, "request": 1.0}
            if anchor.intact and anchor.model == self.model:
                mark.base = anchor.actual
        self._pending[seq] = mark
        while len(self._pending) > _PENDING:
            oldest = next(iter(self._pending))
            del self._pending[oldest]
            self._replies.pop(oldest, None)
        self._row[seq] = len(self._requests)
        tail = self._counted if anchor is None else anchor.counted
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
        if usage.output is not None and usage.output >= (reply.output or 0):
            reply.output, reply.lower_bound = usage.output, usage.lower_bound
            self._reweigh(reply)
        actual = usage.total_input
        if actual is None or not 0 < actual <= MOST_INPUT or actual == reply.actual:
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
        for old in list(self._replies)[: -_PENDING - 1]:
            del self._replies[old]

    # The surface: what stands, what it weighs, and what changed since each mark.

    def _stand_or_fall(self, entry: LogEntry) -> None:
        fold = self._fold
        refused, generation, length = len(fold.problems), fold.replace_generation, len(fold.nodes)
        before = list(fold.nodes) if isinstance(entry.op, Rebase) else []
        fold.apply_leniently(entry)
        if len(fold.problems) > refused:
            return
        self._tools.update(entry.calls)
        name = entry.seq if entry.node is None else entry.node
        node = self._nodes.get(name)
        if node is None:
            node = self._nodes[name] = Node()
        old = dict(node.features), dict(node.detail), node.counted
        take(node, entry, self._tools)
        if entry.type == "assistant/message":
            self._join_reply(node)
        if node.standing:
            self._change(node, old, node.order)
        if fold.replace_generation != generation:
            self._rearranged(name, entry, before)
        elif len(fold.nodes) > length:
            self._stand(node)
        self._after_reply = entry.type == "assistant/message"
        if is_checkpoint(entry) and not isinstance(entry.op, Append):
            self.compactions.append(entry.seq)

    def _join_reply(self, node: Node) -> None:
        if node.reply is None:
            if self._reply is None:
                return
            node.reply = self._reply
            node.reply.nodes.append(node)
        self._reweigh(node.reply, beside=node)

    def _reweigh(self, reply: Reply, beside: Node | None = None) -> None:
        """Weigh a reply's nodes anew. The change of ``beside`` is booked by the caller."""
        ratio = ratio_of(self.model)
        for node in reply.nodes:
            old = node.features, node.detail, node.counted
            node.features, node.detail = weigh_reply(reply, node, ratio)
            if node.standing and node is not beside:
                self._change(node, old, node.order)

    def _change(self, node: Node, old: tuple[Features, Features, int], order: int) -> None:
        features, detail, counted = old
        self._book(features, detail, 0, -1, order)
        self._book(node.features, node.detail, node.counted - counted, 1, order)

    def _stand(self, node: Node) -> None:
        node.standing = True
        self._order += 1
        node.order = self._order
        self._book(node.features, node.detail, node.counted, 1, node.order)

    def _fall(self, node: Node) -> None:
        node.standing = False
        self._order += 1
        self._book(node.features, node.detail, node.counted, -1, self._order)

    def _book(
        self, features: Features, detail: Features, counted: int, sign: int, order: int
    ) -> None:
        """Add to (or take from) the totals, and from the marks that were set before ``order``."""
        _accumulate(self._totals, features, sign)
        _accumulate(self._detail, detail, sign)
        self._counted += sign * counted
        for mark in self._marks():
            if order > mark.order:
                _accumulate(mark.features, features, sign)
                mark.counted += sign * counted
                mark.churn += abs(counted)

    def _rearranged(self, own: NodeId, entry: LogEntry, before: list[NodeId]) -> None:
        fold = self._fold
        if isinstance(entry.op, Rebase):
            target = set(fold.nodes)
            gone = [name for name in before if name not in target]
            first = next(
                (i for i, (a, b) in enumerate(zip(before, fold.nodes, strict=False)) if a != b),
                min(len(before), len(fold.nodes)),
            )
        else:
            target = {own}
            gone = list(fold.shadowed[own])
            first = fold.position(own)
        for name in gone:
            node = self._nodes.get(name)
            if node is not None and node.standing:
                self._fall(node)
        for name in fold.nodes if isinstance(entry.op, Rebase) else (own,):
            node = self._nodes.get(name)
            if node is not None and not node.standing:
                self._stand(node)
        self._broken_at(first)

    def _broken_at(self, position: int) -> None:
        for mark in self._marks():
            if mark.position > position:
                mark.intact = False
                mark.base = None
        while self._earlier and self._earlier[-1][2] > position:
            self._earlier.pop()
        anchor = self._anchor
        if anchor is None or anchor.intact or not self._earlier:
            return
        seq, actual, start, model = self._earlier[-1]
        tail = [self._nodes[name] for name in self._fold.nodes[start:] if name in self._nodes]
        counted = sum(node.counted for node in tail)
        # An older anchor is better only where it leaves less to be counted.
        if counted <= anchor.churn:
            self._anchor = _Mark(
                seq, start, self._order, model, counted=counted, churn=counted, actual=actual
            )
            for node in tail:
                _accumulate(self._anchor.features, node.features, 1)

    def _marks(self) -> list[_Mark]:
        marks = list(self._pending.values())
        if self._anchor is not None:
            marks.append(self._anchor)
        return marks

    # Weights.

    def _used(self) -> int:
        anchor = self._anchor
        if anchor is None:
            return self._counted
        scale = ratio_of(self.model) / ratio_of(anchor.model)
        change = self._weigh(anchor.features)
        if anchor.features:
            change += self._weight("request")
        return max(0, round(anchor.actual * scale + change))

    def _weigh(self, features: Mapping[str, float]) -> float:
        return sum(self._weight(name) * value for name, value in features.items())

    def _weight(self, feature: str) -> float:
        if self._anchor is None:
            return 0.0 if feature in _NUMBERS or ":" in feature else 1.0
        return self._fit(self.model).weight(feature)

    def _fit(self, model: str | None) -> RecursiveFit:
        name = model_name(model)
        found = self._fits.get(name)
        if found is None:
            found = self._fits[name] = RecursiveFit(prior_of(model))
        return found


def _accumulate(into: Features, features: Mapping[str, float], sign: int) -> None:
    for name, value in features.items():
        total = into.get(name, 0.0) + sign * value
        if abs(total) < 1e-6:
            into.pop(name, None)
        else:
            into[name] = total
