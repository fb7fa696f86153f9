"""Claude Code: hooks in its settings.

``PreCompact`` runs before a compaction and takes no answer; ``SessionStart`` with the source
``compact`` runs behind it, and what it answers as ``additionalContext`` goes into the context
(code.claude.com/docs/en/hooks).
"""

from __future__ import annotations

from pathlib import Path

from inspector.integrations import hook_groups
from inspector.integrations.target import Place


class ClaudeTarget(hook_groups.HookedFile):
    """``settings.json`` in Claude Code's folder; of a project ``.claude/settings.local.json``,
    which is not shared with others, since the path of this machine's program stands in it."""

    agent = "claude"
    title = "Claude Code"

    def path(self, place: Place) -> Path:
        """The settings file."""
        if place.project is not None:
            return place.project / ".claude" / "settings.local.json"
        return place.folder("CLAUDE_CONFIG_DIR", ".claude") / "settings.json"

    def check(self, place: Place) -> None:
        """Nothing stands against it."""

    def notes(self, place: Place, text: str) -> tuple[str, ...]:
        """Sessions that run, and a switch that is off."""
        notes = ["Claude Code reads its hooks when a session starts: restart those that run."]
        if hook_groups.is_set(text, "disableAllHooks"):
            notes.append("disableAllHooks is true in this file: no hook runs until it is not.")
        return tuple(notes)
