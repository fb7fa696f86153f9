"""What the full-text index holds of a text, by the script of each letter; never by its language.

The index splits words at what is no letter, mark or digit. That serves Latin. Of other scripts
each run is given to it as overlapping pieces, since their words are not parted by blanks, or are
so inflected that no two of their forms are the same:

- Han, kana and Hangul: two characters;
- Cyrillic, Greek, Arabic, Hebrew, Devanagari, Thai, Lao, Khmer, Myanmar: three, over the blank
  between two words too, with an edge at either end.

A run ends with its last piece but one character, so that each character begins a piece, and what
is shorter than a piece is found as the beginning of one. The lengths are those that find most
answers (``tests/benchmarks/search_scripts.py``). Names like ``getUserName`` are followed, at the
end of the text, by their parts.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from typing import NamedTuple

from storage.script_table import BARE, MARKED, PAIRED
from storage.word_parts import parts_of, word_parts

TOKENIZER = "unicode61 remove_diacritics 2 categories 'L* M* N* Co'"
"""Of the index: marks belong to their letters, and the edge is a character of private use."""
EDGE = "\ue000"
MAX_TERMS = 64
"""Terms of one query; the rest is left out, since FTS5 joins each with the others."""
_MAX_TERM = 1_000
MAX_PIECES = 128
"""Words and pieces of which any may be found."""
_NAME = {2: 3, 3: 12}
"""Pieces, by their length, from which a query without a blank is more than a name."""
STEM = 4
_ENDING = 3
"""Of a word, at least four characters, or all but the last three, begin the words that are taken
for forms of it."""

_ASCII = bytes(range(128))
_IGNORED = "\u0640\u200b\u200c\u200d"
"""Arabic's line filler, and the joiners and breaks without a width: no part of any word."""
MARKS = "\u0300-\u036f\u1dc0-\u1dff"
_UNINDEXED = re.compile("[\0\ud800-\udfff]")
_BETWEEN = re.compile(r"[\s!-/:-@\[-`{-~]+")


def _class(*tables: str) -> str:
    ranges = (part.split("-") for table in tables for part in table.split())
    return "".join(f"{chr(int(r[0], 16))}-{chr(int(r[-1], 16))}" for r in ranges)


_WIDE = "\uff01-\uff5e"


def _word(*tables: str) -> str:
    letters = _class(*tables)
    return f"[{letters}][{letters}{MARKS}{_IGNORED}]*"


_WORDS = {"bare": _word(BARE), "marked": _word(MARKED)}
_JOINT = f"[^\\w{MARKS}{_class(BARE, MARKED)}]{{1,3}}"
"""Blanks and punctuation between two words of a run."""


class _Patterns(NamedTuple):
    folded: re.Pattern[str]
    run: re.Pattern[str]
    words: dict[str, re.Pattern[str]]


@cache
def _patterns() -> _Patterns:
    """Made at first use: they take a twentieth of a second, which every command would wait."""
    runs = "|".join(f"(?P<{kind}>{word}(?:{_JOINT}{word})*)" for kind, word in _WORDS.items())
    return _Patterns(
        folded=re.compile(f"[{_class(PAIRED, BARE, MARKED)}{_WIDE}]"),
        run=re.compile(f"(?P<paired>[{_class(PAIRED)}]+)|(?P<wide>[{_WIDE}]+)|{runs}"),
        words={kind: re.compile(word) for kind, word in _WORDS.items()},
    )


_NO_JOINERS = str.maketrans("", "", _IGNORED)


def index_text(text: str) -> str:
    """What FTS5 is given of a text. ASCII only costs a look for names in it."""
    data = text.encode("utf-8", "surrogatepass")
    # Of the bytes above ASCII, mostly few, it is quickly told whether a run can be among them.
    if len(data) != len(text) and _patterns().folded.search(
        data.translate(None, _ASCII).decode("utf-8", "surrogatepass")
    ):
        text = _patterns().run.sub(_indexed, text)
    parts = word_parts(data)
    return f"{text}\n{parts}" if parts else text


def is_searchable(query: str) -> bool:
    """Whether there is a letter or digit in it."""
    return bool(_terms(query))


def all_of(query: str) -> str | None:
    """An FTS5 expression for the texts that hold all terms of a query, of which none of the
    characters has a meaning; ``None`` without terms.

    Terms are what stands between blanks. Each is a phrase: ``foo-bar`` finds ``foo-bar`` and
    ``foo_bar``, a run of two Han characters every text in which they follow each other.
    """
    terms = _terms(query)
    return " AND ".join(map(_phrase, terms)) or None


def any_of(query: str) -> str | None:
    """An FTS5 expression for the texts that hold any word of a query, a word that begins like it,
    or any piece of a run; ``None`` where the query is a single name, which is there or is not."""
    terms, pieces, words = terms_and_pieces(query)
    lengths = [len(piece) for piece in pieces]
    if len(terms) < 2 and all(lengths.count(size) < most for size, most in _NAME.items()):
        return None
    wanted = [_quoted(piece) for piece in pieces]
    for word in words:
        wanted.append(_quoted(word))
        if len(word) > STEM:
            wanted.append(_quoted(stem_of(word)) + " *")
    wanted = list(dict.fromkeys(wanted))
    if any(len(piece) == 3 for piece in pieces):
        # Beside such runs a word, often a name or a number, counts as the pieces it would make.
        wanted += [_quoted(word) for word in words for _ in range(min(len(word), STEM * 2) - 1)]
    return " OR ".join(wanted[:MAX_PIECES])


def terms_and_pieces(query: str) -> tuple[list[str], list[str], list[str]]:
    """The terms of a query, the pieces of all runs in them, and the words beside."""
    pieces: list[str] = []

    def take(match: re.Match[str]) -> str:
        run, size = _letters(match)
        if size == 1:
            return run
        pieces.extend(_pieces(run, size, left=True, right=True, tail=False).split())
        return " "

    terms = _terms(query)
    rest = _patterns().run.sub(take, " ".join(terms))
    return terms, pieces, [word for word in _BETWEEN.split(rest) if any(map(str.isalnum, word))]


def spelled(term: str) -> tuple[str, bool]:
    """A term in the pieces of the index, and whether the last of them only begins one."""
    is_beginning = False

    def take(match: re.Match[str]) -> str:
        nonlocal is_beginning
        run, size = _letters(match)
        if size == 1:
            return run
        if match.end() < len(term):
            # What follows begins after the run's end.
            return _pieces(run, size, left=match.start() > 0, right=True, tail=True)
        edged = EDGE * (size == 3 and match.start() > 0) + run
        is_beginning = len(edged) < size
        return _pieces(run, size, left=match.start() > 0, right=False, tail=False)

    return _patterns().run.sub(take, term), is_beginning


def stem_of(word: str) -> str:
    """What begins the words that are taken for forms of a word longer than :data:`STEM`."""
    return word[: max(STEM, len(word) - _ENDING)]


def words_of(query: str) -> str | None:
    """What :func:`all_of` is for an index of words only; of stores of an older version."""
    return " AND ".join(map(_quoted, _terms(query))) or None


def _terms(query: str) -> list[str]:
    cleaned = _UNINDEXED.sub(" ", query[: MAX_TERMS * _MAX_TERM])
    terms = (_trimmed(term[:_MAX_TERM]) for term in cleaned.split())
    return [term for term in terms if any(map(str.isalnum, term))][:MAX_TERMS]


def _trimmed(term: str) -> str:
    """Without what no word begins or ends with."""
    inside = [at for at, c in enumerate(term) if _is_indexed(c) and c not in _IGNORED]
    return term[inside[0] : inside[-1] + 1] if inside else ""


def _is_indexed(character: str) -> bool:
    category = unicodedata.category(character)
    return category[0] in "LMN" or category == "Co"


def _phrase(term: str) -> str:
    """The term as it stands in the index, wherever in a longer run it may."""
    text, is_beginning = spelled(term)
    phrase = _quoted(text) + " *" * is_beginning
    parts = parts_of(term)
    return f"({phrase} OR {_quoted(' '.join(parts))})" if parts else phrase


def _indexed(match: re.Match[str]) -> str:
    run, size = _letters(match)
    return run if size == 1 else _pieces(run, size, left=True, right=True, tail=True)


def _pieces(run: str, size: int, *, left: bool, right: bool, tail: bool) -> str:
    edged = run if size == 2 else f"{EDGE * left}{run}{EDGE * right}"
    count = max(1, len(edged) - size + 1 + tail)
    return " " + " ".join([edged[at : at + size] for at in range(count)]) + " "


def _letters(match: re.Match[str]) -> tuple[str, int]:
    """A run in one spelling, words joined by an edge, and the length of its pieces; 1: it is taken
    by words."""
    run, kind = match[0], match.lastgroup or ""
    if kind == "wide":
        return unicodedata.normalize("NFKC", run), 1
    if kind == "paired":
        return unicodedata.normalize("NFKC", run).casefold(), 2
    run = EDGE.join(_patterns().words[kind].findall(run)).translate(_NO_JOINERS)
    run = unicodedata.normalize("NFKC", run).casefold()
    if kind == "bare":
        parts = unicodedata.normalize("NFD", run)
        run = "".join([c for c in parts if not unicodedata.category(c).startswith("M")])
    return run, 3


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'
