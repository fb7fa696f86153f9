"""Ullage in an agent's settings: what is added, that nothing else is touched, and its end."""

from __future__ import annotations

import json
import shlex
import stat
from pathlib import Path
from typing import Any

import pytest

from inspector.integrations.installing import TARGETS, NoSeamError, install, uninstall
from inspector.integrations.journal import Journal
from inspector.integrations.program import Program
from inspector.integrations.settings_files import SettingsFileError
from inspector.integrations.target import Place
from tests.inspector.conftest import Ullage

PROGRAM = Program(("/opt/a b/ullage",))
ORIGINALS = [
    b"{}",
    b"{ }\n",
    b'{"model":"opus","hooks":{}}',
    b'{\n\t"env": {"A": "1.50"},\n\t"hooks": {"PreCompact": []}\n}\n\n',
    b'\xef\xbb\xbf{\r\n  "permissions": {\r\n    "allow": ["Bash(ls:*)"]\r\n  }\r\n}\r\n',
    b"""{
  "hooks": {
    "SessionStart": [
      {"matcher": "startup", "hooks": [{"type": "command", "command": "date"}]},
      {"matcher": "compact", "hooks": [{"type": "command", "command": "ullage-like hook"}]}
    ],
    "PreCompact": [{"hooks": [{"type": "command", "command": "/x/my-ullage hook claude"}]}]
  },
  "n": 1e400
}""",
]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    home = tmp_path / "home"
    home.mkdir()
    return Place(home)


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(tmp_path / "data")


def files(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def settings_of(place: Place, agent: str = "claude") -> Path:
    path = TARGETS[agent].path(place)
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def hooks(path: Path) -> Any:
    return json.loads(path.read_bytes().decode("utf-8-sig"))["hooks"]


@pytest.mark.parametrize("agent", ["claude", "codex"])
@pytest.mark.parametrize("original", ORIGINALS)
def test_hooks_are_added_behind_all_others_and_leave_no_trace(
    place: Place, journal: Journal, agent: str, original: bytes
) -> None:
    path = settings_of(place, agent)
    path.write_bytes(original)
    path.chmod(0o640)
    before = json.loads(original.decode("utf-8-sig")).get("hooks", {})
    report = install(agent, place, PROGRAM, journal)
    assert (report.changed, report.written) == (True, True)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    for event, name in (("PreCompact", "pre-compact"), ("SessionStart", "session-start")):
        groups = hooks(path)[event]
        assert groups[:-1] == before.get(event, [])
        assert groups[-1].get("matcher") == ("compact" if event == "SessionStart" else None)
        (command,) = groups[-1]["hooks"]
        assert shlex.split(command["command"]) == ["/opt/a b/ullage", "hook", agent, name]
        assert (command["type"], command["timeout"]) == ("command", 30)
    assert report.backup is not None
    assert Path(report.backup).read_bytes() == original
    again = install(agent, place, PROGRAM, journal)
    assert (again.changed, again.written, again.diff) == (False, False, "")
    gone = uninstall(agent, place, journal)
    assert (gone.changed, gone.written, gone.backup) == (True, True, None)
    assert files(place.home) == {str(path.relative_to(place.home)): original}
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert uninstall(agent, place, journal).changed is False


@pytest.mark.parametrize("agent", ["claude", "codex", "pi"])
def test_where_there_was_nothing_nothing_is_left(
    place: Place, journal: Journal, agent: str
) -> None:
    report = install(agent, place, PROGRAM, journal)
    path = Path(report.path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert report.backup is None
    assert install(agent, place, PROGRAM, journal).changed is False
    gone = uninstall(agent, place, journal)
    assert gone.removes_file
    assert list(place.home.rglob("*")) == []
    assert uninstall(agent, place, journal).changed is False


def test_what_another_added_since_stays(place: Place, journal: Journal) -> None:
    path = settings_of(place)
    path.write_bytes(b'{\n  "model": "opus"\n}\n')
    install("claude", place, PROGRAM, journal)
    changed = path.read_bytes().replace(b'"opus"', b'"sonnet"')
    theirs = b'"timeout": 30\n          }, {"type": "command", "command": "mine"}\n        ]'
    path.write_bytes(changed.replace(b'"timeout": 30\n          }\n        ]', theirs, 1))
    report = uninstall("claude", place, journal)
    left = json.loads(path.read_bytes())
    assert left == {
        "model": "sonnet",
        "hooks": {"PreCompact": [{"hooks": [{"type": "command", "command": "mine"}]}]},
    }
    assert report.backup is not None, "what it was is not what it is: the backup is kept"
    assert Path(report.backup).read_bytes() == b'{\n  "model": "opus"\n}\n'


def test_without_journal_or_backup_the_settings_themselves_tell(
    place: Place, journal: Journal, tmp_path: Path
) -> None:
    path = settings_of(place)
    original = b'{"hooks": {"Stop": []}, "x": [1, 2]}'
    path.write_bytes(original)
    report = install("claude", place, PROGRAM, journal)
    Path(report.backup or "").unlink()
    uninstall("claude", place, Journal(tmp_path / "lost"))
    assert path.read_bytes() == original
    (tmp_path / "data" / "integrations.json").write_text("{broken")
    install("claude", place, PROGRAM, journal)
    uninstall("claude", place, journal)
    assert path.read_bytes() == original


def test_a_program_that_moved_is_called_where_it_is_now(
    place: Place, journal: Journal, tmp_path: Path
) -> None:
    path = settings_of(place)
    path.write_bytes(b"{ }")
    install("claude", place, PROGRAM, journal)
    install("claude", place, Program(("/new/ullage",), ("--db", "/s.db")), Journal(tmp_path / "n"))
    assert len(hooks(path)["PreCompact"]) == 1
    line = hooks(path)["PreCompact"][0]["hooks"][0]["command"]
    assert line == "/new/ullage hook claude pre-compact --db /s.db"
    module = Program(("/v/bin/python", "-P", "-m", "inspector.cli"))
    install("claude", place, module, journal)
    assert len(hooks(path)["SessionStart"]) == 1
    uninstall("claude", place, journal)
    assert json.loads(path.read_bytes()) == {}


def test_a_dry_run_shows_the_change_and_writes_nothing(place: Place, journal: Journal) -> None:
    path = settings_of(place)
    path.write_bytes(b'{\n  "model": "opus"\n}\n')
    report = install("claude", place, PROGRAM, journal, dry_run=True)
    assert (report.changed, report.written, report.backup) == (True, False, None)
    assert '-  "model": "opus"\n+  "model": "opus",\n+  "hooks": {\n' in report.diff
    assert files(place.home) == {".claude/settings.json": b'{\n  "model": "opus"\n}\n'}
    install("claude", place, PROGRAM, journal)
    before = files(place.home)
    assert uninstall("claude", place, journal, dry_run=True).diff.count("\n-") > 5
    assert files(place.home) == before


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "line 1, column 1"),
        (b'{\n  // my model\n  "model": "opus"\n}', "line 2, column 3"),
        (b'{"hooks": {},}', "line 1, column 1[34]"),
        (b"[]", "it is no object"),
        (b'{"hooks": []}', "hooks is no object"),
        (b'{"hooks": null}', "hooks is no object"),
        (b'{"hooks": {"PreCompact": {}}}', r"hooks\.PreCompact is no list"),
        (b'{"hooks": {}, "hooks": {}}', 'the key "hooks" stands in it twice'),
        (b'{"a": "\xff"}', "no UTF-8 at byte 7"),
        (b"[" * 200_000, "nested too deeply"),
    ],
)
def test_settings_that_cannot_be_changed_safely_are_left_alone(
    place: Place, journal: Journal, data: bytes, why: str
) -> None:
    path = settings_of(place)
    path.write_bytes(data)
    for act in (
        lambda: install("claude", place, PROGRAM, journal),
        lambda: uninstall("claude", place, journal),
    ):
        with pytest.raises(SettingsFileError, match=why) as refused:
            act()
        assert str(path) in str(refused.value)
    assert files(place.home) == {".claude/settings.json": data}


def test_odd_but_legal_groups_of_others_are_passed_over(place: Place, journal: Journal) -> None:
    path = settings_of(place)
    odd = {"hooks": {"PreCompact": [None, 1, {"hooks": None}, {"hooks": [1, {"command": 5}]}]}}
    original = json.dumps(odd).encode()
    path.write_bytes(original)
    install("claude", place, PROGRAM, journal)
    assert hooks(path)["PreCompact"][:-1] == odd["hooks"]["PreCompact"]
    uninstall("claude", place, journal)
    assert path.read_bytes() == original


@pytest.mark.parametrize(
    "line",
    [
        "/x/ullage hook claude pre-compact && rm -rf /tmp/x",
        "echo /x/ullage hook claude pre-compact",
        "/x/ullage hook claude pre-compact | tee log",
        "/x/other hook claude pre-compact",
        "unclosed 'quote",
    ],
)
def test_a_line_that_only_names_the_hook_is_not_ullages(
    place: Place, journal: Journal, line: str
) -> None:
    path = settings_of(place)
    group = {"hooks": [{"type": "command", "command": line}]}
    original = json.dumps({"hooks": {"PreCompact": [group]}}).encode()
    path.write_bytes(original)
    assert uninstall("claude", place, journal).changed is False
    install("claude", place, PROGRAM, journal)
    assert hooks(path)["PreCompact"][0] == group
    uninstall("claude", place, journal)
    assert path.read_bytes() == original


def test_a_projects_settings_are_those_of_this_machine(tmp_path: Path, journal: Journal) -> None:
    project = tmp_path / "project"
    project.mkdir()
    place = Place(tmp_path / "home", {}, project)
    report = install("claude", place, PROGRAM, journal)
    assert report.path == str(project / ".claude" / "settings.local.json")
    assert [TARGETS[agent].path(place) for agent in ("codex", "pi")] == [
        project / ".codex" / "hooks.json",
        project / ".pi" / "extensions" / "ullage.ts",
    ]
    assert any("keep it out" in note for note in install("codex", place, PROGRAM, journal).notes)
    for agent in ("claude", "codex"):
        uninstall(agent, place, journal)
    assert list(project.iterdir()) == []


def test_a_planted_link_in_a_project_is_refused(tmp_path: Path, journal: Journal) -> None:
    home, project = tmp_path / "home", tmp_path / "project"
    victim = settings_of(Place(home))
    victim.write_bytes(b"{}")
    (project / ".claude").mkdir(parents=True)
    (project / ".claude" / "settings.local.json").symlink_to(victim)
    with pytest.raises(SettingsFileError, match="leads out of the project"):
        install("claude", Place(home, {}, project), PROGRAM, journal)
    assert files(home) == {".claude/settings.json": b"{}"}


def test_the_agents_own_variables_are_honoured(tmp_path: Path) -> None:
    environment = {
        "CLAUDE_CONFIG_DIR": str(tmp_path / "c"),
        "CODEX_HOME": str(tmp_path / "x"),
        "PI_CODING_AGENT_DIR": str(tmp_path / "p"),
    }
    place = Place(tmp_path / "home", environment)
    assert [target.path(place) for target in TARGETS.values()] == [
        tmp_path / "c" / "settings.json",
        tmp_path / "x" / "hooks.json",
        tmp_path / "p" / "extensions" / "ullage.ts",
    ]


@pytest.mark.parametrize("key", ["hooks", "codex_hooks"])
def test_codex_without_hooks_is_refused_with_the_setting(
    place: Place, journal: Journal, key: str
) -> None:
    config = settings_of(place, "codex").with_name("config.toml")
    config.write_text(f"[features]\n{key} = false\n")
    with pytest.raises(SettingsFileError, match=f"{key} = false"):
        install("codex", place, PROGRAM, journal)
    assert files(place.home).keys() == {".codex/config.toml"}


def test_hooks_that_are_switched_off_are_told(place: Place, journal: Journal) -> None:
    settings_of(place).write_bytes(b'{"disableAllHooks": true}')
    notes = install("claude", place, PROGRAM, journal).notes
    assert any("disableAllHooks is true" in note for note in notes)


def test_an_extension_that_is_not_ullages_or_was_changed_is_left_alone(
    place: Place, journal: Journal
) -> None:
    path = settings_of(place, "pi")
    path.write_text("export default () => {};\n")
    with pytest.raises(SettingsFileError, match="is not Ullage's"):
        install("pi", place, PROGRAM, journal)
    path.unlink()
    install("pi", place, PROGRAM, journal)
    path.write_text(path.read_text() + "// mine\n")
    for act in (
        lambda: install("pi", place, PROGRAM, journal),
        lambda: uninstall("pi", place, journal),
    ):
        with pytest.raises(SettingsFileError, match="was changed by hand"):
            act()
    assert path.read_text().endswith("// mine\n")


def test_an_older_extension_is_replaced_and_still_goes_away(
    place: Place, journal: Journal, tmp_path: Path
) -> None:
    install("pi", place, PROGRAM, journal)
    path = TARGETS["pi"].path(place)
    install("pi", place, Program(("/new/ullage",)), Journal(tmp_path / "n"))
    assert '["/new/ullage", "hook", "pi"]' in path.read_text()
    assert list(path.parent.iterdir()) == [path]
    uninstall("pi", place, Journal(tmp_path / "n"))
    assert not path.exists()


def test_an_agent_without_a_seam_is_refused(place: Place, journal: Journal) -> None:
    with pytest.raises(NoSeamError, match="cannot be installed for 'vim'") as refused:
        install("vim", place, PROGRAM, journal)
    assert refused.value.choices == ("claude", "codex", "pi")


def test_the_command_line_installs_dry_and_for_real(
    ullage: Ullage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "me"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_DATA_HOME", str(home / "data"))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    dry = ullage("install", "claude", "--dry-run")
    assert (dry.code, list(home.iterdir())) == (0, [])
    assert "Would be changed: " in dry.out
    assert '+    "PreCompact": [' in dry.out
    report = ullage("install", "claude", "--json").value
    assert (report["written"], report["path"]) == (True, str(home / ".claude" / "settings.json"))
    line = hooks(home / ".claude" / "settings.json")["PreCompact"][0]["hooks"][0]["command"]
    assert Path(shlex.split(line)[0]).is_absolute()
    assert ullage("install", "claude").out.startswith("Nothing to do: ")
    assert ullage("uninstall", "claude").out.startswith("Deleted: ")
    assert [path for path in home.rglob("*") if path.is_file()] == [
        home / "data" / "ullage" / "integrations.json"
    ]
    refused = ullage("install", "emacs")
    assert refused.code == 1
    assert refused.err.startswith("ullage: Ullage cannot be installed for 'emacs'")
