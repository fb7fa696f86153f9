"""The shape that every agent's rendering shares."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from compress.events import ContentBlock, NodeId, Role, SessionEvent


@dataclass(frozen=True, slots=True)
class NodeContent:
    """A standing node with its events, blocks included, in the order in which they are sent."""

    node: NodeId
    events: tuple[SessionEvent, ...]


@dataclass(frozen=True, slots=True)
class Message:
    """One message as the agent sends it. ``seqs`` names the events that it is made of; a message
    that the agent makes up itself (a synthetic result) may name none."""

    role: Role
    blocks: tuple[ContentBlock, ...]
    seqs: tuple[NodeId, ...]


Renderer = Callable[[Sequence[NodeContent]], list[Message]]
"""Nodes in surface order → the messages that this agent would send for them."""
