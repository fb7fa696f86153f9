"""Which lines may not be lost: by the patterns of profiles, and by shape.

The engine's own cues are shapes: a path with a line number, a row of numbers with their words, the
head of an exception. Words stand in profiles.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from compress.reduction.patterns import PatternSet, pattern_set
from compress.reduction.profile import Critical, Level, Profile

VERDICT, FAILURE, DETAIL, NOTICE, PLAIN = 4, 3, 2, 1, 0
_LEVELS: dict[Level, int] = {
    "verdict": VERDICT,
    "failure": FAILURE,
    "detail": DETAIL,
    "notice": NOTICE,
}

LOCATION = (
    # a.c:12   A.cs(137,32)   "a.c", line 3   A.java:[14,39]
    r"[\w\])]\.[[:alpha:]]\w{0,11}[\"']?[:(,|]\s?(?:[[:alpha:]]{1,8} )?\[?\d+"
    r"|[[:alpha:]_]{3,}:\d+:\d+\b"
)
_ARROW = r"^\s*(?:-+>|=+>|→|»|>>>?)\s"
_COUNTED = r"\d+ [[:alpha:]][\w-]*"
_TOTALS = rf"\b{_COUNTED}(?:(?:,|;| /| \|| ·) (?:[[:alpha:]]{{1,3}} )?{_COUNTED})+"
_EXCEPTION = r"^\s*(?:[\w$]+[.:]+)*(?:[A-Z][a-z0-9]+){2,}(?:: |$)"
_SHAPES = (LOCATION, _ARROW, _TOTALS, _EXCEPTION)

# A count of zero takes the meaning from the word beside it: "0 failed", "failures: 0".
_ZERO = re.compile(r"(?<![\w.,])0 [^\W\d_]+|[^\W\d_]+[:=] ?0(?!\w|%|[.,]\d)")


@dataclass(frozen=True, slots=True)
class Marks:
    """What is known of one line. ``level``: :data:`VERDICT` … :data:`PLAIN`. ``failing``: a
    failure's pattern fits it, zero counts aside. ``before``, ``after``: context lines it asks for;
    ``until``: a line that ends those after it. ``located``: it names a place in a file.

    The others say which of the profile's patterns fit: ``frame`` and ``foreign`` of stack traces,
    ``dropped`` and ``comment`` of the filter, ``kept`` and ``succeeded`` of success, ``signed`` of
    the tool's signature."""

    level: int = PLAIN
    failing: bool = False
    before: int = 0
    after: int = 0
    until: PatternSet | None = None
    located: bool = False
    foreign: bool = False
    frame: bool = False
    dropped: bool = False
    comment: bool = False
    kept: bool = False
    succeeded: bool = False
    signed: bool = False


class Assessor:
    """The patterns of a profile, and of the one that it inherits from, as one set: one pass a
    line."""

    def __init__(self, profiles: Sequence[Profile]) -> None:
        """``profiles``: the one that applies, then the one that it inherits from, if any."""
        profile = profiles[0]
        criticals = [(critical, owner) for owner in profiles for critical in owner.critical]
        groups = [owner.group for owner in profiles]
        roles: list[tuple[str, str]] = []
        for role, patterns in (
            ("drop", profile.filter.drop),
            ("comment", profile.filter.comments),
            ("keep", profile.success.keep),
            ("success", profile.success.output),
            ("signature", profile.match.output),
            *(("frame", group.frames) for group in groups),
            *(("foreign", group.foreign) for group in groups),
        ):
            roles += [(role, pattern) for pattern in patterns]
        self._criticals = criticals
        self._roles = tuple(role for role, _ in roles)
        self._set = pattern_set(
            tuple(c.pattern for c, _ in criticals) + tuple(p for _, p in roles) + _SHAPES
        )
        self._unless = tuple(
            pattern_set((c.unless,)) if c.unless is not None else None for c, _ in criticals
        )
        self._untils = tuple(
            pattern_set((c.until,)) if c.until is not None else None for c, _ in criticals
        )

    def assess(self, texts: Sequence[str]) -> list[Marks]:
        """The marks of each line. Lines that read the same are looked at once."""
        known: dict[str, Marks] = {}
        marks = []
        for text in texts:
            found = known.get(text)
            if found is None:
                found = known[text] = self._marks(text)
            marks.append(found)
        return marks

    def _marks(self, text: str) -> Marks:
        matches = [] if not text or text.isspace() else self._set.matches(text)
        if not matches:
            return _NOTHING
        criticals, roles = len(self._criticals), len(self._roles)
        names = [
            self._roles[index - criticals] for index in matches if 0 <= index - criticals < roles
        ]
        shapes = [index - criticals - roles for index in matches if index >= criticals + roles]
        found = self._found([index for index in matches if index < criticals], text)
        level = max((_LEVELS[critical.level] for critical, _, _ in found), default=PLAIN)
        if _SHAPES.index(_TOTALS) in shapes:
            level = VERDICT
        elif _SHAPES.index(_EXCEPTION) in shapes:
            level = max(level, DETAIL)
        before, after, until = _context(found)
        return Marks(
            level=level,
            failing=any(critical.level == "failure" for critical, _, _ in found),
            before=before,
            after=after,
            until=until,
            located=_SHAPES.index(LOCATION) in shapes,
            foreign="foreign" in names,
            frame="frame" in names,
            dropped="drop" in names,
            comment="comment" in names,
            kept="keep" in names,
            succeeded="success" in names,
            signed="signature" in names,
        )

    def _found(
        self, indices: Sequence[int], text: str
    ) -> list[tuple[Critical, Profile, PatternSet | None]]:
        """The critical patterns that hold: those of failures only where no count of zero takes
        their meaning."""
        standing = None
        result = []
        for index in indices:
            critical, owner = self._criticals[index]
            unless = self._unless[index]
            if unless is not None and unless.matches(text):
                continue
            if critical.level == "failure":
                if standing is None:
                    shorter = _ZERO.sub("", text)
                    standing = indices if shorter == text else self._set.matches(shorter)
                if index not in standing:
                    continue
            result.append((critical, owner, self._untils[index]))
        return result


def _context(
    found: Sequence[tuple[Critical, Profile, PatternSet | None]],
) -> tuple[int, int, PatternSet | None]:
    """Lines of context before and after, and what ends them: the most that any pattern asks for."""
    before = after = 0
    until = None
    for critical, owner, end in found:
        failure = critical.level == "failure"
        default_before = owner.truncate.before if failure else 0
        default_after = owner.truncate.after if failure else 0
        before = max(before, default_before if critical.before is None else critical.before)
        wanted = default_after if critical.after is None else critical.after
        if wanted > after:
            after, until = wanted, end
    return before, after, until


_NOTHING = Marks()
