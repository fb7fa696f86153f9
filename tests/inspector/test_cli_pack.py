"""``ullage pack``: what it prints, what it takes, and its refusals in one sentence."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from inspector.cli_packs import pack_text
from inspector.cli_paint import Paint
from inspector.pack_reports import PackReport
from inspector.schemas import schema_text
from tests.inspector.conftest import SESSION, Outcome, Ullage
from tests.inspector.test_cli_completion import completions, plain


@pytest.fixture
def db(store: Path, tmp_path: Path) -> Path:
    """A copy of the store of the bundled session, to be written to."""
    return Path(shutil.copy(store, tmp_path / "store.db"))


def lines(done: Outcome) -> list[str]:
    return done.out.splitlines()


def test_the_candidates_come_with_their_reasons_and_then_the_pack(ullage: Ullage, db: Path) -> None:
    done = ullage("pack", SESSION, "retry backoff", "--budget", "600", db=db)
    assert done.code == 0
    assert lines(done)[0] == f"“retry backoff” in {SESSION}"
    assert lines(done)[1].endswith("packed · compressed by class (default)")
    assert "of 600 tokens by o200k_base, of" in lines(done)[2]
    assert "no room" in done.out
    assert any(line.startswith("│ <context-pack>") for line in lines(done))
    assert done.out.endswith("--commit puts it on the plan, --save writes it to files.\n")
    assert max(map(len, lines(done))) <= 80


def test_the_document_follows_its_schema_and_the_contract(ullage: Ullage, db: Path) -> None:
    value = ullage("pack", SESSION, "retry", "--budget", 500, "--json", db=db).value
    Draft202012Validator(json.loads(schema_text("pack"))).validate(value)
    assert {"query", "budget", "tokens", "text", "lines", "operation"} <= set(value)
    promised = {"belief", "type", "class", "locked", "strategy", "rank", "score", "tokens_raw"}
    promised |= {"tokens_rendered", "packed", "reason", "source_event_seqs", "session"}
    assert promised <= set(value["lines"][0])
    assert value["tokens"] <= 500
    rows = ullage("pack", SESSION, "retry", "--budget", 500, "--jsonl", db=db).out.splitlines()
    assert [json.loads(row) for row in rows] == value["lines"]


def test_one_argument_is_a_query_over_the_store(ullage: Ullage, db: Path) -> None:
    value = ullage("pack", "retry", "--json", db=db).value
    assert (value["scope"], value["session"]) == ("store", None)
    value = ullage("pack", "last", "retry", "--json", db=db).value
    assert (value["scope"], value["session"]) == ("session", SESSION)
    many = ullage("pack", "last", "two", "words", db=db)
    assert many.code == 2
    assert "put the QUERY in quotes" in many.err
    assert ullage("pack", db=db).code == 2


def test_the_whole_way_to_the_plan_and_back(ullage: Ullage, db: Path, tmp_path: Path) -> None:
    done = ullage("pack", SESSION, "retry", "--commit", "--json", db=db)
    value = done.value
    assert value["operation"] == "o1"
    assert [Path(name).suffix for name in value["files"]] == [".md", ".json"]
    sent = ullage("show", SESSION, "--track", "plan", "--messages", "--json", db=db).value
    assert sent["messages"][-1]["blocks"][0]["text"] == value["text"]
    row = ullage("audit", SESSION, "--json", db=db).value[-1]
    assert (row["kind"], row["state"]) == ("pack", "standing")
    assert ullage("undo", SESSION, db=db).code == 0
    assert ullage("audit", SESSION, "--json", db=db).value[-2]["state"] == "undone"
    assert ullage("redo", SESSION, db=db).code == 0
    said = ullage("pack", SESSION, "retry", "--commit", "--save", tmp_path / "mine", db=db)
    assert f"Written: {tmp_path / 'mine.md'}" in said.out
    assert "Take it back: ullage undo" in said.out
    assert (tmp_path / "mine.json").is_file()


def test_lines_are_named_by_the_beginning_that_is_printed(ullage: Ullage, db: Path) -> None:
    value = ullage("pack", SESSION, "retry", "--json", db=db).value
    packed = [row for row in value["lines"] if row["packed"]]
    out, whole = packed[0]["belief"], packed[1]["belief"]
    chosen = ullage(
        "pack", SESSION, "retry", "--without", out[:8], "--headline", whole[:8], "--json", db=db
    ).value
    by_id = {row["belief"]: row for row in chosen["lines"]}
    assert by_id[out]["reason"] == "excluded"
    assert by_id[whole]["strategy"] in ("headline", "verbatim")
    few = ("pack", SESSION, "retry", "--budget", 400, "--json")
    rows = ullage(*few, db=db).value["lines"]
    wanted = next(row["belief"] for row in rows if row["reason"] == "over_budget")
    first = ullage(*few, "--with", wanted, db=db).value["lines"]
    assert next(row for row in first if row["belief"] == wanted)["packed"]


def test_compression_is_resolved_from_flag_to_default(
    ullage: Ullage, db: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def asked(*flags: str) -> tuple[bool, str]:
        value = ullage("pack", SESSION, "retry", "--json", *flags, db=db).value
        return value["compression"], value["compression_source"]

    assert asked() == (True, "default")
    user = tmp_path / "config" / "ullage" / "config.toml"
    user.parent.mkdir(parents=True)
    user.write_text("type_aware_compression = false\n")
    assert asked() == (False, str(user))
    project = tmp_path / ".ullage.toml"
    project.write_text("type_aware_compression = true\n")
    assert asked() == (True, str(project))
    monkeypatch.setenv("ULLAGE_TYPE_AWARE_COMPRESSION", "off")
    assert asked() == (False, "ULLAGE_TYPE_AWARE_COMPRESSION")
    shown = ullage("doctor", "--json", db=db).value["settings"]["type_aware_compression"]
    assert shown == {"value": False, "from": "ULLAGE_TYPE_AWARE_COMPRESSION"}
    assert asked("--compression") == (True, "--compression")
    monkeypatch.setenv("ULLAGE_TYPE_AWARE_COMPRESSION", "perhaps")
    refused = ullage("pack", SESSION, "retry", db=db)
    assert refused.code == 1
    assert "ULLAGE_TYPE_AWARE_COMPRESSION: type_aware_compression = 'perhaps'" in refused.err
    monkeypatch.delenv("ULLAGE_TYPE_AWARE_COMPRESSION")
    project.write_text("type_aware_compression = 'yes'\n")
    refused = ullage("pack", SESSION, "retry", db=db)
    assert refused.code == 1
    assert str(project) in refused.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("nosuchsession", "retry"), "No session is called 'nosuchsession'"),
        ((SESSION, "retry", "--budget", "5"), "more than the budget of 5"),
        ((SESSION, "retry", "--without", "zz"), "'zz' is no candidate of this pack"),
        (("retry", "--project"), "No session in the store was in"),
        ((SESSION, "nothingholdsthis", "--commit"), "Nothing is packed"),
        ((SESSION, "retry", "--save", "missing/there"), "cannot be written"),
    ],
)
def test_a_refusal_is_one_sentence(
    ullage: Ullage, db: Path, arguments: tuple[str, ...], said: str
) -> None:
    refused = ullage("pack", *arguments, "--json", db=db)
    assert refused.code == 1
    assert said in refused.value["error"]["message"]
    assert refused.err.count("\n") == 1


def test_what_is_named_by_hand_is_shown_wherever_it_ends_up(ullage: Ullage, db: Path) -> None:
    few = ("pack", SESSION, "retry", "--budget", 400)
    rows = ullage(*few, "--json", db=db).value["lines"]
    hidden, out = rows[-1]["belief"][:8], rows[0]["belief"][:8]
    assert f"  {hidden}" not in ullage(*few, db=db).out
    shown = lines(ullage(*few, "--without", out, "--stub", hidden, db=db))
    assert any(f"  {hidden}" in line for line in shown)
    assert any(f"  {out}" in line and "taken out" in line for line in shown)


@pytest.mark.parametrize(
    ("first", "second"),
    [("--with", "--without"), ("--verbatim", "--headline"), ("--query-headline", "--stub")],
)
def test_wishes_that_exclude_each_other_are_refused(
    ullage: Ullage, db: Path, first: str, second: str
) -> None:
    name = ullage("pack", SESSION, "retry", "--json", db=db).value["lines"][0]["belief"]
    same = ullage("pack", SESSION, "retry", first, name, second, name, db=db)
    assert same.code == 2
    assert f"{first} {name} and {second} {name} exclude each other" in same.err
    meant = ullage("pack", SESSION, "retry", first, name, second, name[:9], "--json", db=db)
    assert meant.code == 1
    assert meant.value["error"]["code"] == "contradiction"
    assert name in meant.err
    assert "choose one" in meant.err


@pytest.mark.parametrize(
    ("query", "said", "hint"),
    [
        ("?!…", "holds no letter and no digit", None),
        ("nothingholdsthis", "No event of the session holds a word of “nothingholdsthis”", "--all"),
    ],
)
def test_a_query_that_finds_nothing_is_told_why(
    ullage: Ullage, db: Path, query: str, said: str, hint: str | None
) -> None:
    done = ullage("pack", SESSION, query, db=db)
    assert done.code == 0
    assert said in " ".join(done.out.split())
    assert ("Nothing is packed." in done.out) is (hint is not None)
    assert ("--project asks all sessions" in done.out) is (hint is not None)
    assert said in ullage("pack", SESSION, query, "--json", db=db).value["note"]
    assert ullage("pack", SESSION, "retry", "--json", db=db).value["note"] is None
    assert ullage("pack", SESSION, "", "--json", db=db).value["note"] is None


def test_only_pins_are_packed_where_nothing_else_is_found(ullage: Ullage, db: Path) -> None:
    assert ullage("pin", SESSION, 145, db=db).code == 0
    note = ullage("pack", SESSION, "nothingholdsthis", "--json", db=db).value["note"]
    assert note.endswith("; only what is pinned is packed.")


def test_a_project_is_named_alone_or_by_its_folder(
    ullage: Ullage, db: Path, tmp_path: Path
) -> None:
    def asked(*words: object) -> Outcome:
        return ullage("pack", *words, "--json", db=db)

    folder = ullage("sessions", "--json", db=db).value[0]["project"]
    for words in (
        ("last", "retry", "--project"),
        ("last", "--project", folder, "retry"),
        ("last", "--project", "retry"),
        ("--project", folder, "retry"),
        ("retry", f"--project={folder}"),
    ):
        value = asked(*words).value
        assert (value["scope"], value["query"]) == ("project", "retry")
        assert value["lines"]
    (tmp_path / "sub").mkdir()
    assert (
        f"No session in the store was in {tmp_path / 'sub'}" in asked("--project", "sub", "x").err
    )
    assert f"No session in the store was in {tmp_path}:" in asked("--project", "retry").err
    assert "the name is empty" in asked("retry", "--project=").err


def test_the_name_of_a_file_stays_where_its_folders_are_cut() -> None:
    report = PackReport.model_validate(
        {
            "query": "x", "scope": "session", "session": "s", "budget": 9, "tokens": 9,
            "counter": "c", "compression": True, "compression_source": "default", "text": "t",
            "lines": [
                {
                    "belief": "b" * 16, "type": "file_snapshot", "class": "snapshot",
                    "label": "/home/me/projects/shop/frontend/src/components/cart/total_price.tsx",
                    "locked": False, "strategy": "headline", "rank": 1, "score": 1.0,
                    "tokens_raw": 900, "tokens_rendered": 90, "packed": True, "reason": "packed",
                    "source_event_seqs": [1], "session": "s", "rendered": "r",
                }
            ],
        }
    )  # fmt: skip
    for width in (60, 80, 100):
        row = list(pack_text(report, Paint(width=width)))[5]
        assert row.endswith("_price.tsx" if width == 60 else "/total_price.tsx")
        assert "…" in row
        assert len(row) <= width


def test_a_commit_needs_a_session(ullage: Ullage, db: Path) -> None:
    refused = ullage("pack", "retry", "--commit", db=db)
    assert refused.code == 2
    assert "--commit needs a SESSION" in refused.err


def test_hostile_text_acts_on_no_terminal() -> None:
    nasty = "\x1b]0;owned\x07\u202e[bold]x[/]"
    line = {
        "belief": nasty, "type": "note", "class": "fact", "label": nasty, "locked": False,
        "strategy": "verbatim", "rank": 1, "score": 1.0, "tokens_raw": 1, "tokens_rendered": 1,
        "packed": True, "reason": "packed", "source_event_seqs": [1], "session": nasty,
        "rendered": nasty,
    }  # fmt: skip
    report = PackReport.model_validate(
        {
            "query": nasty, "scope": "session", "session": nasty, "budget": 9, "tokens": 9,
            "counter": nasty, "compression": True, "compression_source": nasty, "text": nasty,
            "lines": [line], "files": [nasty], "operation": "o1",
        }
    )  # fmt: skip
    for width in (40, 80, 140):
        told = "\n".join(pack_text(report, Paint(width=width), every=True))
        assert not {"\x1b", "\x07", "\u202e"} & set(told)


def test_the_first_word_alone_is_completed_as_a_session(store: Path) -> None:
    assert plain(completions(["pack"], SESSION[:4], store)) == [SESSION]
    assert completions(["pack", SESSION], SESSION[:4], store) == []
