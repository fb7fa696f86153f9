from __future__ import annotations

import pytest

from compress.reduction.choice import choose, simple_commands, wants_detail
from compress.reduction.profile import parse_profile

PYTEST = parse_profile(
    {
        "name": "pytest",
        "match": {
            "commands": [r"^(?:\S*python[\d.]* -m )?pytest\b"],
            "output": ["^=+ test session starts =+$", r" in [\d.]+s =*$"],
            "detail": [r"\s-vv"],
        },
    },
    "pytest.toml",
)
GREP = parse_profile(
    {"name": "grep", "match": {"tools": ["Grep"], "commands": ["^(?:grep|rg)\\b"]}}, "grep.toml"
)
LOG = parse_profile({"name": "log", "match": {"output": ["^\\d{4}-\\d\\d-\\d\\d "]}}, "log.toml")
ALL = [PYTEST, GREP, LOG]


@pytest.mark.parametrize(
    ("command", "found"),
    [
        ("pytest -x", ["pytest -x"]),
        ("cd app && PYTHONPATH=. pytest", ["cd app", "pytest"]),
        ("A='x y' B=2 timeout 60 uv run pytest -q", ["pytest -q"]),
        ("sudo -E nice -n 5 make all; echo $?", ["make all", "echo $?"]),
        ("npx jest | tail -5", ["jest", "tail -5"]),
        ("", []),
    ],
)
def test_a_command_line_is_taken_apart(command: str, found: list[str]) -> None:
    assert simple_commands(command) == found


def test_the_command_chooses_first() -> None:
    assert choose(ALL, tool="Grep", command="cd x && python3 -m pytest -x") is PYTEST
    assert choose(ALL, command="rg -n foo src") is GREP


def test_then_the_tool_then_the_signature() -> None:
    assert choose(ALL, tool="grep", command="true") is GREP
    assert choose(ALL, output="2026-01-02 a\n2026-01-02 b\n== 1 passed in 0.1s ==") is LOG
    assert choose(ALL, output="nothing known") is None


def test_a_flag_may_ask_for_detail() -> None:
    assert wants_detail(PYTEST, "cd x && pytest -vv")
    assert not wants_detail(PYTEST, "pytest -v")
    assert not wants_detail(PYTEST, None)
