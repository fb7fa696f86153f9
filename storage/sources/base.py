"""What every agent's adapter is: discovery, recognition, and one reader a file.

``bytes → Record → FileReader.feed → SessionEvent``. A reader is a deterministic state machine:
the same records, in pieces or whole, give the same events with the same seqs. To go on after a
restart, the ingest feeds the known prefix of the file again and drops what comes out.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Protocol, Self

from compress.events import ContentBlock, SessionEvent

if TYPE_CHECKING:
    from storage.tail import Batch, Position

Json = Any


LONGEST_NAME = 200
"""Characters of an unknown type that are kept."""


class Record(NamedTuple):
    """One line of a log (or one row of another store)."""

    line: int
    """1-based."""
    offset: int
    """Byte offset of the first byte of the line."""
    raw: bytes
    """The line without its newline. Empty for a stub (a line above the cap)."""
    value: Json = None
    """The parsed JSON; ``None`` where it could not be parsed."""
    size: int = 0
    """Bytes of the line on disk, newline excluded."""
    damage: str | None = None
    """Why ``value`` is missing or was repaired; ``None`` for a clean line."""


@dataclass(slots=True)
class SessionFacts:
    """What the records say of their session. Grows as records arrive; last non-empty value wins."""

    key: str = ""
    """Distinguishes the sessions of one file; ``""`` for its main one."""
    native_id: str = ""
    agent_version: str | None = None
    cwd: str | None = None
    title: str | None = None
    model: str | None = None
    window: int | None = None
    """Tokens, where the log states the context window itself."""
    parent_native_id: str | None = None
    """Of a sub-agent's session, or of a fork: the session that it came from."""
    relation: Literal["main", "subagent", "fork"] = "main"
    parent_call_id: str | None = None
    """The tool call of the parent that started this sub-agent, where it is known."""
    turn_open: bool = False
    """A turn has begun and not ended."""
    waiting: bool = False
    """The last thing that stands is an approval or a question to the user."""
    ended: bool = False


class Numbering:
    """Gives each (native id, block) of one session its seq: the old one where it is known, else
    the next. Handed to readers, so that operations can name seqs at once."""

    def __init__(self, known: dict[str, int] | None = None) -> None:
        self._known = {} if known is None else known
        self.next = max(self._known.values(), default=0) + 1

    def seq(self, native_id: str, block: int = 0) -> int:
        """The seq of this identity; the next free number at first sight."""
        key = f"{native_id}\x1f{block}"
        seq = self._known.get(key)
        if seq is None:
            seq = self._known[key] = self.next
            self.next += 1
        return seq


class Derived(NamedTuple):
    """What one record gave to one session."""

    session: str
    """The session's key in the file, see :class:`SessionFacts`."""
    events: Sequence[SessionEvent]


class FileReader(ABC):
    """Turns the records of one file, in order, into events."""

    def __init__(self, path: Path, numbering: Mapping[str, Numbering] | None = None) -> None:
        self.path = path
        self.sessions: dict[str, SessionFacts] = {}
        self._numberings: dict[str, Numbering] = dict(numbering or {})
        self.unknown_types: dict[str, int] = {}
        self.recognised = 0
        """Records whose type the adapter knows; the base of the recognition rate (R26)."""

    def numbering(self, session: str) -> Numbering:
        """The numbering of a session of this file, made at first use."""
        return self._numberings.setdefault(session, Numbering())

    def _count_unknown(self, name: str) -> str:
        """Counts a record of a type that the adapter does not know. Returns what the count and an
        event call that type: at most 200 characters."""
        name = name[:LONGEST_NAME]
        self.unknown_types[name] = self.unknown_types.get(name, 0) + 1
        return name

    @abstractmethod
    def feed(self, record: Record) -> Iterable[Derived]:
        """The events of one record. Never raises for what a record holds: what is not understood
        becomes an ``unknown`` event, a damaged line gives nothing (the ingest counts it)."""


class Stand(NamedTuple):
    """What the files of a log look like; equal as long as nothing was written."""

    size: int
    """Bytes of all of them."""
    mtime_ns: int
    """The newest."""
    device: int = 0
    inode: int = 0


Contents = Callable[[int], tuple[ContentBlock, ...]]
"""Block index of an event → its content."""

History = Callable[[], Iterator[bytes]]
"""The raw records that the store holds of a log, in order."""


class LogTail(Protocol):
    """What the ingest asks of a log: :class:`storage.tail.Tail`, or what an adapter keeps for logs
    that are no files of lines."""

    path: Path
    position: Position

    def read(self, *, final: bool = False) -> Batch: ...

    def prefix(self, batch_bytes: int) -> Iterator[Record]:
        """The records from the beginning, as they were read."""

    def pieces(self, offset: int, size: int) -> Iterator[bytes]: ...

    def close(self) -> None: ...

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


@dataclass(frozen=True, slots=True)
class Root:
    """A place where an agent keeps its logs."""

    path: Path
    pattern: str
    """A glob below ``path``, as :meth:`pathlib.Path.glob` takes it."""
    source: str = "default"
    """Why this place: the name of the environment variable, or ``default``."""


class SourceAdapter(ABC):
    """One agent's log format. Stateless; one instance serves all files."""

    agent: ClassVar[str]
    """The agent's short name, as ``--json`` prints it."""
    revision: ClassVar[int]
    """Bumped when the same bytes give other events; files of an older revision are read anew."""
    global_ids: ClassVar[bool] = False
    """Whether a native id names the same event in every file, so that a copy of the history (a
    fork, a resume) is recognised and counted once."""

    approximate: ClassVar[str | None] = None
    """Why what is shown of this agent is not just what it sends, in words; ``None`` where it is."""
    beside: ClassVar[tuple[str, ...]] = ()
    """Names (as ``fnmatch`` takes them) of files that lie among the logs and are none."""

    def roots(self, environment: Mapping[str, str], home: Path) -> Iterator[Root]:
        """Where this agent's logs are, by its own environment variables, then its defaults.
        Default: it has no place of its own, and reads what it is pointed at."""
        return iter(())

    def keeps(self, path: Path) -> bool:
        """Whether this log is no file of lines (a database, a tree of files), so that it is read
        by the adapter's own :meth:`tail`. Default: none is."""
        return False

    def stand(self, path: Path) -> Stand | None:
        """Of a log that it keeps: what its files look like; ``None`` where there is nothing."""
        raise NotImplementedError

    def tail(self, path: Path, position: Position | None, history: History) -> LogTail:
        """Of a log that it keeps: what reads it from there. ``history`` gives back what the store
        holds of it."""
        raise NotImplementedError

    def log_of(self, path: Path) -> Path:
        """The log that a changed file belongs to. Default: it is the log."""
        return path

    def select(self, paths: Sequence[Path]) -> Sequence[Path]:
        """Of the files found below one root, those that count. Default: all of them."""
        return paths

    @abstractmethod
    def recognises(self, path: Path, head: Sequence[Json]) -> bool:
        """Whether a file whose first records (up to 20 parsed lines) are ``head`` is this
        agent's."""

    @abstractmethod
    def open(self, path: Path, numbering: Mapping[str, Numbering] | None = None) -> FileReader:
        """A reader at the start of this file."""

    @abstractmethod
    def blocks(self, value: Json, block: int) -> tuple[ContentBlock, ...]:
        """The content of one event, from its raw record alone: what ``feed`` put into
        ``SessionEvent.blocks`` for the event with this block index."""

    def contents(self, value: Json) -> Contents:
        """The same for all events of a record, which may have many: what they share is decoded
        once. Default: each by itself."""
        return partial(self.blocks, value)


@dataclass(slots=True)
class Registry:
    """The adapters, in the order in which they are asked to recognise a file."""

    adapters: list[SourceAdapter] = field(default_factory=list)

    def for_agent(self, agent: str) -> SourceAdapter:
        """Raises ``KeyError`` for an agent without an adapter."""
        for adapter in self.adapters:
            if adapter.agent == agent:
                return adapter
        raise KeyError(agent)

    def keeper(self, path: Path) -> SourceAdapter | None:
        """The adapter that reads this log itself, if one does."""
        return next((a for a in self.adapters if a.keeps(path)), None)

    def log_of(self, path: Path) -> Path:
        """The log that a changed file belongs to."""
        found = (log for a in self.adapters if (log := a.log_of(path)) != path)
        return next(found, path)

    def passes_over(self, path: Path) -> bool:
        """Whether an adapter knows by the name that this file is no log."""
        patterns = (pattern for adapter in self.adapters for pattern in adapter.beside)
        return any(fnmatchcase(path.name, pattern) for pattern in patterns)

    def recognise(self, path: Path, head: Sequence[Json]) -> SourceAdapter | None:
        """The first adapter that knows this file, or ``None``."""
        return next((a for a in self.adapters if a.recognises(path, head)), None)
