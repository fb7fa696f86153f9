"""The agents themselves run what was installed, around a compaction of their own: what was pinned
stands in what they send next."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from inspector.integrations.installing import install, uninstall
from inspector.integrations.journal import Journal
from inspector.integrations.program import Program
from inspector.integrations.target import Place
from inspector.usecases import UseCases
from tests.conftest import REPOSITORY
from tests.inspector.logs import rows, usecases
from tests.interop import agents
from tests.interop.provider import Provider, provider
from tests.storage.sources.pi_logs import HEADER, answer, data, message

pytestmark = pytest.mark.interop

RULE = "Never fire the kiln above 1240 degrees."
SPENT = {"input": 100, "output": 10, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 110}
_CODEX = """
model = "gpt-5.1-codex"
model_provider = "loopback"
model_context_window = 200000
model_auto_compact_token_limit = 100
approval_policy = "never"
sandbox_mode = "read-only"
check_for_update_on_startup = false
[model_providers.loopback]
name = "loopback"
base_url = "{url}"
wire_api = "responses"
env_key = "CODEX_API_KEY"
[analytics]
enabled = false
[otel]
exporter = "none"
"""
"""The first answer is said to have taken more than the limit: the next turn compacts first."""


class Home:
    """A home that is thrown away, with Ullage installed in it and a store of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.work = folder / "work"
        self.work.mkdir()
        self.db = folder / "store.db"
        words = (sys.executable, "-P", "-m", "inspector.cli")
        self._program = Program(words, ("--db", str(self.db)))
        self._journal = Journal(folder / "data")
        self._place = Place(folder)

    def install(self, agent: str) -> None:
        assert install(agent, self._place, self._program, self._journal).written

    def uninstall(self, agent: str) -> None:
        assert uninstall(agent, self._place, self._journal).written

    def run(self, *words: str | Path) -> str:
        environment = {
            "HOME": str(self.folder),
            "PYTHONPATH": str(REPOSITORY),
            "CODEX_HOME": str(self.folder / ".codex"),
            "CODEX_API_KEY": "none",
        }
        return agents._run([str(word) for word in words], self.work, environment)

    def pin(self, log: Path, text: str) -> str:
        """Pins the node that says this; gives the session's name."""
        cases: UseCases = usecases(self.db, self.folder)
        name = cases.find(str(log))
        seq = next(row.seq for row in rows(cases, name) if text in row.headline)
        cases.pin(name, [seq])
        cases.close()
        return name

    def noted(self) -> str:
        """What went wrong in hooks."""
        return "".join(path.read_text() for path in self.folder.rglob("errors.log"))


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def said(request: dict[str, Any]) -> list[tuple[str, str]]:
    return [
        (item["role"], part.get("text", ""))
        for item in request["input"]
        if item.get("type") == "message"
        for part in item["content"]
    ]


def test_codex_sends_what_was_pinned_behind_its_own_summary(home: Home) -> None:
    found = agents.program("codex")
    if found is None:
        pytest.skip(f"Codex is not installed: {agents.HOW_TO_INSTALL}")
    running: Provider
    with provider() as running:
        (home.folder / ".codex").mkdir()
        config = home.folder / ".codex" / "config.toml"
        config.write_text(_CODEX.format(url=running.url), encoding="utf-8")
        home.install("codex")
        # A person reviews hooks; here nobody is there to do so.
        codex = (found, "exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust")
        home.run(*codex, RULE)
        (log,) = (home.folder / ".codex" / "sessions").rglob("*.jsonl")
        home.pin(log, "Understood.")
        home.run(*codex, "resume", log.stem[-36:], "Go on.")
        first, summary, next_ = running.requests
        assert "CHECKPOINT COMPACTION" in said(summary)[-1][1], "Codex asked for its own summary"
        (back,) = [text for _, text in said(next_) if text.startswith("# What was pinned")]
        assert "## Pinned\n" in back
        assert "agent\n```\nUnderstood.\n```" in back
        assert said(next_)[-1] == ("user", "Go on.")
        assert not any("# What was pinned" in text for _, text in said(first))
        assert home.noted() == ""


@pytest.fixture
def pi_session(home: Home) -> Path:
    entries = [
        {**HEADER, "id": "0199f0aa-0000-7000-8000-000000000001"},
        message("a1", None, "user", RULE, timestamp=1),
        answer("a2", "a1", "Understood.", usage=SPENT, timestamp=2),
    ]
    for number in range(8):
        parent = entries[-1]["id"]
        words = f"Look at part {number}. " + "It may be worn. " * 60
        entries.append(message(f"b{number}", parent, "user", words, timestamp=3))
        words = f"Part {number} is fine. " + "Nothing is worn. " * 60
        entries.append(answer(f"c{number}", f"b{number}", words, usage=SPENT, timestamp=4))
    log = home.folder / "s.jsonl"
    log.write_bytes(data(entries))
    return log


def compacted(home: Home, package: Path, log: Path, *instructions: str) -> dict[str, Any]:
    """pi compacts the session, with the extensions that its folder holds."""
    script = Path(__file__).with_name("pi_compacts.mjs")
    folder = home.folder / ".pi" / "agent"
    made: dict[str, Any] = json.loads(home.run("node", script, package, folder, log, *instructions))
    assert made["errors"] == []
    return made


def test_pi_takes_ullages_summary_with_what_was_pinned_whole(
    home: Home, pi: Path, pi_session: Path
) -> None:
    home.install("pi")
    home.pin(pi_session, RULE)
    made = compacted(home, pi, pi_session)
    assert [Path(path).name for path in made["loaded"]] == ["ullage.ts"]
    assert made["fromExtension"] is True
    summary = made["messages"][0]["summary"]
    assert summary.startswith("# Summary of the session so far\n")
    assert f"user\n```\n{RULE}\n```" in summary
    assert len(summary) < len(pi_session.read_text()) / 2
    assert made["messages"][1]["role"] == "user", "the tail that pi keeps follows"
    assert home.noted() == ""


def test_pi_writes_its_own_summary_by_instructions_and_gets_the_pins_beside_it(
    home: Home, pi: Path, pi_session: Path
) -> None:
    home.install("pi")
    home.pin(pi_session, RULE)
    made = compacted(home, pi, pi_session, "Only the parts, please.")
    assert made["fromExtension"] is False
    assert made["messages"][0]["summary"] == "pi's own summary"
    assert made["messages"][-1]["role"] == "custom"
    assert f"user\n```\n{RULE}\n```" in made["messages"][-1]["content"]


def test_pi_compacts_by_itself_where_ullage_cannot_or_is_gone(
    home: Home, pi: Path, pi_session: Path
) -> None:
    home.install("pi")
    before = pi_session.read_bytes()
    home.db.write_bytes(b"no database " * 1_000)
    made = compacted(home, pi, pi_session)
    assert (len(made["loaded"]), made["fromExtension"]) == (1, False)
    assert made["messages"][0]["summary"] == "pi's own summary"
    home.uninstall("pi")
    assert not (home.folder / ".pi").exists()
    pi_session.write_bytes(before)
    assert compacted(home, pi, pi_session)["loaded"] == []
