"""What a session of Claude Code is called."""

from __future__ import annotations

from tests.storage.sources.claude_log import Log


def test_the_strongest_title_wins_and_a_foreign_summary_does_not_count() -> None:
    log = Log()
    log.raw({"type": "summary", "summary": "Of another file", "leafUuid": "elsewhere"})
    log.raw({"type": "summary", "summary": "Of this file", "leafUuid": "u1"})
    assert log.facts.title is None
    log.user("hello", "u0")
    assert log.facts.title == "hello"
    log.user("go", "u1")
    assert log.facts.title == "Of this file"
    log.raw({"type": "custom-title", "customTitle": "Chosen", "sessionId": "s"})
    log.raw({"type": "ai-title", "aiTitle": "Guessed", "sessionId": "s"})
    assert log.facts.title == "Chosen"


def test_a_session_is_called_by_the_first_words_that_a_person_wrote() -> None:
    log = Log()
    command = "<command-message>plan</command-message>\n<command-name>/plan</command-name>"
    log.user(f"<local-command-caveat>not for you</local-command-caveat>\n{command}", "u1")
    assert log.facts.title is None
    selected = "<ide_selection>lines 1 to 3 of a.py</ide_selection>"
    log.user([{"type": "text", "text": selected}, {"type": "text", "text": " \n"}], "u2")
    assert log.facts.title is None
    log.user(f"{selected}\nmake it <b>bold</b>\nplease", "u3")
    assert log.facts.title == "make it <b>bold</b>"
    log.user("and now?", "u4")
    assert log.facts.title == "make it <b>bold</b>"
