"""Decision points of one session, of a project or of all: brought up to date, chosen, masked."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

from compress.decisions.harvest import Judge
from compress.decisions.memory import within
from compress.decisions.state import VERSION
from compress.decisions.values import DecisionPoint
from compress.tokens import profile_of
from inspector.decision_choice import Wanted, is_below, is_wanted, is_within, time_of
from inspector.decision_reports import DecisionRow, DecisionsReport
from inspector.masking import Masker
from inspector.profile_choice import GENERIC
from inspector.settings import Settings
from inspector.zones import Zone
from storage import resources
from storage.catalog import SessionRecord
from storage.decisions import (
    KeptDecision,
    Rules,
    behind,
    bring_up,
    decisions,
    excess,
    graduate,
    kept_texts,
)
from storage.errors import StoreBusyError
from storage.ingest import Progress
from storage.profiles import built_in
from storage.store import Store

_HARVESTED = 30_000
"""Events that are harvested on the way to something else: a few seconds."""
_NEWEST = 500


def decisions_report(
    store: Store,
    sessions: Sequence[SessionRecord],
    settings: Settings,
    wanted: Wanted,
    zone: Zone,
    *,
    now: float,
    looking: bool = True,
    progress: Progress | None = None,
) -> DecisionsReport:
    """Harvests what these sessions got since, and gives the records that are wanted. What weighs
    too much for a session's memory has the level of its project's; that it graduated is recorded
    unless somebody is only ``looking``.

    Of several sessions, what one repeats of another (a fork, a resumed copy) is given once.
    """
    chosen = sorted(
        (s for s in sessions if wanted.project is None or is_below(s.cwd, wanted.project)),
        key=lambda s: (s.started_at or 0.0, s.id),
    )
    fresh: dict[int, list[DecisionPoint]] = {}
    above: set[tuple[int, str]] = set()
    for done, session in enumerate(chosen):
        if progress is not None:
            progress(done, len(chosen), Path(session.path))
        fresh[session.id] = bring_up(store, session, rules_of(session))
        if looking:
            names = excess(store, session, settings.memory_tokens)
            above.update((session.id, name) for name in names)
        else:
            graduate(store, session, settings.memory_tokens, now)
    if progress is not None and chosen:
        progress(len(chosen), len(chosen), Path(chosen[-1].path))
    found = decisions(store, chosen, copies=len(chosen) == 1)
    if not store.connections.takes_more:
        found = _with_fresh(chosen, found, fresh)
    found = [_raised(kept) if (kept.session.id, kept.point.id) in above else kept for kept in found]
    found = [kept for kept in found if is_wanted(kept.point, wanted)]
    undated = 0
    if wanted.since is not None or wanted.until is not None:
        undated = sum(time_of(kept.point) is None for kept in found)
        found = [kept for kept in found if is_within(kept.point, wanted, zone)]
    shown = found if wanted.whole else _shown(found, settings.project_memory_tokens)
    kept_back = {id(kept) for kept in found} - {id(kept) for kept in shown}
    masker = Masker()
    mask = masker.point if wanted.masked else _as_it_is
    rows = tuple(DecisionRow(session=kept.session.name, point=mask(kept.point)) for kept in shown)
    return DecisionsReport(
        rows=rows,
        hidden=len(kept_back),
        hidden_tokens=sum(kept.point.tokens for kept in found if id(kept) in kept_back),
        undated=undated,
        masked=masker.masked,
    )


def session_points(store: Store, session: SessionRecord, until: int) -> list[DecisionPoint]:
    """The newest records of one session that know of nothing behind a seq, by first event: brought
    up to date where that takes seconds at most, else those that are kept. None graduates."""
    rules = rules_of(session)
    fresh: list[DecisionPoint] = []
    if 0 < behind(store, session, rules) <= _HARVESTED:
        # While another process is writing, what is kept will do.
        with suppress(StoreBusyError):
            fresh = bring_up(store, session, rules)
    texts = kept_texts(store, [session], _NEWEST, until=until)
    found = {point.id: point for point in map(DecisionPoint.model_validate_json, _texts(texts))}
    if not store.connections.takes_more:
        found.update((point.id, point) for point in fresh)
    known = [point for point in found.values() if point.revision <= until]
    return sorted(known, key=lambda point: (int(point.first_seq), int(point.last_seq), point.id))


def _texts(rows: Sequence[tuple[int, str]]) -> Sequence[str]:
    return [text for _, text in rows]


def current_points(
    store: Store, session: SessionRecord, settings: Settings, *, now: float
) -> list[DecisionPoint]:
    """The records of one session, brought up to date, each at its level, by first event; what
    another session of its family holds already is left to that one."""
    fresh = bring_up(store, session, rules_of(session))
    graduate(store, session, settings.memory_tokens, now)
    found = decisions(store, [session], copies=False)
    if not store.connections.takes_more:
        found = _with_fresh([session], found, {session.id: fresh})
    return [kept.point for kept in found]


def _raised(kept: KeptDecision) -> KeptDecision:
    return replace(kept, point=kept.point.model_copy(update={"level": "L3"}))


def _as_it_is(point: DecisionPoint) -> DecisionPoint:
    return point


def _with_fresh(
    sessions: Iterable[SessionRecord],
    found: Iterable[KeptDecision],
    fresh: dict[int, list[DecisionPoint]],
) -> list[KeptDecision]:
    """Of a store that takes no more: what it holds, and what was harvested just now."""
    merged = {(kept.session.id, kept.point.id): kept for kept in found}
    for session in sessions:
        for point in fresh[session.id]:
            known = merged.get((session.id, point.id))
            level = "L2" if known is None else known.point.level
            newest = point.model_copy(update={"level": level})
            merged[session.id, point.id] = KeptDecision(session, newest)
    order = {session.id: place for place, session in enumerate(sessions)}
    return sorted(
        merged.values(),
        key=lambda kept: (order[kept.session.id], int(kept.point.first_seq), kept.point.id),
    )


def rules_of(session: SessionRecord) -> Rules:
    """What a session's records are harvested by."""
    counter = partial(resources.counter_for, session.model)
    vocabulary = profile_of(session.model).vocabulary
    return Rules(
        revision=f"{VERSION}:{vocabulary}:{_profiles_digest()}",
        count=lambda text: counter().count(text),
        judge=_judge,
    )


@cache
def _judge() -> Judge:
    # The built-in ones only: what was harvested must not depend on where one stands.
    profiles = [found.profile for found in built_in()]
    return Judge(profiles, next(profile for profile in profiles if profile.name == GENERIC))


@cache
def _profiles_digest() -> str:
    """Of the profiles that results are read with."""
    digest = hashlib.sha256()
    for found in built_in():
        digest.update(found.path.name.encode() + b"\0" + found.path.read_bytes())
    return digest.hexdigest()[:16]


def _shown(found: Sequence[KeptDecision], cap: int) -> list[KeptDecision]:
    """All of the sessions' memory, and of each project's the newest that fit under the cap."""
    projects: dict[str | None, list[DecisionPoint]] = {}
    for kept in found:
        if kept.point.level == "L3":
            projects.setdefault(kept.point.project, []).append(kept.point)
    within_cap = {id(point) for points in projects.values() for point in within(points, cap)}
    return [kept for kept in found if kept.point.level == "L2" or id(kept.point) in within_cap]
