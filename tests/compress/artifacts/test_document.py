"""A document is cut at its own structure, in any script, and never inside a code fence."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compress.artifacts.document import Document, read


def steps(document: Document) -> list[tuple[str, str]]:
    return [(step.title, step.status) for step in document.steps]


def test_numbered_headings_are_steps_and_what_stands_around_them_is_not() -> None:
    found = read(
        "# Move the cache\n\n## Context\nslow\n\n## Changes\n\n### 1. Add `Cache`\ntext\n\n"
        "### 2. Use it\n- here\n- there\n\n## Verification\nrun it\n"
    )
    assert found.title == "Move the cache"
    assert steps(found) == [("Add Cache", "unknown"), ("Use it", "unknown")]
    assert found.text_of(found.steps[1]) == "### 2. Use it\n- here\n- there\n"
    assert not found.parted


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Task 1: parse", "Task 2: print"),
        ("Étape 1 – lire", "Étape 2 – écrire"),
        ("第1步 读取", "第2步 写入"),
        ("الخطوة 1 قراءة", "الخطوة 2 كتابة"),
        ("Шаг 0", "Шаг 1"),
    ],
)
def test_a_heading_is_numbered_in_any_script(first: str, second: str) -> None:
    found = read(f"# P\n\n## A\n\n## {first}\nx\n\n## B\n\n## {second}\ny\n")
    assert [step.title for step in found.steps] == [first, second]


def test_numbers_that_do_not_count_on_are_no_steps() -> None:
    found = read("# P\n\n## 2019 figures\nx\n\n## 2024 figures\ny\n")
    assert found.parted, "sections to read, not things to do"
    assert [step.title for step in found.steps] == ["2019 figures", "2024 figures"]


def test_a_numbered_section_is_as_far_as_its_boxes_say() -> None:
    boxes = {
        "- [x] a\n- [X] b": "completed",
        "- [x] a\n- [ ] b": "in_progress",
        "- [ ] a": "pending",
    }
    for body, status in boxes.items():
        found = read(f"## Task 1: one\n{body}\n\n## Task 2: two\nno box\n")
        assert steps(found) == [("Task 1: one", status), ("Task 2: two", "unknown")]


def test_boxes_are_steps_and_nested_boxes_belong_to_the_outer_one() -> None:
    found = read("- [x] **Read** the file\n  - [x] twice\n- [ ] Write it\n  - [ ] once\n\ntext\n")
    assert steps(found) == [("Read the file", "completed"), ("Write it", "pending")]
    assert found.text_of(found.steps[0]) == "- [x] **Read** the file\n  - [x] twice"


def test_an_item_without_a_box_is_as_far_as_the_boxes_in_it() -> None:
    found = read("1. Read\n   - [x] a\n   - [ ] b\n2. Write\n")
    assert steps(found) == [("a", "completed"), ("b", "pending")], "boxes come before numbers"
    found = read("1. Read\n2. Write\n   - nested\n     1. deeper\n     2. deeper still\n3. Run\n")
    assert [title for title, _ in steps(found)] == ["Read", "Write", "Run"]


@pytest.mark.parametrize("fence", ["```", "~~~", "````markdown"])
def test_what_stands_in_a_fence_is_no_step(fence: str) -> None:
    close = fence[:4].rstrip("markdown")
    inside = "- [ ] not this\n1. nor this\n## 2. nor this"
    found = read(
        f"1. Say\n\n   {fence}\n   - [ ] not\n   {close}\n\n2. Do\n\n{fence}\n{inside}\n{close}\n"
    )
    assert [title for title, _ in steps(found)] == ["Say", "Do"]


def test_a_fence_within_a_longer_fence_ends_nothing() -> None:
    found = read("## 1. Write\n````\n```\n## 2. no\n```\n## 3. no\n````\n\n## 2. Run\n")
    assert [title for title, _ in steps(found)] == ["Write", "Run"]


def test_the_only_ordered_list_is_the_plan() -> None:
    found = read("# P\n\n## Goal\n- fast\n- small\n\n## Work\n1. Read\n2. Write\n")
    assert [title for title, _ in steps(found)] == ["Read", "Write"]
    two = read("# P\n\n## Issues\n1. a\n2. b\n\n## Changes\n1. c\n2. d\n")
    assert [title for title, _ in steps(two)] == ["Issues", "Changes"]
    assert two.parted


def test_bullets_are_steps_where_nothing_else_is() -> None:
    assert [t for t, _ in steps(read("Plan:\n\n- 読む\n- 書く\n"))] == ["読む", "書く"]
    assert read("Just do it.\n").steps == ()


def test_a_quotation_and_settings_at_the_top_hold_no_steps() -> None:
    found = read("---\nname: x\nlist:\n  - a\n---\n# T\n\nLead.\n\n> 1. no\n> 2. no\n\n- a\n- b\n")
    assert (found.title, found.lead) == ("T", "Lead.")
    assert [title for title, _ in steps(found)] == ["a", "b"]


def test_the_lead_is_the_paragraph_below_the_title() -> None:
    assert read("# T\n\nWhat it\nis *for*.\n\n## A\n").lead == "What it is for."
    assert read("# T\n\n## A\n\ntext\n").lead == ""
    assert read("## A\n\n## B\n").title == "", "none stands above the other"


_MARKS = ("# ", "## 1. ", "## 2. ", "- ", "- [ ] ", "- [x] ", "1. ", "2) ", "  ", "   - ", "```")
_OTHERS = ("~~~\n", "> ", "a", "字", "\r\n", "\r", "\n", "\n\n", "---\n", "***", "[x]")
_HOSTILE = ("\u2028", "\x00", "\ud800")


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from((*_MARKS, *_OTHERS, *_HOSTILE)), max_size=60).map("".join))
def test_steps_are_runs_of_lines_in_order_that_never_overlap(text: str) -> None:
    found = read(text)
    edge = 0
    for step in found.steps:
        assert edge <= step.start < step.stop <= len(found.lines)
        edge = step.stop
    assert "\n".join(found.lines) == text.replace("\r\n", "\n").replace("\r", "\n")
    assert read(text) == found


@pytest.mark.parametrize("text", ["[" * 200_000, "![[" * 70_000, "- [ ] " + "*a " * 100_000])
def test_hostile_markup_costs_no_more_than_its_lines(text: str) -> None:
    """Inline markup is read for titles alone; read whole, these would never end."""
    assert len(read(f"# {text}\n\n{text}\n\n- a\n- b\n").steps) in (0, 2)
