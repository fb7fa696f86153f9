"""The one line that stands for an event in every list."""

from __future__ import annotations

import pytest

from compress.entries import headline
from compress.events import ContentBlock

_COMMAND = "<command-message>init is running…</command-message>\n<command-name>/init</command-name>"


@pytest.mark.parametrize(
    ("texts", "line"),
    [
        (["first\nsecond"], "first"),
        ([_COMMAND], "init is running…"),
        (["<ide_selection>lines 5 to 8</ide_selection>", "Make it a library"], "Make it a library"),
        (["<stdout></stdout>"], "<stdout></stdout>"),
        (["<EXTREMELY>\nYou have tools.\n</EXTREMELY>", "  "], "You have tools."),
        (["<b>bold</b> and plain"], "<b>bold</b> and plain"),
        (["", "later"], "later"),
    ],
)
def test_a_persons_words_come_before_what_a_program_wrapped(texts: list[str], line: str) -> None:
    assert headline([ContentBlock(kind="text", text=text) for text in texts]) == line


def test_a_result_keeps_its_tags() -> None:
    assert headline([ContentBlock(kind="tool_result", text="<p>x</p>")]) == "<p>x</p>"
