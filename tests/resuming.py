"""A log, a plan on it, and the copy that resumes it. Shared by the tests of all writers."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal, Self

from compress.errors import CompressError
from compress.events import ContentBlock, NodeId
from compress.messages import Message, derive_messages
from compress.pairing import pairing
from compress.surface import fold
from inspector.contents import Contents
from inspector.loaded import LoadedSession
from inspector.resume_reports import ResumeReport
from inspector.settings import load_settings
from inspector.usecases import UseCases
from storage.sources.registry import registry
from storage.store import Store
from tests.derivation import content, read

NOW = 1_780_000_000.0
"""2026-05-28: the time of every copy, later than any log."""

PlanKind = Literal["plain", "region", "auto", "micro", "pins"]
PLANS: Sequence[PlanKind] = ("plain", "region", "auto", "micro", "pins")


@dataclass(frozen=True)
class Copied:
    """A copy, and what it must hold."""

    report: ResumeReport
    path: Path
    agent: str
    planned: list[Message]
    """The plan surface as its agent would send it."""
    operations: int

    @property
    def read_back(self) -> list[Message]:
        """What our own adapter finds in the copy."""
        adapter = registry().for_agent(self.agent)
        _, events = read(adapter, self.path)
        log = events[""]
        return derive_messages(content(fold(log), log), self.agent)


class Planned:
    """One log in a store of its own, with a plan of the kind. Use it as a context manager.

    ``environment`` says where the agent keeps its sessions; without it copies go to ``folder``.
    """

    def __init__(
        self,
        log: Path,
        folder: Path,
        kind: PlanKind,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.log = log
        self._folder = folder
        self._environment = environment
        self._digest = sha256(log.read_bytes()).hexdigest()
        self.store = Store(":memory:", registry())
        self.cases = self._open()
        self.cases.ingest([log])
        self.name = self.store.sessions()[0].name
        self.kind = kind
        self.operations = 0
        if kind != "plain":
            self._operate(kind)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.cases.close()

    def copy(self, at: NodeId | None = None) -> Copied:
        """Write the plan's copy, of now or of a past moment. Raises the refusal; proves that the
        log is what it was."""
        session = LoadedSession(self.store, self.store.find(self.name))
        state = session.plan(at)
        nodes = Contents(self.store, session.record, state).all(state.surface.nodes)
        out = self._folder / "copies" if self._environment is None else None
        report = self.cases.resume(self.name, at=at, out=out)
        assert sha256(self.log.read_bytes()).hexdigest() == self._digest
        return Copied(
            report=report,
            path=Path(report.path),
            agent=session.record.agent,
            planned=derive_messages(nodes, session.record.agent),
            operations=self.operations,
        )

    def _open(self, **settings: Any) -> UseCases:
        loaded = load_settings(
            settings, environment={}, folder=self._folder, config_file=self._folder / "none.toml"
        )
        environment = self._environment or {}
        return UseCases(
            self.store, loaded, environment=environment, home=self._folder, clock=lambda: NOW
        )

    def _operate(self, kind: PlanKind) -> None:
        used = self.cases.pressure(self.name, track="plan").used
        share = 0.75 if kind == "micro" else 0.9
        self.cases = self._open(window=max(200, int(used / share)))
        if kind == "pins":
            self._pin()
        if kind == "region":
            self._compact_middle()
        else:
            self._commit(mode="micro" if kind == "micro" else "auto")

    def _pin(self) -> None:
        """A word of the user's, an answer, and a result, which drags its step along."""
        nodes = self._rows()
        for wanted in ("user/message", "assistant/message", "tool/result"):
            found = [row.seq for row in nodes[: len(nodes) // 2] if row.type == wanted]
            if found:
                self.cases.pin(self.name, [found[len(found) // 2]])
                self.operations += 1

    def _compact_middle(self) -> None:
        """From about a fifth to about three fifths."""
        state = LoadedSession(self.store, self.store.find(self.name)).plan()
        paired, nodes = pairing(state.surface, state.entries), state.surface.nodes
        start = paired.cut_after(len(nodes) // 5)
        end = paired.cut_after(max(start, len(nodes) * 3 // 5))
        if start < end:
            self._commit(start=nodes[start], end=nodes[end - 1])

    def _commit(self, **what: Any) -> bool:
        try:
            self.cases.commit(self.cases.preview(self.name, **what))
        except CompressError:
            return False
        self.operations += 1
        return True

    def _rows(self) -> Sequence[Any]:
        view = self.cases.view(self.name, track="plan")
        return view.rows(0, len(view))


def printed(messages: Iterable[Message]) -> list[tuple[object, ...]]:
    """Every block in the order in which it is sent, as a line of a diff. ``context`` is how a
    surface marks a text that no person wrote: the model gets a text."""
    return [_printed(message, block) for message in messages for block in message.blocks]


def _printed(message: Message, block: ContentBlock) -> tuple[object, ...]:
    kind = "text" if block.kind == "context" else block.kind
    given = json.dumps(block.input, sort_keys=True, ensure_ascii=False)
    images = tuple(image.size for image in block.images)
    return (message.role, kind, block.id, given, block.text, block.signature, images)
