"""Which class a source gives, and how that is changed."""

from __future__ import annotations

from typing import get_args

import pytest

from compress.beliefs.classes import SOURCES, ClassError, Source, sources
from compress.beliefs.values import BeliefType


def test_what_a_person_said_decided_or_committed_is_a_fact() -> None:
    facts = {kind for kind, source in SOURCES.items() if source.retention == "fact"}
    assert facts == {"user", "steering", "decision", "note"}


def test_states_of_the_world_are_snapshots_and_what_a_command_printed_is_transient() -> None:
    assert SOURCES["file_read"].retention == "snapshot"
    assert SOURCES["checkpoint"].retention == "snapshot"
    assert SOURCES["command"].retention == "transient"
    assert SOURCES["progress"].retention == "transient"


def test_what_was_not_foreseen_is_unknown() -> None:
    assert SOURCES["tool"].retention == SOURCES["context"].retention == "unknown"


def test_every_type_of_belief_has_a_source() -> None:
    assert {source.type for source in SOURCES.values()} == set(get_args(BeliefType))


def test_a_setting_changes_a_class_and_nothing_else() -> None:
    table = sources({"command": "snapshot"})
    assert table["command"] == Source("snapshot", "tool_result")
    assert {kind: table[kind] for kind in table if kind != "command"} == {
        kind: SOURCES[kind] for kind in SOURCES if kind != "command"
    }
    assert sources() == sources({}) == SOURCES


def test_an_unknown_kind_or_class_is_refused_by_name() -> None:
    with pytest.raises(ClassError, match="kind of source 'mood'") as refused:
        sources({"mood": "fact"})
    assert refused.value.choices == tuple(SOURCES)
    with pytest.raises(ClassError, match="'forever', given for user, is no class") as refused:
        sources({"user": "forever"})
    assert refused.value.choices == ("fact", "snapshot", "transient", "unknown")
