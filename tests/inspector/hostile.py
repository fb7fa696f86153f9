"""Use-cases in which every text is one that a log should not hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from compress.errors import CompressError
from compress.events import NodeId
from inspector.decision_choice import EVERYTHING, Wanted
from inspector.decision_reports import DecisionRow, DecisionsReport
from inspector.reports import (
    AuditRow,
    EventDetail,
    LostReport,
    MessageBlock,
    OperationReport,
    PressureReport,
    ProblemReport,
    SessionHeader,
    SessionRow,
    SummaryReport,
    Track,
)
from tests.inspector import story
from tests.inspector.fakes import FakePreview, FakeUseCases
from tests.inspector.points import point_of
from tests.inspector.surfaces import FakeView


class DirtyUseCases(FakeUseCases):
    """Every text that a log can bring is one of these payloads."""

    def __init__(self, payloads: Sequence[str]) -> None:
        super().__init__()
        self.payloads = list(payloads)

    def _text(self, number: int) -> str:
        return self.payloads[number % len(self.payloads)]

    def header(self, session: str) -> SessionHeader:
        text = self._text(int(session.removeprefix("s")) - 1)
        return SessionHeader(id=session, agent=text, title=text, model=text, cwd=text)

    def sessions(self, limit: int | None = None) -> list[SessionRow]:
        model = story.sessions()[0]
        return [
            model.model_copy(
                update={"id": f"s{number + 1}", "path": text, "note": text}
                | dict.fromkeys(("title", "project", "model", "agent"), text)
            )
            for number, text in enumerate(self.payloads)
        ]

    def view(
        self, session: str, *, track: Track = "agent", at: NodeId | None = None, live: bool = False
    ) -> FakeView:
        view = super().view(session, track=track, at=at, live=live)
        nodes = [
            node.model_copy(update={"headline": self._text(number), "tool": self._text(number + 1)})
            for number, node in enumerate(view.nodes)
        ]
        problem = ProblemReport(kind=self._text(2), where=self._text(3), detail=self._text(4))
        return replace(view, nodes=nodes, problems=(problem,))

    def detail(self, session: str, seq: NodeId, *, track: Track = "agent") -> EventDetail:
        detail = super().detail(session, seq, track=track)
        everything = "\n".join(self.payloads)
        call = {text: text for text in self.payloads}
        blocks = [
            MessageBlock(kind="text", text=everything),
            MessageBlock(kind="tool_call", name=self._text(1), input=call),
            MessageBlock(kind="tool_result", name=self._text(2), text=everything),
        ]
        return detail.model_copy(
            update={
                "blocks": tuple(blocks),
                "raw": everything,
                "provenance": everything,
                "operations": tuple(self.payloads),
            }
        )

    def pressure(
        self, session: str, *, track: Track = "agent", at: NodeId | None = None, live: bool = True
    ) -> PressureReport:
        report = super().pressure(session, track=track, at=at, live=live)
        tools = {text: 1000 + number for number, text in enumerate(self.payloads)}
        return report.model_copy(update={"model": self._text(0), "tool_results_by_tool": tools})

    def preview(self, session: str, **asked: object) -> FakePreview:
        preview = super().preview(session, **asked)  # type: ignore[arg-type]
        everything = "\n".join(self.payloads)
        texts = tuple(self.payloads)
        report = preview.report.model_copy(
            update={
                "summary": SummaryReport(text=everything, tokens=9, sections={everything: 9}),
                "lost": LostReport(identifiers=texts, instructions=texts, errors=texts),
                "warnings": texts,
                "nodes": tuple(
                    fate.model_copy(update={"rule": self._text(number)})
                    for number, fate in enumerate(preview.report.nodes)
                ),
            }
        )
        return FakePreview(report)

    def undo(
        self, session: str, operation: NodeId | None = None, *, cascade: bool = False
    ) -> OperationReport:
        raise CompressError(" ".join(self.payloads), self.payloads)

    def pin(self, session: str, seqs: Sequence[NodeId]) -> OperationReport:
        raise CompressError(" ".join(self.payloads))

    unpin = pin

    def audit(self, session: str | None = None) -> list[AuditRow]:
        model = story.agents_operations()[0]
        return [
            model.model_copy(
                update={"origin": "user", "kind": text, "rule": text, "note": text}
                | {"lost": LostReport(identifiers=(text,), errors=(text,))}
            )
            for text in self.payloads
        ]

    def audit_diff(self, session: str, operation: NodeId) -> str:
        return "\n".join(sign + text for text in self.payloads for sign in "+-")

    def preview_diff(self, preview: FakePreview) -> str:
        return "\n".join(sign + text for text in self.payloads for sign in "+-")

    def audit_raw(self, session: str, operation: NodeId) -> str:
        return "\n".join(self.payloads)

    def decisions(self, session: str | None = None, wanted: Wanted = EVERYTHING) -> DecisionsReport:
        texts = ["\n".join(self.payloads), *self.payloads]
        rows = [
            DecisionRow(session=self._text(number), point=point_of(text, number))
            for number, text in enumerate(texts, 1)
        ]
        return DecisionsReport(rows=tuple(rows))
