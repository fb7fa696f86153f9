"""A profile: what is known of one tool's output. Data, read from TOML by ``storage``.

The engine holds no words of any tool or language; they all stand in profiles.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from compress.errors import CompressError
from compress.reduction.patterns import Pattern, has_groups

Level = Literal["verdict", "failure", "detail", "notice"]
"""How much a line weighs that a critical pattern finds: *verdict* (totals, the summary line, the
exit code) and *failure* (what went wrong, and the test's name) are never left out before all
others; *detail* (operands, locations, causes) comes next; *notice* (warnings, hints) after it."""
DIAGNOSTIC = ("location", "message")
"""The groups of a pattern of diagnostics."""
Grouping = Literal["folder", "file", "diagnostic", "frames"]


class ProfileError(CompressError):
    """A profile that cannot be used; names its file, its key and the position."""

    code = "profile"


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=False)


class Match(_Model):
    """Which outputs a profile is for."""

    tools: tuple[str, ...] = ()
    """Names of tools, as the agent calls them; case does not matter."""
    commands: tuple[Pattern, ...] = ()
    """Found in one simple command of a command line (what stands between ``;``, ``&&``, ``|``)."""
    output: tuple[Pattern, ...] = ()
    """The output's signature, line by line. Where it is given and no line fits, the output is not
    what the profile was made for, and the generic profile takes over. Without tool and command,
    a profile is chosen by it."""
    form: bool = False
    """The signature is that of a form of text (a log, JSON), which many tools print: a profile is
    chosen by it only where no tool's signature fits."""
    detail: tuple[Pattern, ...] = ()
    """Flags of the command that ask for detail: with one of them, nothing is left out."""


class Filter(_Model):
    """What goes first. A line that a critical pattern finds is never dropped."""

    drop: tuple[Pattern, ...] = ()
    """Boilerplate: whole lines."""
    comments: tuple[Pattern, ...] = ()
    """Comment lines, dropped likewise, reported apart."""
    blank_runs: bool = True
    """Runs of blank lines become one."""


class Group(_Model):
    """What is brought together, losing no word. Failures and verdicts are left as they stand,
    but for what the profile's own ``diagnostics`` take for a message at a location."""

    by: tuple[Grouping, ...] = ()
    """``folder``: bare paths, one a line, under their folder. ``file``: ``path:line:text`` under
    its path. ``diagnostic``: the same message at several locations once, with all locations.
    ``frames``: runs of foreign stack frames weigh next to nothing."""
    diagnostics: tuple[Annotated[Pattern, AfterValidator(has_groups(*DIAGNOSTIC))], ...] = ()
    """One line's diagnostic, with the named groups ``location`` and ``message``."""
    frames: tuple[Pattern, ...] = ()
    """A line that belongs to a stack trace."""
    foreign: tuple[Pattern, ...] = ()
    """A frame that is not of the project: libraries, the runtime, the test runner itself."""


class Deduplicate(_Model):
    """What collapses to one line with its count."""

    identical: bool = True
    templates: bool = True
    """Lines that differ in numbers and names only; never critical ones."""
    minimum: int = Field(default=3, ge=2)
    """Fewer lines than that stand as they are."""


class Truncate(_Model):
    """How much stays where no budget is given."""

    head: int = Field(default=5, ge=0)
    tail: int = Field(default=10, ge=0)
    """First and last lines that rank before other plain ones."""
    share: float = Field(default=0.25, gt=0, le=1)
    """Of the tokens, for outputs above ``floor``; critical lines may exceed it."""
    floor: int = Field(default=200, ge=0)
    """Tokens: an output of at most that many passes untouched."""
    before: int = Field(default=1, ge=0, le=50)
    after: int = Field(default=2, ge=0, le=50)
    """Lines of context around a failure."""


class Critical(_Model):
    """One pattern of lines that may not be lost."""

    pattern: Pattern
    level: Level = "failure"
    unless: Pattern | None = None
    """Not where this is found too: ``test error_is_told ... ok``."""
    before: int | None = Field(default=None, ge=0, le=200)
    after: int | None = Field(default=None, ge=0, le=200)
    """Lines of context, where it is another than the profile's."""
    until: Pattern | None = None
    """The context runs on to the line before the next one that this finds, at most ``after``."""


class Success(_Model):
    """When an output is a success; decides how little of it is shown, never what is said of it."""

    exit_codes: tuple[int, ...] = (0,)
    output: tuple[Pattern, ...] = ()
    """Lines that say success. An output is a success if one is there, no *failure* line is, and
    the exit code, where it is known, is one of ``exit_codes``."""
    keep: tuple[Pattern, ...] = ()
    """Lines shown on success, beside verdicts."""
    share: float = Field(default=0.08, gt=0, le=1)
    """In place of ``truncate.share``."""


class Example(_Model):
    """An inline test of the profile."""

    name: str
    input: str
    exit_code: int | None = None
    command: str | None = None
    budget: str | None = None
    keeps: tuple[str, ...] = ()
    """Texts that stand in the result."""
    drops: tuple[str, ...] = ()
    """Texts that do not."""
    output: str | None = None
    """The whole result, without the header."""


class Profile(_Model):
    """A tool's output as data. See the tables' own docstrings."""

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9._-]{0,63}$")
    description: str = ""
    inherit: bool = True
    """The generic profile's critical patterns hold too."""
    checks: bool = False
    """The tool judges something (tests, types, style): its verdict lines say whether that passed,
    whatever exit code a pipe leaves."""
    match: Match = Match()
    filter: Filter = Filter()
    group: Group = Group()
    deduplicate: Deduplicate = Deduplicate()
    truncate: Truncate = Truncate()
    critical: tuple[Critical, ...] = ()
    success: Success = Success()
    examples: tuple[Example, ...] = ()


def parse_profile(value: Mapping[str, Any], source: str, name: str | None = None) -> Profile:
    """A profile from a parsed TOML table. ``name`` fills in where the table has none.

    Raises :class:`ProfileError` with the source (a file's name), the key and, for a pattern, the
    position in it.
    """
    data = dict(value)
    if name is not None:
        data.setdefault("name", name)
    try:
        return Profile.model_validate(data)
    except ValidationError as error:
        errors = error.errors(include_url=False)
        # A key that does not exist is why another one is missing.
        first = next((e for e in errors if e["type"] == "extra_forbidden"), errors[0])
        key = ".".join(str(part) for part in first["loc"]) or "the table"
        message = first["msg"].removeprefix("Value error, ")
        if first["type"] == "extra_forbidden":
            message = "there is no such key"
        raise ProfileError(f"{source}: {key}: {message}.") from error
