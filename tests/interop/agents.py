"""The agents' own programs: where they are installed, and how to let them resume a session.

``ULLAGE_INTEROP`` names a folder that holds ``node_modules``; without it the programs on ``PATH``
are taken. Each runs in a home of its own, which is thrown away.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from pathlib import Path
from typing import Any

HOW_TO_INSTALL = (
    "npm install --ignore-scripts --prefix FOLDER @openai/codex@0.171.0 "
    "@earendil-works/pi-coding-agent@1.6.0 @google/gemini-cli@0.61.0, "
    "then set ULLAGE_INTEROP=FOLDER (see CONTRIBUTING.md)"
)
PROBE = "Say that you are there."
_SECONDS = 120
_PI = "@earendil-works/pi-coding-agent"
_LOADER = Path(__file__).with_name("pi_loader.mjs")
_GEMINI = "@google/gemini-cli"
_GEMINI_LOADER = Path(__file__).with_name("gemini_loader.mjs")
_GEMINI_SETTINGS = {
    "security": {"auth": {"selectedType": "gemini-api-key"}},
    "privacy": {"usageStatisticsEnabled": False},
    "general": {"disableAutoUpdate": True, "sessionRetention": {"enabled": False}},
}

_CODEX_SETTINGS = """
model = "gpt-5.1-codex"
model_context_window = 2000000000
model_auto_compact_token_limit = 1000000000
openai_base_url = "{url}"
approval_policy = "never"
sandbox_mode = "read-only"
check_for_update_on_startup = false
[analytics]
enabled = false
[otel]
exporter = "none"
"""
"""A window so large that Codex never compacts before it asks."""


def program(name: str) -> Path | None:
    """An agent's program, or ``None`` where it is not installed."""
    named = os.environ.get("ULLAGE_INTEROP")
    if named:
        found = Path(named, "node_modules", ".bin", name)
        return found.absolute() if found.exists() else None
    on_path = shutil.which(name)
    return None if on_path is None else Path(on_path).absolute()


def pi_package() -> Path | None:
    """The folder of pi's package, found from its program; ``None`` without it or without node."""
    return _package("pi", _PI)


def gemini_package() -> Path | None:
    """The same of Gemini CLI."""
    return _package("gemini", _GEMINI)


def _package(name: str, suffix: str) -> Path | None:
    found = program(name)
    if found is None or shutil.which("node") is None:
        return None
    parents = found.resolve().parents
    return next((folder for folder in parents if str(folder).endswith(suffix)), None)


class CodexHome:
    """A throw-away ``CODEX_HOME`` that talks to the provider at ``url``."""

    def __init__(self, codex: Path, folder: Path, url: str) -> None:
        self._codex = codex
        self._home = folder / "codex"
        self._work = folder / "work"
        self.sessions.mkdir(parents=True)
        self._work.mkdir()
        settings = _CODEX_SETTINGS.format(url=url)
        (self._home / "config.toml").write_text(settings, encoding="utf-8")

    @property
    def sessions(self) -> Path:
        """Where Codex looks for rollouts."""
        return self._home / "sessions"

    def resume(self, session: str, prompt: str = PROBE) -> None:
        """One turn in this session. Raises ``AssertionError`` with what Codex said where it does
        not finish."""
        words = [str(self._codex), "exec", "--skip-git-repo-check", "resume", session, prompt]
        _run(words, self._work, {"CODEX_HOME": str(self._home), "CODEX_API_KEY": "none"})


def load_with_pi(package: Path, session: Path, folder: Path) -> list[dict[str, Any]]:
    """The messages that pi would send for a session file, by its own loader."""
    words = ["node", str(_LOADER), str(package), str(session)]
    messages: list[dict[str, Any]] = json.loads(_run(words, folder, {}))
    return messages


class GeminiHome:
    """A throw-away home of Gemini CLI that talks to the provider at ``url``."""

    def __init__(self, folder: Path, url: str, *, threshold: float = 0.9) -> None:
        """``threshold``: the share of the window at which it compresses."""
        self._gemini = program("gemini")
        self._home = folder / "home"
        self._work = folder / "work"
        self._work.mkdir()
        self.chats = self._home / ".gemini" / "tmp" / self._work.name / "chats"
        self.chats.mkdir(parents=True)
        settings = self._home / ".gemini"
        chosen = {**_GEMINI_SETTINGS, "model": {"compressionThreshold": threshold}}
        (settings / "settings.json").write_text(json.dumps(chosen), encoding="utf-8")
        known = {"projects": {str(self._work): self._work.name}}
        (settings / "projects.json").write_text(json.dumps(known), encoding="utf-8")
        (self.chats.parent / ".project_root").write_text(str(self._work), encoding="utf-8")
        self._url = url

    def resume(self, session: str, prompt: str = PROBE) -> None:
        """One turn in this session. Raises ``AssertionError`` with what the CLI said where it
        does not finish."""
        words = [str(self._gemini), "-m", "gemini-2.5-pro", "--resume", session, "-p", prompt]
        environment = {
            "HOME": str(self._home),
            "GEMINI_API_KEY": "none",
            "GOOGLE_GEMINI_BASE_URL": self._url,
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
        }
        _run(words, self._work, environment)


def load_with_gemini(package: Path, sessions: list[Path], folder: Path) -> list[Any]:
    """The contents that Gemini CLI would send for each of these files, by its own loader and
    history; ``None`` for one that it does not open."""
    words = ["node", str(_GEMINI_LOADER), str(package)]
    paths = json.dumps([str(path) for path in sessions])
    contents: list[Any] = json.loads(_run(words, folder, {}, said=paths))
    return contents


def _run(words: list[str], folder: Path, environment: dict[str, str], *, said: str = "") -> str:
    """Runs to the end, with nothing of this process' environment but the path, and leaves no
    process behind."""
    known = {"PATH": os.environ["PATH"], "HOME": str(folder), **environment}
    process = subprocess.Popen(
        words,
        cwd=folder,
        env=known,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        start_new_session=True,
    )
    try:
        out, err = process.communicate(said, timeout=_SECONDS)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
    assert process.returncode == 0, f"{words[0]} failed: {out[-500:]} {err[-1500:]}"
    return out
