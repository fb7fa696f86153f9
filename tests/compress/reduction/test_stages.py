"""Group and deduplicate: what is brought together, and what is left alone."""

from __future__ import annotations

from compress.reduction.critical import Assessor
from compress.reduction.deduplicate import deduplicate
from compress.reduction.group import group
from compress.reduction.items import Item
from compress.reduction.profile import Profile
from tests.compress.reduction.outputs import profile

DIAGNOSTICS = {
    "by": ["diagnostic"],
    "diagnostics": [r"^(?P<location>\S+:\d+(?::\d+)?): (?P<message>.+)$"],
}


def items(texts: list[str], chosen: Profile | None = None) -> list[Item]:
    marks = Assessor([chosen or profile()]).assess(texts)
    pairs = zip(texts, marks, strict=True)
    return [Item(index, 0, text, mark) for index, (text, mark) in enumerate(pairs)]


def test_paths_of_one_folder_stand_under_it() -> None:
    texts = ["src/a/x.py", "src/a/y.py", "src/b.py", "src/a/z.py", "README"]
    found, notes = group(items(texts), [profile(group={"by": ["folder"]}).group])
    assert [item.text for item in found] == ["src/a/{x.py,y.py,z.py}", "src/b.py", "README"]
    assert found[0].absorbed == (1, 3)
    assert notes == ("2 paths under their folders",)


def test_two_paths_stay_as_they_are() -> None:
    texts = ["src/a/x.py", "src/a/y.py", "", "src/a/z.py"]
    found, _ = group(items(texts), [profile(group={"by": ["folder"]}).group])
    assert [item.text for item in found] == texts


def test_one_message_at_several_places_keeps_them_all() -> None:
    texts = [
        "a.c:1:2: unused variable 'x'",
        "a.c:7:2: missing return value",
        "b.c:9:1: unused variable 'x'",
    ]
    found, notes = group(items(texts), [profile(group=DIAGNOSTICS).group])
    assert [(item.text, item.note) for item in found] == [
        ("a.c:1:2: unused variable 'x'", "also b.c:9:1"),
        ("a.c:7:2: missing return value", ""),
    ]
    assert notes == ("1 lines that repeat a message at another location",)


def test_a_failure_is_grouped_by_its_own_profile_only() -> None:
    chosen = profile(critical=[{"pattern": "error"}], group={"by": ["diagnostic"]})
    other = profile(group=DIAGNOSTICS)
    texts = ["a.c:1:2: error: no such type", "b.c:9:1: error: no such type"]
    found, _ = group(items(texts, chosen), [chosen.group, other.group])
    assert [item.text for item in found] == texts
    found, _ = group(items(texts, chosen), [other.group])
    assert [item.note for item in found] == ["also b.c:9:1"]


def test_a_message_with_lines_of_its_own_stays_with_them() -> None:
    texts = ["a.c:1: unused variable", "    int x;", "b.c:2: unused variable", "    int y;"]
    found, _ = group(items(texts), [profile(group=DIAGNOSTICS).group])
    assert [item.text for item in found] == texts


def test_what_stands_again_stands_once_with_count_and_last_place() -> None:
    texts = ["timeout contacting registry"] * 14 + ["done"]
    found, notes = deduplicate(items(texts), profile().deduplicate)
    assert [(item.text, item.note) for item in found] == [
        ("timeout contacting registry", "×14 to line 14"),
        ("done", ""),
    ]
    assert notes == ("13 lines that stand again",)


def test_lines_of_one_template_collapse_across_others() -> None:
    texts = ["page 1 fetched quickly", "other", "page 22 fetched quickly", "page 3 fetched quickly"]
    found, _ = deduplicate(items(texts), profile().deduplicate)
    assert [(item.text, item.note) for item in found] == [
        ("page 1 fetched quickly", "alike ×3 to line 4"),
        ("other", ""),
    ]


def test_structure_may_stand_many_times() -> None:
    texts = ["{", "a", "}", "{", "b", "}", "{", "c", "}"]
    assert [i.text for i in deduplicate(items(texts), profile().deduplicate)[0]] == texts


def test_critical_lines_collapse_only_where_they_follow_one_another() -> None:
    chosen = profile(critical=[{"pattern": "error"}])
    apart = ["a.js", "error: missing semicolon here", "b.js", "error: missing semicolon here"] * 3
    assert len(deduplicate(items(apart, chosen), chosen.deduplicate)[0]) == len(apart)
    run = ["error: missing semicolon here"] * 5
    assert len(deduplicate(items(run, chosen), chosen.deduplicate)[0]) == 1
    numbered = [f"error: code {i} in the machine" for i in range(9)]
    assert len(deduplicate(items(numbered, chosen), chosen.deduplicate)[0]) == 9


def test_a_profile_may_leave_all_as_it_is() -> None:
    rule = profile(deduplicate={"identical": False, "templates": False}).deduplicate
    texts = ["page 1 fetched quickly"] * 9
    assert [i.text for i in deduplicate(items(texts), rule)[0]] == texts
