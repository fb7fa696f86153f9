"""A copy in the app: looked at first, written on a key, its command shown."""

from __future__ import annotations

import pytest

from compress.events import NodeId
from inspector.resume_reports import ResumeReport
from inspector.screens.resume import ResumeScreen
from inspector.screens.session import SessionScreen
from storage.resume.base import ResumeRefusedError
from tests.inspector.fakes import FakeUseCases
from tests.inspector.stage import on_stage, play, text_of

COMMAND = "cd /home/sam/retry && claude --resume 019c8f6a-0000-7000-8000-00000000beef"


def asked(inquiry: FakeUseCases) -> list[str]:
    return [call for call in inquiry.calls if call.startswith("resume")]


async def test_a_copy_is_looked_at_before_it_is_written() -> None:
    inquiry = FakeUseCases()
    async with on_stage(inquiry, "w") as (app, pilot):
        assert "would be written to" in text_of(app)
        assert COMMAND not in text_of(app)
        assert asked(inquiry) == ["resume s1 None True"]
        await play(pilot, "y")
        assert asked(inquiry)[1:] == ["resume s1 None False"]
        assert COMMAND in text_of(app)
        await play(pilot, "y")
        assert len(asked(inquiry)) == 2, "one copy is enough"
        await play(pilot, "c")
        assert app.clipboard == COMMAND
        await play(pilot, "escape")
        assert isinstance(app.screen, SessionScreen)


async def test_leaving_writes_nothing() -> None:
    inquiry = FakeUseCases()
    async with on_stage(inquiry, "w", "escape") as (app, _):
        assert isinstance(app.screen, SessionScreen)
        assert asked(inquiry) == ["resume s1 None True"]


async def test_the_moment_that_is_shown_is_copied() -> None:
    inquiry = FakeUseCases()
    async with on_stage(inquiry, "comma", "w"):
        assert asked(inquiry) == ["resume s1 40 True"]


class Refusing(FakeUseCases):
    def resume(
        self, session: str, *, at: NodeId | None = None, dry_run: bool = False
    ) -> ResumeReport:
        raise ResumeRefusedError("s1 is running: wait until its turn ends.")


async def test_a_refusal_stands_on_the_page_and_offers_nothing() -> None:
    async with on_stage(Refusing(), "w") as (app, pilot):
        assert isinstance(app.screen, ResumeScreen)
        assert "s1 is running: wait until its turn ends." in text_of(app)
        await play(pilot, "y", "c")
        assert app.clipboard == ""


@pytest.mark.parametrize("size", [(80, 24), (200, 60)])
async def test_the_command_is_whole_at_every_width(size: tuple[int, int]) -> None:
    async with on_stage(FakeUseCases(), "w", "y", size=size) as (app, _):
        assert "019c8f6a-0000-7000-8000-00000000beef" in text_of(app).replace("\n", "")
