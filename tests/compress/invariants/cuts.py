"""Real sessions, cut at ten moments each, compacted in three ways: run as a module, in a process of
its own, it prints a line for every preview."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

from compress.compaction.facts import FactsCache
from compress.compaction.micro import preview_micro
from compress.compaction.policy import Policy
from compress.compaction.service import preview_auto, preview_region
from compress.compaction.values import PressureInputs, Preview, SessionInput
from compress.errors import CompressError
from compress.events import NodeId, SessionEvent
from compress.pins import pin_draft
from storage.sources.registry import adapter_of, registry
from tests.compress.histories import legal_ends
from tests.compress.logs import Log
from tests.derivation import read

FOLDERS = ("claude", "codex", "dsh", "openai", "pi")
CUTS = 10
WAYS = ("auto", "region", "micro")


@dataclass(frozen=True, slots=True)
class Cut:
    """A session up to one of its events, in a window that it just fills, one node pinned."""

    name: str
    log: Log
    pinned: NodeId
    window: int
    ends: tuple[NodeId, NodeId]
    """Of a region of whole units."""
    cache: FactsCache

    def session(self) -> SessionInput:
        """As it is now. The facts are kept only while no operation has brought a node."""
        own = len(self.log.rows) == 1
        return self.log.session(
            window=self.window, policy=Policy(), cache=self.cache if own else None
        )

    def preview(self, way: str, used: int | None = None) -> Preview | None:
        """A preview of what there is now. Raises :class:`CompressError` where it is refused."""
        session = self.session()
        pressure = PressureInputs(self.window if used is None else used, self.window)
        if way == "auto":
            return preview_auto(session, pressure)
        if way == "micro":
            return preview_micro(session, pressure)
        return preview_region(session, *self.ends)


def sessions(corpus: Path) -> Iterator[tuple[str, list[SessionEvent]]]:
    """Every session that an adapter reads, by a name of its own."""
    for path in sorted(p for folder in FOLDERS for p in (corpus / folder).iterdir()):
        adapter = adapter_of(registry(), path) if path.is_file() else None
        if adapter is None:
            continue
        _, by_session = read(adapter, path)
        for key, events in sorted(by_session.items()):
            yield f"{path.parent.name}/{path.stem}#{key}", events


def cuts(name: str, events: list[SessionEvent]) -> Iterator[Cut]:
    """The moments at one tenth, two tenths … of a session; those without a surface left out."""
    entries, cache = Log(events=events).entries, FactsCache()
    for tenth in range(1, CUTS + 1):
        at = len(events) * tenth // CUTS
        random = Random(f"{name} {tenth}")
        log = Log(events=events[:at], _entries={seq: entries[seq] for seq in range(1, at + 1)})
        nodes = log.nodes()
        ends = legal_ends(log, random)
        if not nodes or ends is None:
            continue
        session = log.session()
        total = sum(session.tokens(node) for node in nodes)
        pinned = random.choice(nodes)
        log.commit(pin_draft(session.plan, pinned))
        yield Cut(f"{name}@{at}", log, pinned, max(1, total), ends, cache)


def told(preview: Preview | CompressError | None) -> str:
    """A preview, or why there is none, in one short word."""
    if isinstance(preview, CompressError):
        return f"{preview.code} {hashlib.sha256(str(preview).encode()).hexdigest()[:16]}"
    return hashlib.sha256(repr(preview).encode()).hexdigest()[:16]


def attempt(cut: Cut, way: str) -> Preview | CompressError | None:
    """A preview, or why there is none."""
    try:
        return cut.preview(way)
    except CompressError as error:
        return error


def lines(corpus: Path) -> Iterator[str]:
    """All previews of all cuts."""
    for name, events in sessions(corpus):
        for cut in cuts(name, events):
            yield from (f"{cut.name} {way} {told(attempt(cut, way))}" for way in WAYS)


if __name__ == "__main__":
    print("\n".join(lines(Path(sys.argv[1]))))
