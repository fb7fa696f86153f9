"""Completion in a shell: commands, files, sessions."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.shell_completion import BashComplete, CompletionItem, FishComplete, ZshComplete

from inspector import cli
from inspector.cli_shell import Shell
from tests.inspector.conftest import SESSION

SHELLS = (BashComplete, ZshComplete, FishComplete)


def completions(words: list[str], incomplete: str, db: object = "none.db") -> list[CompletionItem]:
    shell = Shell(flags={"db": str(db)})
    complete = BashComplete(cli.cli, {"obj": shell}, "ullage", "_ULLAGE_COMPLETE")
    return complete.get_completions(words, incomplete)


def plain(items: list[CompletionItem]) -> list[str]:
    return [str(item.value) for item in items if item.type == "plain"]


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize(("incomplete", "command"), [("pres", "pressure"), ("sess", "sessions")])
def test_the_first_word_is_a_command_or_a_file(
    shell: type[BashComplete], incomplete: str, command: str
) -> None:
    complete = shell(cli.cli, {}, "ullage", "_ULLAGE_COMPLETE")
    items = complete.get_completions([], incomplete)
    assert [(item.type, item.value) for item in items] == [("file", incomplete), ("plain", command)]


def test_without_a_letter_all_commands_are_offered() -> None:
    shown = [name for name, command in cli.cli.commands.items() if not command.hidden]
    assert plain(completions([], "")) == sorted(shown)


def test_an_option_is_no_file() -> None:
    assert [(item.type, item.value) for item in completions([], "--he")] == [("plain", "--help")]


def test_after_a_file_there_are_more_files_but_no_commands(tmp_path: Path) -> None:
    items = completions([str(tmp_path)], "")
    assert [item.type for item in items] == ["file"]


@pytest.mark.parametrize("command", ["show", "pressure", "compact", "pin", "undo", "audit"])
def test_a_session_is_completed_from_the_store(store: Path, command: str) -> None:
    items = completions([command], SESSION[:4], store)
    assert plain(items) == [SESSION]
    assert items[-1].help == "Find out why the nightly sync loses readings"
    assert plain(completions([command], "la", store)) == ["last"]


def test_a_store_that_is_not_there_is_not_made_by_completing(tmp_path: Path) -> None:
    assert plain(completions(["show"], "7", tmp_path / "none.db")) == []
    assert not list(tmp_path.iterdir())


def test_a_broken_setting_offers_files_all_the_same(store: Path) -> None:
    shell = Shell(flags={"db": str(store), "retries": "many"})
    complete = BashComplete(cli.cli, {"obj": shell}, "ullage", "_ULLAGE_COMPLETE")
    assert [item.type for item in complete.get_completions(["show"], "7")] == ["file"]


def test_a_project_is_completed_as_a_folder(store: Path) -> None:
    for command in ("pack", "decisions"):
        (item,) = completions([command, "--project"], "sr", store)
        assert (item.type, item.value) == ("dir", "sr")
