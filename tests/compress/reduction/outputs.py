"""Profiles and outputs that the tests of reduction share."""

from __future__ import annotations

import re
import tomllib
from functools import cache

from compress.reduction.profile import Profile, parse_profile
from storage.resources import asset
from tests.conftest import REPOSITORY

SIGNS = "⋮…"


@cache
def shipped_profile(name: str) -> Profile:
    """A profile that ships, by name."""
    table = tomllib.loads(asset(f"profiles/{name}.toml").decode())
    return parse_profile(table, f"{name}.toml")


def shipped_profiles() -> list[Profile]:
    """All that ship, the generic ones last."""
    names = sorted(path.stem for path in (REPOSITORY / "assets" / "profiles").glob("*.toml"))
    return sorted(map(shipped_profile, names), key=lambda p: p.name.startswith("generic"))


def profile(**tables: object) -> Profile:
    """A profile without patterns but those given."""
    return parse_profile({"name": "made", "truncate": {"floor": 0}, **tables}, "made.toml")


def sign_of(text: str) -> str:
    """The sign with which a reduced text begins."""
    return text[: len(text) - len(text.lstrip(text[0]))]


def is_ours(line: str, sign: str) -> bool:
    """Whether a line is a header or a mark, not one that lost its beginning."""
    rest = line.removeprefix(sign)
    return (
        rest != line
        and re.match(r"$|exit -?\d| ?\d+(?:$|/| of )| (?:ullage|exit)\b", rest) is not None
    )


def shown(text: str) -> list[str]:
    """The lines of a result that are not ours, without notes."""
    sign = sign_of(text) if text[:1] in SIGNS else SIGNS
    lines = text.removesuffix("\n").split("\n")
    return [line.split(f" {sign}")[0] for line in lines if not is_ours(line, sign)]


LOG = [
    f"2026-01-02 10:00:{i % 60:02d} INFO worker: page {i} fetched in {i * 7} ms" for i in range(200)
]
