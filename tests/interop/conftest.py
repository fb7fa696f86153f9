"""The agents that are installed; without them the tests are skipped, and say how to install."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.interop.agents import (
    HOW_TO_INSTALL,
    CodexHome,
    gemini_package,
    pi_package,
    program,
)
from tests.interop.provider import Provider, provider
from tests.interop.wire import Line, of_responses
from tests.resuming import Copied


@dataclass(frozen=True)
class Codex:
    """One home for all tests, as a person has: Codex meets each copy beside older sessions."""

    home: CodexHome
    provider: Provider

    @property
    def environment(self) -> dict[str, str]:
        """Where its sessions are: copies are written to where Codex finds them."""
        return {"CODEX_HOME": str(self.home.sessions.parent)}

    def sends(self, copy: Copied) -> list[Line]:
        """What Codex asks the provider when it resumes the copy."""
        self.provider.requests.clear()
        self.home.resume(copy.report.session_id)
        assert len(self.provider.requests) == 1
        return of_responses(self.provider.requests[0]["input"])


@pytest.fixture(scope="session")
def codex(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Codex]:
    found = program("codex")
    if found is None:
        pytest.skip(f"Codex is not installed: {HOW_TO_INSTALL}")
    with provider() as running:
        yield Codex(CodexHome(found, tmp_path_factory.mktemp("codex"), running.url), running)


@pytest.fixture(scope="session")
def pi() -> Path:
    """The folder of pi's package."""
    found = pi_package()
    if found is None:
        pytest.skip(f"pi is not installed, or node is not: {HOW_TO_INSTALL}")
    return found


@pytest.fixture(scope="session")
def gemini() -> Path:
    """The folder of Gemini CLI's package."""
    found = gemini_package()
    if found is None:
        pytest.skip(f"Gemini CLI is not installed, or node is not: {HOW_TO_INSTALL}")
    return found
