"""Whatever is asked over MCP, the answer is bounded and clean, or a refusal in one sentence."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from compress.errors import CompressError
from inspector.mcp_answers import MOST_CHARACTERS, Answers, PointerError
from inspector.usecases import UseCases
from storage.errors import UnknownSessionError
from tests.inspector.asking import FOLDER, answered, hostile_log, questions
from tests.inspector.logs import Log, usecases


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[UseCases]:
    folder = tmp_path_factory.mktemp("asked")
    hostile_log(folder)
    opened = usecases(":memory:", folder)
    opened.ingest([folder])
    yield opened
    opened.close()


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(questions)
def test_no_question_breaks_the_server(
    asked: UseCases, question: tuple[str, tuple[object, ...]]
) -> None:
    answered(asked, question)


@pytest.mark.parametrize(
    "reference", ["\ud800", "\0", "asked\0", "a" * 60_000, "~nobody-here/x", "x/" + "a" * 300]
)
def test_what_no_session_can_be_called_is_refused_shortly(asked: UseCases, reference: str) -> None:
    with pytest.raises(UnknownSessionError, match="No session is called") as refusal:
        asked.find(reference)
    assert len(str(refusal.value)) < 400


@pytest.mark.parametrize("seq", ["9" * 11, "9" * 5_000])
def test_a_pointer_beyond_any_seq_is_none(asked: UseCases, seq: str) -> None:
    with pytest.raises(PointerError, match="is no pointer"):
        Answers(asked, FOLDER).fetch(f"asked:{seq}")


def test_a_seq_never_reaches_into_another_session(tmp_path: Path) -> None:
    """A row's id is session and seq in one number, of which the seq has 32 bits."""
    for name in ("first", "second", "third"):
        Log(tmp_path, name).user(f"secret of {name}", uuid=name)
    cases = usecases(":memory:", tmp_path)
    cases.ingest([tmp_path])
    first = next(r for r in cases._store.sessions() if r.id == 1)
    for reach in (2 << 32 | 2, 3 << 32 | 2, -1, -(1 << 32)):
        for look in (cases._store.raw, lambda s, n: list(cases._store.raw_pieces(s, n))):
            with pytest.raises(Exception, match="has no event"):
                look(first, reach)
    cases.close()


def test_pinning_nothing_is_refused(asked: UseCases) -> None:
    with pytest.raises(CompressError, match="No message is named"):
        asked.pin("asked", [])


def test_of_decisions_without_room_the_newest_stay(tmp_path: Path) -> None:
    log = Log(tmp_path, "long")
    for turn in range(60):
        log.user(f"Do the work number {turn:02}: " + "and more of it, " * 120)
        log.assistant({"type": "text", "text": f"Work {turn:02} is done. " + "It went well. " * 60})
    cases = usecases(":memory:", tmp_path)
    cases.ingest([tmp_path])
    told = Answers(cases, FOLDER).decisions("long", limit=60)
    cases.close()
    assert len(told) <= MOST_CHARACTERS + 100
    assert "number 59" in told
    assert "number 00" not in told
    assert told.startswith("[older ones are left out")
