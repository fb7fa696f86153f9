"""The state machine over the records of one Gemini CLI log.

The log is a map of messages by id, as the CLI's own loader builds it: a line sets one message, a
checkpoint sets all, a rewind takes some away. Each record gives the events of what is new in it,
and the operation that makes the surface the list of the map again. What a copy of a message
repeats keeps its node: what a compression kept is what it was before.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from storage.sources.base import Derived, Numbering, Record
from storage.sources.draft import Identities, type_name, word
from storage.sources.gemini_events import Emission, Node, View
from storage.sources.gemini_messages import Decoded, GeminiMessage, Group, decode
from storage.sources.gemini_turns import GeminiTurns, is_answer
from storage.sources.values import mapping, string, timestamp


class _Known:
    """Nodes that a later copy of their message may repeat, each once."""

    def __init__(self, nodes: Sequence[Node] = ()) -> None:
        self._by_key: dict[tuple[bytes, View | None], deque[Node]] = {}
        self.add(nodes)

    def add(self, nodes: Sequence[Node]) -> None:
        """These, too, before those that are known already."""
        for node in reversed(nodes):
            self._by_key.setdefault((node.key, node.view), deque()).appendleft(node)

    def take(self, key: bytes, view: View | None) -> Node | None:
        """The next node that says this, if there is one."""
        found = self._by_key.get((key, view))
        return found.popleft() if found else None

    def take_beginning(self, group: Group, own: Iterable[Node]) -> Node | None:
        """Of the message's own nodes, the answer of which the group is the continuation."""
        told = [slot.key for slot in group.slots]
        for node in own:
            found = self._by_key.get((node.key, node.view))
            begins = node.type == group.type and node.slots == told[: len(node.slots)]
            if begins and found and node in found:
                found.remove(node)
                return node
        return None


class GeminiReader(GeminiTurns):
    """One file, one session."""

    def __init__(self, path: Path, numbering: Mapping[str, Numbering] | None = None) -> None:
        super().__init__(path, numbering)
        self._identities = Identities()
        self._messages: dict[str, list[Node]] = {}
        """The nodes of each message, in the order in which they are sent."""
        self._dropped = _Known()
        """What checkpoints left out."""
        self._answers: dict[str, Node] = {}
        """Call → the result that the running agent sent."""
        self._noted: set[tuple[str, bytes]] = set()

    def feed(self, record: Record) -> Iterable[Derived]:
        if record.value is None and record.damage is not None:
            return ()
        value = mapping(record.value)
        decoded = decode(record.value)
        self._begin(record, value, decoded)
        self.recognised += decoded.is_known
        self._is_message = decoded.kind == "message"
        if self._is_message and not decoded.is_known:
            self._count_unknown(type_name(record.value))
        if decoded.kind == "unknown":
            self._log("unknown", {"type": self._count_unknown(type_name(record.value))})
        elif decoded.kind == "rewind":
            self._rewind(string(value.get("$rewindTo")))
        elif decoded.kind in ("metadata", "checkpoint"):
            self._tell(mapping(value.get("$set")))
            if decoded.kind == "checkpoint":
                self._restart(record, decoded)
        else:
            if decoded.kind == "head":
                self._head(value)
            self._follow(record, decoded)
        return (Derived("", self._events),) if self._events else ()

    def _begin(self, record: Record, value: Mapping[str, Any], decoded: Decoded) -> None:
        self._events, self._extras = [], {}
        if decoded.kind == "message":
            self._native = self._identities.own(string(value.get("id")))
            self._time = timestamp(value.get("timestamp"))
        elif decoded.kind == "head":
            self._native = self._identities.own(f"session:{value.get('sessionId')}")
            self._time = timestamp(value.get("startTime"))
        else:
            self._native = self._identities.of(record, record.value)
            self._time = timestamp(mapping(value.get("$set")).get("lastUpdated"))

    def _wanted(self) -> list[Node]:
        return [node for nodes in self._messages.values() for node in nodes]

    def _rewind(self, target: str) -> None:
        """Takes away the message and all after it; all there are where it is not known."""
        is_known, standing = target in self._messages, len(self._standing)
        while self._messages:
            name, nodes = self._messages.popitem()
            standing -= len(nodes)
            for node in nodes:
                node.alive = False
            if is_known and name == target:
                break
        if standing < len(self._standing):
            del self._standing[standing:]
            self._mark("rewind", standing)

    def _follow(self, record: Record, decoded: Decoded) -> None:
        """Messages that come one after another, each as new or in place of its earlier state."""
        emissions: list[Emission] = []
        known = {message.id for message in decoded.messages if message.id in self._messages}
        # What stands before the first message that is written again is not looked at.
        number, since = len(self._messages), self._since(known)
        at = len(self._standing) - sum(len(nodes) for nodes in self._newest(since))
        for message in decoded.messages:
            native = self._native
            if decoded.kind == "contents" or not message.id:
                native = self._identities.of(record, message.raw)
            elif decoded.kind == "head":
                native = self._identities.own(message.id)
            name = message.id or native
            earlier = self._messages.get(name, [])
            if name not in self._messages:
                self._situate(message, name)
            for node in earlier:
                node.alive = False
            emissions += self._match(message, name, native, _Known(earlier), earlier)
            self._tell_workspace(message)
        tail = self._newest(since + len(self._messages) - number)
        wanted = [node for nodes in reversed(tail) for node in nodes]
        self._place(emissions, wanted, compacts=False, at=at)
        self._tell_after(emissions, decoded)

    def _since(self, names: set[str]) -> int:
        """How many messages there are from the first of these on."""
        found = 0
        for number, name in enumerate(reversed(self._messages), 1):
            if not names:
                break
            if name in names:
                names.remove(name)
                found = number
        return found

    def _newest(self, messages: int) -> list[list[Node]]:
        """The nodes of so many messages, the newest first."""
        return list(islice(reversed(self._messages.values()), messages))

    def _restart(self, record: Record, decoded: Decoded) -> None:
        """A checkpoint: these are all messages now."""
        before, self._messages = self._messages, {}
        nodes = [node for found in before.values() for node in found]
        for node in nodes:
            node.alive = False
        # A resume within the minute first writes a list without the history, then the whole.
        self._dropped.add(nodes)
        turns = {
            group.call
            for message in decoded.messages
            for group in message.groups
            if group.told_by == "turn" and group.call is not None
        }
        # An id that comes twice is one message: at its first place, with its last content.
        found = {m.id or f"{self._native}.{m.block}": m for m in decoded.messages}
        emissions: list[Emission] = []
        for name, message in found.items():
            earlier = before.get(name, [])
            emissions += self._match(
                message, name, self._native, self._dropped, earlier, turns=turns
            )
        self._place(emissions, self._wanted(), compacts=bool(before))
        self._tell_after(emissions, decoded)

    def _match(
        self,
        message: GeminiMessage,
        name: str,
        native: str,
        known: _Known,
        earlier: list[Node],
        *,
        turns: set[str] | None = None,
    ) -> list[Emission]:
        """Sets the nodes of a message: those that are known already, and new ones. Returns what
        must be told of it. ``turns``: in a checkpoint, the calls whose results its turns bring."""
        nodes: list[Node] = []
        made: list[Emission] = []
        block = message.block
        for group in message.groups:
            node: Node | None = None
            first = 0
            if not group.stands:
                first = 0 if self._is_news(name, group) else len(group.slots)
            else:
                view = self._view(group, earlier, turns)
                node = known.take(group.key, view)
                if node is not None:
                    first = len(group.slots)
                elif group.type == "assistant/message":
                    node = known.take_beginning(group, earlier)
                    first = 0 if node is None else len(node.slots)
                if node is None:
                    node = Node(group.type, view, group.call)
                if first < len(group.slots):
                    node.take(group)
                node.alive = True
                nodes.append(node)
                if group.call is not None and view is None:
                    self._answers[group.call] = node
            if first < len(group.slots):
                made.append(
                    Emission(
                        name,
                        native,
                        message.raw,
                        group,
                        node,
                        block + first,
                        first,
                        self._turn or None,
                        self._step_of(group, name, is_copy=turns is not None),
                        timestamp(message.raw.get("timestamp")),
                        word(message.raw.get("model")) if node and is_answer(group) else None,
                    )
                )
            block += len(group.slots)
        self._messages[name] = nodes
        return made

    def _view(self, group: Group, earlier: list[Node], turns: set[str] | None) -> View | None:
        """In which view alone it stands. A result is in the log twice, with its call and in the
        turn that brought it: the running agent sent it once, a resume sends both."""
        if group.live_only:
            return "live"
        if group.call is None:
            return None
        if turns is not None and group.call in turns:
            return None if group.told_by == "turn" else "resume"
        told = self._answers.get(group.call)
        return "resume" if told is not None and told.alive and told not in earlier else None

    def _is_news(self, name: str, group: Group) -> bool:
        """Whether this log-only event was not told of before."""
        told = (name, group.slots[0].key)
        if told in self._noted:
            return False
        self._noted.add(told)
        return True

    def _tell_after(self, emissions: list[Emission], decoded: Decoded) -> None:
        """What requests cost whose answers were told before, or say nothing."""
        native_of = {emission.message: emission.native for emission in emissions}
        for message in decoded.messages:
            usage = self._news_of_cost(message.id, message.raw) if message.id else None
            if usage is None:
                continue
            nodes = self._messages.get(message.id, [])
            self._log(
                "usage",
                native=native_of.get(message.id),
                step=self._steps.get(message.id),
                usage=usage,
                request=next((n.seq for n in nodes if n.type == "assistant/message"), None),
                model=word(message.raw.get("model")),
            )
