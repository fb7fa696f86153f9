"""Texts that readers stumble over: on screens, in spans, in frames of a browser, as queries."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from random import Random

from compress.beliefs.headline import HEADLINE_LIMIT, headline
from compress.errors import CompressError
from compress.spans.blocks import document
from compress.spans.packer import spans_of
from compress.spans.values import SpanLimits
from inspector.sanitize import clean, line, page, safe, wrap
from inspector.usecases import UseCases
from inspector.web.frames import MOST_COLUMNS, MOST_ROWS, Resized, frame_of
from storage.candidates import matches, recent
from storage.resources import counter
from storage.search import search
from tests.fuzzing.damage import CHARACTERS, VALUES, text
from tests.inspector.asking import NUMBERS, ODD, answered, hostile_log
from tests.inspector.logs import usecases

_ACTS = {"\x1b", "\0", "\x07", "\r", "\u202e", "\x85", "\x9b", "\ud800"}
"""What would act on a terminal."""
_WORDS = (
    "needle", "haystack", "boom", "file", "NEAR(", "AND", "OR", "NOT", '"', "*", "^", ":", "-",
    "(", ")", "text:", "foo-bar", "C:\\x", "'", ";--", "a" * 500, "漢字", "กขค", "ñandú",
    "snake_case",
)  # fmt: skip


def query(chance: Random) -> str:
    """What somebody may type to search for."""
    if chance.random() < 0.3:
        return chance.choice((*ODD, text(chance, 500)))
    return " ".join(chance.choices((*_WORDS, *CHARACTERS), k=chance.randrange(12)))


def spans(chance: Random) -> None:
    """Any text is cut into spans that give it back."""
    given = text(chance)
    try:
        cut = spans_of(document("d", given), SpanLimits(60, 90, chance.choice((0, 8))), counter())
    except CompressError:
        return
    assert "".join(s.payload[s.payload_start + s.overlap :] for s in cut.spans) == given
    assert all(span.tokens <= 90 for span in cut.spans)


def screen(chance: Random) -> None:
    """No text acts on a terminal."""
    given, width = text(chance), chance.choice((0, 1, 2, 80))
    cleaned = clean(given)
    cleaned.encode()
    shown = line(given, width)
    for drawn in (cleaned, shown, page(given, chance.randrange(3), 100).text, safe(given).plain):
        assert not _ACTS & set(drawn)
    assert "\n" not in shown
    assert clean(cleaned) == cleaned
    part = cleaned[:1_000]
    assert "".join(wrap(part, width)).count("a") == part.count("a")
    short = headline(given)
    assert len(short) <= HEADLINE_LIMIT or short in given


def frame(chance: Random) -> None:
    """Whatever a browser sends, a window stays within its bounds."""
    kind = chance.choice(("stdin", "resize", "ping", "focus", "blur", "meta", 7))
    value = chance.choice((*VALUES, {"width": chance.choice(VALUES), "height": "9" * 9}))
    found = frame_of(json.dumps([kind, value])[: chance.randrange(2, 400)])
    if isinstance(found, Resized):
        assert found.columns <= MOST_COLUMNS
        assert found.rows <= MOST_ROWS


class Sessions:
    """A hostile session that is asked: searched, packed, over MCP."""

    def __init__(self, folder: Path) -> None:
        hostile_log(folder)
        self._folder = folder
        self._cases = self._opened()
        self._asked = 0

    def _opened(self) -> UseCases:
        cases = usecases(":memory:", self._folder)
        cases.ingest([self._folder])
        return cases

    def close(self) -> None:
        """Gives the store back."""
        self._cases.close()

    def searched(self, chance: Random) -> None:
        """Any text is a legal query."""
        connections = self._cases._store.connections
        asked, limit = query(chance), chance.choice((1, 3, 50))
        hits = search(connections, asked, limit)
        assert len(hits) <= limit
        sessions = self._cases._store.sessions()
        found = matches(connections, asked, chance.choice((None, sessions)), limit)
        assert len(found.events) <= limit
        if asked.isascii() and not any(map(str.isalnum, asked)):
            assert not hits, "nothing was asked for"
            assert not found.events
        assert len(recent(connections, sessions, limit)) <= limit

    def asked(self, chance: Random) -> None:
        """Any question over MCP has a bounded answer."""
        self._asked += 1
        if self._asked % 200 == 0:
            # Pins are asked for, too, and each would stay.
            self._cases.close()
            self._cases = self._opened()
        words, number = chance.choice((*ODD, text(chance, 500))), chance.choice(NUMBERS)
        scopes = ("session", "project", "store")
        questions: Sequence[tuple[str, tuple[object, ...]]] = (
            ("search", (words, number)),
            ("fetch", (words, number, chance.choice(NUMBERS))),
            ("pack", (words, number, chance.choice(scopes))),
            ("pack", (words, 500, "session", chance.choice(ODD))),
            ("decisions", (words, number)),
            ("pressure", (words,)),
            ("pin", ([number], "asked")),
            ("unpin", ([number], "asked")),
        )
        answered(self._cases, chance.choice(questions))

    def packed(self, chance: Random) -> None:
        """Packs and rebuilt contexts stay within their budgets."""
        budget = chance.randrange(1, 4_000)
        for make in (self._cases.pack, self._cases.rebuild):
            try:
                report = make("asked", query=query(chance), budget=budget).report
            except CompressError as error:
                tokens, holds = getattr(error, "least", budget + 1), False
            else:
                tokens, holds = report.tokens, True
            assert (tokens <= budget) is holds, (tokens, budget)
