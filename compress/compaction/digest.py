"""What a region holds: the facts of its nodes folded into the material of a summary.

Checkpoints and receipts in the region are opened: what they shadow is read again, so that a
summary of a summary is a summary of the raw, merged and not nested.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence

from compress.artifacts.standing import standing_items
from compress.compaction.facts import (
    CallFacts,
    FactsCache,
    NodeFacts,
    ResultFacts,
    one_line,
)
from compress.compaction.identifiers import IdentifierKind, Mention
from compress.compaction.material import CommandRun, Digest, Failure, FileTouch, Said, Step, said
from compress.compaction.reach import Run, far_words, reach
from compress.compaction.values import SessionInput
from compress.entries import LogEntry
from compress.events import NodeId
from compress.pieces import Pieces


def digest(session: SessionInput, nodes: Sequence[NodeId], *, opened: bool = True) -> Digest:
    """The facts of these nodes; with ``opened`` those of the raw behind their checkpoints too."""
    found = Digest()
    cache = session.cache or FactsCache()
    near, distant = reach(session, nodes, opened=opened)
    fold = _Fold(found, _far(session, cache, distant, near, opened=opened))
    members = session.plan.surface.members
    for node in near:
        fold.node(node, cache.facts(session.content, node, len(members[node])))
    found.length = len(near)
    fold.finish()
    _plan(session, found, nodes, fold.headlines)
    return found


def _far(
    session: SessionInput,
    cache: FactsCache,
    distant: Iterable[Run],
    near: Iterable[NodeId],
    *,
    opened: bool,
) -> Sequence[Said]:
    """The user's words in the nodes that are too far back to be read, each once."""
    chunks = [c for run in distant for c in far_words(session, cache, run, opened=opened)]
    if not (opened and session.plan.surface.shadowed):
        return Pieces((chunk, 0, len(chunk)) for chunk in chunks)
    # Behind several checkpoints the same node may stand.
    known = set(near)
    words = {one.node: one for chunk in chunks for one in chunk if one.node not in known}
    return tuple(words.values())


class _Fold:
    """Takes the facts of nodes in order and fills a digest. ``far``: the user's words before."""

    def __init__(self, found: Digest, far: Sequence[Said]) -> None:
        self.found = found
        self._far = far
        self._said: list[Said] = []
        self.index = -1
        self._calls: dict[str, tuple[CallFacts, Step]] = {}
        self._failed: dict[tuple[str, str], Failure] = {}
        self._jobs: dict[str, tuple[str, NodeId, set[str]]] = {}
        self._last_text: tuple[str, NodeId] | None = None
        self._opening: int | None = 1 if far else None
        """The user's messages before the agent's first words; ``None`` while those last."""
        self.headlines: dict[str, str] = {}
        """Call id → the call in one line."""

    def node(self, node: NodeId, facts: NodeFacts) -> None:
        self.index += 1
        found = self.found
        if facts.kind == "user":
            self._end_of_turn()
            self._said.append(said(node, facts.text))
        elif facts.kind == "agent":
            if self._opening is None:
                self._opening = len(self._far) + len(self._said)
            if facts.text:
                self._last_text = (facts.text, node)
                found.words.append((facts.text, node))
        elif facts.kind == "earlier":
            found.earlier.append((facts.text, node))
        elif facts.kind == "rules":
            found.rules.append(said(node, facts.text))
        for name, kind, by, place in facts.names:
            self._mention(name, kind, by, place)
        for call in facts.calls:
            self._call(node, call)
        for result in facts.results:
            self._result(node, result)

    def finish(self) -> None:
        self._end_of_turn()
        words = Pieces([(self._far, 0, len(self._far)), (self._said, 0, len(self._said))])
        if words:
            # Instructions may be injected as a user's message, so the first request is not always
            # the first message.
            last = len(words) - 1
            stop = min(max(1, self._opening or 0), last)
            head = [one.ranked(1) for one in words[:stop]]
            end = [words[last].ranked(0)]
            self.found.said = Pieces([(head, 0, stop), (words, stop, last), (end, 0, 1)])
        self.found.failures = list(self._failed.values())
        self.found.jobs = [(headline, node) for headline, node, _ in self._jobs.values()]

    def _mention(self, name: str, kind: IdentifierKind, by: str, place: str) -> None:
        index = self.index
        known = self.found.mentions.get(name)
        if known is None:
            known = Mention(name, kind, index, index, schema=by == "schema")
            self.found.mentions[name] = known
        known.last = index
        if by in ("result", "user"):
            known.seen += 1
            known.told = known.told or by == "user"
        else:
            if known.used_last != index:
                known.uses += 1
                known.used_last = index
            if by == "said":
                known.said += 1
        if by != "schema":
            if known.schema:
                known.schema, known.place = False, ""
            known.place = place or known.place
        elif known.schema:
            known.place = place

    def _call(self, node: NodeId, facts: CallFacts) -> None:
        call = facts.call
        step = Step(_did(facts), node)
        self.headlines[facts.id] = step.headline
        self.found.steps.append(step)
        self._calls[facts.id] = (facts, step)
        for fact in call.facts:
            if fact.action in ("read", "changed", "created"):
                self._touch(fact.action, fact.target, node, facts.wrote)
        if call.background:
            self._jobs[facts.id] = (facts.headline, node, set())

    def _touch(self, action: str, path: str, node: NodeId, wrote: Iterable[str]) -> None:
        known = self.found.files.setdefault(path, FileTouch(path))
        if action == "read":
            known.reads += 1
        else:
            known.created = known.created or (
                action == "created" and not known.reads and not known.changes
            )
            known.changes += 1
            for line in wrote:
                known.wrote.pop(line, None)
                known.wrote[line] = None
        known.node, known.index = node, self.index

    def _result(self, node: NodeId, result: ResultFacts) -> None:
        asked = self._calls.pop(result.id, None)
        place = ""
        if asked is not None:
            fact = asked[0].call.facts[0] if asked[0].call.facts else None
            if fact is not None and fact.action in ("read", "changed", "created"):
                place = fact.target
        for name, kind in result.names:
            self._mention(name, kind, "result", place if name != place else "")
        if asked is None:
            return
        call, step = asked
        step.ended = result.ended.label
        for fact in call.call.facts:
            touched = self.found.files.get(fact.target)
            if touched is not None:
                touched.last = result.ended.label
            if fact.action == "ran":
                self._ran(fact.target, result, node)
        self._follow_jobs(call, result)
        if result.ended.failed:
            self._failed[call.key] = Failure(call.headline, result.lines, node)
        else:
            self._failed.pop(call.key, None)

    def _follow_jobs(self, call: CallFacts, result: ResultFacts) -> None:
        """A job is known by the ids in the answer to its start; a later call with such an id whose
        result states an exit code tells that it has ended."""
        started = self._jobs.get(call.id)
        if started is not None:
            started[2].update(name for name, kind in result.names if kind != "path")
            return
        if result.ended.exit_code is None:
            return
        for key in [k for k, (_, _, ids) in self._jobs.items() if not ids.isdisjoint(call.words)]:
            del self._jobs[key]

    def _ran(self, command: str, result: ResultFacts, node: NodeId) -> None:
        known = self.found.commands.pop(command, None)
        runs = 1 if known is None else known.runs + 1
        self.found.commands[command] = CommandRun(
            command, runs, result.ended, node, self.index, result.last
        )

    def _end_of_turn(self) -> None:
        if self._last_text is not None:
            self.found.notes.append(self._last_text)
            self._last_text = None


def _did(facts: CallFacts) -> str:
    """A call in one line that says what it changed where its own input does not show it."""
    fact = facts.call.facts[0] if facts.call.facts else None
    if fact is None or fact.action not in ("changed", "created"):
        return facts.headline
    more = len(facts.call.facts) - 1
    return f"{facts.call.name}: {fact.action} {fact.target}{f' and {more} more' if more else ''}"


def _plan(
    session: SessionInput, found: Digest, nodes: Sequence[NodeId], calls: Mapping[str, str]
) -> None:
    """The newest state of the agent's own list, whenever it was written, and what the log-only
    events of the region say about decisions."""
    entries = session.plan.entries
    noted = session.measure().noted
    for item in standing_items(entries[seq] for seq in reversed(noted)):
        text = one_line(item.text)
        if item.status == "completed":
            found.done_items.append(text)
        else:
            doing = " (in progress)" if item.status == "in_progress" else ""
            found.open_items.append(f"{text}{doing}")
    first, last = _seqs(nodes)
    for seq in noted[bisect_left(noted, first) : bisect_right(noted, last)]:
        entry = entries[seq]
        said = entry.meta.get("explanation")
        if entry.type == "approval/decision":
            found.decisions.append((_decided(entry, calls), seq))
        elif isinstance(said, str) and said.strip():
            found.decisions.append((one_line(said), seq))


def _decided(entry: LogEntry, calls: Mapping[str, str]) -> str:
    """An approval with the call that it is about, where that is known."""
    call = calls.get(str(entry.meta.get("call")))
    said = [str(v) for k, v in entry.meta.items() if k != "call" and isinstance(v, str) and v]
    return f"{call}: {', '.join(said)}" if call and said else entry.headline


def _seqs(nodes: Sequence[NodeId]) -> tuple[int, int]:
    """The first and the last seq of the agent's among the edges of these nodes."""
    first = next((node for node in nodes if isinstance(node, int)), 0)
    last = next((node for node in reversed(nodes) if isinstance(node, int)), -1)
    return first, last
