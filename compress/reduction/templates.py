"""What lines have in common: a small, ordered miner of templates.

Three masks of rising coarseness. A line's template does not depend on the lines around it, so
the same text has the same template in every output and in every order.
"""

from __future__ import annotations

import re

# A bound on what is masked: two long lines that begin alike are alike.
_SEEN = 400

_NUMBERS = re.compile(r"\b0x[0-9a-fA-F]+\b|\b(?=[a-f]*\d)[0-9a-f]{7,40}\b|\d+(?:[.,:]\d+)*")
_NAMES = re.compile(r"'[^']*'|\"[^\"]*\"|`[^`]*`|[^\s:,;()\[\]]*[/\\][^\s:,;()\[\]]*|[\w-]*\.\w+")
_WORDS = re.compile(r"[^\W_]+(?:[_\s]+[^\W_]+)*")
_BLANKS = re.compile(r"\s+")
_BARS = re.compile(r"[^\w\s]+")


def number_template(text: str) -> str:
    """The text with its numbers, hashes and addresses as ``0``."""
    return _NUMBERS.sub("0", text[:_SEEN])


def name_template(text: str) -> str:
    """The same, with quoted names and paths as ``*``, and one blank for each run of them."""
    return _BLANKS.sub(" ", number_template(_NAMES.sub("*", text[:_SEEN]))).strip()


def shape(text: str) -> str:
    """The text's punctuation, with ``w`` for each run of words and numbers."""
    return _BLANKS.sub(" ", _WORDS.sub("w", number_template(text)))


def frame_template(text: str) -> str:
    """What the frames of one progress display share: words, without numbers, bars and blanks."""
    return _BLANKS.sub("", _BARS.sub("", number_template(text))).replace("0", "")
