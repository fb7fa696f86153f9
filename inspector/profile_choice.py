"""The profiles in force in a folder, and which of them is for an output."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from compress.reduction.choice import choose
from compress.reduction.examples import faults
from compress.reduction.profile import Profile
from inspector.profile_reports import ExampleRow, ProfileCheck
from storage import resources
from storage.profiles import built_in, find_profiles, read_profiles

AUTO = "auto"
GENERIC = "generic"


class UnknownProfileError(Exception):
    """No profile has this name."""

    code = "unknown_profile"

    def __init__(self, name: str, known: Sequence[str]) -> None:
        super().__init__(f"There is no profile {name}; ullage profiles lists them.")
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


def profiles_in(folder: Path) -> Profiles:
    """The profiles in force in a folder. Raises
    :class:`compress.reduction.profile.ProfileError` for one of the project's that cannot be
    used."""
    found = tuple(one.profile for one in find_profiles(folder))
    return Profiles(found, next(profile for profile in found if profile.name == GENERIC))


def profile_check(path: Path) -> ProfileCheck:
    """The inline tests of a file's profiles, run. Raises
    :class:`compress.reduction.profile.ProfileError`."""
    generic = next(one.profile for one in built_in() if one.profile.name == GENERIC)
    profiles = read_profiles(path)
    rows = tuple(
        ExampleRow(
            profile=profile.name,
            name=example.name,
            faults=tuple(faults(profile, example, resources.counter(), generic)),
        )
        for profile in profiles
        for example in profile.examples
    )
    return ProfileCheck(
        path=str(path),
        profiles=tuple(profile.name for profile in profiles),
        examples=rows,
        failed=sum(bool(row.faults) for row in rows),
    )
