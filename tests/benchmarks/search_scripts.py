"""Full text in six scripts: questions against the text that answers them.

    python -m tests.benchmarks.search_scripts [--folder DIR] [--languages en,ru,ar,hi,th,zh]

Reads the parallel question sets of XQuAD (``xquad.LANGUAGE.json``, SQuAD layout). Every paragraph
is cut into chunks of whole sentences, at most 128 tokens each; a question is answered when its
whole answer stands in the best chunk, or in one of the best five. ``ullage``: the chunks are a
log's messages, read into a store, and the question is typed as it stands. Beside it, on the same
chunks and in SQLite's FTS5 with any of the terms: words (``unicode61``), its ``trigram``, and
pairs of the characters of scripts without blanks.

Prints a table and one JSON line.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from compress.tokens import TokenCounter
from storage import resources
from storage.ingest import Ingest
from storage.search import search
from storage.sources.registry import registry
from storage.store import Store

FOLDER = Path(os.environ.get("ULLAGE_XQUAD", "../shared/eval/xquad"))
LANGUAGES = ("en", "ru", "ar", "hi", "th", "zh")
MOST_TOKENS = 128
_SENTENCE = re.compile(r".+?(?:[.!?](?=\s)|[。！？؟।]|$)\s*", re.DOTALL)
_WORD = re.compile(r"\S+\s*|\s+")
_PAIRED = re.compile("[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")

Span = tuple[int, int]
Answer = Callable[[str], list[int]]
"""A question → the best chunks, at most five."""


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """Chunks of a language's paragraphs, and questions, each with the chunks that answer it."""

    chunks: list[str]
    questions: list[tuple[str, frozenset[int]]]


def spans(text: str, counter: TokenCounter) -> list[Span]:
    """Whole sentences, as many as fit; words where one does not, then characters."""
    whole: list[Span] = []
    for start, end in _pieces(text, counter):
        if whole and counter.count(text[whole[-1][0] : end]) <= MOST_TOKENS:
            whole[-1] = (whole[-1][0], end)
        else:
            whole.append((start, end))
    return whole


def _pieces(text: str, counter: TokenCounter) -> Iterator[Span]:
    for sentence in _SENTENCE.finditer(text):
        if counter.count(sentence[0]) <= MOST_TOKENS:
            yield sentence.span()
            continue
        for word in _WORD.finditer(text, *sentence.span()):
            start, end = word.span()
            while counter.count(text[start:end]) > MOST_TOKENS:
                cut = start + 1
                while counter.count(text[start : cut + 1]) <= MOST_TOKENS:
                    cut += 1
                yield start, cut
                start = cut
            yield start, end


def question_set(path: Path, counter: TokenCounter) -> QuestionSet:
    """Of one file."""
    chunks: list[str] = []
    questions = []
    for article in json.loads(path.read_text(encoding="utf-8"))["data"]:
        for paragraph in article["paragraphs"]:
            text, first = paragraph["context"], len(chunks)
            cuts = spans(text, counter)
            chunks += [text[start:end] for start, end in cuts]
            for asked in paragraph["qas"]:
                holding = frozenset(
                    first + number
                    for number, (start, end) in enumerate(cuts)
                    for answer in asked["answers"]
                    if start <= answer["answer_start"]
                    and answer["answer_start"] + len(answer["text"]) <= end
                )
                questions.append((asked["question"], holding))
    return QuestionSet(chunks, questions)


def by_store(chunks: list[str], folder: Path) -> Answer:
    """The product's own way, from a log to the hits."""
    log = folder / "chunks.jsonl"
    rows = ({"role": "user", "content": chunk} for chunk in chunks)
    log.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    store = Store(":memory:", registry())
    ingest = Ingest(store)
    ingest.run([log], final=True)
    ingest.close()
    session = store.sessions()[0]
    number = {
        int(entry.seq): place
        for place, entry in enumerate(e for e in store.entries(session) if e.op is not None)
    }
    if len(number) != len(chunks):
        raise SystemExit(f"{len(chunks)} chunks were written, {len(number)} read")
    return lambda question: [number[hit.seq] for hit in search(store.connections, question, 5)]


def by_index(
    chunks: list[str],
    tokenizer: str,
    indexed: Callable[[str], str],
    terms: Callable[[str], Iterable[str]],
) -> Answer:
    """A plain FTS5 index, of which any term may match."""
    connection = sqlite3.connect(":memory:")
    connection.execute(
        f"CREATE VIRTUAL TABLE t USING fts5(text, content='', tokenize=\"{tokenizer}\")"
    )
    connection.executemany(
        "INSERT INTO t (rowid, text) VALUES (?, ?)", enumerate(map(indexed, chunks))
    )

    def answer(question: str) -> list[int]:
        any_of = " OR ".join('"' + term.replace('"', '""') + '"' for term in terms(question))
        found = connection.execute(
            "SELECT rowid FROM t WHERE t MATCH ? ORDER BY bm25(t), rowid LIMIT 5", (any_of,)
        )
        return [row[0] for row in found]

    return answer


def words(text: str) -> list[str]:
    """Words with their marks, as ``unicode61`` is to split them."""
    return re.findall(r"[^\s!-/:-@\[-`{-~]+", text)


def trigrams(text: str) -> list[str]:
    """Every three characters, blanks too."""
    return [text[at : at + 3] for at in range(len(text) - 2)]


def pairs(text: str) -> str:
    """Runs of scripts without blanks as overlapping pairs."""

    def split(match: re.Match[str]) -> str:
        run = match[0]
        return " ".join(["", *(run[at : at + 2] for at in range(max(1, len(run) - 1))), ""])

    return _PAIRED.sub(split, text)


def measured(answer: Answer, questions: list[tuple[str, frozenset[int]]]) -> tuple[float, float]:
    """Shares of the questions answered by the best chunk, and by one of the best five."""
    found = [(answer(question), holding) for question, holding in questions]
    best = sum(bool(hits) and hits[0] in holding for hits, holding in found)
    five = sum(not holding.isdisjoint(hits) for hits, holding in found)
    return round(best / len(found), 3), round(five / len(found), 3)


def main() -> None:
    """Runs everything and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=FOLDER)
    parser.add_argument("--languages", default=",".join(LANGUAGES))
    options = parser.parse_args()
    counter = resources.counter()
    words_only = "unicode61 remove_diacritics 2"
    with_marks = f"{words_only} categories 'L* M* N* Co'"
    figures: dict[str, dict[str, tuple[float, float]]] = {}
    for language in options.languages.split(","):
        asked = question_set(options.folder / f"xquad.{language}.json", counter)
        with tempfile.TemporaryDirectory() as folder:
            ways = {
                "ullage": by_store(asked.chunks, Path(folder)),
                "words": by_index(asked.chunks, words_only, str, words),
                "trigram": by_index(asked.chunks, "trigram", str, trigrams),
                "pairs": by_index(asked.chunks, with_marks, pairs, lambda q: words(pairs(q))),
            }
            figures[language] = {
                name: measured(answer, asked.questions) for name, answer in ways.items()
            }
        row = "   ".join(f"{n} {a:.3f}/{b:.3f}" for n, (a, b) in figures[language].items())
        print(f"{language}   {row}", flush=True)
    print(json.dumps(figures))


if __name__ == "__main__":
    sys.exit(main())
