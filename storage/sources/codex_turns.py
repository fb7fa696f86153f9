"""Which compaction with a stated history counts: the newest whose turn no rollback took back.

Source: openai/codex ``core/src/session/rollout_reconstruction.rs``. It scans a rollout from its
end, where turns are counted off, as many as the rollbacks behind them say. Here the same is known
after each record, without a scan: before every record that begins a turn stands the stack of turns
that were left there. Which of these records the newest turn begins with is only known by the id
that is written at its end, so that each keeps its stack.
"""

from __future__ import annotations

from typing import NamedTuple

BEGINNING = 0
"""The number of the compaction that stands for none: the history begins with the log."""


class _Turn(NamedTuple):
    """A turn that no rollback took back. One without words and compactions is left out."""

    spoken: bool
    """Holds words of the user's, or of another agent's."""
    base: int
    """The newest compaction in it, or before it."""
    before: _Turn | None


class _Start(NamedTuple):
    """A record that begins a turn, and what came before it."""

    at: int
    rewound: int
    """Turns, by all rollbacks."""
    left: _Turn | None


class _Walk(NamedTuple):
    """A way down a stack: from where, for how many turns, how many there were, and what is left."""

    top: _Turn | None
    turns: int
    taken: int
    left: _Turn | None


_BEGINNING = _Start(0, 0, None)


class Turns:
    """The turns of one rollout. Each record costs a step or two, a rollback as many as the turns
    that it takes back."""

    def __init__(self) -> None:
        self._at = 0
        """Records so far."""
        self._rewound = 0
        self._spoken_at = 0
        self._base_at = 0
        self._base = BEGINNING
        self._starts: dict[str | None, _Start] = {}
        """By the id of the turn, the newest."""
        self._newest = _BEGINNING
        self._is_bare = False
        """Nothing stands behind the newest start yet."""
        self._start = _BEGINNING
        """Where the newest turn begins, seen from the end."""
        self._walk = _Walk(None, 0, 0, None)
        """The newest one."""

    def started(self, turn_id: str | None) -> None:
        """A turn begins here."""
        left = self._left()
        self._at += 1
        self._newest = self._starts[turn_id] = _Start(self._at, self._rewound, left)
        self._is_bare = True

    def ended(self, turn_id: str | None, *, aborted: bool) -> None:
        """A turn ends here."""
        if turn_id is not None or not aborted:
            self.holds(turn_id)

    def holds(self, turn_id: str | None = None) -> None:
        """The newest turn holds this record, which may say which turn it is."""
        self._at += 1
        if turn_id is not None:
            found = (self._starts.get(key, _BEGINNING) for key in (turn_id, None))
            self._start = max(found, key=lambda start: start.at)
        elif self._is_bare:
            self._start = self._newest
        self._is_bare = False

    def spoke(self) -> None:
        """Somebody said something that makes it a turn to roll back."""
        self.holds()
        self._spoken_at = self._at

    def compacted(self, number: int) -> None:
        """A compaction that states the new history, and counts."""
        self.holds()
        self._base_at, self._base = self._at, number

    def rewound(self, turns: int) -> None:
        """A rollback by so many turns."""
        self._rewound += turns

    @property
    def base(self) -> int:
        """The compaction that counts now."""
        left = self._left()
        return BEGINNING if left is None else left.base

    @property
    def takes_compaction(self) -> bool:
        """Whether one that is recorded now counts. A rollback may have taken back the turn that it
        belongs to: so with one that stands behind the turn's end, or in a file without turn
        records, which is one turn to Codex."""
        start = self._newest if self._is_bare else self._start
        return self._rewound == start.rewound

    def _left(self) -> _Turn | None:
        """The turns that are left, the newest one included."""
        start = self._start
        before, spoken = start.left, self._spoken_at > start.at
        pending = self._rewound - start.rewound
        if pending:
            return self._without(before, pending - spoken)
        if self._base_at > start.at:
            return _Turn(spoken, self._base, before)
        return _Turn(spoken, before.base if before else BEGINNING, before) if spoken else before

    def _without(self, top: _Turn | None, turns: int) -> _Turn | None:
        """What is left of a stack without its newest turns. One rollback after another goes on
        where the last one came to."""
        last = self._walk
        goes_on = last.top is top and last.turns <= turns
        taken, left = (last.taken, last.left) if goes_on else (0, top)
        while left is not None and taken < turns:
            taken += left.spoken
            left = left.before
        self._walk = _Walk(top, turns, taken, left)
        return left
