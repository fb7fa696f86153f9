"""What a tool call did, read from the structure of its input: agent-agnostic facts.

Nothing here knows a tool by its name. A call that carries a path and a text writes, one that
carries a path alone reads, one with a command runs it; the field names are those that the tool
schemas of common agents use. A patch in the ``*** Begin Patch`` envelope (Codex' ``apply_patch``)
names its files itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

Action = Literal["read", "changed", "created", "ran", "searched", "fetched", "other"]

_PATH_KEYS = ("file_path", "path", "notebook_path", "filename", "file", "filePath", "absolute_path")
_COMMAND_KEYS = ("command", "cmd", "script")
_QUERY_KEYS = ("pattern", "query", "regex", "search_term")
_REPLACING_KEYS = frozenset(
    {"old_string", "new_string", "old_str", "new_str", "oldText", "newText", "edits", "diff"}
    | {"patch", "insert_line", "replacement", "new_source", "oldString", "newString"}
    | {"old_text"}
)
_WHOLE_KEYS = frozenset({"content", "file_text", "contents", "text", "new_text"})
_LISTS: Mapping[str, tuple[Action, tuple[str, ...]]] = {
    "paths": ("read", _PATH_KEYS),
    "file_paths": ("read", _PATH_KEYS),
    "files": ("read", _PATH_KEYS),
    "commands": ("ran", _COMMAND_KEYS),
    "queries": ("searched", _QUERY_KEYS),
    "requests": ("fetched", ("url", "uri")),
}
_BACKGROUND_KEYS = ("run_in_background", "background", "is_background", "isBackground")

_PATCH_FILE = re.compile(
    r"^\*\*\* (?P<verb>Add|Update|Delete) File: (?P<path>[^\n]{1,1000})$", re.MULTILINE
)
_EXIT = re.compile(
    r"\bexit(?:ed)?[ _-]?(?:with[ _])?(?:code|status)\W{1,4}(\d{1,4})\b", re.IGNORECASE
)
_COMMAND_LIMIT = 2_000


@dataclass(frozen=True, slots=True)
class ToolFact:
    """One thing that one call did."""

    action: Action
    target: str
    """A path, a command, a query or a URL; empty for ``other``."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """The facts of one call. ``background``: its input asks for a job that runs on."""

    name: str
    facts: tuple[ToolFact, ...]
    background: bool = False

    @property
    def key(self) -> tuple[str, str]:
        """Two calls with the same key try the same thing: what failed once and worked later is
        resolved."""
        first = self.facts[0] if self.facts else ToolFact("other", "")
        target = first.target
        if first.action == "ran":
            target = " ".join(_command_words(target)[:4])
        return (self.name, target)


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a call ended, copied from its result, never guessed. ``None``: it does not say."""

    is_error: bool | None = None
    exit_code: int | None = None

    @property
    def failed(self) -> bool:
        """Whether the result itself says that it failed."""
        return bool(self.is_error) or (self.exit_code or 0) != 0

    @property
    def label(self) -> str:
        """A word for a line: ``exit 2``, ``error``, ``ok``, or nothing."""
        if self.exit_code is not None:
            return f"exit {self.exit_code}"
        return {True: "error", False: "ok", None: ""}[self.is_error]


def tool_call(name: str, value: Any) -> ToolCall:
    """The facts of a call from its name and input (parsed JSON, or a free-form string)."""
    if isinstance(value, str):
        return ToolCall(name, tuple(_free_form(value)))
    if not isinstance(value, Mapping):
        return ToolCall(name, ())
    background = any(value.get(key) is True for key in _BACKGROUND_KEYS)
    return ToolCall(name, tuple(_facts(value)), background)


def json_output(text: str) -> Mapping[str, Any] | None:
    """The object where a result stands in one with its output, as Codex' older form logs it:
    empty where it is broken, ``None`` for any other text."""
    if not text.startswith('{"output":'):
        return None
    try:
        value: Mapping[str, Any] = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return value


def outcome(text: str, is_error: bool | None) -> Outcome:
    """How a result says that it ended. Looks at its first and last 400 characters only: an exit
    code in the middle of an output is that of something else."""
    for part in (text[:400], text[-400:] if len(text) > 400 else ""):
        found = _EXIT.search(part)
        if found:
            return Outcome(is_error, int(found[1]))
    return Outcome(is_error)


def _facts(value: Mapping[str, Any]) -> Iterator[ToolFact]:
    command = _command(value)
    if command:
        patched = list(_patched(command))
        yield from patched or [ToolFact("ran", command[:_COMMAND_LIMIT])]
        return
    for key in ("input", "patch", "patch_text", "patchText"):
        text = value.get(key)
        if isinstance(text, str) and (patched := list(_patched(text))):
            yield from patched
            return
    path = _string(value, _PATH_KEYS)
    query = _string(value, _QUERY_KEYS)
    url = _string(value, ("url", "uri"))
    if url:
        yield ToolFact("fetched", url)
    elif query:
        yield ToolFact("searched", query)
    elif path:
        yield ToolFact(_action_on_path(value), path)
    else:
        yield from _many(value)


def _action_on_path(value: Mapping[str, Any]) -> Action:
    if any(value[key] is not None for key in value.keys() & _REPLACING_KEYS):
        return "changed"
    if any(isinstance(value.get(key), str) for key in _WHOLE_KEYS):
        return "created"
    return "read"


def _many(value: Mapping[str, Any]) -> Iterator[ToolFact]:
    """What a call does that does several things of one kind: each is a text, or an object."""
    for key, (action, inner) in _LISTS.items():
        listed = value.get(key)
        for one in listed if isinstance(listed, list) else ():
            if isinstance(one, Mapping):
                target = " ".join([_string(one, inner), *_texts(one.get("args"))]).strip()
            else:
                target = one if isinstance(one, str) else ""
            if target:
                yield ToolFact(action, target[:_COMMAND_LIMIT])


def _texts(listed: Any) -> list[str]:
    return [one for one in listed if isinstance(one, str)] if isinstance(listed, list) else []


def _free_form(text: str) -> Iterator[ToolFact]:
    patched = list(_patched(text))
    if patched:
        yield from patched
    elif text.strip():
        yield ToolFact("ran", text.strip()[:_COMMAND_LIMIT])


def _patched(text: str) -> Iterator[ToolFact]:
    if "*** Begin Patch" not in text:
        return
    for found in _PATCH_FILE.finditer(text):
        yield ToolFact("created" if found["verb"] == "Add" else "changed", found["path"].strip())


def _command(value: Mapping[str, Any]) -> str:
    for key in _COMMAND_KEYS:
        found = value.get(key)
        if isinstance(found, str) and found.strip():
            # An editing tool's verb stands in the same field as a shell's command line.
            return "" if _string(value, _PATH_KEYS) else found.strip()
        if isinstance(found, list) and found and all(isinstance(part, str) for part in found):
            return _shell_script(found)
    return ""


def _shell_script(words: Sequence[str]) -> str:
    """``bash -lc SCRIPT`` is the script."""
    if len(words) == 3 and words[1].startswith("-") and words[1].endswith("c"):
        return words[2].strip()
    return " ".join(words)


def _command_words(command: str) -> list[str]:
    """The words of a command line that say what is run: no assignments, no flags, no pipe behind
    it, no change of folder before it."""
    steps = re.split(r"&&|;|\n", command)
    parts = [part for part in steps if part.split()[:1] not in ([], ["cd"])]
    words = re.split(r"\||\d?>", parts[0] if parts else command)[0].split()
    return [w for w in words if not w.startswith("-") and not re.match(r"[A-Za-z_]\w*=", w)]


def _string(value: Mapping[str, Any], keys: Sequence[str]) -> str:
    for key in keys:
        found = value.get(key)
        if isinstance(found, str) and found.strip():
            return found.strip()
    return ""
