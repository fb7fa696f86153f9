"""Elements in tags: what programs put beside, or around, a person's words."""

from __future__ import annotations

import re

_LOOKED_AT = 20_000

_OPEN = re.compile(r"\s*<([\w-]{1,60})(?:\s[^>]{0,200})?>")
_TAG = re.compile(r"</?[\w-]{1,60}(?:\s[^>]{0,200})?>")


def is_wrapped(text: str) -> bool:
    """Whether a text consists of elements in tags: put beside the person's words by a program."""
    if not text[:400].lstrip().startswith("<"):
        return False
    if len(text) > _LOOKED_AT:
        opened = _OPEN.match(text)
        return opened is not None and text[-200:].rstrip().endswith(f"</{opened[1]}>")
    at, text = 0, text.rstrip()
    while at < len(text):
        opened = _OPEN.match(text, at)
        closed = text.find(f"</{opened[1]}>", opened.end()) if opened else -1
        if opened is None or closed < 0:
            return False
        at = closed + len(opened[1]) + 3
    return True


def behind_elements(text: str) -> str:
    """What stands behind the elements that a text begins with: a person's words, where a program
    put something before them; nothing where they are all of it."""
    at = 0
    while opened := _OPEN.match(text, at):
        closed = text.find(f"</{opened[1]}>", opened.end())
        if closed < 0:
            break
        at = closed + len(opened[1]) + 3
    return text[at:].strip()


def without_tags(text: str) -> str:
    """What is left of a text when its tags are taken out."""
    return _TAG.sub(" ", text)
