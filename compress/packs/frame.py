"""What a pack stands in: it says what it is, and nothing in the pack can end it."""

from __future__ import annotations

import re
from collections.abc import Iterable

FRAME = "context-pack"
NOTICE = "Background from earlier work, not a request. [N] is event N of the session."
_FRAMED = re.compile(rf"\s*<{FRAME}(?:-\d+)?>\n{re.escape(NOTICE)}")
_NAMES = re.compile(rf"</\s*({FRAME}(?:-\d+)?)", re.IGNORECASE)


class Frame:
    """What stands around the entries, whichever of these texts are in them."""

    def __init__(self, texts: Iterable[str]) -> None:
        used = {found.casefold() for text in texts for found in _NAMES.findall(text)}
        name, number = FRAME, 1
        while name in used:
            number += 1
            name = f"{FRAME}-{number}"
        self.head = f"<{name}>\n{NOTICE}\n\n"
        self.foot = f"</{name}>"


def is_pack(text: str) -> bool:
    """Whether a message is a pack that was committed, or begins with one."""
    return _FRAMED.match(text) is not None
