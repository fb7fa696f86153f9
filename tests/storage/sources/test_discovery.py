"""Discovery: the walk ends, follows what is wanted, and names what it skips."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from storage.sources.base import Registry, Root
from storage.sources.chat import ChatAdapter
from storage.sources.discovery import discover
from storage.sources.registry import adapter_of, head, registry


class Rooted(ChatAdapter):
    """An adapter with one root and one pattern."""

    def __init__(self, root: Path, pattern: str) -> None:
        self._root = Root(root, pattern)

    def roots(self, environment: Mapping[str, str], home: Path) -> Iterator[Root]:
        yield self._root


def found(root: Path, pattern: str = "*/*.jsonl") -> tuple[list[str], dict[str, str]]:
    result = discover(Registry([Rooted(root, pattern)]), {}, root)
    return (
        sorted(str(candidate.path.relative_to(root)) for candidate in result.candidates),
        {str(skip.path.relative_to(root)): skip.reason for skip in result.skipped},
    )


def touch(path: Path, mtime: int = 1) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"{}\n")
    os.utime(path, (mtime, mtime))
    return path


@pytest.mark.parametrize("pattern", ["*/*.jsonl", "**/*.jsonl"])
def test_r37_links_are_followed_once_and_traps_are_named(tmp_path: Path, pattern: str) -> None:
    root = tmp_path / "projects"
    touch(root / "one" / "s.jsonl")
    touch(tmp_path / "elsewhere" / "two" / "s.jsonl")
    (root / "one" / "loop").symlink_to("..")
    (root / "one" / "again.jsonl").symlink_to("s.jsonl")
    (root / "self").symlink_to("self")
    (root / "two").symlink_to("../elsewhere/two")
    (root / "one" / "dangling.jsonl").symlink_to("/nonexistent/x")
    (root / "one" / "folder.jsonl").mkdir()
    os.mkfifo(root / "one" / "pipe.jsonl")
    files, skipped = found(root, pattern)
    assert files == ["one/s.jsonl", "two/s.jsonl"]
    assert skipped["one/dangling.jsonl"] == "is a link to nothing"
    assert skipped["one/folder.jsonl"] == "is a directory, not a file"
    assert skipped["one/pipe.jsonl"] == "is a named pipe, not a file"
    assert "link" in skipped["self"]


@pytest.mark.hard
def test_r37_of_the_generator(hard_inputs: Path) -> None:
    root = hard_inputs / "R37" / "projects"
    files, skipped = found(root)
    names = {file.split("/")[0] for file in files}
    assert {"-p-one", "-p-two"} <= names
    assert len(files) == len(names)  # the link beside s.jsonl is no second file
    assert skipped["dangling"] == "is a link to nothing"
    assert skipped["-p-one/pipe.jsonl"] == "is a named pipe, not a file"


def test_files_come_newest_first_with_their_stat(tmp_path: Path) -> None:
    for name, mtime in (("old", 10), ("new", 30), ("mid", 20)):
        touch(tmp_path / "p" / f"{name}.jsonl", mtime)
    result = discover(Registry([Rooted(tmp_path, "*/*.jsonl")]), {}, tmp_path)
    assert [c.path.stem for c in result.candidates] == ["new", "mid", "old"]
    assert [c.mtime_ns // 10**9 for c in result.candidates] == [30, 20, 10]
    assert {c.size for c in result.candidates} == {3}


def test_a_root_that_does_not_exist_is_looked_at_and_not_complained_about(tmp_path: Path) -> None:
    result = discover(Registry([Rooted(tmp_path / "none", "*.jsonl")]), {}, tmp_path)
    assert (result.candidates, result.skipped) == ((), ())
    assert [root.path for root in result.roots] == [tmp_path / "none"]


def test_r39_thousands_of_files_are_listed_without_opening_one(tmp_path: Path) -> None:
    for n in range(1000):
        path = touch(tmp_path / f"p{n % 40}" / f"{n}.jsonl")
        path.chmod(0o600)
    files, skipped = found(tmp_path)
    assert (len(files), skipped) == (1000, {})


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may read everything")
def test_r37_what_may_not_be_read_is_named(tmp_path: Path) -> None:
    touch(tmp_path / "p" / "s.jsonl").chmod(0)
    assert found(tmp_path) == ([], {"p/s.jsonl": "may not be read by this user"})


# --------------------------------------------------------------------------------------- registry


def test_every_agent_is_asked_once_and_plain_chat_last() -> None:
    agents = [adapter.agent for adapter in registry().adapters]
    assert len(set(agents)) == len(agents)
    assert agents[-1] == "chat"


@pytest.mark.corpus
@pytest.mark.parametrize("agent", ["claude", "codex", "copilot", "pi", "dsh"])
def test_real_logs_are_recognised_by_their_content(corpus: Path, agent: str) -> None:
    adapters = registry()
    for path in sorted((corpus / agent).glob("*.jsonl")):
        found_ = adapter_of(adapters, path)
        expected = None if "NOT-A-SESSION" in path.name else agent
        assert (found_.agent if found_ else None) == expected, path.name


@pytest.mark.corpus
@pytest.mark.parametrize("agent", ["sweagent", "atif", "openhands"])
def test_real_documents_are_recognised_by_their_content(corpus: Path, agent: str) -> None:
    adapters = registry()
    for path in sorted((corpus / agent).iterdir()):
        found_ = adapter_of(adapters, path)
        assert (found_.agent if found_ else None) == agent, path.name


@pytest.mark.hard
def test_r28_empty_and_stub_files_have_no_agent_yet(hard_inputs: Path) -> None:
    adapters = registry()
    for name in ("zero.jsonl", "nl.jsonl", "gem/session-x.json", "gem/session-y.json"):
        path = hard_inputs / "R28" / name
        assert (head(path), adapter_of(adapters, path)) == ([], None)
