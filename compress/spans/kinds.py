"""What kind of text it is, found by its structure: by marks and columns, never by words of a
language."""

from __future__ import annotations

import re
from collections.abc import Callable

from compress.spans.values import TextKind

_READ = 65_536
"""Characters from the beginning that are looked at."""
_LINES = 400
_DIFF = re.compile(r"^(?:diff --\S+ \S|--- \S.*\n\+\+\+ \S|@@ -\d+(?:,\d+)? \+\d+)", re.MULTILINE)
_STAMP = re.compile(
    r"\W{0,3}"
    r"(?:\d{4}[-/.]?\d\d[-/.]?\d\d|\d\d?[-/. ]\w{3}[-/. ]\d{2,4}|\w{3} {1,2}\d{1,2})?[T ,]{0,2}"
    r"\d{1,2}:\d\d(?::\d\d)?(?:[.,]\d+)?"
)
_LEVELLED = re.compile(r"(?:\[[^\]\n]{1,40}\]|<\d+>|[A-Z]{4,8}[: ])")
_HEADING = re.compile(r" {0,3}#{1,6}[ \t]+\S")
_FENCE = re.compile(r" {0,3}(?:`{3,}|~{3,})")
_ITEM = re.compile(r" {0,8}(?:[-*+]|\d{1,3}[.)])[ \t]+\S")
_RULE = re.compile(r" {0,3}\|?[ \t]*:?-{3,}:?[ \t]*(?:\|[ \t]*:?-{3,}:?[ \t]*)+\|?[ \t]*$")
_INLINE = re.compile(r"\[[^\]\n]{1,200}\]\([^)\n]{1,400}\)|\*\*[^*\n]+\*\*|(?<!`)`[^`\n]+`(?!`)")
_CODE_END = re.compile(r"(?:[{};,(\[:\\)]|=>|->|\*/)\s*$")
_CODE_BEGIN = re.compile(r"\s*(?:[})\]]|//|/\*|\*/|#!|#include|@\w|</?\w|\$|%)")
_CALL = re.compile(r"\w\(|[=!<>]=|\w = \S|::|\w\.\w+\(")
_SEPARATORS = "\t|;,"


def kind_of(text: str) -> TextKind:
    """The kind of a text; ``plain`` where nothing tells."""
    head = text[:_READ]
    rows = [row for row in head.splitlines()[:_LINES] if row.strip()]
    if len(text) > _READ and len(rows) > 1:
        rows.pop()  # may have been cut
    if not rows:
        return "plain"
    tests: tuple[tuple[TextKind, bool], ...] = (
        ("diff", bool(_DIFF.search(head)) and _share(rows, _is_of_diff) > 0.5),
        ("table", _is_table(rows)),
        ("log", _is_log(rows)),
        ("code", _share(rows, _is_code) >= 0.5 and not any(map(_FENCE.match, rows))),
        ("markdown", _is_markdown(rows)),
    )
    return next((kind for kind, holds in tests if holds), "plain")


def _share(rows: list[str], holds: Callable[[str], bool]) -> float:
    return sum(map(holds, rows)) / len(rows)


def _is_of_diff(row: str) -> bool:
    return row[:1] in "+-@ di\\"


def _is_log(rows: list[str]) -> bool:
    stamped = _share(rows, lambda row: _STAMP.match(row) is not None)
    levelled = _share(rows, lambda row: _LEVELLED.match(row) is not None)
    return (len(rows) >= 3 and stamped >= 0.4) or (len(rows) >= 5 and levelled >= 0.7)


def _is_markdown(rows: list[str]) -> bool:
    if any(_HEADING.match(row) or _FENCE.match(row) or _RULE.match(row) for row in rows):
        return True
    items = sum(_ITEM.match(row) is not None for row in rows)
    return items >= 2 or sum(_INLINE.search(row) is not None for row in rows) >= 2


def _is_code(row: str) -> bool:
    return bool(
        len(row) < 300
        and (_CODE_END.search(row) or _CODE_BEGIN.match(row) or _CALL.search(row))
        and not _ITEM.match(row)
    )


def _is_table(rows: list[str]) -> bool:
    """Whether most lines have the same number of one separator, more than one cell each."""
    if len(rows) < 3:
        return False
    for separator in _SEPARATORS:
        counts = [row.count(separator) for row in rows]
        usual = max(sorted(set(counts)), key=counts.count)
        least = 1 if separator in "\t|" else 2
        if usual >= least and counts.count(usual) >= 0.85 * len(rows):
            return separator != "|" or _share(rows, lambda row: row.strip()[:1] == "|") > 0.8
    return False
