"""How one tool result ended, read from its text, its flag and, for tools that count, its totals."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from compress.reduction.choice import choose
from compress.reduction.critical import VERDICT, Assessor
from compress.reduction.profile import Profile
from compress.toolcalls import json_output

_LINE = 300
_EXIT_LINE = re.compile(
    r"\W{0,3}(?:process |command )?exit(?:ed)?(?: with)?[ _-]?(?:code|status)[: ]{1,3}"
    r"(-?\d{1,4})\W{0,3}",
    re.IGNORECASE,
)
"""A line that says nothing but the exit code: the agents' own, around the output."""
_WRAPPER_LINES = 6
_OUTPUT_MARK = "\nOutput:\n"
"""Behind it stands the output, in what Codex hands to the model."""
_LOOKED_THROUGH = 200
"""Lines at either end of an output in which totals and errors are looked for."""
_NOTHING = frozenset({"", "(no output)"})
_HUNK = re.compile(r"@@ -\d+(?:,\d+)? \+\d+")


@dataclass(frozen=True, slots=True)
class Reading:
    """What a result says. ``None`` where it does not say."""

    exit_code: int | None
    is_error: bool | None
    totals: str | None = None
    """The line that counts, of a tool that is known to count."""
    totals_failed: bool | None = None
    head: str = ""
    """The line of a failed result that says what went wrong."""
    unclear: bool = False
    """Exit code 1, and nothing that says that something went wrong: how commands that look or
    compare answer "none" and "different"."""
    tolerated: bool = False
    """The tool is known to end well with this exit code."""

    @property
    def failed(self) -> bool:
        """Whether the result itself says that something went wrong."""
        if self.totals_failed:
            return True
        if self.exit_code is not None:
            return self.exit_code != 0 and not self.unclear and not self.tolerated
        return bool(self.is_error)

    @property
    def worked(self) -> bool:
        """Whether the result itself says that all went well."""
        said = (self.totals_failed is False, self.exit_code == 0, self.is_error is False)
        return (any(said) or self.tolerated) and not self.failed and not self.unclear


class Judge:
    """Reads results. Words that mean a failure are the profiles', never the engine's: without
    profiles there are no totals, and a failure's head is its first line."""

    def __init__(self, profiles: Sequence[Profile] = (), generic: Profile | None = None) -> None:
        """``profiles`` tell by its command which tool made an output; ``generic`` reads any."""
        self._profiles = tuple(profiles)
        self._generic = generic
        self._assessors: dict[str, Assessor] = {}

    def read(self, command: str, text: str, is_error: bool | None) -> Reading:
        """The reading of one result. ``command``: the command line that was run, or nothing."""
        exit_code, output = _ended(text)
        lines = output.split("\n")
        if len(lines) > 2 * _LOOKED_THROUGH:
            lines = lines[:_LOOKED_THROUGH] + lines[-_LOOKED_THROUGH:]
        lines = [line[:2_000].rstrip() for line in lines]
        profile = choose(self._profiles, command=command) if command else None
        counts = profile is not None and profile.checks
        totals, totals_failed = None, None
        if profile is not None and counts:
            totals, totals_failed = self._totals(profile, lines[-_LOOKED_THROUGH:])
        tolerated = profile is not None and exit_code in profile.success.exit_codes
        head, marked = "", False
        if exit_code or is_error or totals_failed:
            head, marked = self._head(lines)
        return Reading(
            exit_code,
            is_error,
            totals,
            totals_failed,
            head,
            unclear=exit_code == 1 and not (tolerated or counts or marked),
            tolerated=tolerated,
        )

    def _totals(self, profile: Profile, lines: Sequence[str]) -> tuple[str | None, bool | None]:
        marks = self._assessor(profile).assess(lines)
        counted = [
            (line, mark)
            for line, mark in zip(lines, marks, strict=True)
            if mark.level == VERDICT and any(c.isdigit() for c in line)
            if not _EXIT_LINE.fullmatch(line)
        ]
        if not counted:
            return None, None
        failing = [line for line, mark in counted if mark.failing]
        telling = failing or [line for line, mark in counted if mark.succeeded]
        fine = not failing and any(mark.succeeded for mark in marks)
        totals = (telling or [line for line, _ in counted])[-1].strip()[:_LINE]
        return totals, True if failing else False if fine else None

    def _head(self, lines: Sequence[str]) -> tuple[str, bool]:
        """The line that says what went wrong, and whether one is known to say so. The lines of a
        patch are text that it changes, no messages."""
        said = [line.strip()[:_LINE] for line in lines if any(c.isalnum() for c in line)]
        first = said[0] if said else ""
        if first in _NOTHING or any(_HUNK.match(line) for line in lines):
            return first, False
        if self._generic is None:
            return first, True
        marks = self._assessor(self._generic).assess(said)
        found = next((line for line, mark in zip(said, marks, strict=True) if mark.failing), None)
        return (first, False) if found is None else (found, True)

    def _assessor(self, profile: Profile) -> Assessor:
        known = self._assessors.get(profile.name)
        if known is None:
            generic = self._generic
            inherits = generic is not None and profile.inherit and profile != generic
            profiles = [profile, generic] if inherits and generic is not None else [profile]
            known = self._assessors[profile.name] = Assessor(profiles)
        return known


def _ended(text: str) -> tuple[int | None, str]:
    """(exit code, output) of a result, without what the agent wrote around the output."""
    if (value := json_output(text)) is not None:
        return _from_json(value, text)
    code: int | None = None
    before, mark, output = text[:2_000].partition(_OUTPUT_MARK)
    if mark and before.count("\n") < _WRAPPER_LINES:
        found = [_EXIT_LINE.fullmatch(line) for line in before.split("\n")]
        return next((int(f[1]) for f in found if f), None), output + text[2_000:]
    lines = text.split("\n")
    if first := _EXIT_LINE.fullmatch(lines[0]):
        return int(first[1]), "\n".join(lines[1:])
    while lines and not lines[-1].strip():
        lines.pop()
    if lines and (last := _EXIT_LINE.fullmatch(lines[-1].strip())):
        code = int(last[1])
        lines.pop()
    return code, "\n".join(lines)


def _from_json(value: Mapping[str, Any], text: str) -> tuple[int | None, str]:
    """Codex' older form of a result: an object with the output and its exit code."""
    output = value.get("output")
    metadata = value.get("metadata")
    code = metadata.get("exit_code") if isinstance(metadata, dict) else None
    exit_code = code if isinstance(code, int) and not isinstance(code, bool) else None
    if exit_code is not None and not -(2**31) <= exit_code < 2**32:
        exit_code = None
    return exit_code, output if isinstance(output, str) else text
