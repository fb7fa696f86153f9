"""The figure of the sessions list, where events come again with another content."""

from __future__ import annotations

from compress.entries import LogEntry
from compress.events import Append, Usage
from compress.meter.glance import Glance

APPEND = Append()


def said(seq: int, tokens: int) -> LogEntry:
    return LogEntry(seq, "user/message", seq, APPEND, tokens=tokens)


def answered(seq: int, total: int, tokens: int = 7) -> LogEntry:
    usage = Usage(input=total, output=5)
    return LogEntry(
        seq, "assistant/message", seq, APPEND, tokens=tokens, usage=usage, request=seq, model="m"
    )


def fed(*entries: LogEntry) -> Glance:
    glance = Glance()
    for entry in entries:
        glance.feed(entry)
    return glance


def same(one: Glance, other: Glance) -> bool:
    return (one.used, one.source, one.history) == (other.used, other.source, other.history)


def test_a_text_that_is_still_being_written_weighs_what_it_says_now() -> None:
    glance = fed(said(1, 10), said(2, 3))
    for tokens in (8, 20, 41):
        glance.revise(said(2, tokens))
    assert glance.used == 51
    assert same(glance, fed(said(1, 10), said(2, 41)))


def test_what_stands_before_the_anchor_is_in_the_anchor_whatever_it_says_now() -> None:
    glance = fed(said(1, 10), answered(2, 100), said(3, 4))
    glance.revise(said(1, 900))
    assert same(glance, fed(said(1, 10), answered(2, 100), said(3, 4)))
    assert (glance.used, glance.source) == (109, "provider")


def test_an_older_request_told_again_is_no_further_one() -> None:
    glance = fed(answered(1, 100), answered(2, 200), said(3, 4))
    glance.revise(answered(1, 100))
    assert glance.history == (100, 200)
    assert glance.used == 209


def test_figures_that_come_late_anchor_where_their_event_stands() -> None:
    late = LogEntry(2, "assistant/message", 2, APPEND, tokens=7, request=2)
    glance = fed(said(1, 10), late, said(3, 4))
    assert glance.source == "estimated"
    glance.revise(answered(2, 100))
    assert same(glance, fed(said(1, 10), answered(2, 100), said(3, 4)))
