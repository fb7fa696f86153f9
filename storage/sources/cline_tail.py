"""The files of one Cline conversation as rows.

All of them are rewritten whole at each change. A task lies in a folder: its messages, the entries
of the screen (which say when messages were left out of requests), texts that are sent in place of
others, and what the list of tasks says of it. A session's messages have a manifest and a compacted
list beside them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from storage.records import parse_record, read_document
from storage.refusals import refusal
from storage.row_tail import Key, RowTail, UnreadableError
from storage.sources.base import Stand
from storage.sources.cline_messages import PREFIX
from storage.sources.cline_reader import SESSION_SUFFIX, TASK_FILE
from storage.sources.cline_sidecar import holds
from storage.sources.values import count, listing, mapping
from storage.tail import stand_of

SCREEN_FILE = "ui_messages.json"
EDITS_FILE = "context_history.json"
METADATA_FILE = "task_metadata.json"
COMPACTION_SUFFIX = ".compaction.json"
_TASK_LIST = Path("state", "taskHistory.json")
_HEAD_BYTES = 4096
_FORKS = frozenset({"rooveterinaryinc.roo-cline", "kilocode.kilo-code"})
_FORKS_FILE = "history_item.json"


def is_task(path: Path) -> bool:
    """Whether this is the file that stands for a task, by its name."""
    return path.name == TASK_FILE and path.is_file() and not is_fork(path)


def is_fork(path: Path) -> bool:
    """Whether this is a task of Roo Code or Kilo Code, which keep the same files and send them by
    another rule; by its place, or by a file that only they have."""
    folders = {part.lower() for part in path.parts}
    return bool(folders & _FORKS) or path.with_name(_FORKS_FILE).is_file()


def is_session(path: Path) -> bool:
    """Whether this is a session's transcript, by its name and its beginning."""
    if not path.name.endswith(SESSION_SUFFIX):
        return False
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD_BYTES)
    except OSError:
        return False
    return b'"updated_at"' in head and b'"messages"' in head


def main_file(path: Path) -> Path | None:
    """The file that stands for the conversation that this one belongs to, by its place."""
    if path.name in (SCREEN_FILE, EDITS_FILE, METADATA_FILE):
        found = path.with_name(TASK_FILE)
    elif path.name.endswith(COMPACTION_SUFFIX):
        found = path.with_name(path.name.removesuffix(COMPACTION_SUFFIX) + SESSION_SUFFIX)
    elif path.suffix == ".json" and not path.name.endswith(SESSION_SUFFIX):
        found = path.with_name(path.stem + SESSION_SUFFIX)
    else:
        return None
    return found if found.is_file() else None


class ClineTail(RowTail):
    """Reads one conversation."""

    _rows: Mapping[Key, dict[str, Any]] | None = None
    """What the files held at the newest look; ``None`` before one."""
    _unread: frozenset[str] = frozenset()
    """Tables of files beside that are not there, or half written."""

    def stand(self) -> Stand | None:
        own = stand_of(self.path)
        if own is None:
            return None
        found = [own, *(stand for path in self._beside() if (stand := stand_of(path)))]
        size, newest = sum(one.size for one in found), max(one.mtime_ns for one in found)
        return Stand(size, newest, own.device, own.inode)

    def scan(self, known: Sequence[Key]) -> Iterator[Key]:
        try:
            main = _parsed(self.path.read_bytes())
        except OSError as error:
            raise UnreadableError(refusal(self.path, error)) from None
        if main is None:
            raise UnreadableError("not a whole document")
        is_task_ = self.path.name == TASK_FILE
        rows = list(self._task_rows(main) if is_task_ else self._session_rows(main))
        self._rows = {Key(row["table"], row["id"]): row for row in rows}
        yield from self._rows
        gone = [
            key
            for key in known
            if key not in self._rows and key.table.removeprefix(PREFIX) not in self._unread
        ]
        # The last first, so that each step is a short one.
        yield from reversed(gone)

    def row(self, key: Key) -> dict[str, Any] | None:
        return (self._rows or {}).get(key)

    def release(self) -> None:
        self._rows = None

    def noted(self, value: dict[str, Any]) -> None:
        """All is looked at each time."""

    def forget(self) -> None:
        """There is nothing to forget."""

    def _beside(self) -> tuple[Path, ...]:
        names = [SCREEN_FILE, EDITS_FILE, METADATA_FILE]
        if self.path.name != TASK_FILE:
            stem = self.path.name.removesuffix(SESSION_SUFFIX)
            names = [f"{stem}.json", f"{stem}{COMPACTION_SUFFIX}"]
        return tuple(self.path.with_name(name) for name in names)

    def _session_rows(self, main: Any) -> Iterator[dict[str, Any]]:
        manifest, state = (read_document(path) for path in self._beside())
        missing = {"manifest": manifest, "compaction": state}
        self._unread = frozenset(
            table
            for (table, value), path in zip(missing.items(), self._beside(), strict=True)
            if value is None and path.exists()
        )
        if isinstance(manifest, dict):
            left_out = ("pid", "ended_at")
            told = {key: manifest[key] for key in manifest if key not in left_out}
            yield _row("manifest", "", told)
        fields = mapping(main)
        head = {key: fields[key] for key in fields if key not in ("messages", "updated_at")}
        yield _row("head", "", head)
        messages = listing(fields.get("messages"))
        replaced = count(mapping(state).get("source_message_count"))
        compaction = None
        if isinstance(state, dict):
            compaction = {**_row("compaction", "", state), "holds": holds(state, messages)}
        for index, message in enumerate(messages):
            if compaction is not None and index == replaced:
                yield compaction
            yield _row("item", str(index), message)
        if compaction is not None and (replaced is None or replaced >= len(messages)):
            yield compaction

    def _task_rows(self, main: Any) -> Iterator[dict[str, Any]]:
        screen, edits, metadata = (read_document(path) for path in self._beside())
        found = {"screen": screen, "edit": edits, "metadata": metadata}
        self._unread = frozenset(
            table
            for (table, value), path in zip(found.items(), self._beside(), strict=True)
            if value is None and path.exists()
        )
        told = self._listed()
        if told is None:
            self._unread |= {"task"}
        if isinstance(metadata, dict):
            kept = ("model_usage", "environment_history")
            yield _row("metadata", "", {key: metadata.get(key) for key in kept})
        messages = listing(main)
        waiting = _Beside(listing(screen), _edits(edits), messages)
        for index, message in enumerate(messages):
            yield _row("message", str(index), message)
            yield from waiting.up_to(index)
        yield from waiting.up_to(None)
        if told is not None:
            yield _row("task", "", told)

    def _listed(self) -> dict[str, Any] | None:
        """What the list of tasks says of this one. It changes with every task, so that it is read
        when this one's own files have."""
        tasks = (
            read_document(self.path.parents[2] / _TASK_LIST) if len(self.path.parents) > 2 else None
        )
        name = self.path.parent.name
        return next((one for one in map(mapping, listing(tasks)) if one.get("id") == name), None)


class _Beside:
    """The entries of the screen and the edits, in the order in which they came between the
    messages."""

    def __init__(
        self,
        screen: list[Any],
        edits: Mapping[int, list[tuple[int, str, str]]],
        messages: list[Any],
    ) -> None:
        self._screen = screen
        self._messages = messages
        self._edits = sorted(
            (time, index, block, text)
            for index, changes in edits.items()
            for time, block, text in changes
        )
        self._now: dict[int, dict[str, str]] = {}
        self._at = 0

    def up_to(self, index: int | None) -> Iterator[dict[str, Any]]:
        """The rows that came before the message behind this one; all that are left for
        ``None``."""
        while self._at < len(self._screen):
            entry = mapping(self._screen[self._at])
            at = count(entry.get("conversationHistoryIndex"))
            if index is not None and (at is None or at > index):
                return
            time = count(entry.get("ts")) or 0
            # An edit bears the time of the request before it.
            yield from self._edited(time)
            if entry.get("partial") is not True:
                yield _row("screen", str(self._at), self._screen[self._at])
            self._at += 1
        if index is None:
            yield from self._edited(None)

    def _edited(self, before: int | None) -> Iterator[dict[str, Any]]:
        changed: set[int] = set()
        while self._edits and (before is None or self._edits[0][0] < before):
            _, index, block, text = self._edits.pop(0)
            self._now.setdefault(index, {})[block] = text
            changed.add(index)
        for index in sorted(changed):
            if index < len(self._messages):
                row = _row("edit", str(index), self._messages[index])
                yield {**row, "edits": self._now[index]}


def _edits(value: Any) -> dict[int, list[tuple[int, str, str]]]:
    """Message → time, block and text of each change, as ``ContextManager`` keeps them."""
    found: dict[int, list[tuple[int, str, str]]] = {}
    for entry in map(listing, listing(value)):
        index = count(entry[0]) if entry else None
        # The message's kind, then its blocks.
        kept = listing(entry[1]) if len(entry) > 1 else []
        blocks = listing(kept[1]) if len(kept) > 1 else []
        for block, changes in (pair[:2] for pair in map(listing, blocks) if len(pair) > 1):
            for change in map(listing, listing(changes)):
                if index is None or count(block) is None or len(change) < 3 or change[1] != "text":
                    continue
                texts = listing(change[2])
                if texts and isinstance(texts[0], str):
                    told = (count(change[0]) or 0, str(block), texts[0])
                    found.setdefault(index, []).append(told)
    return found


def _row(table: str, name: str, data: Any) -> dict[str, Any]:
    return {"table": PREFIX + table, "id": name, "data": data}


def _parsed(raw: bytes) -> Any:
    record = parse_record(1, 0, raw)
    return None if record is None else record.value
