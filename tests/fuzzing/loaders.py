"""Files that a person writes, damaged: taken as they are, or refused in one sentence."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from random import Random

from compress.errors import CompressError
from compress.reduction.pipeline import reduce
from compress.reduction.profile import ProfileError
from compress.spans.manifest import ManifestError, manifest, manifest_text
from compress.spans.manifest_reading import read_manifest
from compress.spans.profile import canonical_digest, registered
from compress.tokens import CharsOverFour
from inspector.settings import PROJECT_FILE, Settings, SettingsError, load_settings
from storage.profiles import built_in, read_profiles
from tests.compress.spans.made import COUNTER, PROFILE, cut
from tests.fuzzing.damage import CHARACTERS, damaged, line_of, text

_SETTINGS = """\
db = "x.db"
window = 200000
threshold_ratio = 0.8
retain_tokens = 100
unclearable_tools = ["Read"]
auto = "micro"
theme = "dark"
poll_interval = 2.0
[beliefs.classes]
error = "keep"
"""
_DEFINED = """\
[tools.pytest.compression]
critical = [{ pattern = "^FAILED", level = "failure" }]
[tools.pytest.compression.truncate]
share = 0.2
"""
_PIECES = (
    "true", "-1", "1e400", "inf", "nan", "'''", '"""', "[[a]]", "[a]", "a.b = 1", "= ", "\0", "\r",
    "(?P<x>", "(?=a)", "a{1000}", "(a*)*", "[", "\\", "1979-05-27", "{", "}", "#", "=", "\ufeff",
    *CHARACTERS,
)  # fmt: skip
_OUTPUT = "FAILED test_a\n" + "ok line 1\nok line 2\n" * 40 + "error: at a.py:3\n1 failed\n"
_SPANS = cut([("", "One "), ("Two > ", "words, 汉 and so on"), ("", "the end.\n")], overlap=3)
_MANIFEST = line_of(json.loads(manifest_text(manifest(_SPANS, PROFILE))))
_KNOWN = registered([PROFILE])


def _damaged(source: str, chance: Random) -> bytes:
    """TOML or JSON with words replaced, lines moved and bytes that are no text."""
    for _ in range(chance.choice((1, 1, 2, 4))):
        at = chance.randrange(len(source) + 1)
        way = chance.randrange(5)
        if way == 0:
            source = source[:at] + source[at + chance.randrange(1, 12) :]
        elif way == 1:
            source = source[:at] + chance.choice(_PIECES) + source[at:]
        elif way == 2:
            source = source[:at] + chance.choice(_PIECES) + source[at + chance.randrange(1, 9) :]
        elif way == 3:
            lines = source.split("\n")
            lines.insert(chance.randrange(len(lines)), chance.choice(lines))
            source = "\n".join(lines)
        else:
            source = source[:at] + text(chance, 60) + source[at:]
    data = source.encode("utf-8", "surrogatepass" if chance.random() < 0.5 else "replace")
    return data if chance.random() < 0.95 else data[: chance.randrange(len(data) + 1)] + b"\xff"


def profiles(folder: Path, chance: Random) -> None:
    """A profile of a tool's output, or a file that defines tools."""
    shipped = chance.choice(built_in())
    source = shipped.path.read_text(encoding="utf-8") if chance.random() < 0.7 else _DEFINED
    path = folder / f"{shipped.path.stem}.toml"
    path.write_bytes(_damaged(source, chance))
    try:
        found = read_profiles(path)
    except ProfileError as error:
        _is_one_sentence(error)
        return
    for profile in found:
        reduction = reduce(_OUTPUT, profile, CharsOverFour())
        assert reduction.tokens_after <= reduction.tokens_before


def settings(folder: Path, chance: Random) -> None:
    """Settings from a file, from the environment, from flags."""
    (folder / PROJECT_FILE).write_bytes(_damaged(_SETTINGS, chance))
    keys = [*Settings.model_fields, "none_such"]
    values = ("", "0", "1", "-1", "x=1,y=2", "=", ",", "inf", "1e999", "off", *CHARACTERS)
    environment = {}
    if chance.random() < 0.5:
        environment[f"ULLAGE_{chance.choice(keys).upper()}"] = chance.choice(values)
    flags = {chance.choice(keys): chance.choice(values)} if chance.random() < 0.3 else {}
    try:
        loaded = load_settings(
            flags, environment=environment, folder=folder, config_file=folder / "none.toml"
        )
    except SettingsError as error:
        _is_one_sentence(error)
    else:
        assert loaded.provenance()


def manifests(chance: Random) -> None:
    """A manifest of spans; half of them with the digest that fits what they say now."""
    text: str | bytes = _damaged(_MANIFEST.raw.decode(), chance)
    if chance.random() < 0.8:
        value = damaged(_MANIFEST, chance)
        if isinstance(value, dict) and chance.random() < 0.6:
            value = {key: item for key, item in value.items() if key != "digest"}
            with suppress(ValueError, RecursionError):
                value["digest"] = canonical_digest(value)
        text = json.dumps(value)
    try:
        found = read_manifest(text, _SPANS.document, _KNOWN, COUNTER)
    except ManifestError as error:
        _is_one_sentence(error)
    else:
        # What the engine took the text for is taken as it is told.
        assert found.document == _SPANS.document


def _is_one_sentence(error: CompressError | SettingsError) -> None:
    told = str(error)
    assert told
    assert len(told) < 5_000, told[:300]
