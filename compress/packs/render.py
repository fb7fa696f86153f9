"""A pack as text: readable by a person and a model, and never a request.

Markdown in a frame that says what it is. Each belief stands under the name of its session, behind
a pointer to the events that it comes from, in log order. A text of several lines stands in a fence
that nothing in it can close, and the frame's name is one that nothing in the pack can close, so
that every content stands as it is, byte for byte, and stays data.

Each entry ends with a blank line and begins with ``[``, so that the tokens of a pack are the sum of
those of its entries, for both public vocabularies.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from compress.beliefs.fences import fenced
from compress.beliefs.values import Belief, BeliefType
from compress.events import NodeId
from compress.packs.frame import Frame
from compress.packs.rank import log_order

_TITLES: Mapping[BeliefType, str] = {
    "instruction": "user",
    "answer": "agent",
    "action": "did",
    "decision": "decision",
    "plan_step": "plan",
    "file_snapshot": "file",
    "tool_result": "result",
    "summary": "summary",
    "note": "note",
    "context": "context",
}
_RANGES = 3
"""Ranges of events that a pointer lists; of more, it names the first event and the last."""
_LABEL = 120


@dataclass(frozen=True, slots=True)
class Entry:
    """A belief with the text that stands for it."""

    belief: Belief
    rendered: str


def heading(session: str) -> str:
    """The line over the beliefs of a session; nothing where there is just one session."""
    return f"## session {_one_line(session)}\n\n" if session else ""


def entry(belief: Belief, rendered: str) -> str:
    """A belief behind its pointer."""
    about = _one_line(belief.label)
    title = _TITLES[belief.belief_type]
    # Whatever a program put there tells by its label what it is.
    name = about if about and title == "context" else f"{title} {about}".rstrip()
    if belief.part is not None and belief.part[1] > 1:
        name += f" ({belief.part[0] + 1}/{belief.part[1]})"
    mark = ", pinned" if belief.locked else ""
    head = f"[{pointer(belief)}{mark}] {name}"
    if not rendered:
        return f"{head}\n\n"
    if len(rendered.splitlines()) == 1 and rendered == rendered.strip():
        return f"{head}: {rendered}\n\n"
    return f"{head}\n{fenced(rendered)}\n"


def shown(belief: Belief) -> tuple[str, ...]:
    """All texts of a belief that may stand in a pack."""
    return (belief.content, belief.label, belief.session, belief.id)


def pointer(belief: Belief) -> str:
    """The events that a belief comes from, as ranges; its id where it names none."""
    ranges = list(_ranges(belief.source_event_seqs))
    if not ranges:
        return belief.id
    if len(ranges) > _RANGES:
        return f"{ranges[0][0]} … {ranges[-1][-1]}"
    return ", ".join("-".join(map(str, dict.fromkeys((r[0], r[-1])))) for r in ranges)


def pack_text(entries: Sequence[Entry], frame: Frame, sessions: Sequence[str]) -> str:
    """The whole pack: the sessions in this order, in each the entries in log order."""
    parts = [frame.head]
    for session in sessions:
        own = [one for one in entries if one.belief.session == session]
        own.sort(key=lambda one: (log_order(one.belief.source_event_seqs), one.belief.part or ()))
        if own:
            parts.append(heading(session))
            parts.extend(entry(one.belief, one.rendered) for one in own)
    return "".join([*parts, frame.foot])


def _ranges(nodes: Sequence[NodeId]) -> Iterable[list[NodeId]]:
    found: list[list[NodeId]] = []
    for node in nodes:
        last = found[-1][-1] if found else None
        if isinstance(node, int) and isinstance(last, int) and node == last + 1:
            found[-1].append(node)
        else:
            found.append([node])
    return found


def _one_line(text: str) -> str:
    return " ".join(text.split())[:_LABEL]
