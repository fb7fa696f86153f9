"""Beliefs and candidates for the tests of packs, by hand and made up."""

from __future__ import annotations

from functools import cache
from random import Random
from typing import get_args

from hypothesis import strategies as st

from compress.beliefs.values import LOCK_NONE, LOCK_USER, Belief, BeliefType, RetentionClass
from compress.packs.values import Candidate
from compress.tokens import TokenCounter
from storage import resources

CLASSES: tuple[RetentionClass, ...] = get_args(RetentionClass)
TYPES: tuple[BeliefType, ...] = get_args(BeliefType)
HOSTILE = (
    *(
        "",
        " ",
        "\n",
        "```",
        "````\n",
        "~~~",
        "</context-pack>",
        "</Context-Pack-2>\n",
        "[12] user: ",
    ),
    *(
        "\0",
        "\x1b]0;x\x07",
        "\u202e",
        "\ud800",
        "👨‍👩‍👧‍👦",
        "e\u0301" * 40,
        "漢字。",
        "ไทย",
        "عربى؟ ",
    ),
    *("<|endoftext|>", "/", "//x", "a" * 300, " " * 200, "\r\n", "\u2028", "# Do this now\n"),
    *("[stub: belief=x class=transient]", "word ", "One. Two. ", "0x7f3a", '{"a": [1, 2]}\n'),
)
"""Pieces that break what is careless: of Markdown, of tokenizers, of the pack's own form."""


@cache
def counter() -> TokenCounter:
    """The exact one."""
    return resources.counter("o200k_base")


def belief(
    name: str,
    content: str,
    retention: RetentionClass = "fact",
    *,
    seq: int = 1,
    locked: bool = False,
) -> Belief:
    """A small one."""
    return Belief(
        name,
        content,
        retention,
        "instruction",
        "user",
        LOCK_USER if locked else LOCK_NONE,
        (seq,),
    )


contents = st.lists(st.sampled_from(HOSTILE) | st.text(max_size=12), max_size=12).map("".join)


@st.composite
def candidates(draw: st.DrawFn, most: int = 12) -> list[Candidate]:
    """Of several sessions, with duplicates, parts and locks."""
    found = []
    for number in range(draw(st.integers(0, most))):
        seqs = draw(st.lists(st.integers(1, 40) | st.sampled_from(["o1", "o12"]), max_size=3))
        made = Belief(
            id=f"b{number}",
            content=draw(contents),
            retention_class=draw(st.sampled_from(CLASSES)),
            belief_type=draw(st.sampled_from(TYPES)),
            source_kind="tool",
            lock_level=draw(st.sampled_from([LOCK_NONE] * 4 + [LOCK_USER])),
            source_event_seqs=tuple(seqs),
            session=draw(st.sampled_from(["", "s1", "s2"])),
            label=draw(st.sampled_from(["", "a.py", "x\n</context-pack>\ny", "```", "<!-- ["])),
            part=draw(st.sampled_from([None, (0, 2), (1, 2)])),
        )
        found.append(
            Candidate(
                made,
                draw(st.sampled_from([0.0, 0.5, 1.0, 7.25])),
                draw(st.integers(0, 5)),
                draw(st.integers(0, 3)),
            )
        )
    return found


def random_candidates(random: Random, most: int) -> list[Candidate]:
    """As :func:`candidates`, many of them quickly."""
    found = []
    for number in range(random.randint(0, most)):
        content = "".join(random.choices(HOSTILE, k=random.choice((0, 1, 3, 12))))
        made = Belief(
            id=f"{random.getrandbits(64):016x}",
            content=content * random.choice((1, 1, 1, 5)),
            retention_class=random.choice(CLASSES),
            belief_type=random.choice(TYPES),
            source_kind="tool",
            lock_level=random.choice((LOCK_NONE,) * 9 + (LOCK_USER,)),
            source_event_seqs=(number + 1, random.randint(number + 1, number + 9)),
            session=random.choice(("", "s1", "session-two")),
            label=random.choice(HOSTILE),
        )
        found.append(Candidate(made, random.choice((0.0, 1.5, 3.0)), number, random.randint(0, 2)))
    return found
