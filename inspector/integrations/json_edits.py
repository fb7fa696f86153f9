"""A JSON text that is changed by structure, while all that is not changed keeps its bytes.

The text is parsed into values that know where they stand. A member is added behind the last one of
its container, in the style of the text, or taken out with the comma that belonged to it; what was
added and is taken out again leaves no trace. After each change the text is parsed again and
compared with what the change should have made of the values.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from compress.errors import CompressError

Path = Sequence[str | int]
"""Keys and indices, from the outermost value inwards."""

_BLANK = re.compile(r"[ \t\r\n]*")
_SCALAR = re.compile(r"[^\s,\]}]+")
_INDENT = "  "
_STRING = json.JSONDecoder().raw_decode


class JsonTextError(CompressError):
    """A text that is no JSON, or not of the shape that was expected. Names the place."""

    code = "settings_file"


class _Number(str):
    """As it is written: neither the digits nor the form of a number are touched."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class _Node:
    """A value from ``start`` to ``end``; ``children``: what stands in it, each from ``begin`` (of
    its key, in an object)."""

    kind: Literal["object", "array", "scalar"]
    start: int
    end: int
    children: tuple[_Child, ...] = ()


@dataclass(frozen=True, slots=True)
class _Child:
    key: str | int
    begin: int
    node: _Node


class JsonText:
    """Raises :class:`JsonTextError` for what no strict parser takes: comments, trailing commas,
    a key that stands twice."""

    def __init__(self, text: str) -> None:
        self.text = text
        try:
            self.value: Any = json.loads(
                text,
                parse_int=_Number,
                parse_float=_Number,
                parse_constant=_no_constant,
                object_pairs_hook=_no_key_twice,
            )
            self._root = _scan(text, _BLANK.match(text, 0).end())  # type: ignore[union-attr]
        except json.JSONDecodeError as error:
            place = f"line {error.lineno}, column {error.colno}"
            raise JsonTextError(f"it is not valid JSON at {place}: {error.msg}") from error
        except RecursionError as error:
            raise JsonTextError("it is nested too deeply") from error

    def at(self, path: Path) -> Any:
        """The value there; ``None`` where there is none."""
        value = self.value
        for key in path:
            try:
                value = value[key]
            except (KeyError, IndexError, TypeError):
                return None
        return value

    def added(self, path: Path, key: str | None, value: object) -> JsonText:
        """With one more member behind the others: under ``key`` in an object, without one in an
        array."""
        container = self._node(path)
        name = "" if key is None else f"{json.dumps(key, ensure_ascii=False)}: "
        first = container.children[0] if container.children else None
        inline = self.text[container.start : first.begin] if first else self._outer()
        if "\n" not in inline:
            tight = first is not None and not re.search(r"[:,] ", self.text)
            marks = (",", ":") if tight else (", ", ": ")
            entry = name.rstrip() if tight else name
            entry += json.dumps(value, ensure_ascii=False, separators=marks)
            opened, parting, closed = "", marks[0], ""
        else:
            newline = "\r\n" if "\r\n" in self.text else "\n"
            base = self._indent_of_line(container.start)
            own = inline.rpartition("\n")[2] if first else base + self._unit()
            lines = json.dumps(value, ensure_ascii=False, indent=self._unit()).split("\n")
            entry = name + (newline + own).join(lines)
            opened, parting, closed = newline + own, f",{newline}{own}", newline + base
        if first is None:
            begin, end = container.start + 1, container.end - 1
            made = self.text[:begin] + opened + entry + closed + self.text[end:]
        else:
            end = container.children[-1].node.end
            made = self.text[:end] + parting + entry + self.text[end:]
        expected = _copied(self.value)
        inside = _inside(expected, path)
        fresh = JsonText(json.dumps(value)).value
        if key is None:
            inside.append(fresh)
        else:
            inside[key] = fresh
        return _checked(made, expected)

    def removed(self, path: Path) -> JsonText:
        """Without the member there."""
        container = self._node(path[:-1])
        at = [child.key for child in container.children].index(path[-1])
        child = container.children[at]
        if len(container.children) == 1:
            begin, end = container.start + 1, container.end - 1
        elif at:
            begin, end = container.children[at - 1].node.end, child.node.end
        else:
            begin, end = child.begin, container.children[1].begin
        expected = _copied(self.value)
        del _inside(expected, path[:-1])[path[-1]]
        return _checked(self.text[:begin] + self.text[end:], expected)

    def replaced(self, path: Path, value: str) -> JsonText:
        """With another text in the place of a text."""
        node = self._node(path)
        made = self.text[: node.start] + json.dumps(value, ensure_ascii=False)
        expected = _copied(self.value)
        _inside(expected, path[:-1])[path[-1]] = value
        return _checked(made + self.text[node.end :], expected)

    def _node(self, path: Path) -> _Node:
        node = self._root
        for key in path:
            node = next(child.node for child in node.children if child.key == key)
        return node

    def _outer(self) -> str:
        """How the outermost value begins: an empty text counts as one of several lines."""
        children = self._root.children
        return self.text[self._root.start : children[0].begin] if children else "{\n"

    def _unit(self) -> str:
        children = self._root.children
        begun = self.text[self._root.start : children[0].begin] if children else ""
        return begun.rpartition("\n")[2] if "\n" in begun else _INDENT

    def _indent_of_line(self, at: int) -> str:
        line = self.text[self.text.rfind("\n", 0, at) + 1 : at]
        return line[: len(line) - len(line.lstrip(" \t"))]


def _checked(text: str, expected: object) -> JsonText:
    made = JsonText(text)
    if made.value != expected:
        raise JsonTextError("it cannot be changed without changing something else in it")
    return made


def _copied(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copied(item) for key, item in value.items()}
    return [_copied(item) for item in value] if isinstance(value, list) else value


def _inside(value: Any, path: Path) -> Any:
    for key in path:
        value = value[key]
    return value


def _no_constant(name: str) -> None:
    raise JsonTextError(f"{name} is no JSON")


def _no_key_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise JsonTextError(f"the key {json.dumps(key)} stands in it twice")
        found[key] = value
    return found


def _scan(text: str, at: int) -> _Node:
    """The value that begins here, of a text that was parsed already."""
    opening = text[at]
    if opening == '"':
        return _Node("scalar", at, _STRING(text, at)[1])
    if opening not in "{[":
        return _Node("scalar", at, _SCALAR.match(text, at).end())  # type: ignore[union-attr]
    children: list[_Child] = []
    here = _skip(text, at + 1)
    while text[here] not in "}]":
        begin, key = here, len(children) if opening == "[" else ""
        if opening == "{":
            key, here = _STRING(text, here)
            here = _skip(text, _skip(text, here) + 1)
        node = _scan(text, here)
        children.append(_Child(key, begin, node))
        here = _skip(text, node.end)
        if text[here] == ",":
            here = _skip(text, here + 1)
    return _Node("object" if opening == "{" else "array", at, here + 1, tuple(children))


def _skip(text: str, at: int) -> int:
    return _BLANK.match(text, at).end()  # type: ignore[union-attr]
