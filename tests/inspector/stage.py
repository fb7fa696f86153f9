"""Puts the app on a stage: a fixed clock, UTC, no animation, and a way to wait for the workers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import UTC
from pathlib import Path

from textual.pilot import Pilot
from textual.strip import Strip
from textual.worker import WorkerCancelled

from inspector.app import UllageApp
from tests.inspector.fakes import FakeUseCases
from tests.inspector.story import NOW

REST = 0.01


def make_app(
    inquiry: FakeUseCases | None = None,
    session: str | None = None,
    watch: Sequence[Path] | None = None,
) -> UllageApp:
    return UllageApp(
        inquiry or FakeUseCases(),
        watch=watch,
        session=session,
        clock=lambda: NOW,
        zone=UTC,
        rest=REST,
    )


async def settle(pilot: Pilot[None]) -> None:
    """Wait until nothing is asked for any more."""
    await pilot.pause(REST * 2)
    while len(pilot.app.workers):
        # A question that a newer one made void is complete, too.
        with suppress(WorkerCancelled):
            await pilot.app.workers.wait_for_complete()
        await pilot.pause(REST * 2)


async def play(pilot: Pilot[None], *keys: str) -> None:
    """Press keys, each after what the one before it asked for has come."""
    await settle(pilot)
    for key in keys:
        await pilot.press(key)
        await settle(pilot)


@asynccontextmanager
async def on_stage(
    inquiry: FakeUseCases | None = None,
    *keys: str,
    session: str | None = "s1",
    size: tuple[int, int] = (120, 40),
) -> AsyncIterator[tuple[UllageApp, Pilot[None]]]:
    app = make_app(inquiry, session)
    async with app.run_test(size=size, notifications=True) as pilot:
        await play(pilot, *keys)
        yield app, pilot


def strips(app: UllageApp) -> list[Strip]:
    """What the whole screen would send to the terminal."""
    return app.screen._compositor.render_strips()


def text_of(app: UllageApp) -> str:
    return "\n".join(strip.text for strip in strips(app))
