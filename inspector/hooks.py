"""What an agent's hook is answered, from what the agent says on stdin.

Claude Code and Codex say ``{"session_id", "transcript_path", "cwd", "hook_event_name", …}`` with
``trigger`` before a compaction and ``source`` when a session starts; what goes back is
``{"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": TEXT}}``
(code.claude.com/docs/en/hooks, the schemas that ship with Codex). pi's extension is Ullage's own
and says the same of its session, and of how many ``tokens`` a summary makes sense.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from compress.continuation.carry import Carried
from compress.errors import CompressError

LARGEST_CONTEXT = 9_500
"""Bytes. Of more than 10,000 characters Claude Code shows the model the first 2,000
(anthropics/claude-code#44086); Codex of more than 2,500 tokens, at four bytes each."""
_LONGEST_NAME = 200


class HookError(CompressError):
    """What a hook was given cannot be answered."""

    code = "hook"


class Sessions(Protocol):
    """The use-cases that hooks need."""

    def find(self, reference: str) -> str:
        """The name of a session; the log at a path is read first."""
        ...

    def keep_up(self, session: str) -> None:
        """Brings up to date what is derived from it."""
        ...

    def carried(
        self,
        session: str,
        *,
        whole: bool = False,
        most: int | None = None,
        largest: int | None = None,
    ) -> Carried | None:
        """What is carried over a compaction."""
        ...


def answer(sessions: Sessions, agent: str, event: str, given: bytes) -> bytes:
    """What the hook prints: nothing, or one line of JSON in ASCII.

    Raises :class:`HookError` for an event that is none and for words that say of no session; what
    the use-cases raise.
    """
    said = _said(given)
    if agent in ("claude", "codex"):
        if event == "pre-compact":
            sessions.keep_up(_session(sessions, said))
            return b""
        if event == "session-start":
            if said.get("source") != "compact":
                return b""
            found = sessions.carried(_session(sessions, said), largest=LARGEST_CONTEXT)
            if found is None:
                return b""
            context = {"hookEventName": "SessionStart", "additionalContext": _text(found)}
            return _line({"hookSpecificOutput": context})
    elif agent == "pi" and event in ("before-compact", "after-compact"):
        whole = event == "before-compact"
        most = said.get("tokens")
        found = sessions.carried(
            _session(sessions, said), whole=whole, most=most if type(most) is int else None
        )
        key = "summary" if whole else "context"
        return b"" if found is None else _line({key: _text(found)})
    raise HookError(f"There is no hook {event} of {agent}.")


def _said(given: bytes) -> Mapping[str, Any]:
    try:
        said = json.loads(given)
    except (ValueError, RecursionError) as error:
        raise HookError(f"The hook was given no JSON: {type(error).__name__}.") from error
    if not isinstance(said, dict):
        raise HookError("The hook was given no JSON object.")
    return said


def _session(sessions: Sessions, said: Mapping[str, Any]) -> str:
    """The session, by its log where there is one, else by its name."""
    path, name = said.get("transcript_path"), said.get("session_id")
    if isinstance(path, str) and _is_file(path):
        return sessions.find(str(Path(path).expanduser().absolute()))
    if isinstance(name, str) and 8 <= len(name) <= _LONGEST_NAME and "/" not in name:
        return sessions.find(name)
    raise HookError("The hook was told neither of a log nor of a session.")


def _is_file(path: str) -> bool:
    try:
        return Path(path).expanduser().is_file()
    except (OSError, ValueError, RuntimeError):
        return False


def _text(found: Carried) -> str:
    return found.text.encode("utf-8", "replace").decode()


def _line(value: object) -> bytes:
    return (json.dumps(value, ensure_ascii=True, separators=(",", ":")) + "\n").encode()
