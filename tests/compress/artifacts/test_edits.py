"""What a call does to a file follows from its input, or is not known."""

from __future__ import annotations

from typing import Any

import pytest

from compress.artifacts.edits import file_changes

TEXT = "# Plan\n\n- [ ] Read\n- [ ] Write\n"


def after(value: Any, text: str | None = TEXT) -> str | None:
    (change,) = file_changes(value)
    return change.apply(text)


@pytest.mark.parametrize("key", ["content", "file_text", "contents", "text"])
def test_a_path_with_a_text_writes_it(key: str) -> None:
    assert after({"path": "p.md", key: "new"}, None) == "new"


@pytest.mark.parametrize(
    ("old", "new"),
    [("old_string", "new_string"), ("old_str", "new_str"), ("oldText", "newText")],
)
def test_an_edit_replaces_the_first_or_all(old: str, new: str) -> None:
    edit: dict[str, Any] = {"file_path": "p.md", old: "[ ]", new: "[x]"}
    assert after(edit) == "# Plan\n\n- [x] Read\n- [ ] Write\n"
    assert after({**edit, "replace_all": True}) == "# Plan\n\n- [x] Read\n- [x] Write\n"
    listed = {"path": "p.md", "edits": [{old: "Read", new: "Look"}, {old: "Look", new: "See"}]}
    assert after(listed) == "# Plan\n\n- [ ] See\n- [ ] Write\n"


def test_an_edit_of_what_is_not_there_is_not_known() -> None:
    edit = {"file_path": "p.md", "old_string": "gone", "new_string": "x"}
    assert after(edit) is None
    assert after({**edit, "old_string": "Read"}, None) is None


PATCH = """*** Begin Patch
*** Update File: p.md
@@
 # Plan
\x20
-- [ ] Read
+- [x] Read
@@
-- [ ] Write
+- [ ] Write it
+- [ ] Run it
*** End Patch
"""


@pytest.mark.parametrize(
    "value",
    [
        PATCH,
        {"input": PATCH},
        {"command": ["bash", "-lc", f"apply_patch <<'EOF'\n{PATCH}EOF"]},
        {"cmd": f"cd /p && apply_patch <<'EOF'\n{PATCH}EOF"},
    ],
)
def test_a_patch_is_applied_wherever_its_envelope_stands(value: Any) -> None:
    assert after(value) == "# Plan\n\n- [x] Read\n- [ ] Write it\n- [ ] Run it\n"


def test_a_patch_adds_moves_and_deletes() -> None:
    head, tail = "*** Begin Patch\n", "*** End Patch"
    assert after(f"{head}*** Add File: n.md\n+# New\n+text\n{tail}", None) == "# New\ntext\n"
    (gone,) = file_changes(f"{head}*** Delete File: p.md\n{tail}")
    assert gone.gone
    assert gone.path == "p.md"
    moved = f"{head}*** Update File: p.md\n*** Move to: q.md\n@@\n-# Plan\n+# Moved\n{tail}"
    (change,) = file_changes(moved)
    assert change.moved == "q.md"
    assert change.apply(TEXT) == TEXT.replace("Plan", "Moved")
    assert after(PATCH, "other\n") is None


@pytest.mark.parametrize(
    "value", [None, 3, [], "ls -l", {"path": "p.md"}, {"command": "cat p.md"}, {"edits": [1]}]
)
def test_any_other_call_changes_no_file(value: Any) -> None:
    assert file_changes(value) == ()
