"""Where a line says which place in a file it speaks of, and what it says of it.

``src/a.c:12:3: unused x`` → folders ``src/``, place ``a.c:12:3: ``, said ``unused x``. By shape
alone: a file's name with a suffix, a number behind it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

# A name may only begin where no other can, so that a line is read once. Folders may hold blanks
# behind a drive's letter, and at a line's begin.
_PLACE = re.compile(
    r"(?:^|(?<=[\s\"'(\[>,:])|(?<=\w(?=[A-Za-z]:[\\/])))"
    r"(?P<folders>[A-Za-z]:[\\/](?:[^\\/:*?\"<>|\[\]]++[\\/])*+"
    r"|(?<![^\s])/(?:[^/:\"'<>|()\[\]]++/)*+"
    r"|(?:[^\s:\"'()\[\],<>\\/]*+[\\/])*+)"
    r"(?P<name>[^\s:\"'()\[\],\\/<>]*[\w\])]\.[A-Za-z]\w{0,11}+[\"']?"
    r"\s?[:(,|]\s?(?:[^\W\d_]{1,8} )?[\[(]?\d+\b"
    r"|(?<=[\\/])[\w.+-]++\(\d+(?=(?:,\d+)?\)\s?:)"
    r"|[A-Za-z_]{3,}+:\d+:\d+)"
    r"(?P<rest>(?:[:.|-]\d++|, ?\d++)*+[)\]]*+\s*+:?\s*+)"
)


@dataclass(frozen=True, slots=True)
class Place:
    """Where in the text the ``folders`` begin, the file's ``name`` begins, and what is ``said`` of
    the place begins. Characters, from 0."""

    folders: int
    name: int
    said: int


def place_in(text: str) -> Place | None:
    """The first place that a text names."""
    match = _PLACE.search(text)
    if match is None:
        return None
    return Place(match.start(), match.start("name"), match.end())
