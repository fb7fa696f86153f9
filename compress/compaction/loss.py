"""What an operation loses: names, instructions and errors that stand nowhere on the surface after
it. The same measure judges the agent's own compactions.

The reading is bounded, as a digest's is: of what stands, the nodes nearest to the end are read, up
to :data:`~compress.compaction.digest.RAW_TOKENS` and ``RAW_NODES``. Where nodes were left unread,
the report says how many: a name that stands in one of those alone is listed as lost though it is
not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from compress.compaction.digest import digest
from compress.compaction.facts import FactsCache, NodeFacts, strings
from compress.compaction.identifiers import identifiers, ranked
from compress.compaction.material import Digest, Failure, Said
from compress.compaction.reach import RAW_NODES, RAW_TOKENS
from compress.compaction.values import Lost, SessionInput
from compress.events import NodeId
from compress.messages.base import NodeContent
from compress.operations import is_operation_id
from compress.pieces import Pieces

_HEADLINE = 200
_ITEM = re.compile(r"\s*- (?:\[event \w+\] )?")
_QUOTED = 1_000_000
"""Characters of what stands, nearest to the end, in which words of a user's or an error's are
looked for; further off only a whole text that is the same counts."""
_QUOTED_NODES = 2_000
"""Nodes that hold these at the most."""
_SOUGHT = 400
"""Instructions and errors, the newest ones, that are looked for there."""


def lost_by(session: SessionInput, shadowed: Sequence[NodeId]) -> Lost:
    """What an operation lost that shadowed these nodes, the agent's own or one of the user's.
    ``session`` is the state right after it."""
    standing = ((node, session.tokens(node)) for node in reversed(session.plan.surface.nodes))
    found = told(session, shadowed)
    return lost_from(session, found, (), standing, len(session.plan.surface.nodes))


def told(session: SessionInput, nodes: Sequence[NodeId], behind: Digest | None = None) -> Digest:
    """What can be lost with these nodes: their own facts, and what the user's checkpoints among
    them hold word for word of the raw that they stand for. ``behind``: the facts of that raw,
    where they are known."""
    found = digest(session, nodes, opened=False)
    shadowed = session.plan.surface.shadowed
    checkpoints = [node for node in nodes if is_operation_id(node) and node in shadowed]
    if not checkpoints:
        return found
    behind = digest(session, checkpoints) if behind is None else behind
    held = "\n".join(_flat(text) for node in checkpoints for text in texts(session.content(node)))
    found.said = _with_quoted(found.said, behind.said, held)
    found.rules = [*_with_quoted(found.rules, behind.rules, held)]
    own = {one.node for one in found.failures}
    found.failures[:0] = [
        one
        for one in behind.failures[-_SOUGHT:]
        if one.node not in own and one.lines and all(_flat(line) in held for line in one.lines)
    ]
    return found


def _with_quoted(own: Sequence[Said], more: Sequence[Said], held: str) -> Sequence[Said]:
    """What stands word for word in a checkpoint's text, before what is there in any case."""
    known = {one.node for one in own}
    quoted = [one for one in more[-_SOUGHT:] if one.flat in held and one.node not in known]
    return Pieces([(quoted, 0, len(quoted)), (own, 0, len(own))])


def lost_from(
    session: SessionInput,
    found: Digest,
    brought: Sequence[str],
    standing: Iterable[tuple[NodeId, int]],
    count: int,
) -> Lost:
    """What of the facts of the nodes that go stands nowhere after: in none of the texts that are
    ``brought``, and in none of the ``count`` nodes that stay, each with its counted tokens, the
    nearest to the end first."""
    after = _Standing(brought)
    cache = session.cache or FactsCache()
    members = session.plan.surface.members
    budget, read = RAW_TOKENS, 0
    for node, weight in standing:
        budget -= weight
        if read and (budget < 0 or read >= RAW_NODES):
            break
        read += 1
        after.take(cache.facts(session.content, node, len(members[node])))
        if after.room > 0 and read <= _QUOTED_NODES:
            after.quote(texts(session.content(node)))
    names = ranked((m for m in found.mentions.values() if m.text not in after.names), found.length)
    said = Pieces([(found.rules, 0, len(found.rules)), (found.said, 0, len(found.said))])
    return Lost(
        identifiers=tuple(mention.text for mention in names),
        instructions=tuple(
            f"{one.flat[:_HEADLINE]} [event {one.node}]" for one in after.missing(said)
        ),
        errors=_errors(found.failures, after),
        unread=count - read,
    )


def texts(content: NodeContent) -> Iterable[str]:
    """All that a reader finds in a node: its texts, and the strings of its calls' inputs."""
    for event in content.events:
        for block in event.blocks:
            if block.text:
                yield block.text
            if block.input is not None:
                yield from strings(block.input)


class _Standing:
    """The texts that stand, as far as they are asked for."""

    def __init__(self, brought: Sequence[str]) -> None:
        self.names: set[str] = set()
        self.room = _QUOTED
        """Characters that :meth:`quote` still takes."""
        self._whole: set[str] = set()
        self._near: list[str] = []
        self._joined: str | None = None
        self._brought = "\n".join(_flat(text) for text in brought)
        self._lines = {line for text in brought for line in _bare_lines(text)}
        for text in brought:
            self._name(name for name, _ in identifiers(text))

    def take(self, facts: NodeFacts) -> None:
        """A node of which only the facts are looked at."""
        self._name(facts.every_name())
        if facts.text:
            self._whole.add(_flat(facts.text))
        for result in facts.results:
            self._whole.update(map(_flat, result.lines))

    def quote(self, found: Iterable[str]) -> None:
        """Texts in which others are looked for."""
        for text in found:
            flat = _flat(text)
            self._near.append(flat)
            self.room -= len(flat)

    def _name(self, found: Iterable[str]) -> None:
        names = set(found)
        self.names |= names
        for name in names:
            if "/" in name or "\\" in name:
                self.names.update(name.replace("\\", "/").split("/"))

    def missing(self, said: Sequence[Said]) -> Iterator[Said]:
        """The words that stand nowhere, in their order."""
        near = len(said) - _SOUGHT
        for index, one in enumerate(said):
            if not self.holds(one.flat, near=index >= near):
                yield one

    def holds(self, flat: str, *, near: bool) -> bool:
        """Whether a text stands: as a whole, as a line of what was brought, or, with ``near``,
        within another."""
        if flat in self._whole or flat in self._lines:
            return True
        if not near:
            return False
        if flat in self._brought:
            return True
        if self._joined is None:
            self._joined = "\n".join(self._near)
        return flat in self._joined


def _errors(failures: Sequence[Failure], after: _Standing) -> tuple[str, ...]:
    near = len(failures) - _SOUGHT
    return tuple(
        f"{failure.call}: {failure.lines[-1] if failure.lines else ''} [event {failure.node}]"
        for index, failure in enumerate(failures)
        if not all(after.holds(_flat(line), near=index >= near) for line in failure.lines)
    )


def _bare_lines(text: str) -> Iterator[str]:
    """The lines of a summary, without what marks an item and names its place."""
    for line in text.split("\n"):
        yield _flat(_ITEM.sub("", line, count=1))


def _flat(text: str) -> str:
    return " ".join(text.split())
