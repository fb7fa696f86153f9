"""What a text may hold of a query, piece by piece."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

import regex

from storage.scripts import MARKS, MAX_PIECES, STEM, spelled, stem_of, terms_and_pieces
from storage.word_parts import parts_of

WORD = r"[\p{L}\p{M}\p{N}\p{Co}]"
"""A character of a word of the index: the categories of :data:`storage.scripts.TOKENIZER`."""
_WORDS = regex.compile(f"{WORD}+")
_MARK = regex.compile(f"[{MARKS}]")


@dataclass(frozen=True, slots=True)
class Piece:
    """These words of the index, one behind the other, in the spelling of :func:`folded`."""

    words: tuple[str, ...]
    is_beginning: bool = False
    """The last of them only has to begin so."""

    @property
    def expression(self) -> str:
        """For FTS5."""
        return '"' + " ".join(self.words) + '"' + " *" * self.is_beginning


def pieces_of(query: str) -> tuple[Piece, ...]:
    """All that :func:`storage.scripts.any_of` looks for, each once, and the terms of several words
    whole; the words first. None for a query without a letter or digit."""
    terms, pieces, words = terms_and_pieces(query)
    found = [Piece((word,)) for text in words for word in words_of(text)]
    stems = [piece.words[0] for piece in found]
    found += [Piece(words_of(piece)) for piece in pieces]
    found += [Piece(words_of(" ".join(parts_of(term)))) for term in terms]
    whole = [Piece(words_of(text), is_open) for text, is_open in map(spelled, terms)]
    found += [piece for piece in whole if len(piece.words) > 1 or piece.is_beginning]
    found += [
        Piece((stem_of(word),), is_beginning=True)
        for word in stems
        if len(word) > STEM and word.isalpha()
    ]
    return tuple(dict.fromkeys(piece for piece in found if piece.words))[:MAX_PIECES]


def folded(text: str) -> str:
    """In the spelling of the index: small letters, without the marks that Latin has."""
    if text.isascii():
        return text.lower()
    bare = _MARK.sub("", unicodedata.normalize("NFD", text))
    return unicodedata.normalize("NFC", bare).lower()


def words_of(text: str) -> tuple[str, ...]:
    """The words that the index takes from a text, folded; runs of other scripts as they stand."""
    return tuple(_WORDS.findall(folded(text)))
