"""pi: an extension, one file of Ullage's own in a folder that pi loads.

It hands ``session_before_compact`` to Ullage, whose summary pi then takes instead of asking a
model; where pi wrote the summary itself, what was pinned and open follows it as a message
(pi's docs/extensions.md and docs/compaction.md).
"""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

from inspector.integrations.codex import SHARED
from inspector.integrations.program import Program
from inspector.integrations.settings_files import SettingsFileError
from inspector.integrations.target import Place
from storage.resources import ASSET_FOLDERS

NAME = "ullage.ts"
_FIRST = re.compile(r"// Written by ullage install pi, sha256 ([0-9a-f]{64})\.")


class PiTarget:
    """``extensions/ullage.ts`` in pi's folder, or in ``.pi`` of a project."""

    agent = "pi"
    title = "pi"

    def path(self, place: Place) -> Path:
        """The extension."""
        if place.project is not None:
            return place.project / ".pi" / "extensions" / NAME
        return place.folder("PI_CODING_AGENT_DIR", ".pi/agent") / "extensions" / NAME

    def check(self, place: Place) -> None:
        """Nothing stands against it."""

    def installed(self, text: str | None, program: Program) -> str:
        """The extension as it is now; an older one of Ullage's is replaced."""
        if text is not None:
            self._own(text)
        words = [*program.words, "hook", self.agent]
        made = _template().replace('["ullage", "hook", "pi"]', json.dumps(words))
        made = made.replace('["--db"]', json.dumps(list(program.options)))
        return f"// Written by ullage install pi, sha256 {_digest(made)}.\n{made}"

    def removed(self, text: str) -> str | None:
        """No file."""
        self._own(text)
        return None

    def notes(self, place: Place, text: str) -> tuple[str, ...]:
        """How pi takes it up, and that a project's file is shared."""
        notes = ["In a pi that runs, /reload loads it."]
        if place.project is not None:
            notes += ["pi loads a project's extensions once you trust the project.", SHARED]
        return tuple(notes)

    def _own(self, text: str) -> None:
        first, _, rest = text.partition("\n")
        found = _FIRST.fullmatch(first)
        if found is None:
            raise SettingsFileError(
                f"{NAME} in pi's extensions is not Ullage's: it is left alone; give it another "
                "name first."
            )
        if found[1] != _digest(rest):
            raise SettingsFileError(
                f"{NAME} in pi's extensions was changed by hand: it is left alone; delete it "
                "yourself."
            )


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _template() -> str:
    path = next(
        found for folder in ASSET_FOLDERS if (found := folder / "integrations" / "pi.ts").is_file()
    )
    return path.read_text(encoding="utf-8")
