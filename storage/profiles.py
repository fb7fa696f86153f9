"""Profiles of tool output: what ships, what a project has, what a tool's own definition says.

In rising order: the built-in ones (``assets/profiles/NAME.toml``), the project's
(``.ullage/tools/NAME.toml``), the table ``[tools.NAME.compression]`` of a file that defines
tools. One of a name replaces another whole. There is no file for all projects.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from compress.reduction.profile import Match, Profile, ProfileError, parse_profile
from storage import resources

Origin = Literal["definition", "project", "built-in"]

MARK = ".ullage"
PROFILES = Path(MARK) / "tools"
DEFINITIONS = (
    Path("tools.toml"),
    Path(MARK) / "tools.toml",
    Path("mise.toml"),
    Path(".mise.toml"),
    Path(".codex") / "config.toml",
)
"""Files of a project that define tools, in ``[tools.NAME]``; the first that knows a name wins."""
LARGEST = 1 << 20
"""Bytes of a profile's file; a larger one is refused."""


@dataclass(frozen=True, slots=True)
class Found:
    """A profile, and where it comes from."""

    profile: Profile
    origin: Origin
    path: Path


def find_profiles(folder: Path) -> tuple[Found, ...]:
    """The profiles in force in a folder, in the order in which they are tried; one of each name.

    Raises :class:`compress.reduction.profile.ProfileError` for a file that cannot be used.
    """
    project = project_of(folder)
    own = [] if project is None else [*_defined(project), *_of_project(project)]
    found: dict[str, Found] = {}
    for one in (*own, *built_in()):
        found.setdefault(one.profile.name, one)
    return tuple(found.values())


def project_of(folder: Path) -> Path | None:
    """The nearest folder upwards that has profiles or defines tools. The search ends with the
    work tree (``.git``) and before the home folder, which is no project."""
    folder = folder.absolute()
    for up in (folder, *folder.parents):
        if up == _home():
            return None
        if any(_exists(up / name) for name in (PROFILES, *DEFINITIONS)):
            return up
        if _exists(up / ".git"):
            return None
    return None


@cache
def built_in() -> tuple[Found, ...]:
    """The profiles that ship, by name.

    Raises :class:`storage.resources.ResourceError` where they are missing.
    """
    for assets in resources.ASSET_FOLDERS:
        paths = sorted((assets / "profiles").glob("*.toml"))
        if paths:
            return tuple(
                Found(parse_profile(_table(path), path.name, path.stem), "built-in", path)
                for path in paths
            )
    raise resources.ResourceError("The profiles are missing; install Ullage again.")


def read_profiles(path: Path) -> tuple[Profile, ...]:
    """What one file holds: a profile, or those of the tools that it defines.

    Raises :class:`compress.reduction.profile.ProfileError`.
    """
    table = _table(path)
    defined = tuple(_compressions(table, path))
    return defined or (_profile(table, str(path), path.stem),)


def _defined(project: Path) -> Iterator[Found]:
    for name in DEFINITIONS:
        path = project / name
        if _exists(path):
            for profile in _compressions(_table(path), path):
                yield Found(profile, "definition", path)


def _of_project(project: Path) -> Iterator[Found]:
    for path in sorted((project / PROFILES).glob("*.toml")):
        yield Found(_profile(_table(path), str(path), path.stem), "project", path)


def _compressions(table: Mapping[str, Any], path: Path) -> Iterator[Profile]:
    tools = table.get("tools")
    for name, tool in tools.items() if isinstance(tools, dict) else ():
        compression = tool.get("compression") if isinstance(tool, dict) else None
        if compression is None:
            continue
        source = f"{path}: tools.{name}.compression"
        if not isinstance(compression, dict):
            raise ProfileError(f"{source}: is no table; write [tools.{name}.compression].")
        yield _profile(compression, source, name)


def _profile(table: Mapping[str, Any], source: str, name: str) -> Profile:
    """A profile of a user. Where it does not say what it is for: what the built-in one of its name
    is for, else the tool and the command of its name."""
    profile = parse_profile(table, source, name.lower())
    if "match" in table:
        return profile
    known = next((one.profile for one in built_in() if one.profile.name == profile.name), None)
    command = rf"^(?:\S*/)?{re.escape(name)}(?:\s|$)"
    match = known.match if known else Match(tools=(name,), commands=(command,))
    return profile.model_copy(update={"match": match})


def _table(path: Path) -> dict[str, Any]:
    try:
        if path.stat().st_size > LARGEST:
            raise ProfileError(f"{path} is larger than {LARGEST >> 20} MiB, which no profile is.")
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise ProfileError(f"{path} cannot be read: {error}.") from error
    except tomllib.TOMLDecodeError as error:
        raise ProfileError(f"{path} is not TOML: {error}.") from error


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # a folder on the way that may not be entered
        return False


def _home() -> Path | None:
    try:
        return Path.home()
    except RuntimeError:  # no home that the system knows of
        return None
