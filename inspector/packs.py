"""Retrieval packs: what a query finds, fitted under a budget, previewed, saved, committed."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from compress.beliefs.classes import sources
from compress.beliefs.values import Strategy
from compress.errors import CompressError
from compress.events import NodeId
from compress.operations import OperationDraft
from compress.packs.draft import pack_draft
from compress.packs.fit import pack
from compress.packs.values import Candidate, PackLine, PackRequest
from inspector import pack_files
from inspector.decision_choice import is_below
from inspector.export_files import named_path
from inspector.loaded import LoadedSession
from inspector.pack_candidates import Place, Reader, candidates_of
from inspector.pack_reports import PackHandle, PackLineReport, PackReport
from inspector.sanitize import line
from inspector.settings import Loaded
from storage import resources
from storage.catalog import SessionRecord
from storage.scripts import is_searchable
from storage.store import Store

_FEWEST, _MOST = 48, 256
"""Events that are read for a pack …"""
_EVENT_TOKENS = 50
"""… one for so many tokens of its budget."""
_READ = 4
"""Tokens that are read, for each of the budget; at least and at most as many as …"""
_LEAST_READ, _MOST_READ = 12_000, 100_000
_KEPT = 4
"""Sets of candidates: another budget, another choice of lines is answered from them."""


class UnknownBeliefError(CompressError):
    """A belief that is not among the candidates, or the beginning of several."""

    code = "unknown_belief"


class ContradictionError(CompressError):
    """One line, and two wishes that exclude each other."""

    code = "contradiction"


class PackPlaceError(CompressError):
    """A place that cannot be packed from, or a session that a pack was not made for."""

    code = "pack_place"


@dataclass(frozen=True, slots=True)
class Wish:
    """What is asked for. ``project``: all sessions of the session's folder, or of this one.
    ``compression``: ``None`` means as the settings say. Choices are by a belief's id; where
    ``abbreviated``, by a beginning that one candidate alone has, and others are refused."""

    query: str
    budget: int | None = None
    project: bool | Path = False
    compression: bool | None = None
    overrides: Mapping[str, Strategy] = field(default_factory=dict)
    excluded: Collection[str] = ()
    included: Collection[str] = ()
    allow_overflow: bool = False
    at: NodeId | None = None
    abbreviated: bool = False
    kept: bool = True
    """Candidates that were found for the same query may be used again."""


class Packing:
    """Makes packs from one store. Safe in any thread."""

    def __init__(self, store: Store, loaded: Loaded, load: Callable[[str], LoadedSession]) -> None:
        self._store = store
        self._loaded = loaded
        self._load = load
        self._sources = sources(loaded.settings.beliefs.classes)
        self._kept: OrderedDict[object, tuple[Candidate, ...]] = OrderedDict()
        self._lock = threading.Lock()

    def pack(self, session: str | None, wish: Wish) -> PackHandle:
        """A preview; writes no operation and no file.

        Raises :class:`compress.packs.errors.PackBudgetError`, :class:`PackPlaceError`,
        :class:`UnknownBeliefError`, :class:`ContradictionError`,
        :class:`storage.errors.UnknownSessionError`.
        """
        settings = self._loaded.settings
        place = self._place(session, wish)
        counter = resources.counter_for(None if place.own is None else place.own.model)
        reader = Reader(self._store, counter, self._sources, self._load)
        budget = settings.pack_budget if wish.budget is None else wish.budget
        candidates = self._candidates(reader, place, wish, _wanted(budget))
        compression, source = self.compression(wish.compression)
        request = _request(wish, budget, compression, [one.belief.id for one in candidates])
        made = pack(candidates, request, counter)
        own = None if place.own is None else place.own.name
        return PackHandle(
            PackReport(
                query=wish.query,
                scope=place.scope,
                session=own,
                budget=budget,
                tokens=made.tokens,
                overflow=made.overflow,
                counter=made.counter,
                compression=compression,
                compression_source=source,
                text=made.text,
                lines=tuple(line_report(line, own or "") for line in made.lines),
                note=_note(wish.query, place, candidates),
            ),
            made,
        )

    def found(self, session: str, wish: Wish, budget: int) -> tuple[Candidate, ...]:
        """The candidates of one session that a pack of this budget would be made of."""
        place = self._place(session, wish)
        own = self._store.find(session)
        reader = Reader(self._store, resources.counter_for(own.model), self._sources, self._load)
        return self._candidates(reader, place, wish, _wanted(budget))

    def draft(self, handle: PackHandle, record: SessionRecord) -> OperationDraft:
        """What a commit on this session appends.

        Raises :class:`PackPlaceError`, :class:`compress.packs.draft.EmptyPackError`.
        """
        made_for = handle.report.session
        if made_for != record.name and handle.report.scope == "session":
            raise PackPlaceError(
                f"This pack points to events of {made_for}, so it cannot stand in {record.name}: "
                f"pack {record.name}, its project or the store."
            )
        tokens = handle.pack.tokens
        counter = resources.counter_for(record.model)
        if counter.name != handle.pack.counter:
            tokens = counter.count(handle.pack.text)
        return pack_draft(handle.pack, record.name, tokens, scope=handle.report.scope)

    def saved(self, handle: PackHandle, place: Path) -> PackReport:
        """Writes the pack's files. Raises :class:`inspector.export_files.ExportFileError`."""
        with pack_files.written(handle.report, place) as files:
            return handle.report.model_copy(update={"files": files})

    def committed(
        self, handle: PackHandle, session: str, place: Path | None, append: Callable[[], str]
    ) -> PackReport:
        """Writes the files, beside the store where no place is named, and appends; neither without
        the other."""
        report = handle.report.model_copy(update={"session": session})
        return pack_files.committed(report, self._store.path, place, append)

    def _place(self, session: str | None, wish: Wish) -> Place:
        if session is None:
            if not wish.project:
                return Place("store", None)
            if not isinstance(wish.project, Path):
                raise PackPlaceError("A project is that of a session or of a folder: name one.")
            return Place("project", self._below(wish.project))
        own = self._store.find(session)
        if not wish.project:
            return Place("session", (own,), own, wish.at)
        if wish.at is not None:
            raise PackPlaceError("A past moment is one session's: leave out the project.")
        if isinstance(wish.project, Path):
            return Place("project", self._below(wish.project), own)
        same = [s for s in self._store.sessions() if s.id == own.id or s.cwd == own.cwd]
        if own.cwd is None:
            raise PackPlaceError(
                f"The log of {own.name} names no folder, so its project is unknown: pack the "
                "session alone, or the whole store."
            )
        return Place("project", tuple(same), own)

    def _below(self, folder: Path) -> tuple[SessionRecord, ...]:
        root = str(named_path(folder).absolute())
        found = tuple(s for s in self._store.sessions() if is_below(s.cwd, root))
        if not found:
            raise PackPlaceError(
                f"No session in the store was in {root}: ullage sessions lists them with their "
                "projects; without --project the whole store is asked."
            )
        return found

    def compression(self, asked: bool | None) -> tuple[bool, str]:
        """The value, and where it was set."""
        if asked is not None:
            return asked, "chosen"
        loaded = self._loaded
        origin = loaded.origins.get("type_aware_compression", "default")
        return loaded.settings.type_aware_compression, origin

    def _candidates(
        self, reader: Reader, place: Place, wish: Wish, wanted: tuple[int, int]
    ) -> tuple[Candidate, ...]:
        key = (
            None if place.own is None else place.own.id,
            None if place.sessions is None else tuple(s.id for s in place.sessions),
            place.scope,
            place.at,
            wish.query,
            wanted,
            reader.counter.name,
            self._store.data_version(),
        )
        with self._lock:
            if wish.kept and key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        found = candidates_of(reader, place, wish.query, *wanted)
        with self._lock:
            self._kept[key] = found
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        return found


def _note(query: str, place: Place, candidates: Sequence[Candidate]) -> str | None:
    """What a query lacked."""
    if not query.strip():
        return None
    if (lack := symbols_only(query)) is not None:
        return lack
    if any(one.match for one in candidates):
        return None
    where = "the session" if place.scope == "session" else f"the {place.scope}"
    only = "; only what is pinned is packed" if candidates else ""
    return f"No event of {where} holds a word of {_quoted(query)}{only}."


def symbols_only(query: str) -> str | None:
    """That a query says nothing to look for, where it is so."""
    if not query.strip() or is_searchable(query):
        return None
    return (
        f"{_quoted(query)} holds no letter and no digit, so it says nothing to look for: what is "
        "newest and most used is taken."
    )


def _quoted(query: str) -> str:
    return f"“{line(query.strip(), 60)}”"


def _wanted(budget: int) -> tuple[int, int]:
    """Events and tokens that are read for a pack of so many tokens."""
    return (
        max(_FEWEST, min(_MOST, budget // _EVENT_TOKENS)),
        max(_LEAST_READ, min(_MOST_READ, budget * _READ)),
    )


def _request(wish: Wish, budget: int, compression: bool, known: Sequence[str]) -> PackRequest:
    whole = (lambda names: _whole(names, known)) if wish.abbreviated else list
    overrides: dict[str, Strategy] = {}
    for name, strategy in zip(whole(wish.overrides), wish.overrides.values(), strict=True):
        if overrides.setdefault(name, strategy) != strategy:
            raise ContradictionError(
                f"{name} is asked for as {overrides[name]} and as {strategy}: choose one."
            )
    excluded, included = frozenset(whole(wish.excluded)), frozenset(whole(wish.included))
    if both := sorted(excluded & included):
        raise ContradictionError(f"{both[0]} is both to be packed and to be left out: choose one.")
    return PackRequest(
        query=wish.query,
        budget=budget,
        type_aware=compression,
        overrides=overrides,
        excluded=excluded,
        included=included,
        allow_overflow=wish.allow_overflow,
    )


def _whole(names: Collection[str], known: Sequence[str]) -> list[str]:
    """The ids that these begin."""
    found = []
    for name in names:
        fitting = [name] if name in known else [one for one in known if one.startswith(name)]
        if len(fitting) != 1 or not name:
            why = "is the beginning of several candidates" if fitting else "is no candidate"
            raise UnknownBeliefError(
                f"{name!r} {why} of this pack; the preview lists their ids.", fitting[:10]
            )
        found.append(fitting[0])
    return found


def line_report(line: PackLine, own: str) -> PackLineReport:
    """A candidate's line. ``own``: the session of those that name none."""
    belief = line.belief
    return PackLineReport(
        belief=belief.id,
        type=belief.belief_type,
        retention=belief.retention_class,
        label=belief.label,
        locked=belief.locked,
        strategy=line.strategy,
        fell_back=line.fell_back,
        rank=line.rank,
        score=round(line.score, 6),
        tokens_raw=line.tokens_raw,
        tokens_rendered=line.tokens_rendered,
        packed=line.packed,
        reason=line.reason,
        duplicate_of=line.duplicate_of,
        source_event_seqs=belief.source_event_seqs,
        session=belief.session or own,
        rendered=line.rendered,
    )
