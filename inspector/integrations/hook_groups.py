"""The table of hooks that Claude Code and Codex share: event → groups of commands.

``{"hooks": {EVENT: [{"matcher": …, "hooks": [{"type": "command", "command": …}]}]}}``, as both
document it (code.claude.com/docs/en/hooks, developers.openai.com/codex/hooks).
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from inspector.integrations.json_edits import JsonText, JsonTextError
from inspector.integrations.program import Program

PRE_COMPACT, SESSION_START = "PreCompact", "SessionStart"
EVENTS: Mapping[str, tuple[str, str | None]] = {
    PRE_COMPACT: ("pre-compact", None),
    SESSION_START: ("session-start", "compact"),
}
"""Event → what the hook is called here, and which of the events it is for."""
SECONDS = 30
"""After which the agent goes on without the hook; the hook itself gives up earlier."""


EMPTY = "{}\n"
"""A file without anything in it."""


@dataclass(frozen=True, slots=True)
class _Entry:
    """One of Ullage's own commands: where it stands, and how many stand beside it."""

    path: tuple[str | int, ...]
    event: str
    command: str
    alone: bool


class HookedFile:
    """A JSON file that holds an agent's hooks in this form."""

    agent: str

    def installed(self, text: str | None, program: Program) -> str:
        """With both hooks; ``text``: as the file is, ``None`` where there is none."""
        lines = commands(program.words, self.agent, program.options)
        return with_hooks(EMPTY if text is None else text, lines, self.agent)

    def removed(self, text: str) -> str | None:
        """Without them."""
        return without_hooks(text, self.agent)


def commands(program: Sequence[str], agent: str, options: Sequence[str] = ()) -> dict[str, str]:
    """Event → the line that a shell runs."""
    return {
        event: shlex.join([*program, "hook", agent, name, *options])
        for event, (name, _) in EVENTS.items()
    }


def with_hooks(text: str, lines: Mapping[str, str], agent: str) -> str:
    """The text with these commands; the same text where they stand in it as they should.

    Raises :class:`JsonTextError`.
    """
    document = _document(text)
    for event, line in lines.items():
        own = [entry for entry in _own(document, agent) if entry.event == event]
        if own:
            for entry in own:
                if entry.command != line:
                    document = document.replaced((*entry.path, "command"), line)
            continue
        document = _added(document, event, line)
    return document.text


def without_hooks(text: str, agent: str) -> str:
    """The text without Ullage's commands, and without the groups, events and tables that held
    nothing else.

    Raises :class:`JsonTextError`.
    """
    document = _document(text)
    while entry := next(_own(document, agent), None):
        path = entry.path
        if entry.alone:
            # The group with its matcher; then what is empty for that.
            path = path[:-2]
            while len(path) > 1 and len(document.at(path[:-1])) == 1:
                path = path[:-1]
        document = document.removed(path)
    return document.text


def holds(text: str, agent: str) -> bool:
    """Whether any of Ullage's commands stands in it. Raises :class:`JsonTextError`."""
    return next(_own(_document(text), agent), None) is not None


def is_set(text: str, key: str) -> bool:
    """Whether a top-level key of it is true."""
    return _document(text).at([key]) is True


def _document(text: str) -> JsonText:
    document = JsonText(text)
    _shape(document, [], dict)
    _shape(document, ["hooks"], dict)
    for event in EVENTS:
        _shape(document, ["hooks", event], list)
    return document


def _shape(document: JsonText, path: Sequence[str], kind: type) -> None:
    found = document.at(path)
    if found is None and (not path or path[-1] not in (document.at(path[:-1]) or {})):
        if path:
            return
    elif isinstance(found, kind):
        return
    name = ".".join(path) or "it"
    raise JsonTextError(f"{name} is no {'object' if kind is dict else 'list'}")


def _added(document: JsonText, event: str, line: str) -> JsonText:
    matcher = EVENTS[event][1]
    command = {"type": "command", "command": line, "timeout": SECONDS}
    group: dict[str, Any] = {} if matcher is None else {"matcher": matcher}
    group["hooks"] = [command]
    if document.at(["hooks"]) is None:
        return document.added([], "hooks", {event: [group]})
    if document.at(["hooks", event]) is None:
        return document.added(["hooks"], event, [group])
    return document.added(["hooks", event], None, group)


def _own(document: JsonText, agent: str) -> Iterator[_Entry]:
    for event, (name, _) in EVENTS.items():
        for at, group in enumerate(document.at(["hooks", event]) or ()):
            hooks = group.get("hooks") if isinstance(group, dict) else None
            if not isinstance(hooks, list):
                continue
            for place, hook in enumerate(hooks):
                line = hook.get("command") if isinstance(hook, dict) else None
                if isinstance(line, str) and is_own(line, agent, name):
                    path = ("hooks", event, at, "hooks", place)
                    yield _Entry(path, event, line, len(hooks) == 1)


def is_own(line: str, agent: str, name: str) -> bool:
    """Whether a line of a shell runs Ullage's hook: the program alone, wherever it stands, with
    nothing before or behind it."""
    try:
        words = shlex.split(line)
    except ValueError:
        return False
    for at in range(1, len(words) - 2):
        if words[at : at + 3] == ["hook", agent, name]:
            head, tail = words[:at], words[at + 3 :]
            return _is_program(head) and (not tail or (len(tail) == 2 and tail[0] == "--db"))
    return False


def _is_program(words: Sequence[str]) -> bool:
    if len(words) == 1:
        return re.search(r"(?:^|[/\\])ullage(?:\.exe)?$", words[0]) is not None
    return list(words[-2:]) == ["-m", "inspector.cli"] and len(words) <= 4
