"""What an operation loses: names, instructions and errors that stand nowhere on the surface after
it. The same measure judges the agent's own compactions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from compress.compaction.digest import RAW_TOKENS, Digest, digest, strings
from compress.compaction.identifiers import identifiers, ranked
from compress.compaction.values import Lost, SessionInput
from compress.events import NodeId
from compress.messages.base import NodeContent

_HEADLINE = 200


def lost(found: Digest, standing: Sequence[str]) -> Lost:
    """What of a digest stands in none of the texts. Names most likely needed again come first;
    instructions and errors are in log order, each with the event that holds it."""
    present: set[str] = set()
    for text in standing:
        for name, _ in identifiers(text):
            present.add(name)
            present.update(name.replace("\\", "/").split("/"))
    flat = {_flat(text) for text in standing}
    joined = "\n".join(sorted(flat))
    names = ranked((m for m in found.mentions.values() if m.text not in present), found.length)
    said = [*found.rules, *found.said]
    return Lost(
        identifiers=tuple(mention.text for mention in names),
        instructions=tuple(
            f"{_flat(one.text)[:_HEADLINE]} [event {one.node}]"
            for one in said
            if _flat(one.text) not in joined
        ),
        errors=tuple(
            f"{failure.call}: {failure.lines[-1] if failure.lines else ''} [event {failure.node}]"
            for failure in found.failures
            if any(_flat(line) not in joined for line in failure.lines)
        ),
    )


def lost_by(session: SessionInput, shadowed: Sequence[NodeId]) -> Lost:
    """What an operation lost that shadowed these nodes, the agent's own or one of the user's.
    ``session`` is the state right after it."""
    standing: list[str] = []
    budget = RAW_TOKENS
    for node in reversed(session.plan.surface.nodes):
        budget -= session.tokens(node)
        if budget < 0:
            break
        standing.extend(texts(session.content(node)))
    return lost(digest(session, shadowed, opened=False), standing)


def texts(content: NodeContent) -> Iterable[str]:
    """All that a reader finds in a node: its texts, and the strings of its calls' inputs."""
    for event in content.events:
        for block in event.blocks:
            if block.text:
                yield block.text
            if block.input is not None:
                yield from strings(block.input)


def _flat(text: str) -> str:
    return " ".join(text.split())
