"""Indexes in memory: BM25 of SQLite's FTS5 over whatever was cut, with the score of each hit."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Sequence

from storage import scripts
from tests.benchmarks.search_scripts import pairs, trigrams, words

WORDS = "unicode61 remove_diacritics 2"
WITH_MARKS = f"{WORDS} categories 'L* M* N* Co'"


class Index:
    """Texts by their number."""

    def __init__(
        self,
        texts: Iterable[str],
        tokenizer: str,
        indexed: Callable[[str], str],
        asked: Callable[[str], str | None],
    ) -> None:
        self._asked = asked
        self._connection = sqlite3.connect(":memory:")
        self._connection.execute(
            f"CREATE VIRTUAL TABLE t USING fts5(text, content='', tokenize=\"{tokenizer}\")"
        )
        self._connection.executemany(
            "INSERT INTO t (rowid, text) VALUES (?, ?)", enumerate(map(indexed, texts))
        )

    def scores(self, question: str) -> list[tuple[int, float]]:
        """All texts that hold any part of the question, the best first, greater is better."""
        expression = self._asked(question)
        if expression is None:
            return []
        found = self._connection.execute(
            "SELECT rowid, -bm25(t) FROM t WHERE t MATCH ? ORDER BY bm25(t), rowid", (expression,)
        )
        return [(int(row[0]), float(row[1])) for row in found]


def routed(texts: Iterable[str]) -> Index:
    """As the store does it: each script by its own pieces."""
    return Index(texts, scripts.TOKENIZER, scripts.index_text, _any_of)


def single(texts: Sequence[str]) -> dict[str, Index]:
    """One way for all scripts, of which any term may match."""
    return {
        "words": Index(texts, WORDS, str, _any(words)),
        "trigrams": Index(texts, "trigram", str, _any(trigrams)),
        "pairs": Index(texts, WITH_MARKS, pairs, _any(lambda question: words(pairs(question)))),
    }


def _any_of(question: str) -> str | None:
    return scripts.any_of(question) or scripts.all_of(question)


def _any(terms: Callable[[str], Iterable[str]]) -> Callable[[str], str | None]:
    def asked(question: str) -> str | None:
        quoted = ['"' + term.replace('"', '""') + '"' for term in terms(question)]
        return " OR ".join(quoted) or None

    return asked
