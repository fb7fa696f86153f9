"""What the harvest remembers of a tool call until its result is in."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Literal

from compress.decisions.results import Reading
from compress.decisions.values import FileAction
from compress.events import ContentBlock, SessionEvent
from compress.toolcalls import ToolCall, tool_call

Sort = Literal["ran", "changed", "looked", "other"]
"""``looked``: it read, searched or fetched. That it found nothing is no failure of the stage."""

_HEADLINE = 200
_REASON = 600
_REASON_KEYS = ("rationale", "justification", "explanation", "description", "reason")
"""Fields of tool schemas in which an agent says why it calls, the most telling first."""

_ASKING = ("--help", "--version")
"""With one of these a command does another thing than without, whatever its other flags."""

_COMMIT = re.compile(r"\bgit\b[^\n;&|]{0,200}?\bcommit\b")
_HEREDOC = re.compile(r"<<-?\s*(['\"]?)(\w{1,40})\1[^\n]*\n(.*?)\n\s*\2\b", re.DOTALL)
_MESSAGE = re.compile(
    r"(?:\s-\w*m|\s--message)(?:\s+|=)(?:\"((?:[^\"\\]|\\.)*)\"|'([^']*)')", re.DOTALL
)
_TRAILER = re.compile(r"[A-Z][\w-]{1,40}: .{1,300}")
_SIGNATURE = re.compile(r"\W{0,4}Generated with \[.*")
"""The line by which an agent signs a commit says nothing of why."""


@dataclass(slots=True)
class Call:
    """One call. ``owners``: ids of the plan items that were in progress when it was made."""

    seq: int
    identity: str
    """Of its record and its id."""
    id: str
    key: str
    """Two calls with the same key try the same thing."""
    sort: Sort
    headline: str
    command: str = ""
    files: list[tuple[str, FileAction]] = field(default_factory=list)
    reason: str = ""
    commit: str = ""
    """The body of the message of the commit that it makes."""
    background: bool = False
    masked: bool = False
    """That its command line ended well does not say that the command did: see
    :func:`is_masked`."""
    owners: list[str] = field(default_factory=list)
    time: float | None = None
    tokens: int = 0
    decided: bool = False
    """A person was asked about it."""
    result: int = 0
    """The seq of its result; 0 while it has none."""
    reading: Reading | None = None
    """Of the result; ``None`` also where a person refused the call."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A call with its result."""

    call: Call
    reading: Reading
    seq: int

    @property
    def unclear(self) -> bool:
        """Whether nothing is known of how the call ended."""
        reading = self.reading
        return reading.unclear or (
            self.call.masked and not reading.failed and reading.totals_failed is None
        )


def call_of(block: ContentBlock, event: SessionEvent, seq: int, tokens: int) -> Call:
    """The call that a block of an event makes."""
    call = tool_call(block.name or "", block.input)
    first = call.facts[0] if call.facts else None
    sort: Sort = "other"
    files: list[tuple[str, FileAction]] = []
    command = ""
    if first is not None:
        if first.action in ("read", "searched", "fetched"):
            sort = "looked"
        elif first.action == "ran":
            sort, command = "ran", first.target
        elif first.action in ("changed", "created"):
            sort = "changed"
            files = [
                (fact.target, fact.action)
                for fact in call.facts
                if fact.action in ("changed", "created")
            ]
    return Call(
        seq=seq,
        identity=f"{event.native_id}/{block.id or ''}",
        id=block.id or "",
        key=_key(call, command),
        sort=sort,
        headline=_headline(block, call),
        command=command,
        files=files,
        reason=reason_of(block),
        commit=commit_body(command),
        background=call.background,
        masked=is_masked(command),
        time=event.time,
        tokens=tokens,
    )


def reason_of(block: ContentBlock) -> str:
    """Why the call is made, from a field of its input that says so."""
    if isinstance(block.input, Mapping):
        for key in _REASON_KEYS:
            found = block.input.get(key)
            if isinstance(found, str) and found.strip():
                return found.strip()[:_REASON]
    return ""


def commit_body(command: str) -> str:
    """The body of the message that a ``git commit`` is given on its command line, without its
    subject, trailers and signature. Empty for any other command, and for a commit without a
    body."""
    commit = _COMMIT.search(command)
    if commit is None:
        return ""
    rest = command[commit.end() :]
    if heredoc := _HEREDOC.search(rest):
        message = heredoc[3]
    else:
        message = "\n\n".join(double or single for double, single in _MESSAGE.findall(rest))
    paragraphs = [part.strip() for part in message.strip().split("\n\n")][1:]
    telling = [part for part in paragraphs if part and not _is_trailer(part)]
    return "\n\n".join(telling)[:_REASON]


def is_masked(command: str) -> bool:
    """Whether a command line may end well although its first command did not: in a pipe, before
    ``;`` or ``||`` or a line break, or behind ``&``, its exit code is lost. What is quoted, and
    what a here-document holds, does not count."""
    quote, before = "", ""
    for place, char in enumerate(command):
        if before == "\\" and quote != "'":
            before = ""
            continue
        if quote:
            quote = "" if char == quote else quote
        elif char in "'\"":
            quote = char
        elif command.startswith("<<", place):
            return False
        elif char in "|;\n" or (char == "&" and _is_lone(before, command[place + 1 : place + 2])):
            return True
        before = char
    return False


def _is_lone(before: str, after: str) -> bool:
    return before not in ("&", ">", "<") and after not in ("&", ">")


def _is_trailer(paragraph: str) -> bool:
    lines = paragraph.split("\n")
    return all(_TRAILER.fullmatch(line) or _SIGNATURE.fullmatch(line) for line in lines)


def _key(call: ToolCall, command: str) -> str:
    name, target = call.key
    if "<<" in command:
        # The words of the first line are those of any script that is handed over this way.
        target = blake2b(command.encode("utf-8", "replace"), digest_size=8).hexdigest()
    asking = " ".join(word for word in _ASKING if word in command.split())
    return f"{name}\x1f{target[:500]} {asking}".rstrip()


def _headline(block: ContentBlock, call: ToolCall) -> str:
    target = call.facts[0].target if call.facts else ""
    name = block.name or "?"
    return " ".join(f"{name} {target[: 4 * _HEADLINE]}".split())[:_HEADLINE]
