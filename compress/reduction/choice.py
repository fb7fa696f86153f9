"""Which profile is for an output: by the command, the tool's name, or the output's signature."""

from __future__ import annotations

import re
from collections.abc import Sequence

from compress.reduction.clean import clean
from compress.reduction.patterns import pattern_set, search
from compress.reduction.profile import Profile

_SEQUENCE = re.compile(r"\s*(?:&&|\|\||[;\n])\s*")
_PIPE = re.compile(r"\s*\|&?\s*")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=(?:'[^']*'|\"[^\"]*\"|\S*)\s+")
# Programs that run another one, with their flags and numbers.
_RUNNERS = re.compile(
    r"(?:sudo|command|exec|time|nice|nohup|env|xargs|stdbuf|timeout|"
    r"(?:uv|poetry|pipenv|pdm|hatch|rye) run|npx|pnpx|bunx|(?:pnpm|yarn) (?:dlx|exec)|"
    r"bundle exec)(?:\s+(?:-\S+|\d+\w?))*\s+"
)
_SAMPLE = 400
"""Lines at either end in which a signature is looked for."""


def simple_commands(command: str) -> list[str]:
    """The simple commands of a command line, without assignments and programs that only run
    another. A separator inside quotes parts too: what is left begins with no tool's name."""
    return [part for pipeline in _pipelines(command) for part in pipeline]


def _pipelines(command: str) -> list[list[str]]:
    """The simple commands of each pipeline, the one that makes the output first."""
    found = []
    for pipeline in _SEQUENCE.split(command):
        parts: list[str] = []
        for part in _PIPE.split(pipeline):
            rest = part.strip()
            while True:
                match = _ASSIGNMENT.match(rest) or _RUNNERS.match(rest)
                if match is None:
                    break
                rest = rest[match.end() :]
            if rest and part.startswith("xargs"):
                # It prints of its own what it is given the names of.
                parts.insert(0, rest)
            elif rest:
                parts.append(rest)
        found.append(parts)
    return found


def choose(
    profiles: Sequence[Profile],
    tool: str | None = None,
    command: str | None = None,
    output: str | None = None,
) -> Profile | None:
    """The first profile, in the order given, that fits the command; else the tool; else the one
    whose signature fits most lines of the output. ``None`` where none does."""
    # The last command of a line is the one whose output is read; in a pipe, the first one makes
    # what the others (grep, tail, sort) only choose from.
    for part in (part for pipeline in reversed(_pipelines(command or "")) for part in pipeline):
        for profile in profiles:
            if any(search(p, part) for p in profile.match.commands):
                return profile
    if tool:
        for profile in profiles:
            if tool.lower() in (name.lower() for name in profile.match.tools):
                return profile
    return _by_signature(profiles, output) if output else None


def _by_signature(profiles: Sequence[Profile], output: str) -> Profile | None:
    lines = output.splitlines()
    if len(lines) > 2 * _SAMPLE:
        lines = lines[:_SAMPLE] + lines[-_SAMPLE:]
    texts = [line.text for line in clean("\n".join(lines)).lines]
    best: tuple[tuple[bool, int], Profile] | None = None
    for profile in profiles:
        if not profile.match.output:
            continue
        signature = pattern_set(profile.match.output)
        fitting = sum(bool(signature.matches(text)) for text in texts)
        rank = (not profile.match.form, fitting)
        if fitting and (best is None or rank > best[0]):
            best = (rank, profile)
    return best[1] if best else None


def wants_detail(profile: Profile, command: str | None) -> bool:
    """Whether the command asks for detail by a flag that the profile names."""
    return any(
        search(pattern, part)
        for part in simple_commands(command or "")
        for pattern in profile.match.detail
    )
