"""What a call does to the text of a file, read from the structure of its input.

As in ``compress/toolcalls.py`` no tool is known by its name: a path with a text writes the file, a
path with an old and a new text replaces, a ``*** Begin Patch`` envelope (Codex' ``apply_patch``)
does what its sections say.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_PATHS = ("file_path", "path", "filename", "file", "filePath", "absolute_path")
_WHOLE = ("content", "file_text", "contents", "text")
_REPLACING = (
    ("old_string", "new_string"),
    ("old_str", "new_str"),
    ("oldText", "newText"),
    ("oldString", "newString"),
)
_ALL = ("replace_all", "replaceAll")
_BEGIN, _END = "*** Begin Patch", "*** End Patch"
_FILE = re.compile(r"\*\*\* (Add|Update|Delete) File: (.{1,1000})")
_MOVE = "*** Move to: "


@dataclass(frozen=True, slots=True)
class FileChange:
    """What becomes of one file. ``whole``: its new text. ``replaced``: (old, new, everywhere), one
    after the other. ``hunks``: (old lines, new lines), from the top down. ``gone``: it is deleted.
    ``moved``: its new path."""

    path: str
    whole: str | None = None
    replaced: tuple[tuple[str, str, bool], ...] = ()
    hunks: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = ()
    gone: bool = False
    moved: str = ""

    def apply(self, text: str | None) -> str | None:
        """The text after the change; ``None`` where that does not follow from what is known."""
        if self.whole is not None:
            return self.whole
        for old, new, everywhere in self.replaced:
            if text is None or not old or old not in text:
                return None
            text = text.replace(old, new) if everywhere else text.replace(old, new, 1)
        return _patched(text, self.hunks) if self.hunks else text


def file_changes(value: Any) -> tuple[FileChange, ...]:
    """The changes that a call with this input asks for; none for a call of another kind."""
    patch = next((text for text in _texts(value) if _BEGIN in text), None)
    if patch is not None:
        return tuple(_sections(patch.partition(_BEGIN)[2].partition(_END)[0]))
    if not isinstance(value, Mapping):
        return ()
    path = next((p for key in _PATHS if isinstance(p := value.get(key), str) and p.strip()), "")
    if not path:
        return ()
    edits = value.get("edits")
    listed = edits if isinstance(edits, list | tuple) else ()
    replaced = tuple(r for part in (value, *listed) for r in _replacement(part))
    if replaced:
        return (FileChange(path, replaced=replaced),)
    whole = next((t for key in _WHOLE if isinstance(t := value.get(key), str)), None)
    return () if whole is None else (FileChange(path, whole=whole),)


def _texts(value: Any) -> Iterator[str]:
    """Every text of an input, two levels deep: where a patch may stand."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for part in value.values():
            if isinstance(part, str):
                yield part
            elif isinstance(part, list | tuple):
                yield from (text for text in part if isinstance(text, str))


def _replacement(value: Any) -> Iterator[tuple[str, str, bool]]:
    if not isinstance(value, Mapping):
        return
    for old_key, new_key in _REPLACING:
        old, new = value.get(old_key), value.get(new_key)
        if isinstance(old, str) and isinstance(new, str):
            yield old, new, any(value.get(key) is True for key in _ALL)


def _sections(patch: str) -> Iterator[FileChange]:
    parts: list[tuple[str, str, list[str]]] = []
    for line in patch.split("\n"):
        named = _FILE.fullmatch(line.rstrip())
        if named is not None:
            parts.append((named[1], named[2].strip(), []))
        elif parts:
            parts[-1][2].append(line)
    for verb, path, lines in parts:
        if verb == "Add":
            added = [line[1:] for line in lines if line.startswith("+")]
            yield FileChange(path, whole="\n".join([*added, ""]))
        elif verb == "Delete":
            yield FileChange(path, gone=True)
        else:
            moved = next((x[len(_MOVE) :].strip() for x in lines if x.startswith(_MOVE)), "")
            yield FileChange(path, hunks=tuple(_hunks(lines)), moved=moved)


def _hunks(lines: Sequence[str]) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    old: list[str] = []
    new: list[str] = []
    for line in [*lines, "@@"]:
        mark, text = line[:1], line[1:]
        if line.startswith(("@@", "***")):
            if old or new:
                yield tuple(old), tuple(new)
            old, new = [], []
        elif mark == "-":
            old.append(text)
        elif mark == "+":
            new.append(text)
        elif mark == " ":
            old.append(text)
            new.append(text)


def _patched(text: str | None, hunks: Sequence[tuple[Sequence[str], Sequence[str]]]) -> str | None:
    if text is None:
        return None
    lines, place = text.split("\n"), 0
    for old, new in hunks:
        # Lines without a place of their own are added at the end (openai/codex apply-patch).
        found = _find(lines, old, place) if old else len(lines) - (lines[-1] == "")
        if found is None:
            return None
        lines[found : found + len(old)] = new
        place = found + len(new)
    return "\n".join(lines)


def _find(lines: Sequence[str], wanted: Sequence[str], start: int) -> int | None:
    for first in range(start, len(lines) - len(wanted) + 1):
        if lines[first] == wanted[0] and tuple(lines[first : first + len(wanted)]) == tuple(wanted):
            return first
    return None
