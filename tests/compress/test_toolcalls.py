"""What a call did, by the structure of its input, in the shapes of several agents."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compress.toolcalls import Outcome, outcome, tool_call

PATCH = """*** Begin Patch
*** Update File: src/a.py
@@
-x
+y
*** Add File: b.txt
+new
*** End Patch"""


@pytest.mark.parametrize(
    ("value", "facts"),
    [
        ({"file_path": "/p/a.py", "offset": 3}, [("read", "/p/a.py")]),
        ({"file_path": "/p/a.py", "old_string": "x", "new_string": "y"}, [("changed", "/p/a.py")]),
        ({"file_path": "/p/a.py", "content": "all of it"}, [("created", "/p/a.py")]),
        ({"path": "a.py", "edits": [{"oldText": "x", "newText": "y"}]}, [("changed", "a.py")]),
        ({"command": "view", "path": "/p/a.py"}, [("read", "/p/a.py")]),
        (
            {"command": "str_replace", "path": "a", "old_str": "x", "new_str": ""},
            [("changed", "a")],
        ),
        ({"command": "ls -la", "description": "list"}, [("ran", "ls -la")]),
        ({"command": ["bash", "-lc", "make test"]}, [("ran", "make test")]),
        ({"cmd": "git status"}, [("ran", "git status")]),
        ({"command": ["apply_patch", PATCH]}, [("changed", "src/a.py"), ("created", "b.txt")]),
        (PATCH, [("changed", "src/a.py"), ("created", "b.txt")]),
        ({"input": PATCH}, [("changed", "src/a.py"), ("created", "b.txt")]),
        ({"pattern": "TODO", "path": "src"}, [("searched", "TODO")]),
        ({"url": "https://example.org"}, [("fetched", "https://example.org")]),
        ({"files": ["a", "b"]}, [("read", "a"), ("read", "b")]),
        ({"files": [{"path": "a", "start_line": 1}, {"x": 1}]}, [("read", "a")]),
        (
            {"commands": ["ls", {"command": "grep", "args": ["-n", "x"]}]},
            [("ran", "ls"), ("ran", "grep -n x")],
        ),
        ({"queries": ["a", "b"]}, [("searched", "a"), ("searched", "b")]),
        ({"requests": [{"url": "u", "prompt": "p"}]}, [("fetched", "u")]),
        ({"path": "a", "old_text": "x", "new_text": "y"}, [("changed", "a")]),
        ({"path": "a", "old_text": None, "new_text": "y"}, [("created", "a")]),
        ({"todos": []}, []),
        (None, []),
        (42, []),
    ],
)
def test_facts_of_a_call(value: Any, facts: list[tuple[str, str]]) -> None:
    assert [(fact.action, fact.target) for fact in tool_call("tool", value).facts] == facts


def test_a_job_that_runs_on_is_told_by_its_input() -> None:
    assert tool_call("Bash", {"command": "serve", "run_in_background": True}).background
    assert not tool_call("Bash", {"command": "serve"}).background


def test_the_same_try_has_the_same_key_whatever_its_pipe_and_flags() -> None:
    first = tool_call("Bash", {"command": "cd /p && pytest -x tests 2>&1 | tail -5"})
    second = tool_call("Bash", {"command": "pytest tests"})
    assert first.key == second.key == ("Bash", "pytest tests")
    assert tool_call("Bash", {"command": "pytest docs"}).key != first.key


@pytest.mark.parametrize(
    ("text", "error", "expected", "failed", "label"),
    [
        ("Exit code 2\nboom", True, 2, True, "exit 2"),
        ('{"metadata":{"exit_code":0}}', None, 0, False, "exit 0"),
        ("Process exited with code 1", None, 1, True, "exit 1"),
        ("fine", False, None, False, "ok"),
        ("fine", None, None, False, ""),
        ("no", True, None, True, "error"),
        ("x" * 500 + "exit code 3" + "y" * 500, None, None, False, ""),
    ],
)
def test_an_outcome_is_copied_never_guessed(
    text: str, error: bool | None, expected: int | None, failed: bool, label: str
) -> None:
    found = outcome(text, error)
    assert found == Outcome(error, expected)
    assert (found.failed, found.label) == (failed, label)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["command", "path", "content", "files", "query", "input"]), inner
        )
    ),
    max_leaves=8,
)


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=10), JSON, st.text(max_size=80))
def test_it_never_raises_for_what_a_log_holds(name: str, value: Any, text: str) -> None:
    call = tool_call(name, value)
    assert isinstance(call.key, tuple)
    assert outcome(text, None).failed in (True, False)
