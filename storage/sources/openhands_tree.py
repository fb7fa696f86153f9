"""A conversation of OpenHands' as its folder: ``base_state.json`` and one file an event.

The state's file stands for all of it. Of the state only what tells of the conversation is taken:
it also holds settings of the agent, keys among them, and is written anew with each event. What each
answer cost is a row of its own, so that it is kept once.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from storage.records import read_document
from storage.row_tail import Key, RowTail
from storage.sources.base import Stand
from storage.sources.values import listing, mapping

STATE = "base_state.json"
"""The file that stands for a conversation."""
EVENTS = "events"
EVENT_FILES = "event-[0-9]*-*.json"
"""How the files of the events are called."""
_NAME = re.compile(r"event-(\d{5,})-[0-9a-fA-F-]{8,}\.json")
_OLD_NAME = re.compile(r"(\d+)\.json")
OLD_FIRST = "0.json"
"""Before the SDK the file of the first event stands for all of them."""


def is_conversation(path: Path) -> bool:
    """Whether this file stands for a conversation, by its place."""
    if path.name == STATE:
        return (path.parent / EVENTS).is_dir()
    return path.name == OLD_FIRST and path.parent.name == EVENTS and path.is_file()


def conversation_of(path: Path) -> Path | None:
    """The file of the conversation that an event's file belongs to, by its place."""
    found = None
    if path.parent.name == EVENTS and _NAME.fullmatch(path.name):
        found = path.parent.parent / STATE
    elif path.parent.name == EVENTS and _OLD_NAME.fullmatch(path.name):
        found = path.with_name(OLD_FIRST)
    return found if found is not None and found.is_file() else None


class FolderTail(RowTail):
    """The files of one conversation as rows: its settings, what its answers cost, its events, and
    where it is."""

    _parsed: tuple[tuple[int, int, int], Mapping[str, Any], Mapping[str, Any]] | None = None
    """Of the state: how its file looked, what it says, and what each answer cost by it."""

    def stand(self) -> Stand | None:
        try:
            own = self.path.stat()
            files = _listed(self._folder())
            size, newest = own.st_size, own.st_mtime_ns
            for entry in files:
                facts = entry.stat()
                size += facts.st_size
                newest = max(newest, facts.st_mtime_ns)
        except OSError:
            return None
        # The number of files counts, too: an event may well be as old as another.
        return Stand(size, newest, own.st_dev, own.st_ino)

    def scan(self, known: Sequence[Key]) -> Iterator[Key]:
        seen = set(known)
        yield Key("conversation", self.path.name)
        yield from (key for name in self._spent() if (key := Key("usage", name)) not in seen)
        # No event's file is ever changed.
        names = (entry.name for entry in _listed(self._folder()))
        yield from (key for name in names if (key := Key("event", name)) not in seen)
        yield Key("head", self.path.name)

    def row(self, key: Key) -> dict[str, Any] | None:
        if key.table == "event":
            path = self._folder() / key.id
            if not path.is_file():
                return None
            data = read_document(path)
            return {} if data is None else {"table": key.table, "id": key.id, "data": data}
        state = self._state()
        if key.table == "usage":
            data = self._spent().get(key.id)
        elif not state:
            return {}
        elif key.table == "conversation":
            data = _settings(state)
        else:
            names = ("leaf_event_id", "head_is_empty", "execution_status")
            data = {name: state[name] for name in names if name in state}
        return None if data is None else {"table": key.table, "id": key.id, "data": data}

    def release(self) -> None:
        """Nothing is held open; the state that was parsed last is let go."""
        self._parsed = None

    def noted(self, value: dict[str, Any]) -> None:
        """All is looked at each time."""

    def forget(self) -> None:
        """There is nothing to forget."""

    def _folder(self) -> Path:
        return self.path.parent / EVENTS if self.path.name == STATE else self.path.parent

    def _state(self) -> Mapping[str, Any]:
        """What the state's file says now."""
        return self._told()[0]

    def _spent(self) -> Mapping[str, Any]:
        """What each answer cost, by a name that it keeps."""
        return self._told()[1]

    def _told(self) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        """The state and its figures; parsed once as long as the file stays the same."""
        if self.path.name != STATE:
            return {}, {}
        try:
            facts = self.path.stat()
        except OSError:
            return {}, {}
        stand = facts.st_mtime_ns, facts.st_size, facts.st_ino
        if self._parsed is None or self._parsed[0] != stand:
            state = mapping(read_document(self.path))
            self._parsed = stand, state, _usages(state)
        return self._parsed[1:]


def _listed(folder: Path) -> list[os.DirEntry[str]]:
    """The files of events, in the order of the log."""
    with os.scandir(folder) as entries:
        numbered = [
            (int(match[1]), entry.name, entry)
            for entry in entries
            if (match := _NAME.fullmatch(entry.name) or _OLD_NAME.fullmatch(entry.name))
        ]
    return [entry for _, _, entry in sorted(numbered, key=lambda one: one[:2])]


def _settings(state: Mapping[str, Any]) -> dict[str, Any]:
    model = mapping(mapping(state.get("agent")).get("llm")).get("model")
    folder = mapping(state.get("workspace")).get("working_dir")
    told = {"id": state.get("id"), "model": model, "working_dir": folder}
    return {name: value for name, value in told.items() if isinstance(value, str)}


def _usages(state: Mapping[str, Any]) -> Mapping[str, Any]:
    """What each answer cost, by a name that it keeps."""
    told = mapping(mapping(state.get("stats")).get("usage_to_metrics"))
    return {
        f"{model}/{index}": figures
        for model, metrics in told.items()
        for index, figures in enumerate(listing(mapping(metrics).get("token_usages")))
    }
