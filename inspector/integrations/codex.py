"""Codex: hooks in ``hooks.json``, in the same form as Claude Code's.

``SessionStart`` with the source ``compact`` runs before the request that follows a compaction
(openai/codex#21272), ``PreCompact`` before it; its context may weigh 2,500 tokens where the entry
sets no other limit. A hook runs only once a person has reviewed it.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

from inspector.integrations import hook_groups
from inspector.integrations.settings_files import SettingsFileError
from inspector.integrations.target import Place


class CodexTarget(hook_groups.HookedFile):
    """``hooks.json`` in Codex' folder, or in ``.codex`` of a project."""

    agent = "codex"
    title = "Codex"

    def path(self, place: Place) -> Path:
        """The file of the hooks."""
        return self._folder(place) / "hooks.json"

    def check(self, place: Place) -> None:
        """Refuses where hooks are switched off."""
        path = place.folder("CODEX_HOME", ".codex") / "config.toml"
        try:
            features = tomllib.loads(path.read_text(encoding="utf-8")).get("features")
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
            return
        switches = features if isinstance(features, dict) else {}
        for key in ("hooks", "codex_hooks"):
            if switches.get(key) is False:
                raise SettingsFileError(
                    f"Codex' hooks are switched off in {path} ([features] {key} = false): "
                    "nothing that is installed would run."
                )

    def notes(self, place: Place, text: str) -> tuple[str, ...]:
        """That a person reviews hooks, and that a project's file is shared."""
        notes = ["Codex runs no hook before you have reviewed it: start it, look, and trust them."]
        if place.project is not None:
            notes.append(SHARED)
        return tuple(notes)

    def _folder(self, place: Place) -> Path:
        if place.project is not None:
            return place.project / ".codex"
        return place.folder("CODEX_HOME", ".codex")


SHARED = (
    "This file belongs to the project and names a program of this machine: keep it out of what "
    "is shared."
)
