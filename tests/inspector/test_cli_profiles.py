"""``ullage profiles``: what is in force, what a profile says, and whether its tests hold."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from inspector.cli import run

SHOP = """
[[critical]]
pattern = '^cannot sell'

[truncate]
floor = 0

[[examples]]
name = "a refusal stays"
command = "shop sell"
budget = "12"
input = '''
page 1
page 2
page 3
page 4
cannot sell a pear: none left
page 5
page 6
page 7
page 8
'''
keeps = ["cannot sell a pear"]
drops = ["page 2"]
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / ".ullage" / "tools" / "shop.toml"
    path.parent.mkdir(parents=True)
    path.write_text(SHOP, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return path


def test_the_list_names_each_with_its_origin(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["profiles", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert rows[0]["name"] == "shop"
    assert rows[0]["origin"] == "project"
    assert rows[0]["path"] == str(project)
    assert {"pytest", "generic"} <= {row["name"] for row in rows}
    assert run(["profiles"]) == 0
    assert capsys.readouterr().out.split()[:5] == ["NAME", "FROM", "WHAT", "shop", "project"]


def test_a_profile_is_shown_as_it_stands(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["profiles", "show", "shop"]) == 0
    assert capsys.readouterr().out == SHOP
    assert run(["profiles", "show", "shopp"]) == 1
    assert "There is no profile shopp" in capsys.readouterr().err


def test_inline_tests_that_hold(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["profiles", "check", str(project)]) == 0
    out = capsys.readouterr().out
    assert "holds  shop: a refusal stays" in out
    assert out.endswith("1 test: shop\n")


def test_inline_tests_that_do_not_hold_are_told_and_leave_with_1(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = SHOP.replace('drops = ["page 2"]', 'drops = ["pear"]').replace("shop sell", "cargo")
    project.write_text(wrong, encoding="utf-8")
    assert run(["profiles", "check", str(project), "--json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert report["failed"] == 1
    assert report["examples"][0]["faults"] == [
        "The profile is not chosen for the command 'cargo'.",
        "'pear' is not dropped.",
    ]


def test_a_bad_pattern_is_one_sentence(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    project.write_text("[[critical]]\npattern = 'a('\n", encoding="utf-8")
    assert run(["profiles"]) == 1
    told = capsys.readouterr().err
    assert told == f"ullage: {project}: critical.0.pattern: position 2: missing ): a(.\n"
