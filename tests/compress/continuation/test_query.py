"""What a context is asked for where nobody says it: words that say something by themselves."""

from __future__ import annotations

import pytest

from compress.compaction.digest import digest
from compress.continuation.query import Query, query_of
from tests.compress.logs import Log


def query(*said: str, open_items: tuple[str, ...] = ()) -> Query:
    log = Log()
    for text in said:
        log.user(text)
        log.assistant("Done.")
    if open_items:
        items = [{"text": text, "status": "pending"} for text in open_items]
        log.fact("artifact/update", kind="todo", items=items)
    session = log.session()
    return query_of(digest(session, session.plan.surface.nodes))


ASKED = "Make the parser keep empty lines between paragraphs"


def test_the_newest_message_is_taken_where_it_says_something() -> None:
    found = query("Set up the repository, please", ASKED)
    assert (found.text, found.nodes, found.items) == (ASKED, (3,), 0)


@pytest.mark.parametrize(
    "assent",
    ["yes", "yes, do it", "ok go on", "commit", "да, давай", "はい、どうぞ", "👍", "ja, mach das"],
)
def test_an_assent_stands_behind_what_it_assents_to(assent: str) -> None:
    found = query("Set up the repository, please", ASKED, assent)
    assert (found.text, found.nodes) == (f"{ASKED}\n{assent}", (3, 5))


def test_what_is_said_again_and_again_says_little() -> None:
    again = "please continue with the following remaining step"
    found = query(ASKED, *[again] * 12)
    assert found.text == f"{ASKED}\n{again}"


def test_a_request_in_a_script_without_blanks_says_something() -> None:
    asked = "空行を保持するようにパーサを修正してください"
    assert query(ASKED, asked).text == asked


def test_where_nothing_says_more_the_newest_is_taken() -> None:
    assert query("hi", "yes").text == "yes"
    assert query() == Query("", (), 0)


def test_what_a_program_put_before_the_words_is_no_part_of_them() -> None:
    wrapped = f"<ide_selection>lines 1 to 9 of a.py</ide_selection>\n{ASKED}"
    assert query(wrapped).text == ASKED


def test_open_items_stand_behind_the_words() -> None:
    found = query(ASKED, open_items=("write a test", "update the docs"))
    assert found.text == f"{ASKED}\nwrite a test\nupdate the docs"
    assert found.items == 2
