"""The structure of a text: blocks in order, without a gap, with exact offsets."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compress.spans.blocks import READERS, document, encoded, read
from compress.spans.kinds import kind_of
from compress.spans.values import SourceBlock, TextKind

MARKDOWN = """# Ullage

Intro text.

## Use

- first
  - inner
- second

  more of second

| a | b |
| - | - |
| 1 | 2 |

```sh
# no heading
```

![a picture](x.png)

<div>raw</div>

Underlined
==========
Last.
"""
WIKI = " = Title = \n First paragraph . \n = = Inner = = \n Second paragraph . \n"
DIFF = """diff --git a/x.py b/x.py
--- a/x.py
+++ b/x.py
@@ -1,2 +1,2 @@
--- a removed comment
+new
@@ -9 +9 @@
-a
+b
diff --git a/y.py b/y.py
--- a/y.py
+++ b/y.py
@@ -1 +1 @@
-a
+b
"""
CODE = """import os

def one(x):
    y = x

    return y

class Two:
    def f(self):
        return None
"""
LOG = "".join(
    f"2026-01-02 10:00:{second:02d} INFO began {second}\n  detail\n" for second in range(40)
)
TALK = """Anna: Good morning.
Ben: Morning! Shall we begin?
Anna: Yes.
It is late already.
Ben: Then let us.
Anna: First the budget.
"""
SAMPLES: dict[str, TextKind] = {
    MARKDOWN: "markdown",
    WIKI: "plain",
    DIFF: "diff",
    CODE: "code",
    LOG: "log",
    "name,age,town\nA,1,X\nB,2,Y\nC,3,Z\n": "table",
    TALK: "plain",
    "Just a sentence.": "plain",
    "": "plain",
    "1. buy milk\n2. sell milk\n3. repeat\n": "markdown",
}


def texts(text: str, blocks: tuple[SourceBlock, ...]) -> list[tuple[str, str]]:
    return [(b.kind, text[b.range.start : b.range.end].strip()) for b in blocks]


@pytest.mark.parametrize("text", SAMPLES)
def test_the_kind_is_found_by_structure(text: str) -> None:
    assert kind_of(text) == SAMPLES[text]


def test_markdown_has_the_blocks_of_commonmark_and_tables() -> None:
    blocks = read(MARKDOWN, "markdown")
    assert texts(MARKDOWN, blocks) == [
        ("title", "# Ullage"),
        ("paragraph", "Intro text."),
        ("heading", "## Use"),
        ("list_item", "- first"),
        ("list_item", "- inner"),
        ("list_item", "- second"),
        ("paragraph", "more of second"),
        ("table_row_group", "| a | b |\n| - | - |\n| 1 | 2 |"),
        ("code", "```sh\n# no heading\n```"),
        ("caption", "![a picture](x.png)"),
        ("dom_region", "<div>raw</div>"),
        ("heading", "Underlined\n=========="),
        ("paragraph", "Last."),
    ]
    assert [block.parent for block in blocks] == [None, 0, 0, 2, 3, 2, 5, 2, 2, 2, 2, None, 11]
    assert [block.level for block in blocks[2:6]] == [2, 1, 2, 1]


def test_settings_at_the_beginning_are_no_heading() -> None:
    text = "---\ntitle: x\n---\n# Real\n"
    assert [kind for kind, _ in texts(text, read(text, "markdown"))] == ["code", "heading"]


def test_a_framed_line_is_a_heading_of_plain_text() -> None:
    blocks = read(WIKI, "plain")
    assert [(block.kind, block.level, block.parent) for block in blocks] == [
        ("title", 1, None),
        ("paragraph", 0, 0),
        ("heading", 2, 0),
        ("paragraph", 0, 2),
    ]


@pytest.mark.parametrize(
    ("line", "level"), [("METHODS", 2), ("2.1 Ursachen", 2), ("3. 方法", 1), ("Setup\n-----", 2)]
)
def test_a_line_alone_is_a_heading_by_its_form(line: str, level: int) -> None:
    text = f"Some text before it.\n\n{line}\n\nSome text behind it.\n"
    heading = read(text, "plain")[1]
    assert (heading.kind, heading.level) == ("heading", level)


def test_wrapped_lines_are_one_paragraph_and_long_lines_are_one_each() -> None:
    wrapped = "some words of a\nparagraph that was\nbroken to fit.\n"
    assert len(read(wrapped, "plain")) == 1
    assert len(read(("word " * 60 + "\n") * 3, "plain")) == 3


def test_turns_are_known_by_names_that_return() -> None:
    assert [kind for kind, _ in texts(TALK, read(TALK, "plain"))] == ["dialogue_turn"] * 5
    assert "It is late already." in texts(TALK, read(TALK, "plain"))[2][1]


def test_records_in_one_line_are_blocks() -> None:
    text = '[{"role": "user", "text": "a, b"}, {"role": "x"}, {"role": "y"}]'
    assert [part for _, part in texts(text, read(text, "plain"))] == [
        '[{"role": "user", "text": "a, b"},',
        '{"role": "x"},',
        '{"role": "y"}]',
    ]


def test_each_file_of_a_diff_is_a_section_and_each_hunk_a_block() -> None:
    blocks = read(DIFF, "diff")
    assert [(block.kind, block.parent) for block in blocks] == [
        ("title", None),
        ("code", 0),
        ("code", 0),
        ("heading", None),
        ("code", 3),
    ]


def test_code_is_cut_at_the_margin_only() -> None:
    assert [part.partition("\n")[0] for _, part in texts(CODE, read(CODE, "code"))] == [
        "import os",
        "def one(x):",
        "class Two:",
    ]


def test_a_log_is_cut_between_records_only() -> None:
    blocks = read(LOG, "log")
    assert len(blocks) == 2
    assert all(LOG[block.range.start :].startswith("2026-") for block in blocks)


@given(
    st.text(
        alphabet=st.sampled_from(list("ab:#-*=>|`~@+1. \t\n\r{}[],\"'\0\ud800é漢ก😀\u0301\u2028")),
        max_size=120,
    ),
    st.sampled_from(sorted(READERS)),
)
@settings(max_examples=300, deadline=None)
def test_blocks_cover_any_text_exactly(text: str, kind: TextKind) -> None:
    blocks = read(text, kind)
    data = encoded(text)
    assert "".join(text[b.range.start : b.range.end] for b in blocks) == text
    assert b"".join(data[b.range.byte_start : b.range.byte_end] for b in blocks) == data
    assert all(block.range.start < block.range.end for block in blocks)
    assert all(block.parent is None or block.parent < block.index for block in blocks)
    assert [block.index for block in blocks] == list(range(len(blocks)))
    kind_of(text)


def test_a_documents_digest_is_of_its_bytes() -> None:
    # What sha256sum says of the three bytes of é and a line feed.
    assert document("d", "é\n").digest == (
        "edd3a863872a04239eb29ad4bc12fc892b3d4ae57cc7e786a3697816f8e141c2"
    )
