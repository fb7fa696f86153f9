"""The house rules that a program can check: who imports whom, what may be loaded, how long a file
may be, what stands at the top."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import grimp
import pytest

from tests.conftest import REPOSITORY

PACKAGES = ("compress", "storage", "inspector")
"""From the bottom to the top: an import never runs upwards."""
FORBIDDEN = {
    "compress": {
        *("textual", "rich", "click", "platformdirs", "watchfiles", "sqlite_utils", "sqlite3"),
        *("os", "io", "pathlib", "shutil", "tempfile", "glob", "socket", "ssl", "http", "urllib"),
        *("random", "secrets", "uuid", "time", "datetime", "locale", "subprocess", "asyncio"),
        *("threading", "multiprocessing", "concurrent", "logging", "sys"),
    },
    "storage": {"textual", "rich", "click"},
    "inspector": {"sqlite3", "sqlite_utils", "tiktoken"},
}
"""What a package may never import itself, at any depth of its own code."""
BUILTINS_OF_THE_SHELL = {"open", "input", "print", "exec", "eval", "breakpoint", "hash", "id"}
"""What the pure engine may not call: files, screens, and values that differ between runs."""
TOP_LEVEL = {
    *("compress", "storage", "inspector", "tests", "assets"),
    *("pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "CONTRIBUTING.md", "Makefile"),
    "requirements.lock",
}
LONGEST_FILE = 400
REASON = "# Long because: "


def modules(package: str) -> list[Path]:
    return sorted((REPOSITORY / package).rglob("*.py"))


def imports(path: Path) -> Iterator[str]:
    """Every module that a file names in an import, wherever in the file, in full; imports for the
    type checker alone excepted."""
    for node in _at_run_time(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively"
            yield node.module or ""


def _at_run_time(tree: ast.AST) -> Iterator[ast.AST]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        yield node
        yield from _at_run_time(node)


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_imports_nothing_that_it_may_not(package: str) -> None:
    above = PACKAGES[PACKAGES.index(package) + 1 :]
    forbidden = FORBIDDEN[package] | set(above)
    found = [
        f"{path.relative_to(REPOSITORY)} imports {name}"
        for path in modules(package)
        for name in imports(path)
        if name.partition(".")[0] in forbidden
    ]
    assert found == []


def test_no_import_runs_upwards_even_for_types() -> None:
    graph = grimp.build_graph(*PACKAGES, cache_dir=None)
    for below, package in enumerate(PACKAGES):
        for above in PACKAGES[below + 1 :]:
            assert not graph.direct_import_exists(
                importer=package, imported=above, as_packages=True
            )


def test_no_modules_import_each_other_in_a_circle() -> None:
    graph = grimp.build_graph(*PACKAGES, exclude_type_checking_imports=True, cache_dir=None)
    waiting = {name: graph.find_modules_directly_imported_by(name) for name in graph.modules}
    while free := [name for name, needed in waiting.items() if not needed & waiting.keys()]:
        for name in free:
            del waiting[name]
    assert sorted(waiting) == []


def test_the_engine_calls_nothing_that_reaches_out_or_differs_between_runs() -> None:
    found = [
        f"{path.relative_to(REPOSITORY)}:{node.lineno} calls {node.func.id}"
        for path in modules("compress")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in BUILTINS_OF_THE_SHELL
    ]
    assert found == []


def loaded_after(statement: str) -> set[str]:
    """Top-level names in ``sys.modules`` after a statement in a fresh interpreter."""
    script = f"{statement}\nimport sys\nprint('\\n', *sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=REPOSITORY, capture_output=True, text=True, check=True
    )
    return {name.partition(".")[0] for name in done.stdout.splitlines()[-1].split()}


def test_every_module_of_the_engine_can_be_loaded_without_screen_store_or_network() -> None:
    names = [
        ".".join(path.relative_to(REPOSITORY).with_suffix("").parts).removesuffix(".__init__")
        for path in modules("compress")
    ]
    loaded = loaded_after("\n".join(f"import {name}" for name in names))
    heavy = {"textual", "rich", "sqlite3", "sqlite_utils", "watchfiles", "tiktoken", "click"}
    assert loaded & (heavy | {"asyncio", "storage", "inspector"}) == set()


def test_the_store_can_be_loaded_without_a_screen() -> None:
    loaded = loaded_after("import storage.store, storage.ingest, storage.sources.registry")
    assert loaded & {"textual", "rich", "inspector"} == set()


def test_the_command_line_is_loaded_without_the_app() -> None:
    assert "textual" not in loaded_after("import inspector.cli, inspector.usecases")


def test_a_use_case_loads_what_only_others_need_no_earlier_than_they_do() -> None:
    assert loaded_after("import inspector.usecases") & {"re2", "markdown_it", "pyarrow"} == set()


def test_one_place_says_what_a_store_in_memory_is_called() -> None:
    spelt = {
        path.relative_to(REPOSITORY).as_posix()
        for package in ("storage", "inspector")
        for path in modules(package)
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant) and node.value == ":memory:"
    }
    # opencode has a variable of its own that may say the same of its database.
    assert spelt == {"storage/format.py", "storage/sources/opencode.py"}


@pytest.mark.parametrize("package", [*PACKAGES, "tests"])
def test_a_long_file_says_why(package: str) -> None:
    silent = []
    for path in modules(package):
        rows = path.read_text().splitlines()
        if len(rows) > LONGEST_FILE and not any(row.startswith(REASON) for row in rows[:40]):
            silent.append(f"{path.relative_to(REPOSITORY)}: {len(rows)} lines")
    assert silent == []


def test_only_what_was_agreed_stands_at_the_top() -> None:
    listed = subprocess.run(
        ["git", "ls-files"], cwd=REPOSITORY, capture_output=True, text=True, check=False
    )
    if listed.returncode != 0:
        pytest.skip("not a git work tree")
    top = {name.partition("/")[0] for name in listed.stdout.splitlines()}
    assert {name for name in top if not name.startswith(".")} <= TOP_LEVEL
