"""The profiles that ship: their inline tests, what they are chosen for, and that no failure is
lost by them, wherever it stands."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from compress.reduction.choice import choose, wants_detail
from compress.reduction.clean import clean
from compress.reduction.examples import faults
from compress.reduction.pipeline import reduce
from compress.reduction.profile import Profile
from compress.reduction.values import Reduction
from compress.tokens import CharsOverFour
from storage.profiles import built_in
from storage.resources import counter
from tests.conftest import CORPUS
from tests.planted import EVERYWHERE, OWN

PROFILES = {found.profile.name: found.profile for found in built_in()}
GENERIC = PROFILES["generic"]
NAMES = sorted(PROFILES)
SPECIFIC = [name for name in NAMES if name != "generic"]
LONGEST = 200
"""Lines of a corpus output in which failures are planted."""
moderate = settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@pytest.mark.parametrize("name", SPECIFIC)
def test_the_inline_tests_hold(name: str) -> None:
    profile = PROFILES[name]
    assert profile.examples
    for example in profile.examples:
        assert example.keeps
        assert not list(faults(profile, example, counter(), GENERIC)), example.name


def test_a_profile_is_called_as_its_file() -> None:
    assert all(found.path.stem == found.profile.name for found in built_in())
    assert all(found.profile.description for found in built_in())


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("pytest -q", "pytest"),
        ("cd shop && SHOP=1 timeout 60 uv run python -m pytest tests 2>&1 | tail -50", "pytest"),
        (".venv/bin/pytest", "pytest"),
        ("pytest 2>&1 | grep -A5 FAILED | head -20", "pytest"),
        ("grep -E 'pass|pytest' notes.txt", "grep"),
        ("cat notes.txt | grep pytest", "grep"),
        ("find . -name '*.py' | xargs grep -n total", "grep"),
        ("git fetch && kubectl get pods | grep -v Running", "kubectl"),
        ("python3 -m unittest discover", "unittest"),
        ("python manage.py test shop", "unittest"),
        ("cargo build --release", "cargo-build"),
        ("cargo +nightly check", "cargo-build"),
        ("cargo test -p shop", "cargo-test"),
        ("cargo clippy --all-targets", "cargo-clippy"),
        ("cargo nextest run", "cargo-nextest"),
        ("go test ./...", "go-test"),
        ("go vet ./...", "go-build"),
        ("npx jest --ci", "jest"),
        ("pnpm exec vitest run", "vitest"),
        ("npx tsc --noEmit", "tsc"),
        ("npx eslint .", "eslint"),
        ("ruff check .", "ruff"),
        ("mypy -p shop", "mypy"),
        ("npm ci", "npm"),
        ("pnpm add left-pad", "npm"),
        ("yarn", "npm"),
        ("yarn install --frozen-lockfile", "npm"),
        ("pip install -r requirements.txt", "pip"),
        ("python -m pip install shop", "pip"),
        ("uv sync", "pip"),
        ("git status --short", "git-status"),
        ("git -C shop log --oneline -20", "git-log"),
        ("git diff HEAD~1", "git-diff"),
        ("git --no-pager show HEAD", "git-show"),
        ("git push origin main", "git"),
        ("ls -la", "ls"),
        ("find . -name '*.py'", "find"),
        ("tree src", "find"),
        ("git ls-files", "find"),
        ("grep -rn total src", "grep"),
        ("rg total", "grep"),
        ("docker build -t shop .", "docker-build"),
        ("docker ps -a", "docker"),
        ("docker compose up -d", "docker"),
        ("kubectl get pods -A", "kubectl"),
        ("kubectl -n shop describe pod web", "kubectl"),
        ("make -j4 all", "make"),
        ("cmake --build build", "make"),
        ("cmake -S . -B build", "cmake"),
        ("ctest --output-on-failure", "ctest"),
        ("gcc -Wall -c cart.c", "gcc"),
        ("clang++ -std=c++20 cart.cc", "gcc"),
        ("./gradlew build", "gradle"),
        ("mvn -q package", "maven"),
        ("terraform plan", "terraform"),
        ("curl -s https://example.org/", "curl"),
        ("docker logs shop", "generic-log"),
        ("tail -n 500 shop.log", "generic-log"),
        ("jq . shop.json", "generic-json"),
    ],
)
def test_a_command_chooses_its_profile(command: str, name: str) -> None:
    chosen = choose(list(PROFILES.values()), command=command)
    assert chosen is not None
    assert chosen.name == name


@pytest.mark.parametrize("command", ["python shop.py", "echo pytest", "./deploy.sh", "cat a.c"])
def test_another_command_chooses_none(command: str) -> None:
    assert choose(list(PROFILES.values()), command=command) is None


@pytest.mark.parametrize("name", [n for n in SPECIFIC if PROFILES[n].match.output])
def test_the_output_alone_chooses_the_profile(name: str) -> None:
    """Of tools that print alike (a diff in a log, make's compiler), one of them is chosen."""
    alike = [
        {"cargo-build", "cargo-clippy", "cargo-test"},
        {"git-diff", "git-show", "git-log"},
        {"vitest", "ctest", "jest"},
    ]
    profile = PROFILES[name]
    chosen = choose(list(PROFILES.values()), output=profile.examples[0].input)
    assert chosen is not None
    assert chosen == profile or any({name, chosen.name} <= group for group in alike)


@pytest.mark.parametrize(
    ("name", "command", "flag"),
    [
        ("pytest", "pytest", "-vv"),
        ("make", "make", "V=1"),
        ("curl", "curl https://example.org/", "-v"),
        ("kubectl", "kubectl get pods", "-o yaml"),
        ("gradle", "gradle build", "--info"),
    ],
)
def test_a_request_for_detail_is_recognised(name: str, command: str, flag: str) -> None:
    assert wants_detail(PROFILES[name], f"{command} {flag}")
    assert not wants_detail(PROFILES[name], command)


def lines_of(name: str) -> list[str]:
    """The inputs of a profile's inline tests, several times over: more than it lets pass."""
    inputs = [example.input for example in PROFILES[name].examples]
    return "\n".join(inputs * 4).split("\n") if inputs else [f"line {i}" for i in range(200)]


def reduced(lines: list[str], profile: Profile, exit_code: int | None = None) -> Reduction:
    return reduce("\n".join(lines), profile, CharsOverFour(), exit_code=exit_code, generic=GENERIC)


def planted_stays(lines: list[str], profile: Profile, place: float, planted: str) -> None:
    at = round(place * len(lines))
    result = reduced([*lines[:at], planted, *lines[at:]], profile, exit_code=1)
    assert clean(planted).lines[0].text.strip() in result.text
    assert not result.success
    assert result.unchanged or "exit 1" in result.header


PLACES = st.floats(0, 1)


@pytest.mark.parametrize("name", NAMES)
@moderate
@given(data=st.data())
def test_a_failure_planted_in_a_tools_own_output_stays(name: str, data: st.DataObject) -> None:
    planted = data.draw(st.sampled_from((*OWN[name], *EVERYWHERE)))
    planted_stays(lines_of(name), PROFILES[name], data.draw(PLACES), planted)


@pytest.mark.parametrize("name", NAMES)
def test_an_exit_code_of_failure_is_no_success(name: str) -> None:
    result = reduced(lines_of(name), PROFILES[name], exit_code=77)
    assert not result.success
    assert result.unchanged or "exit 77" in result.header


@cache
def corpus_outputs() -> dict[str, tuple[Profile, list[str]]]:
    if CORPUS is None:
        return {}
    commands = {}
    for row in (CORPUS / "INDEX.tsv").read_text(encoding="utf-8").splitlines():
        cells = row.split("\t")
        commands[cells[0]] = cells[-1]
    found = {}
    for path in sorted((CORPUS / "tool-output").iterdir()):
        if path.suffix == ".tsv":
            continue
        text = path.read_bytes().decode("utf-8", "replace")
        command = commands[f"tool-output/{path.name}"]
        profile = choose(list(PROFILES.values()), command=command, output=text) or GENERIC
        found[path.name] = (profile, text.split("\n")[:LONGEST])
    return found


OUTPUTS = sorted(corpus_outputs())


@pytest.mark.corpus
@pytest.mark.parametrize("name", OUTPUTS)
@moderate
@given(data=st.data())
def test_a_failure_planted_in_a_real_output_stays(
    corpus: Path, name: str, data: st.DataObject
) -> None:
    profile, lines = corpus_outputs()[name]
    chosen = data.draw(st.sampled_from((profile, GENERIC)))
    planted = data.draw(st.sampled_from((*OWN[chosen.name], *EVERYWHERE)))
    planted_stays(lines, chosen, data.draw(PLACES), planted)


@pytest.mark.corpus
@pytest.mark.parametrize("name", OUTPUTS)
@moderate
@given(data=st.data())
def test_a_verdict_is_what_the_output_says(corpus: Path, name: str, data: st.DataObject) -> None:
    """Change a count in a verdict: the changed one is shown."""
    profile, lines = corpus_outputs()[name]
    texts = [line.text.strip() for line in clean("\n".join(lines)).lines]
    verdicts = [v for v in reduced(lines, profile).verdicts if texts.count(v) == 1]
    if not verdicts:
        return
    verdict = data.draw(st.sampled_from(verdicts))
    numbers = list(re.finditer(r"(?<![\w.])[1-9]\d*(?![\w.])", verdict))
    if not numbers:
        return
    number = data.draw(st.sampled_from(numbers))
    changed = f"{verdict[: number.start()]}7741{verdict[number.end() :]}"
    place = texts.index(verdict)
    result = reduced([*texts[:place], changed, *texts[place + 1 :]], profile)
    assert changed in result.text
    assert verdict not in result.text


@pytest.mark.parametrize(
    "output",
    [
        "1048576 ./a.bin\n2097152 ./b.bin\n1234567 ./c.bin\n",
        "1) CartTest\nFailed: 150 is not 300.\n--- Expected\n+++ Actual\n@@ @@\n-300\n+150\n",
    ],
)
def test_what_only_looks_like_git_keeps_the_generic_patterns(output: str) -> None:
    """A profile for what tools quote does not inherit: it must not be chosen for another tool."""
    chosen = choose(list(PROFILES.values()), output=output)
    assert chosen is None or chosen.inherit
