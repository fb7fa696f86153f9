"""Settings: where they come from, which value is in force, and who set it.

In rising order: the defaults, ``config.toml`` in the platform's configuration folder, the nearest
``.ullage.toml`` from the working folder upwards, environment variables ``ULLAGE_…``, flags. A
later source replaces a value whole; ``ullage doctor`` prints which value came from where.
"""

from __future__ import annotations

import difflib
import os
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any, Literal

from platformdirs import user_config_path, user_data_path
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    PositiveInt,
    TypeAdapter,
    ValidationError,
    model_validator,
)

from compress.beliefs.classes import ClassError, sources
from storage.format import MEMORY

APPLICATION = "ullage"
PROJECT_FILE = ".ullage.toml"

Ratio = Annotated[float, Field(gt=0, le=1)]
Windows = dict[str, PositiveInt]


def _known_classes(value: dict[str, str]) -> dict[str, str]:
    try:
        sources(value)
    except ClassError as error:
        raise ValueError(str(error).rstrip(".")) from error
    return value


class Beliefs(BaseModel):
    """The table ``[beliefs]``."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    classes: Annotated[dict[str, str], AfterValidator(_known_classes)] = Field(default_factory=dict)
    """Kind of source → retention class, where it is to be another than
    :data:`compress.beliefs.classes.SOURCES` says."""


class SettingsError(Exception):
    """A setting that cannot be taken. The message names its file, its key and its value."""

    code = "settings"

    def __init__(self, message: str, choices: Sequence[object] = ()) -> None:
        super().__init__(message)
        self.choices = tuple(choices)


def default_db() -> str:
    """The store's file in the platform's data folder."""
    return str(user_data_path(APPLICATION, appauthor=False) / "ullage.db")


def default_config_file() -> Path:
    """``config.toml`` in the platform's configuration folder; it need not exist."""
    return user_config_path(APPLICATION, appauthor=False) / "config.toml"


class Settings(BaseModel):
    """The values in force. Ratios are of the context window, 0 < r ≤ 1; sizes are in tokens.

    Raises ``ValueError`` where two values contradict each other; the message names both.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    db: str = Field(default_factory=default_db)
    """The store's file, or ``:memory:``."""
    window: PositiveInt | Windows | None = None
    """The context window: one number for all models, or a table from model name to number whose
    keys may hold ``*`` and ``?``. ``None``: the log's own figure, else the built-in table."""
    threshold_ratio: Ratio = 0.8
    """Pressure at which compaction begins."""
    retain_ratio: Ratio = 0.16
    """The tail that compaction leaves verbatim: ``floor(window × retain_ratio)`` tokens."""
    retain_tokens: PositiveInt | None = None
    """The same in tokens; wins over the ratio where it is set."""
    max_summary_tokens: Annotated[int, Field(ge=64)] = 8192
    retries: Annotated[int, Field(ge=0, le=10)] = 1
    """Further attempts while a compaction ends above the threshold."""
    last_messages: Annotated[int, Field(ge=0)] = 6
    """Messages at the end of a conversation that always stay verbatim."""
    micro_high: Ratio = 0.70
    """Pressure at which micro-compaction begins …"""
    micro_low: Ratio = 0.60
    """… and at which it stops."""
    unclearable_tools: tuple[str, ...] = ()
    """Tools whose results micro-compaction leaves alone; all others are clearable."""
    memory_tokens: Annotated[int, Field(ge=0)] = 4000
    """What the decision points of one session may weigh before the oldest of them graduate to the
    memory of its project."""
    project_memory_tokens: Annotated[int, Field(ge=0)] = 8000
    """How much of a project's memory is shown at once, the newest first; all of it is kept."""
    pack_budget: Annotated[int, Field(ge=1)] = 4000
    """What a retrieval pack may take, whole."""
    hook_budget: Annotated[int, Field(ge=64)] = 2000
    """What an agent's hook puts back into its context after a compaction, whole."""
    type_aware_compression: bool = True
    """Whether a pack renders beliefs by their class; off: each verbatim."""
    beliefs: Beliefs = Beliefs()
    """By which class."""
    auto: Literal["off", "micro", "full"] = "off"
    """What a policy may commit without a person while watching."""
    theme: Literal["dark", "light"] = "dark"
    poll_interval: Annotated[float, Field(ge=0.1, le=3600)] = 2.0
    """Seconds between two looks at the watched folders (file events are hints, not the truth)."""

    @model_validator(mode="after")
    def _no_two_values_contradict(self) -> Settings:
        for _, sentence in _contradictions(self):
            raise ValueError(sentence)
        return self

    def window_for(self, model: str | None) -> int | None:
        """The window that the user set for this model: the exact name first, then the longest
        pattern that matches, letter case aside; ``None`` where nothing is set."""
        if not isinstance(self.window, dict):
            return self.window
        name = (model or "").lower()
        patterns = [key for key in self.window if fnmatchcase(name, key.lower())]
        best = max(patterns, key=lambda key: (key.lower() == name, len(key), key), default=None)
        return None if best is None else self.window[best]


def _contradictions(settings: Settings) -> Iterator[tuple[tuple[str, str], str]]:
    """Pairs of keys whose values cannot both hold, each with its sentence."""
    pairs = (
        (
            "retain_ratio",
            "threshold_ratio",
            "the retained tail alone would stand at or above the threshold",
        ),
        ("micro_low", "micro_high", "clearing must stop below the point where it begins"),
    )
    window = settings.window if isinstance(settings.window, int) else None
    for low, high, why in pairs:
        a, b = getattr(settings, low), getattr(settings, high)
        if a >= b:
            left, right = (_with_tokens(key, v, window) for key, v in ((low, a), (high, b)))
            yield (low, high), f"{left} must be below {right}: {why}"
    # Of a table of windows, or none, each session's own is checked when it is used.
    retained, ratio = settings.retain_tokens, settings.threshold_ratio
    if retained is not None and window is not None and retained >= int(window * ratio):
        right = _with_tokens("threshold_ratio", ratio, window)
        yield (
            ("retain_tokens", "threshold_ratio"),
            f"retain_tokens = {retained:,} must be below {right}: {pairs[0][2]}",
        )


def _with_tokens(key: str, ratio: float, window: int | None) -> str:
    tokens = "" if window is None else f" ({int(window * ratio):,} tokens)"
    return f"{key} = {ratio:g}{tokens}"


@dataclass(frozen=True, slots=True)
class Loaded:
    """Settings, and for each of them the source that set it."""

    settings: Settings
    origins: Mapping[str, str] = field(default_factory=dict)
    """Key → ``default``, a file, the name of an environment variable, or a flag."""
    files: tuple[Path, ...] = ()
    """The files that were read, in rising order."""

    def provenance(self) -> dict[str, Any]:
        """Key → ``{"value", "from"}``, as ``ullage doctor`` prints it."""
        values = self.settings.model_dump(mode="json")
        return {key: {"value": values[key], "from": self.origins[key]} for key in values}


def load_settings(
    flags: Mapping[str, Any] | None = None,
    *,
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
    config_file: Path | None = None,
) -> Loaded:
    """Read all sources. ``flags`` holds what the command line gave, by setting, as text or as a
    value (``None`` counts as not given); ``environment``, ``folder`` (where the search for the
    project's file begins) and ``config_file`` default to the process's own.

    Raises :class:`SettingsError` for a file that cannot be read and for any value that cannot be
    taken.
    """
    environment = os.environ if environment is None else environment
    user_file = default_config_file() if config_file is None else config_file
    project_file = _nearest(Path.cwd() if folder is None else folder)
    values: dict[str, Any] = {}
    origins = dict.fromkeys(Settings.model_fields, "default")
    files = [path for path in (user_file, project_file) if path is not None and _is_file(path)]
    for path in files:
        _merge(_from_file(path), values, origins)
    _merge(_from_environment(environment), values, origins)
    _merge(_from_flags(flags or {}), values, origins)
    return Loaded(_combined(values, origins), origins, tuple(files))


def _merge(
    found: Sequence[tuple[str, Any, str]], values: dict[str, Any], origins: dict[str, str]
) -> None:
    for key, value, origin in found:
        values[key], origins[key] = value, origin


def _combined(values: Mapping[str, Any], origins: Mapping[str, str]) -> Settings:
    loose = Settings.model_construct(**values)
    for keys, sentence in _contradictions(loose):
        places = ", ".join(f"{key} from {origins[key]}" for key in keys)
        raise SettingsError(f"{sentence} ({places}).")
    return Settings(**values)


def _nearest(folder: Path) -> Path | None:
    folder = folder.absolute()
    return next(
        (file for up in (folder, *folder.parents) if _is_file(file := up / PROJECT_FILE)), None
    )


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a folder on the way that may not be entered
        return False


def _from_file(path: Path) -> list[tuple[str, Any, str]]:
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path} cannot be read: {error}.") from error
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{path} is not valid TOML: {error}.") from error
    found = []
    for key, value in table.items():
        checked = _checked(key, value, str(path))
        if key == "db" and checked != MEMORY:
            checked = str(path.parent / os.path.expanduser(checked))  # noqa: PTH111
        found.append((key, checked, str(path)))
    return found


def _from_environment(environment: Mapping[str, str]) -> list[tuple[str, Any, str]]:
    """An empty variable counts as unset; other ``ULLAGE_…`` variables are none of ours."""
    names = {key: f"ULLAGE_{key.upper()}" for key in Settings.model_fields}
    given = {key: text for key, name in names.items() if (text := environment.get(name))}
    return [(key, _checked_text(key, text, names[key]), names[key]) for key, text in given.items()]


def _flag_of(key: str, value: object) -> str:
    """The flag by which the command line sets this."""
    if key == "type_aware_compression" and isinstance(value, bool):
        return "--compression" if value else "--no-compression"
    return "--db" if key == "db" else f"--set {key}"


def _from_flags(flags: Mapping[str, Any]) -> list[tuple[str, Any, str]]:
    found = []
    for key, value in flags.items():
        if value is not None:
            flag = _flag_of(key, value)
            check = _checked_text if isinstance(value, str) else _checked
            found.append((key, check(key, value, flag), flag))
    return found


def _checked_text(key: str, text: str, origin: str) -> Any:
    value: Any = text
    if key == "window":
        value = _window_text(text)
    elif key == "beliefs":
        pairs = (part.partition("=") for part in text.split(",") if part.strip())
        value = {"classes": {kind.strip(): class_.strip() for kind, _, class_ in pairs}}
    elif key == "unclearable_tools":
        value = [name.strip() for name in text.split(",") if name.strip()]
    return _checked(key, value, origin, from_text=isinstance(value, str))


def _window_text(text: str) -> str | dict[str, Any]:
    """``200000``, or ``MODEL=NUMBER`` pairs between commas."""
    if "=" not in text:
        return text
    pairs = (part.partition("=") for part in text.split(",") if part.strip())
    return {
        name.strip(): int(size) if size.strip().isdecimal() else size for name, _, size in pairs
    }


def _checked(key: str, value: Any, origin: str, *, from_text: bool = False) -> Any:
    """The value in its setting's type. A number in a file must be a number, not a string."""
    if key not in Settings.model_fields:
        near = difflib.get_close_matches(key, Settings.model_fields, n=3)
        hint = f"did you mean {' or '.join(near)}" if near else "ullage doctor lists all"
        raise SettingsError(f"{origin}: {key} is not a setting; {hint}.", near)
    info = Settings.model_fields[key]
    declared: Any = Annotated[info.annotation, info]
    adapter: TypeAdapter[Any] = TypeAdapter(declared)
    try:
        checked = (
            adapter.validate_strings(value)
            if from_text
            else adapter.validate_python(
                # TOML knows lists only.
                tuple(value) if isinstance(value, list) else value,
                strict=True,
            )
        )
    except ValidationError as error:
        raise SettingsError(
            f"{origin}: {key} = {value!r} cannot be taken: {_why(error, value)}."
        ) from None
    if key == "db" and checked != MEMORY:
        return str(Path(os.path.expanduser(checked)))  # noqa: PTH111 - of nobody, too
    return checked


def _why(error: ValidationError, value: Any) -> str:
    """The validator's reason, the key of a table before it. Of the alternatives that a setting
    has, the one that fits the value's shape is told."""
    details = error.errors(include_url=False)
    detail = details[-1] if isinstance(value, dict) else details[0]
    message = detail["msg"].removeprefix("Value error, ")
    reason = message[:1].lower() + message[1:]
    names = [str(part) for part in detail["loc"] if isinstance(value, dict) and part in value]
    return f"{names[0]}: {reason}" if names else reason
