"""An output of any size → what is reduced: all of it, or its ends and the critical lines between.

A stream is held in bounded memory. Up to :attr:`Limits.whole` bytes it is kept as it is; of more,
the first and the last lines stay, and of those between the ones that critical patterns find. Lines
of one template are kept up to :data:`REPEATS` times, so that a million equal complaints do not
push out the one that matters.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from compress.reduction.clean import Cleaned, Line, clean
from compress.reduction.critical import FAILURE, PLAIN, Assessor, Marks
from compress.reduction.templates import name_template

LONGEST = 64 << 10
"""Bytes of a line above which it counts as several: a line may be as long as the output."""
REPEATS = 20
_TEMPLATES = 20_000
"""Templates that are counted; those that come later are kept as if they were new."""
_BATCH = 64 << 10
"""Bytes that are looked at together."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Bytes that are held of a stream. ``strong``: of failures and verdicts between the ends,
    with their context; ``weak``: of other critical lines there."""

    whole: int = 2 << 20
    head: int = 512 << 10
    tail: int = 512 << 10
    strong: int = 512 << 10
    weak: int = 256 << 10


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Which lines of the whole a text holds. ``places``: the number of each line in it, from 0,
    rising; ``total``: lines of the whole; ``tokens``: of the whole, an estimate."""

    places: tuple[int, ...]
    total: int
    tokens: int

    def placed(self, cleaned: Cleaned) -> Cleaned:
        """The text's lines under their numbers in the whole."""
        lines = tuple(Line(self.places[line.index], line.part, line.text) for line in cleaned.lines)
        return Cleaned(lines, self.total, cleaned.escaped, cleaned.frames)


@dataclass(frozen=True, slots=True)
class Sifted:
    """What a stream left. ``places`` is ``None`` where ``data`` is all of it; else each line of
    ``data`` has its number in the whole there. ``size``: bytes of the whole."""

    data: bytes
    places: tuple[int, ...] | None
    total: int
    size: int

    @property
    def text(self) -> str:
        """The data as text; what is no UTF-8 is shown as ``U+FFFD``."""
        return self.data.decode("utf-8", "replace")


Numbered = tuple[int, bytes]


class Sieve:
    """Feed it a stream of bytes, then ask for what is left.

    ``assessor`` makes the patterns from the beginning of the output; it is called once, and only
    where the output is too large to be kept whole.
    """

    def __init__(self, assessor: Callable[[str], Assessor], limits: Limits | None = None) -> None:
        self._make = assessor
        self._limits = Limits() if limits is None else limits
        self._assessor: Assessor | None = None
        self._size = 0
        self._open = b""
        """The last line, as far as it has come."""
        self._next = 0
        self._head: list[Numbered] = []
        self._room = self._limits.head
        self._tail: deque[Numbered] = deque()
        self._held = 0
        """Bytes of head and tail."""
        self._strong = _Ends(self._limits.strong)
        self._weak = _Ends(self._limits.weak)
        self._seen: Counter[str] = Counter()
        self._before: deque[Numbered] = deque(maxlen=4)
        """The last lines that were not kept: context of one that will be."""
        self._after = 0
        """Lines of context still to come."""

    def feed(self, data: bytes) -> None:
        """The next bytes."""
        self._size += len(data)
        lines = (self._open + data).split(b"\n")
        self._open = lines.pop()
        for line in lines:
            self._take(line + b"\n")
        while len(self._open) > LONGEST:
            self._take(self._open[:LONGEST])
            self._open = self._open[LONGEST:]
        if self._held > self._limits.whole + _BATCH:
            self._evict(self._limits.whole)

    def finish(self) -> Sifted:
        """What is left. Feed nothing afterwards."""
        if self._open:
            self._take(self._open)
            self._open = b""
        if self._assessor is None and self._held <= self._limits.whole:
            data = b"".join(line for _, line in (*self._head, *self._tail))
            return Sifted(data, None, self._next, self._size)
        self._evict(self._limits.head + self._limits.tail)
        middle = sorted([*self._strong.lines(), *self._weak.lines()])
        kept = [*self._head, *middle, *self._tail]
        return Sifted(
            b"".join(line if line.endswith(b"\n") else line + b"\n" for _, line in kept),
            tuple(number for number, _ in kept),
            self._next,
            self._size,
        )

    def _take(self, line: bytes) -> None:
        start = 0
        while start < len(line):
            # A line feed alone is no line of its own.
            end = len(line) if len(line) - start <= LONGEST + 1 else start + LONGEST
            piece = (self._next, line[start:end])
            self._next += 1
            self._held += end - start
            if self._room > 0:
                self._room -= end - start
                self._head.append(piece)
            else:
                self._tail.append(piece)
            start = end

    def _evict(self, limit: int) -> None:
        """Lets go of the tail's first lines, but for what is critical in them."""
        gone: list[Numbered] = []
        while self._held > limit and self._tail:
            gone.append(self._tail.popleft())
            self._held -= len(gone[-1][1])
        if self._assessor is None:
            head = b"".join(line for _, line in self._head)
            self._assessor = self._make(head.decode("utf-8", "replace"))
        shown = [_shown(line) for _, line in gone]
        for line, text, marks in zip(gone, shown, self._assessor.assess(shown), strict=True):
            self._sift(line, text, marks)

    def _sift(self, line: Numbered, text: str, marks: Marks) -> None:
        if marks.level > PLAIN and self._is_news(text):
            ends = self._strong if marks.level >= FAILURE else self._weak
            if marks.before and ends is self._strong:
                for earlier in list(self._before)[-marks.before :]:
                    self._strong.add(earlier)
            self._before.clear()
            ends.add(line)
            if ends is self._strong:
                self._after = max(self._after, marks.after)
        elif self._after:
            self._after -= 1
            self._strong.add(line)
        else:
            self._before.append(line)

    def _is_news(self, text: str) -> bool:
        template = name_template(text)
        if template not in self._seen and len(self._seen) >= _TEMPLATES:
            return True
        self._seen[template] += 1
        return self._seen[template] <= REPEATS


class _Ends:
    """The first and the last of many lines: half of the room for each."""

    def __init__(self, limit: int) -> None:
        self._half = limit // 2
        self._first: list[Numbered] = []
        self._filled = 0
        self._last: deque[Numbered] = deque()
        self._size = 0

    def add(self, line: Numbered) -> None:
        if self._filled < self._half:
            self._first.append(line)
            self._filled += len(line[1])
            return
        self._last.append(line)
        self._size += len(line[1])
        while self._size > self._half:
            self._size -= len(self._last.popleft()[1])

    def lines(self) -> Iterator[Numbered]:
        yield from self._first
        yield from self._last


def _shown(line: bytes) -> str:
    text = line.removesuffix(b"\n").decode("utf-8", "replace")
    if text.isprintable():
        return text
    return " ".join(shown.text for shown in clean(text).lines)


def estimated(tokens: int, sifted: Sifted) -> int:
    """Tokens of the whole, where what is left of it counts ``tokens``."""
    return tokens if sifted.places is None else tokens * sifted.size // max(len(sifted.data), 1)


def excerpt_of(sifted: Sifted, tokens: int) -> Excerpt | None:
    """How the pipeline is told what is missing; ``None`` where nothing is."""
    if sifted.places is None:
        return None
    return Excerpt(sifted.places, sifted.total, estimated(tokens, sifted))
