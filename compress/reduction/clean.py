"""Text → lines without what only a terminal obeys.

Escape sequences go; of a progress display (frames parted by carriage returns) each run of frames
that differ in numbers and bars only leaves its last; whatever differs otherwise stays. A line
that is very long is cut into pieces at its own punctuation, so that the middle of a line can be
kept or left out like the middle of an output.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from compress.reduction.templates import frame_template

LONG_LINE = 1_000
"""Characters above which a line is cut into pieces."""
_PIECE = 300
"""Characters of a piece, about; it ends at punctuation or a blank where there is some."""
_PIECE_REACH = 120

# ECMA-48: control sequences, strings (title, hyperlink), two-character escapes.
_SEQUENCE = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"
    r"|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)?"
    r"|\x1b[ -/]*[0-~]?"
)
# Sequences that bring the cursor back to the line's begin, or wipe the line: a new frame.
_FRAME = re.compile(r"\x1b\[(?:[01]?G|[12]?K(?=\x1b\[[01]?G))|\x1b\[2K")
_WIPED = re.compile(r"\x1b\[2K\s*$")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_CUT = re.compile(r"[,;}\]>)]\s?|\s")


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the input, a frame of one, or a piece of a long one.

    ``index``: the input's line, from 0. ``part``: the piece within it, from 0; frames of a
    progress display are lines of their own and share an index.
    """

    index: int
    part: int
    text: str


@dataclass(frozen=True, slots=True)
class Cleaned:
    """``total``: lines of the input. ``escaped``: lines that lost terminal sequences.
    ``frames``: frames of progress displays that went."""

    lines: tuple[Line, ...]
    total: int
    escaped: int
    frames: int


def clean(text: str) -> Cleaned:
    """The text's lines. The last, empty one that a final line feed leaves is none."""
    raw = text.split("\n")
    if raw[-1] == "":
        raw.pop()
    lines: list[Line] = []
    escaped = frames = 0
    for index, line in enumerate(raw):
        if line.isprintable():
            shown: tuple[str, ...] = (line,)
        else:
            shown, gone = _printed(line)
            frames += gone
            escaped += shown != (line.rstrip("\r"),)
        for frame in shown:
            pieces = _pieces(frame) if len(frame) > LONG_LINE else [frame]
            lines.extend(Line(index, part, piece) for part, piece in enumerate(pieces))
    return Cleaned(tuple(lines), len(raw), escaped, frames)


def _printed(line: str) -> tuple[tuple[str, ...], int]:
    """What a terminal shows of a line, and how many frames it wrote over."""
    line = _SURROGATE.sub("\ufffd", line)
    wiped = _WIPED.search(line) is not None
    if "\x1b" in line or "\x9b" in line:
        line = _FRAME.sub("\r", line)
        line = _SEQUENCE.sub("", line)
    if "\x08" in line:
        line = _overstruck(line)
    candidates = [_CONTROL.sub("", frame).rstrip() for frame in line.split("\r")]
    frames = [frame for frame in candidates if frame]
    if wiped and not any(any(map(str.isalpha, frame)) for frame in frames):
        return ("",), len(frames)
    if len(frames) < 2:
        return (frames[0] if frames else "",), 0
    kept: list[str] = []
    templates: list[str] = []
    # A frame without a letter is a bar or a percentage: it says nothing once it is over.
    worded = [frame for frame in frames if any(map(str.isalpha, frame))] or frames[-1:]
    for frame in worded:
        template = frame_template(frame)
        if templates and templates[-1] == template:
            kept[-1] = frame
        else:
            kept.append(frame)
            templates.append(template)
    return tuple(kept), len(frames) - len(kept)


def _overstruck(line: str) -> str:
    """The line as it stands after each backspace took a character."""
    standing: list[str] = []
    for character in line:
        if character != "\x08":
            standing.append(character)
        elif standing and standing[-1] != "\r":
            standing.pop()
    return "".join(standing)


def _pieces(line: str) -> list[str]:
    found = []
    start = 0
    while len(line) - start > _PIECE + _PIECE_REACH:
        end = start + _PIECE
        cut = _CUT.search(line, end, end + _PIECE_REACH)
        stop = cut.end() if cut else end
        found.append(line[start:stop])
        start = stop
    found.append(line[start:])
    return found
