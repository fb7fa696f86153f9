"""Where a belief comes from → how long it holds, and what it is. One table, which may be changed.

What a person said, decided or committed is a fact. A file as it was read, and any other state of
the world, is a snapshot of its moment. What a command printed, and progress, is transient. All else
is unknown, which is rendered whole: nothing is lost by a class that was not foreseen.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import get_args

from compress.beliefs.values import BeliefType, RetentionClass
from compress.errors import CompressError


@dataclass(frozen=True, slots=True)
class Source:
    """What a kind of source gives."""

    retention: RetentionClass
    type: BeliefType


SOURCES: Mapping[str, Source] = {
    "user": Source("fact", "instruction"),
    "steering": Source("fact", "instruction"),
    "decision": Source("fact", "decision"),
    "note": Source("fact", "note"),
    "answer": Source("snapshot", "answer"),
    "action": Source("snapshot", "action"),
    "plan_step": Source("snapshot", "plan_step"),
    "file_read": Source("snapshot", "file_snapshot"),
    "file_written": Source("snapshot", "file_snapshot"),
    "found": Source("snapshot", "tool_result"),
    "checkpoint": Source("snapshot", "summary"),
    "command": Source("transient", "tool_result"),
    "progress": Source("transient", "tool_result"),
    "tool": Source("unknown", "tool_result"),
    "context": Source("unknown", "context"),
}
"""``answer``: the agent's words. ``action``: a call of a tool, as it was made. ``found``: what a
search, a listing or a fetch gave. ``command``: what a command printed. ``progress``: that a change
was made, a list updated. ``tool``: what any other tool gave. ``context``: what a program put
beside the person's words."""


class ClassError(CompressError):
    """A table of classes that names a source or a class that there is not."""

    code = "class"


def sources(changes: Mapping[str, str] | None = None) -> Mapping[str, Source]:
    """The table, with other classes where ``changes`` (source kind → class) says so.

    Raises :class:`ClassError`, which names the key or the value, for an unknown one.
    """
    if not changes:
        return SOURCES
    table = dict(SOURCES)
    for kind, value in changes.items():
        if kind not in SOURCES:
            raise ClassError(
                f"There is no kind of source {kind!r}; there are {', '.join(SOURCES)}.",
                choices=tuple(SOURCES),
            )
        table[kind] = Source(_retention(kind, value), SOURCES[kind].type)
    return table


def _retention(kind: str, value: str) -> RetentionClass:
    classes: tuple[RetentionClass, ...] = get_args(RetentionClass)
    for known in classes:
        if value == known:
            return known
    raise ClassError(
        f"{value!r}, given for {kind}, is no class; there are {', '.join(classes)}.",
        choices=classes,
    )
