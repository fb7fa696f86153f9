"""Settings: four sources in rising order, each value's origin, errors that say where and why."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from inspector.settings import Loaded, Settings, SettingsError, load_settings


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "project" / "deep" / "er").mkdir(parents=True)
    return tmp_path


def load(
    home: Path,
    *,
    user: str = "",
    project: str | None = None,
    environment: dict[str, str] | None = None,
    **flags: Any,
) -> Loaded:
    config = home / "config.toml"
    config.write_text(user)
    if project is not None:
        (home / "project" / ".ullage.toml").write_text(project)
    return load_settings(
        flags,
        environment=environment or {},
        folder=home / "project" / "deep" / "er",
        config_file=config,
    )


def test_the_defaults_are_those_of_the_policy() -> None:
    settings = Settings()
    assert (settings.threshold_ratio, settings.retain_ratio) == (0.8, 0.16)
    assert (settings.max_summary_tokens, settings.retries, settings.last_messages) == (8192, 1, 6)
    assert (settings.micro_high, settings.micro_low) == (0.70, 0.60)
    assert settings.auto == "off"


def test_later_sources_win_and_each_value_names_its_own(home: Path) -> None:
    loaded = load(
        home,
        user="retries = 2\nlast_messages = 2\ntheme = 'light'\npoll_interval = 9",
        project="last_messages = 3\ntheme = 'dark'\npoll_interval = 8",
        environment={"ULLAGE_THEME": "light", "ULLAGE_POLL_INTERVAL": "7"},
        poll_interval="6.0",
    )
    user, project = str(home / "config.toml"), str(home / "project" / ".ullage.toml")
    provenance = loaded.provenance()
    assert provenance["retries"] == {"value": 2, "from": user}
    assert provenance["last_messages"] == {"value": 3, "from": project}
    assert provenance["theme"] == {"value": "light", "from": "ULLAGE_THEME"}
    assert provenance["poll_interval"] == {"value": 6.0, "from": "--set poll_interval"}
    assert provenance["auto"] == {"value": "off", "from": "default"}
    assert loaded.files == (Path(user), Path(project))


def test_the_nearest_project_file_is_the_one_that_counts(home: Path) -> None:
    (home / ".ullage.toml").write_text("retries = 9\nlast_messages = 9")
    assert load(home).settings.retries == 9
    loaded = load(home, project="retries = 3")
    assert (loaded.settings.retries, loaded.settings.last_messages) == (3, 6)


def test_a_store_named_in_a_file_is_sought_beside_that_file(home: Path) -> None:
    assert load(home, project="db = 'here.db'").settings.db == str(home / "project" / "here.db")
    assert load(home, project="db = ':memory:'").settings.db == ":memory:"
    assert load(home, environment={"ULLAGE_DB": "here.db"}).settings.db == "here.db"


def test_flags_that_were_not_given_and_empty_variables_change_nothing(home: Path) -> None:
    loaded = load(home, environment={"ULLAGE_RETRIES": "", "ULLAGE_ELSEWHERE": "x"}, theme=None)
    assert set(loaded.origins.values()) == {"default"}


@pytest.mark.parametrize(
    ("model", "window"),
    [
        ("claude-sonnet-5", 1_000_000),
        ("Claude-Sonnet-5", 1_000_000),
        ("claude-opus-5", 200_000),
        ("gpt-6", None),
        (None, None),
    ],
)
def test_a_window_table_takes_the_exact_name_then_the_longest_pattern(
    home: Path, model: str | None, window: int | None
) -> None:
    table = '[window]\n"claude-*" = 200000\n"claude-sonnet-5" = 1000000\n"c*" = 1'
    assert load(home, user=table).settings.window_for(model) == window


def test_one_window_holds_for_every_model(home: Path) -> None:
    assert load(home, window=150_000).settings.window_for("anything") == 150_000


def test_a_window_table_can_come_from_the_environment(home: Path) -> None:
    loaded = load(home, environment={"ULLAGE_WINDOW": "claude-*=200000, gpt-*=400000"})
    assert loaded.settings.window_for("gpt-6") == 400_000


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("retreis = 1", ["retreis", "retries"]),
        ("retries = '1'", ["retries = '1'", "integer"]),
        ("retries = true", ["retries = True", "integer"]),
        ("threshold_ratio = 1.4", ["threshold_ratio = 1.4", "1"]),
        ("window = -5", ["window = -5", "greater than 0"]),
        ("[window]\nbig = -1", ["big", "greater than 0"]),
        ("auto = 'yes'", ["auto = 'yes'", "'micro'"]),
        ("retries = \n", ["TOML", "line 1"]),
    ],
)
def test_an_error_names_file_key_and_value(home: Path, text: str, parts: list[str]) -> None:
    with pytest.raises(SettingsError) as caught:
        load(home, user=text)
    for part in [str(home / "config.toml"), *parts]:
        assert part in str(caught.value)


def test_a_flag_for_no_setting_is_an_error_with_the_nearest_names(home: Path) -> None:
    with pytest.raises(SettingsError, match="--set micro_hi: micro_hi is not a setting") as caught:
        load(home, micro_hi="0.5")
    assert caught.value.choices[0] == "micro_high"


def test_an_error_in_a_variable_names_the_variable(home: Path) -> None:
    with pytest.raises(SettingsError, match=r"ULLAGE_RETRIES: retries = 'many'"):
        load(home, environment={"ULLAGE_RETRIES": "many"})
    with pytest.raises(SettingsError, match=r"ULLAGE_WINDOW: .* a: "):
        load(home, environment={"ULLAGE_WINDOW": "a=much"})


def test_a_file_that_is_not_text_is_an_error_that_names_it(home: Path) -> None:
    (home / "project" / ".ullage.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(SettingsError, match=r"\.ullage\.toml cannot be read"):
        load(home)


def test_a_tail_at_the_threshold_is_refused_with_both_numbers_and_both_places(home: Path) -> None:
    with pytest.raises(SettingsError) as caught:
        load(
            home,
            user="threshold_ratio = 0.5",
            environment={"ULLAGE_RETAIN_RATIO": "0.5"},
            window=200_000,
        )
    message = str(caught.value)
    assert "retain_ratio = 0.5 (100,000 tokens)" in message
    assert "threshold_ratio = 0.5 (100,000 tokens)" in message
    assert "retain_ratio from ULLAGE_RETAIN_RATIO" in message
    assert f"threshold_ratio from {home / 'config.toml'}" in message


def test_a_tail_in_tokens_is_refused_at_the_threshold_of_the_window(home: Path) -> None:
    with pytest.raises(SettingsError, match=r"160,000 must be below .*160,000 tokens") as refusal:
        load(home, user="window = 200_000\nretain_tokens = 160_000")
    assert "retain_tokens from" in str(refusal.value)
    loaded = load(home, user="window = 200_000\nretain_tokens = 159_999")
    assert loaded.settings.retain_tokens == 159_999


def test_the_tools_whose_results_stay_are_named_in_a_list(home: Path) -> None:
    loaded = load(home, user='unclearable_tools = ["Read", "mcp__wiki"]')
    assert loaded.settings.unclearable_tools == ("Read", "mcp__wiki")
    loaded = load(home, environment={"ULLAGE_UNCLEARABLE_TOOLS": "Read, mcp__wiki"})
    assert loaded.settings.unclearable_tools == ("Read", "mcp__wiki")
    assert load(home, unclearable_tools="Bash").settings.unclearable_tools == ("Bash",)
    with pytest.raises(SettingsError, match="unclearable_tools"):
        load(home, user="unclearable_tools = [3]")


def test_clearing_must_stop_below_where_it_begins(home: Path) -> None:
    with pytest.raises(SettingsError, match=r"micro_low = 0\.6 must be below micro_high = 0\.55"):
        load(home, user="micro_high = 0.55")
    assert load(home, user="micro_high = 0.55\nmicro_low = 0.5").settings.micro_high == 0.55


def test_values_built_in_code_are_held_to_the_same_rule() -> None:
    with pytest.raises(ValueError, match=r"retain_ratio = 0\.9 must be below threshold_ratio"):
        Settings(retain_ratio=0.9)


# Packs


@pytest.mark.parametrize(
    ("project", "environment", "said"),
    [
        ("type_aware_compression = 'no'", {}, ".ullage.toml: type_aware_compression = 'no'"),
        ("", {"ULLAGE_TYPE_AWARE_COMPRESSION": "perhaps"}, "ULLAGE_TYPE_AWARE_COMPRESSION: type_"),
        ("pack_budget = 0", {}, ".ullage.toml: pack_budget = 0"),
        ("[beliefs.classes]\nfle_read = 'fact'", {}, "no kind of source 'fle_read'"),
        ("[beliefs.classes]\nfile_read = 'fct'", {}, "'fct', given for file_read, is no class"),
        ("[beliefs]\nclass = {}", {}, "class: extra inputs are not permitted"),
        ("", {"ULLAGE_BELIEFS": "file_read"}, "ULLAGE_BELIEFS: beliefs"),
    ],
)
def test_a_setting_of_packs_that_cannot_be_taken_is_named_with_its_place(
    home: Path, project: str, environment: dict[str, str], said: str
) -> None:
    with pytest.raises(SettingsError) as refusal:
        load(home, project=project, environment=environment)
    assert said in str(refusal.value)
    assert str(refusal.value).count(". ") <= 1


def test_the_nearest_source_of_a_class_wins(home: Path) -> None:
    loaded = load(
        home,
        user="[beliefs.classes]\nfile_read = 'fact'",
        project="[beliefs]\nclasses = { command = 'unknown' }",
    )
    assert loaded.settings.beliefs.classes == {"command": "unknown"}, "a value is replaced whole"
    loaded = load(home, environment={"ULLAGE_BELIEFS": "command=fact, tool = unknown"})
    assert loaded.settings.beliefs.classes == {"command": "fact", "tool": "unknown"}
