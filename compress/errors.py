"""The typed errors of the engine. Each message is the sentence that a person reads."""

from __future__ import annotations

from collections.abc import Sequence

from compress.events import NodeId


class CompressError(Exception):
    """Base of all refusals of the engine.

    ``code`` is stable and machine-readable; ``choices`` lists the ways out, if any.
    """

    code = "refused"

    def __init__(self, message: str, choices: Sequence[object] = ()) -> None:
        super().__init__(message)
        self.choices = tuple(choices)


class StaleNodeError(CompressError):
    """A seq that is unknown, or that stands no longer on the surface."""

    code = "stale_node"

    def __init__(self, node: NodeId, why: str) -> None:
        super().__init__(f"Event {node} {why}.")
        self.node = node


class UnbalancedBoundaryError(CompressError):
    """A boundary that would split a tool call from its result."""

    code = "unbalanced_boundary"
