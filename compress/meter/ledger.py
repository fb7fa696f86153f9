"""The ledger: what stands on the surface, what it weighs, and what changed since given moments."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from compress.entries import LogEntry
from compress.errors import StaleNodeError
from compress.events import NodeId, Rebase, SurfaceOp
from compress.meter.blocks import Blocks, Sum
from compress.meter.features import Features, Node, Reply, accumulate, take, weigh_reply
from compress.surface import SurfaceFold, View


@dataclass(slots=True)
class Mark:
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
    """The provider's input figure, once it is known."""
    stated: bool = False
    """``actual`` is the agent's own estimate (Codex makes one after a compaction), no figure of
    the provider's: it is shown as estimated and teaches nothing."""
    base: int | None = None
    """The anchor's input when this request was opened; ``None`` if it must teach nothing."""
    tail: Features = field(default_factory=dict)
    """The features of the tail when this request was opened."""


class Ledger:
    """Folds entries and keeps running totals; costs the change, not the surface."""

    def __init__(self, view: View) -> None:
        self.fold = SurfaceFold(view)
        self.nodes: dict[NodeId, Node] = {}
        self.totals: Features = {}
        self.detail: Features = {}
        self.counted = 0
        self.marks: list[Mark] = []
        """The moments since which changes are summed up. The meter adds and drops them."""
        self._order = 0
        self._tools: dict[str, str] = {}
        self._blocks = Blocks(self.nodes.get)

    def sum_of(self, nodes: Sequence[NodeId]) -> Sum:
        """What these nodes weigh together, whether they stand or not; unknown ones nothing."""
        return self._blocks.sum_of(nodes, self.fold.nodes)

    def mark(self, seq: NodeId, model: str | None) -> Mark:
        """This moment, not yet among ``marks``."""
        return Mark(seq, len(self.fold.nodes), self._order, model)

    def mark_back(self, seq: NodeId, position: int, model: str | None) -> Mark:
        """A moment of the past, when the first ``position`` of the nodes that stand now stood."""
        mark = Mark(seq, position, self._order, model)
        for node in self._standing(self.fold.nodes[position:]):
            accumulate(mark.features, node.features, 1)
            mark.counted += node.counted
        mark.churn = mark.counted
        return mark

    def counted_behind(self, position: int) -> int:
        """Counted tokens of the nodes that stand behind the first ``position``."""
        return sum(node.counted for node in self._standing(self.fold.nodes[position:]))

    def take(self, entry: LogEntry, reply: Reply | None, ratio: float) -> int | None:
        """Fold one event of the surface. ``reply`` is the one that a new assistant node belongs
        to. Returns the position of the first node that no longer stands where it stood, or
        ``None`` where the surface only grew. An operation that the fold refuses changes nothing.
        """
        fold = self.fold
        refused, generation, length = len(fold.problems), fold.replace_generation, len(fold.nodes)
        first = self._first_moved(entry.op)
        before = fold.nodes[first:] if isinstance(entry.op, Rebase) else []
        fold.apply_leniently(entry)
        if len(fold.problems) > refused:
            return None
        self._tools.update(entry.calls)
        name = entry.seq if entry.node is None else entry.node
        node = self.nodes.get(name)
        if node is None:
            node = self.nodes[name] = Node()
            if entry.type == "assistant/message" and reply is not None:
                reply.join(node)
        old = dict(node.features), dict(node.detail), node.counted
        take(node, entry, self._tools, self._thinking())
        if entry.type == "assistant/message":
            self._weigh(node, ratio)
        if node.standing:
            self._change(node, old)
        if fold.replace_generation != generation:
            moved = self._rearrange(name, entry, before, first)
            self._blocks.moved(moved)
            return moved
        if len(fold.nodes) > length:
            self._stand(node)
        return None

    def reweigh(self, reply: Reply, ratio: float, beside: Node | None = None) -> None:
        """Weigh a reply's nodes anew. The change of ``beside`` is booked by the caller."""
        reply.shared = reply.is_final
        for node in reply.nodes:
            old = node.features, node.detail, node.counted
            node.features, node.detail = weigh_reply(node, ratio)
            if node.standing and node is not beside:
                self._change(node, old)

    def _weigh(self, node: Node, ratio: float) -> None:
        reply = node.reply
        if reply is not None and (reply.is_final or reply.shared):
            # The other nodes' shares of the provider's figure change with this one.
            self.reweigh(reply, ratio, beside=node)
        else:
            node.features, node.detail = weigh_reply(node, ratio)

    def _thinking(self) -> float:
        """Tokens of thinking on the surface that no user's message has ended yet."""
        stands = self.detail.get("output/thinking", 0.0) + self.totals.get("thinking", 0.0)
        return max(0.0, stands - self.totals.get("dropped", 0.0))

    def _standing(self, names: Iterable[NodeId]) -> Iterable[Node]:
        return (self.nodes[name] for name in names if name in self.nodes)

    def _first_moved(self, op: SurfaceOp | None) -> int:
        """Position from which a rebase may change the surface."""
        if not isinstance(op, Rebase) or op.after is None:
            return 0
        try:
            return self.fold.position(op.after) + 1
        except StaleNodeError:
            return 0

    def _rearrange(self, own: NodeId, entry: LogEntry, before: list[NodeId], start: int) -> int:
        fold = self.fold
        came: Iterable[NodeId]
        if isinstance(entry.op, Rebase):
            came = fold.nodes[start:]
            target = set(came)
            gone = [name for name in before if name not in target]
            pairs = enumerate(zip(before, came, strict=False), start)
            shorter = start + min(len(before), len(came))
            first = next((at for at, (old, new) in pairs if old != new), shorter)
        else:
            gone = list(fold.shadowed[own])
            came = (own,)
            first = fold.position(own)
        for node in self._standing(gone):
            if node.standing:
                self._fall(node)
        for node in self._standing(came):
            if not node.standing:
                self._stand(node)
        checkpoint = entry.meta.get("checkpoint") is not None
        for mark in self.marks:
            # A checkpoint also replaces what stands on no surface (a log that begins late).
            if mark.position > first or checkpoint:
                mark.intact = False
                mark.base = None
        return first

    def _change(self, node: Node, old: tuple[Features, Features, int]) -> None:
        features, detail, counted = old
        self._blocks.changed(node)
        self._book(features, detail, 0, -1, node.order)
        self._book(node.features, node.detail, node.counted - counted, 1, node.order)

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
        accumulate(self.totals, features, sign)
        accumulate(self.detail, detail, sign)
        self.counted += sign * counted
        for mark in self.marks:
            if order > mark.order:
                accumulate(mark.features, features, sign)
                mark.counted += sign * counted
                mark.churn += abs(counted)
