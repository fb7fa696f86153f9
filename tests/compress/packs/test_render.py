"""A pack as text: every content as it is, and nothing in it more than a content."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from markdown_it import MarkdownIt

from compress.beliefs.values import Belief
from compress.packs.fit import pack
from compress.packs.frame import NOTICE, is_pack
from compress.packs.render import entry, pointer
from compress.packs.values import Candidate, PackRequest
from compress.tokens import count_many
from tests.compress.packs.made import belief, candidates, counter


def text_of(*beliefs: Belief) -> str:
    found = [Candidate(one, age=-n) for n, one in enumerate(beliefs)]
    return pack(found, PackRequest("", 100_000), counter()).text


@pytest.mark.parametrize(
    ("seqs", "told"),
    [
        ((12,), "12"),
        ((12, 13, 14), "12-14"),
        ((3, 7), "3, 7"),
        ((3, 4, 9), "3-4, 9"),
        (("o3",), "o3"),
        ((12, "o3"), "12, o3"),
        ((1, 3, 5, 7, 9), "1 … 9"),
        ((), "b1"),
    ],
)
def test_a_pointer_names_the_events(seqs: tuple[int | str, ...], told: str) -> None:
    assert pointer(replace(belief("b1", "x"), source_event_seqs=seqs)) == told


def test_a_line_says_where_it_is_from_what_it_is_and_that_it_is_pinned() -> None:
    one = belief("b1", "Use tabs.", seq=12)
    assert entry(one, one.content) == "[12] user: Use tabs.\n\n"
    file = replace(one, belief_type="file_snapshot", label="src/a.py", part=(1, 3), lock_level=1)
    assert entry(file, "x = 1") == "[12, pinned] file src/a.py (2/3): x = 1\n\n"


def test_a_text_of_several_lines_stands_in_a_fence_that_it_cannot_close() -> None:
    content = "a\n```\nb\n````"
    assert entry(belief("b1", content, seq=4), content) == (
        "[4] user\n`````\na\n```\nb\n````\n`````\n\n"
    )


def test_it_says_what_it_is_and_stands_by_session_in_log_order() -> None:
    text = text_of(
        replace(belief("a", "Third.", seq=9), session="one"),
        replace(belief("b", "Fourth.", seq=2), session="two"),
        replace(belief("c", "First.", seq=1), session="one"),
        replace(belief("d", "Second.", seq=5), session="one"),
    )
    assert text == (
        f"<context-pack>\n{NOTICE}\n\n"
        "## session one\n\n[1] user: First.\n\n[5] user: Second.\n\n[9] user: Third.\n\n"
        "## session two\n\n[2] user: Fourth.\n\n</context-pack>"
    )
    assert is_pack(text)
    assert not is_pack("What is in <context-pack>?")


def test_a_content_that_closes_the_frame_gets_another_frame() -> None:
    text = text_of(belief("a", "x </context-pack> y"), belief("b", "</CONTEXT-PACK-2>", seq=2))
    assert text.startswith("<context-pack-3>\n")
    assert text.endswith("\n</context-pack-3>")
    assert is_pack(text)


@settings(max_examples=60)
@given(candidates())
def test_markdown_finds_nothing_in_it_but_paragraphs_headings_and_whole_contents(
    found: list[Candidate],
) -> None:
    """The text, parsed by an independent parser: content of several lines is code, to the byte."""
    request = PackRequest("", 100_000, type_aware=False)
    made = pack(found, request, counter())
    tokens = MarkdownIt("commonmark").parse(made.text)
    kinds = {token.type for token in tokens}
    assert kinds <= {
        *("html_block", "paragraph_open", "paragraph_close", "inline", "fence"),
        *("heading_open", "heading_close"),
    }
    code = [token.content for token in tokens if token.type == "fence"]
    headings = [t.map for t in tokens if t.type == "heading_open"]
    assert len(headings) == len(
        {line.belief.session for line in made.lines if line.packed and line.belief.session}
    )
    several = [
        line.rendered
        for line in made.lines
        if line.packed and (len(line.rendered.splitlines()) > 1)
    ]
    # CommonMark itself replaces NULs and other line ends.
    told = sorted(_as_markdown(text) for text in several)
    assert [text for text in told if text not in code] == []


def _as_markdown(text: str) -> str:
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")
    return text if text.endswith("\n") else text + "\n"


@settings(max_examples=60)
@given(candidates())
def test_the_tokens_of_a_pack_are_those_of_its_entries(found: list[Candidate]) -> None:
    made = pack(found, PackRequest("", 100_000, type_aware=False), counter())
    packed = [line for line in made.lines if line.packed]
    parts = [entry(line.belief, line.rendered) for line in packed]
    sessions = {line.belief.session for line in packed} - {""}
    frame = [made.text[: made.text.index("\n\n") + 2], made.text[made.text.rindex("</") :]]
    parts += [f"## session {name}\n\n" for name in sessions]
    assert made.tokens == sum(count_many(counter(), [*parts, *frame]))
