"""In context stand the current step and its neighbours; of the rest, where it is."""

from __future__ import annotations

from compress.artifacts.chunks import in_context
from tests.compress.artifacts.test_harvest import Log


def test_the_current_step_and_one_on_each_side_stand_in_full() -> None:
    log = Log()
    log.write(
        "plans/a.md",
        "# Port\n\nTo the new API.\n\n"
        + "".join(
            f"## {n}. Part {n}\n- [{'x' if n < 3 else ' '}] do {n}\n\n```\n9. no step\n```\n\n"
            for n in range(1, 6)
        ),
    )
    (found,) = log.artifacts()
    assert in_context(found) == (
        f"Port (in progress) [artifact {found.id}]\n"
        "   To the new API.\n"
        f"1. Part 1 (completed) [artifact {found.id} step 1]\n"
        "2. Part 2 (completed)\n"
        "   ## 2. Part 2\n   - [x] do 2\n\n   ```\n   9. no step\n   ```\n"
        "3. Part 3 (pending) ← current\n"
        "   ## 3. Part 3\n   - [ ] do 3\n\n   ```\n   9. no step\n   ```\n"
        "4. Part 4 (pending)\n"
        "   ## 4. Part 4\n   - [ ] do 4\n\n   ```\n   9. no step\n   ```\n"
        f"5. Part 5 (pending) [artifact {found.id} step 5]"
    )


def test_a_document_that_cannot_be_cut_is_its_summary_and_a_pointer() -> None:
    log = Log()
    log.write("plans/a.md", "# Idea\n\nOne thing only.\n\nAnd why.\n")
    (found,) = log.artifacts()
    assert in_context(found) == f"Idea (pending) [artifact {found.id}]\n   One thing only."


def test_of_a_finished_list_only_pointers_stand() -> None:
    log = Log()
    log.todo("+a", "+b")
    (found,) = log.artifacts()
    assert in_context(found).split("\n")[2:] == [
        f"1. a (completed) [artifact {found.id} step 1]",
        f"2. b (completed) [artifact {found.id} step 2]",
    ]
