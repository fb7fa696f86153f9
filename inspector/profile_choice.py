"""The profiles in force in a folder, and which of them is for an output."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from compress.reduction.choice import choose
from compress.reduction.profile import Profile, parse_profile
from storage import resources

AUTO = "auto"
GENERIC = "generic"


class UnknownProfileError(Exception):
    """No profile has this name."""

    code = "unknown_profile"

    def __init__(self, name: str, known: Sequence[str]) -> None:
        super().__init__(f"There is no profile {name}; leave it out to have one chosen.")
        self.choices = tuple(known)


@dataclass(frozen=True, slots=True)
class Profiles:
    """The profiles in force, in the order in which they are tried, and the generic one."""

    all: tuple[Profile, ...]
    generic: Profile

    def named(self, name: str) -> Profile | None:
        """The profile of this name; ``None`` for ``auto``. Raises :class:`UnknownProfileError`."""
        if name == AUTO:
            return None
        found = next((profile for profile in self.all if profile.name == name), None)
        if found is None:
            raise UnknownProfileError(name, [profile.name for profile in self.all])
        return found

    def chosen(
        self, *, tool: str | None = None, command: str | None = None, output: str | None = None
    ) -> Profile:
        """The one that fits best; the generic one where none does."""
        return choose(self.all, tool=tool, command=command, output=output) or self.generic

    def inheriting(self, profile: Profile) -> list[Profile]:
        """The profile, then the one whose critical patterns hold beside its own."""
        return [profile, self.generic] if profile.inherit and profile != self.generic else [profile]


@cache
def profiles_in(_folder: Path) -> Profiles:
    """The built-in profiles."""
    for folder in resources.ASSET_FOLDERS:
        found = tuple(
            parse_profile(tomllib.loads(path.read_text()), path.name, path.stem)
            for path in sorted((folder / "profiles").glob("*.toml"))
        )
        if found:
            return Profiles(found, next(p for p in found if p.name == GENERIC))
    raise resources.ResourceError("The profiles are missing; install Ullage again.")
