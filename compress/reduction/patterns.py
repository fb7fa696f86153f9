"""Regular expressions of profiles, run in linear time (RE2) over lines of bounded length.

RE2 has neither look-around nor back-references; a pattern that it cannot compile is refused with
the position of the fragment that it names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Annotated, Any

import re2
from pydantic import AfterValidator

LONGEST_LINE = 64 * 1024
"""Characters of a line that patterns see; what lies behind is kept or cut with its line."""
_MEMORY = 64 << 20
"""Bytes that the automaton of one set may take before RE2 starts it anew."""
_LARGEST = 128 << 10
"""Bytes that one pattern may take: about 4,000 states. Linear time is no comfort where each
character costs tens of thousands of them (``.{0,900}`` twice in a pattern)."""


def _options(memory: int = _MEMORY) -> Any:
    options = re2.Options()
    options.log_errors = False
    options.max_mem = memory
    return options


def check_pattern(pattern: str) -> str:
    """The pattern itself.

    Raises ``ValueError`` with RE2's reason and the position, in characters from 1, of the
    fragment that it cannot take.
    """
    if len(pattern) > LONGEST_LINE:
        raise ValueError(
            f"the pattern is {len(pattern)} characters long; {LONGEST_LINE} are allowed"
        )
    try:
        re2.compile(pattern, _options(_LARGEST))
    except re2.error as error:
        told = error.args[0] if error.args else ""
        reason = told.decode("utf-8", "replace") if isinstance(told, bytes) else str(told)
        raise ValueError(f"position {_position(pattern, reason) + 1}: {reason}") from error
    return pattern


def _position(pattern: str, reason: str) -> int:
    """Where the fragment stands that RE2 names. It names the whole pattern where a parenthesis is
    never closed: then where the last such one stands."""
    fragment = reason.partition(": ")[2]
    if fragment != pattern:
        return max(pattern.find(fragment), 0)
    open_at = []
    in_class = escaped = False
    for position, character in enumerate(pattern):
        if escaped or character == "\\":
            escaped = not escaped
        elif in_class:
            in_class = character != "]"
        elif character == "[":
            in_class = True
        elif character == "(":
            open_at.append(position)
        elif character == ")" and open_at:
            open_at.pop()
    return open_at[-1] if open_at else 0


def has_groups(*names: str) -> Callable[[str], str]:
    """A check that a pattern has named groups; it raises ``ValueError`` with the missing one."""

    def check(pattern: str) -> str:
        known = compile_pattern(pattern).groupindex
        for name in names:
            if name not in known:
                raise ValueError(f"the pattern {pattern!r} has no group (?P<{name}>…)")
        return pattern

    return check


Pattern = Annotated[str, AfterValidator(check_pattern)]
"""A pattern of a profile, checked when the profile is made."""


@lru_cache(maxsize=1024)
def compile_pattern(pattern: str) -> Any:
    """A pattern with groups, for the few places that need them. Raises ``re2.error``."""
    return re2.compile(pattern, _options())


def search(pattern: str, text: str) -> Any:
    """The pattern's match in the text's first 64 K characters, or ``None``."""
    return compile_pattern(pattern).search(text[:LONGEST_LINE].encode("utf-8", "replace").decode())


class PatternSet:
    """Many patterns looked for at once, one pass a line. Patterns that together need more memory
    than a set may take are parted into several."""

    def __init__(self, patterns: Sequence[str]) -> None:
        self._sets = tuple(_sets(patterns, 0))

    def matches(self, line: str) -> list[int]:
        """Indices of the patterns that stand somewhere in the line, in rising order."""
        if not self._sets:
            return []
        seen = line[:LONGEST_LINE].encode("utf-8", "replace")
        return sorted(
            start + index for start, found in self._sets for index in found.Match(seen) or ()
        )


def _sets(patterns: Sequence[str], start: int) -> Iterator[tuple[int, Any]]:
    """Compiled sets, each with the index of its first pattern."""
    if not patterns:
        return
    made = re2.Set.SearchSet(_options())
    for pattern in patterns:
        made.Add(pattern)
    try:
        made.Compile()
    except re2.error:
        # One pattern alone always fits: it was compiled with far less memory before.
        half = max(len(patterns) // 2, 1)
        yield from _sets(patterns[:half], start)
        yield from _sets(patterns[half:], start + half)
    else:
        yield start, made


@lru_cache(maxsize=256)
def pattern_set(patterns: tuple[str, ...]) -> PatternSet:
    """The set of these patterns, built once: many outputs meet the same profile."""
    return PatternSet(patterns)
