"""``doctor``: what was found, what was understood, what was not, and how the store is."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from inspector.locations import Locations
from inspector.reports import DoctorReport, SourceReport
from inspector.settings import Loaded
from storage import resources
from storage.catalog import SourceRecord
from storage.sources.registry import approximation
from storage.store import Store


def doctor(store: Store, locations: Locations, settings: Loaded) -> DoctorReport:
    """Looks at the agents' folders, the store, the vocabularies and the settings; reads no log."""
    found = locations.discovery()
    known = store.sources()
    reports: list[SourceReport] = []
    placed: set[int] = set()
    # An agent may keep logs of several forms in one place.
    places = {(owner, root.path): 0 for root, owner in zip(found.roots, found.owners, strict=True)}
    for candidate in found.candidates:
        places[candidate.agent, candidate.root.path] += 1
    for (owner, path), files in places.items():
        here = [s for s in known if s.id not in placed and _below(s, path)]
        placed.update(source.id for source in here)
        agents = {source.agent for source in here if source.agent} or {owner}
        reports.append(_report(", ".join(sorted(agents)), str(path), files, here))
    elsewhere: dict[str, list[SourceRecord]] = defaultdict(list)
    for source in known:
        if source.id not in placed:
            elsewhere[source.agent or "unknown"].append(source)
    for name, sources in sorted(elsewhere.items()):
        reports.append(_report(name, "(given by path)", len(sources), sources))
    return DoctorReport(
        sources=tuple(reports),
        store=dict(store.health()),
        tokenizer={
            "vocabularies": dict(resources.DIGESTS),
            "default": "o200k_base",
            "counted_by": resources.counted_by(),
        },
        settings=settings.provenance(),
    )


def _report(agent: str, root: str, files: int, sources: list[SourceRecord]) -> SourceReport:
    unknown: dict[str, int] = defaultdict(int)
    for source in sources:
        for name, count in source.unknown_types.items():
            unknown[name] += count
    return SourceReport(
        agent=agent,
        root=root,
        files=files,
        records=sum(source.records for source in sources),
        recognised=sum(source.recognised for source in sources),
        unknown_types=dict(sorted(unknown.items())),
        problems=sum(source.damaged + (source.note is not None) for source in sources),
        notes=tuple(f"{source.path}: {source.note}" for source in sources if source.note),
        approximate=approximation(agent) if sources else None,
    )


def _below(source: SourceRecord, root: Path) -> bool:
    return Path(source.path).is_relative_to(root.resolve())
