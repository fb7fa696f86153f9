"""Which of OpenHands' events its model sees, and in which order.

Source: OpenHands/software-agent-sdk 1.58 (``View``, its properties, ``EventLog.path_to_root``) and
openhands-ai 0.62 (``View.from_events``). The view of a resume is enforced as the agent enforces it
when it loads a conversation, but for calls that still wait for their result: those are left out
where the messages are rendered, since the agent first runs what waits.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field

from storage.sources.openhands_events import Entry

ROOT = "__root__"
"""What the agent calls the parent of an event that begins a conversation anew."""
_MOST_DIGITS = 16
"""Of a number in a range: none goes beyond 2^53."""


@dataclass(slots=True, eq=False)
class Item:
    """An event of the conversation."""

    name: str
    entry: Entry
    parent: Item | None = None
    node: int = 0
    """Its node; 0 where it has none."""
    loop: int = 0
    """The loop of tools that it is a part of, from 1."""
    is_state: bool = False
    """It tells of the agent's state: no event follows on it."""
    is_legacy: bool = False

    @property
    def seen_as(self) -> str:
        """Its name in the view: a condensation stands there as its summary."""
        return f"{self.name}-summary" if self.entry.place == "condensation" else self.name


@dataclass(slots=True)
class Forgotten:
    """Names of events, those of a range by its edges alone: a log may name any."""

    names: set[str] = field(default_factory=set)
    _starts: list[int] = field(default_factory=list)
    """Of the ranges, ascending; no two of them touch."""
    _stops: list[int] = field(default_factory=list)

    def add(self, names: Sequence[str] | range) -> None:
        """These, too. A range has steps of one."""
        if not isinstance(names, range):
            self.names.update(names)
        elif names:
            first = bisect_left(self._stops, names.start)
            behind = bisect_right(self._starts, names.stop)
            start, stop = names.start, names.stop
            if first < behind:
                start = min(start, self._starts[first])
                stop = max(stop, self._stops[behind - 1])
            self._starts[first:behind] = [start]
            self._stops[first:behind] = [stop]

    def __contains__(self, name: str) -> bool:
        return name in self.names or self._in_range(name)

    def _in_range(self, name: str) -> bool:
        if not (len(name) <= _MOST_DIGITS and name.isascii() and name.isdecimal()):
            return False
        number = int(name)
        at = bisect_right(self._starts, number) - 1
        return at >= 0 and number < self._stops[at] and str(number) == name


@dataclass(slots=True)
class _Branch:
    """Of the events on the way to the tip what makes the view whole. Of those before the SDK only
    that the view was ever condensed."""

    is_condensed: bool = False
    holds_new: bool = False
    """Events of the SDK's."""
    answers: dict[str, set[str]] = field(default_factory=dict)
    """Answer → its actions."""
    loops: dict[int, set[str]] = field(default_factory=dict)
    answered: set[str | None] = field(default_factory=set)
    """The calls that have a result."""

    def add(self, item: Item) -> None:
        """This one is the tip now; the loop that it is a part of is known."""
        entry = item.entry
        self.is_condensed = self.is_condensed or entry.place == "condensation"
        if item.is_legacy:
            return
        self.holds_new = True
        if entry.place == "action" and entry.response is not None:
            self.answers.setdefault(entry.response, set()).add(item.name)
        if item.loop:
            self.loops.setdefault(item.loop, set()).add(item.name)
        if entry.place == "result":
            self.answered.add(entry.call)


@dataclass(slots=True)
class Conversation:
    """All events, the branch that is in force, and the view of it."""

    items: dict[str, Item] = field(default_factory=dict)
    newest: Item | None = None
    """In the log."""
    tip: Item | None = None
    """Of the branch."""
    view: list[Item] = field(default_factory=list)
    """What is seen, before the properties are enforced."""
    loops: int = 0
    _branch: _Branch = field(default_factory=_Branch)
    _loop: int = 0
    _behind: set[Item] = field(default_factory=set)
    """Events behind the tip on which none follows."""
    _gone: Forgotten = field(default_factory=Forgotten)
    """Before the SDK: all that was ever forgotten."""
    _kept: list[Item] = field(default_factory=list)
    """Before the SDK: the view without the summary."""
    _answers: dict[str, Item] = field(default_factory=dict)
    """Before the SDK: the newest action of each answer."""
    _open: dict[str, None] = field(default_factory=dict)
    """The calls in the view that have no result there."""
    _answered: set[str | None] = field(default_factory=set)
    """The calls whose result is in the view."""

    def add(self, item: Item, parent: str | None) -> bool:
        """Takes a new event. Returns whether it goes on where the branch ended; else it began
        another branch, which is in force now."""
        at = self._parent(parent)
        item.parent = at
        goes_on = at is self.tip or at in self._behind or (parent is None and not self.items)
        self.items[item.name] = item
        self.newest = item
        if item.is_state:
            if goes_on:
                self._behind.add(item)
                if parent is None:
                    self._follow_loop(item)
            return True
        if goes_on:
            self.tip, self._behind = item, set()
            self._see(item)
            return True
        self.go_to(item)
        return False

    def go_to(self, item: Item | None) -> None:
        """The branch that ends with this event is in force."""
        path = self._path(item)
        self.tip, self._behind = item, set()
        self.view, self._kept, self._gone, self._loop = [], [], Forgotten(), 0
        self._branch = _Branch()
        self._match()
        for each in path:
            self._see(each)

    def node_of(self, entry: Entry, *, is_legacy: bool) -> int | None:
        """The node of the answer that this action, which is to be added, is a part of."""
        if entry.response is None or entry.place != "action":
            return None
        if is_legacy:
            # The actions of an answer were run one by one, their results between them.
            item = self._answers.get(entry.response)
            return item.node or None if item is not None and item.name not in self._gone else None
        last = self.view[-1] if self.view else None
        if last is None or last.entry.place != "action" or last.entry.response != entry.response:
            return None
        return last.node or None

    def standing(self) -> list[int]:
        """The nodes of the enforced view, in order."""
        return list(dict.fromkeys(item.node for item in self._enforced() if item.node))

    def waiting(self) -> list[str]:
        """The calls that have no result yet."""
        return list(self._open)

    def _parent(self, name: str | None) -> Item | None:
        if name == ROOT:
            return None
        # Without a parent it follows on the event before it, as all did before there were branches.
        return self.newest if name is None else self.items.get(name, self.tip)

    def _path(self, item: Item | None) -> list[Item]:
        path = []
        seen = set()
        while item is not None and item.name not in seen:
            seen.add(item.name)
            path.append(item)
            item = item.parent
        return path[::-1]

    def _see(self, item: Item) -> None:
        place = item.entry.place
        self._follow_loop(item)
        self._branch.add(item)
        if place == "condensation":
            if item.is_legacy:
                self._condense_legacy(item)
            else:
                gone = set(item.entry.forgets)
                self.view = [each for each in self.view if each.seen_as not in gone]
                if item.entry.summary_at is not None:
                    self.view.insert(item.entry.summary_at, item)
            self._match()
        elif place not in ("outside", "unknown") and item.name not in self._gone:
            self.view.append(item)
            self._match_one(item.entry)
            if item.is_legacy:
                self._kept.append(item)
                if place == "action" and item.entry.response is not None:
                    self._answers[item.entry.response] = item

    def _match(self) -> None:
        """The view is another: which of its calls have a result."""
        self._answered = {i.entry.call for i in self.view if i.entry.place == "result"}
        self._open = {}
        for item in self.view:
            self._match_one(item.entry)

    def _match_one(self, entry: Entry) -> None:
        if entry.place == "result":
            self._answered.add(entry.call)
            self._open.pop(entry.call or "", None)
        elif entry.place == "action" and entry.call and entry.call not in self._answered:
            self._open[entry.call] = None

    def _condense_legacy(self, item: Item) -> None:
        """Before the SDK the newest summary alone is seen, at its place among all that was never
        forgotten."""
        self._gone.add(item.entry.forgets)
        self._kept = [each for each in self._kept if each.name not in self._gone]
        summary = item if item.entry.summary_at is not None else None
        if summary is None:
            summary = next((i for i in self.view if i.entry.place == "condensation"), None)
        self.view = [*self._kept]
        if summary is not None:
            self.view.insert(summary.entry.summary_at or 0, summary)

    def _follow_loop(self, item: Item) -> None:
        """Actions and results, beginning with one that has signed thinking, with nothing else
        between, are a loop."""
        place = item.entry.place
        if place == "action" and item.entry.thinks:
            if not item.loop:
                self.loops += 1
                item.loop = self.loops
            self._loop = item.loop
        elif place in ("action", "result"):
            item.loop = item.loop or self._loop
        else:
            self._loop = 0

    def _enforced(self) -> list[Item]:
        """The view without what the agent drops since it is not whole any more."""
        view, branch = self.view, self._branch
        if not (branch.is_condensed and branch.holds_new):
            return view
        while True:
            dropped = _broken(view, branch)
            if not dropped:
                return view
            view = [item for item in view if item.name not in dropped]


def _broken(view: Sequence[Item], branch: _Branch) -> set[str]:
    """What the first property that does not hold takes out of the view, in the agent's order."""
    dropped: set[str] = set()
    seen: set[str | None] = set()
    for item in view:
        if item.entry.place == "result":
            if item.entry.call in seen:
                dropped.add(item.name)
            seen.add(item.entry.call)
    if dropped:
        return dropped
    names = {item.name for item in view}
    actions = [item for item in view if item.entry.place == "action"]
    for item in actions:
        # An action from before the SDK may have an answer that the branch knows nothing of.
        if not branch.answers.get(item.entry.response or "", set()) <= names:
            dropped.add(item.name)
    if dropped:
        return dropped
    calls = {item.entry.call for item in actions}
    dropped = {
        i.name for i in actions if i.entry.call in branch.answered and i.entry.call not in seen
    }
    dropped |= {i.name for i in view if i.entry.place == "result" and i.entry.call not in calls}
    if dropped:
        return dropped
    return {
        item.name for item in view if item.loop and not branch.loops.get(item.loop, set()) <= names
    }
