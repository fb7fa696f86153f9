"""Claude Code: hooks in its settings.

``PreCompact`` runs before a compaction and takes no answer; ``SessionStart`` with the source
``compact`` runs behind it, and what it answers as ``additionalContext`` goes into the context
(code.claude.com/docs/en/hooks).
"""

from __future__ import annotations

from pathlib import Path

from inspector.integrations import hook_groups
from inspector.integrations.program import Program
from inspector.integrations.target import Place

EMPTY = "{}\n"


class ClaudeTarget:
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

    def installed(self, text: str | None, program: Program) -> str:
        """With both hooks."""
        lines = hook_groups.commands(program.words, self.agent, program.options)
        return hook_groups.with_hooks(EMPTY if text is None else text, lines, self.agent)

    def removed(self, text: str) -> str | None:
        """Without them."""
        return hook_groups.without_hooks(text, self.agent)

    def notes(self, place: Place, text: str) -> tuple[str, ...]:
        """Sessions that run, and a switch that is off."""
        notes = ["Claude Code reads its hooks when a session starts: restart those that run."]
        if hook_groups.is_set(text, "disableAllHooks"):
            notes.append("disableAllHooks is true in this file: no hook runs until it is not.")
        return tuple(notes)
