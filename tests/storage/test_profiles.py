"""Which profiles are in force in a folder, and what is refused."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from compress.reduction.choice import choose
from compress.reduction.examples import faults
from compress.reduction.profile import ProfileError
from storage import profiles
from storage.profiles import Found, built_in, find_profiles, project_of, read_profiles
from storage.resources import counter
from tests.conftest import REPOSITORY

SHOP = """
[filter]
drop = ['^page \\d+$']
[[critical]]
pattern = '^cannot sell'
"""


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def named(folder: Path, name: str) -> Found:
    (found,) = [one for one in find_profiles(folder) if one.profile.name == name]
    return found


def test_without_a_project_the_built_in_ones_are_in_force(tmp_path: Path) -> None:
    assert find_profiles(tmp_path) == built_in()
    assert {one.origin for one in built_in()} == {"built-in"}


def test_a_profile_of_the_project_is_tried_first(tmp_path: Path) -> None:
    path = write(tmp_path, ".ullage/tools/shop.toml", SHOP)
    found = find_profiles(tmp_path)
    assert (found[0].profile.name, found[0].origin, found[0].path) == ("shop", "project", path)
    assert found[1:] == built_in()


def test_a_profile_of_the_project_replaces_the_built_in_one(tmp_path: Path) -> None:
    write(tmp_path, ".ullage/tools/pytest.toml", SHOP)
    found = named(tmp_path, "pytest")
    assert found.origin == "project"
    assert found.profile.filter.drop == (r"^page \d+$",)
    assert len(find_profiles(tmp_path)) == len(built_in())


def test_a_tools_own_definition_wins_over_the_project(tmp_path: Path) -> None:
    write(tmp_path, ".ullage/tools/shop.toml", SHOP)
    write(
        tmp_path,
        "tools.toml",
        "[tools.shop]\nrun = './shop'\n"
        "[tools.shop.compression.truncate]\nhead = 1\n"
        "[tools.other]\nrun = './other'\n",
    )
    found = named(tmp_path, "shop")
    assert found.origin == "definition"
    assert found.profile.truncate.head == 1
    assert found.profile.filter.drop == ()
    assert "other" not in {one.profile.name for one in find_profiles(tmp_path)}


def test_without_match_a_profile_is_for_the_tool_of_its_name(tmp_path: Path) -> None:
    write(tmp_path, ".ullage/tools/shop.toml", SHOP)
    known = [one.profile for one in find_profiles(tmp_path)]
    for chosen in (
        choose(known, command="./bin/shop sell --all"),
        choose(known, tool="Shop"),
    ):
        assert chosen is not None
        assert chosen.name == "shop"
    assert choose(known, command="shopping sell") is None


def test_without_match_a_name_that_ships_keeps_what_it_is_for(tmp_path: Path) -> None:
    write(tmp_path, ".ullage/tools/pytest.toml", SHOP)
    known = [one.profile for one in find_profiles(tmp_path)]
    chosen = choose(known, command="python -m pytest -q")
    assert chosen is not None
    assert chosen.filter.drop == (r"^page \d+$",)


def test_the_project_is_found_from_a_folder_within(tmp_path: Path) -> None:
    write(tmp_path, ".ullage/tools/shop.toml", SHOP)
    inner = tmp_path / "src" / "deep"
    inner.mkdir(parents=True)
    assert project_of(inner) == tmp_path


def test_the_search_ends_with_the_work_tree(tmp_path: Path) -> None:
    write(tmp_path, ".ullage/tools/shop.toml", SHOP)
    (tmp_path / "inner" / ".git").mkdir(parents=True)
    assert project_of(tmp_path / "inner") is None


def test_the_home_folder_is_no_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """There is no file for all projects."""
    write(tmp_path, ".ullage/tools/shop.toml", SHOP)
    (tmp_path / "work").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    assert project_of(tmp_path) is None
    assert project_of(tmp_path / "work") is None


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[[critical]]\npattern = 'a('\n", "critical.0.pattern: position 2: missing )"),
        ("[filter]\ndrop = ['a', '(?=b)']\n", "filter.drop.1: position 1: "),
        ("[[critical]]\npatern = 'a'\n", "critical.0.patern: there is no such key"),
        ("[truncate]\nshare = 3\n", "truncate.share: "),
        ("[group]\ndiagnostics = ['^(?P<location>a)']\n", "no group (?P<message>"),
        ("name = 'a b'\n", "name: "),
        ("head = \n", "is not TOML: Invalid value (at line 1, column 8)"),
    ],
)
def test_what_cannot_be_used_is_refused_with_file_key_and_position(
    tmp_path: Path, text: str, told: str
) -> None:
    path = write(tmp_path, ".ullage/tools/shop.toml", text)
    with pytest.raises(ProfileError) as caught:
        find_profiles(tmp_path)
    message = str(caught.value)
    assert message.startswith(str(path))
    assert told in message
    assert "\n" not in message


def test_a_definition_is_refused_with_the_name_of_its_table(tmp_path: Path) -> None:
    path = write(tmp_path, "tools.toml", "[tools.shop.compression.filter]\ndrop = ['[']\n")
    with pytest.raises(
        ProfileError, match=r"tools\.shop\.compression: filter\.drop\.0: "
    ) as caught:
        find_profiles(tmp_path)
    assert str(caught.value).startswith(str(path))
    write(tmp_path, "tools.toml", "[tools.shop]\ncompression = 'strong'\n")
    with pytest.raises(ProfileError, match=r"write \[tools\.shop\.compression\]"):
        find_profiles(tmp_path)


def test_bytes_that_are_no_text_and_files_too_large_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path, ".ullage/tools/shop.toml", "")
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(ProfileError, match="cannot be read"):
        find_profiles(tmp_path)
    write(tmp_path, ".ullage/tools/shop.toml", SHOP)
    monkeypatch.setattr(profiles, "LARGEST", 10)
    with pytest.raises(ProfileError, match="is larger than"):
        find_profiles(tmp_path)


def test_what_defines_other_things_is_left_alone(tmp_path: Path) -> None:
    write(tmp_path, "mise.toml", "[tools]\npython = '3.12'\nnode = ['20', '22']\n")
    write(tmp_path, ".codex/config.toml", "tools = 'none'\n")
    assert find_profiles(tmp_path) == built_in()


def test_a_file_is_read_as_a_profile_or_as_definitions(tmp_path: Path) -> None:
    one = write(tmp_path, "shop.toml", SHOP)
    assert [p.name for p in read_profiles(one)] == ["shop"]
    two = write(tmp_path, "t.toml", "[tools.a.compression]\n[tools.B.compression]\n")
    assert [p.name for p in read_profiles(two)] == ["a", "b"]


def test_the_profile_in_the_readme_holds_what_it_says(tmp_path: Path) -> None:
    readme = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    (text,) = [
        part for part in re.findall(r"```toml\n(.*?)```", readme, re.DOTALL) if "[match]" in part
    ]
    (shop,) = read_profiles(write(tmp_path, "shop.toml", text))
    (example,) = shop.examples
    generic = named(tmp_path, "generic").profile
    assert list(faults(shop, example, counter(), generic)) == []
