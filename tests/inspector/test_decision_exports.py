"""What is exported opens where people open it, and nothing of a log acts there."""

from __future__ import annotations

import csv
import io
import json
import re
import sys
from pathlib import Path
from typing import Any

import duckdb
import jsonschema
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from compress.decisions.values import DecisionPoint
from inspector.decision_exports import (
    COLUMNS,
    FORMULA,
    Format,
    UnknownFormatError,
    csv_text,
    format_named,
    jsonl,
    markdown,
    written,
)
from inspector.decision_parquet import MissingExtraError, parquet
from inspector.export_files import ExportFileError, write_export
from inspector.schemas import schema_text
from tests.inspector.points import point_of

HOSTILE = (
    *("=1+1", "+cmd|' /C calc'!A0", "@SUM(1)", "\t=1+1", "\r=1+1", "\uff1d1+1", "-5", "  =1+1"),
    *("'=1+1", "fine\n=1+1", "\n\n@x", 'a","=1+1', "\ufeff=1", "\x0b=1", "\u2028=1", "\x00=1"),
    *("<script>alert(1)</script><img src=x onerror=alert(1)>", "</details></table><h1>fake</h1>"),
    *("[x](javascript:alert(1)) ![t](https://example.invalid/track.png)", "---\ntitle: x\n---\n"),
    *(
        "```\nout\n```",
        "````js",
        "~~~",
        "`",
        "``",
        " ` ",
        "a\n\n# heading\n\n- item",
        "www.x.yz a@b.cd",
    ),
    *("<https://example.invalid>", "[ref]: https://example.invalid", "\\`<b>", "&lt;b&gt;", "$x$"),
    *("user\u202egpj.exe", "\x1b]0;PWN\x07t", "e" + "\u0301" * 20, "", " ", "\n", "\\"),
)
"""Mostly the payloads of the hard inputs."""

texts = st.one_of(
    st.sampled_from(HOSTILE),
    st.text(max_size=60),
    st.text(alphabet="=+-@'` \t\r\n<>[]()!\\~|\"#&;:/.ax1", max_size=60),
)


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


# CSV


@given(texts)
@settings(max_examples=150)
def test_no_cell_begins_a_formula(text: str) -> None:
    (row,) = rows_of("".join(csv_text([point_of(text)])))
    assert list(row) == list(COLUMNS)
    for cell in row.values():
        for line in re.split(r"[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]", cell):
            assert not re.match(r"\s*[=+\-@\uff1d\uff0b\uff0d\uff20]", line), (text, cell)
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f]", cell)


@given(texts)
def test_an_apostrophe_can_be_taken_back(text: str) -> None:
    """By the rule that is documented, from what a person types with no control in it."""
    typed = re.sub(r"[^\x20-\x7e\n]", "", text)
    (row,) = rows_of("".join(csv_text([point_of(typed)])))
    assert re.sub(FORMULA, lambda found: found[0].removeprefix("'"), row["summary"]) == typed


def test_figures_stay_figures() -> None:
    (line,) = list(csv_text([point_of("x")]))[1:]
    assert '"turn",1,"x"' in line
    assert '"2026-02-02T02:40:00Z","2026-02-02T02:41:00Z"' in line


# Markdown


def tokens_of(text: str) -> list[Any]:
    found: list[Any] = []
    for token in MarkdownIt("gfm-like", {"linkify": False}).parse(text):
        found += [token, *(token.children or ())]
    return found


PLAIN = {
    *("heading_open", "heading_close", "paragraph_open", "paragraph_close", "inline", "text"),
    *("bullet_list_open", "bullet_list_close", "list_item_open", "list_item_close"),
    *("fence", "code_inline"),
}
"""What the exporter itself writes: no link, image, HTML, table, emphasis or rule among it."""


@given(texts)
@settings(max_examples=150)
@example("`` a` ")
def test_no_markup_of_a_log_survives(text: str) -> None:
    made = "".join(markdown([point_of(text)]))
    tokens = tokens_of(made)
    assert {token.type for token in tokens} <= PLAIN
    plain = "".join("".join(markdown([point_of("word")])))
    assert [t.type for t in tokens if t.type == "heading_open"] == [
        t.type for t in tokens_of(plain) if t.type == "heading_open"
    ]
    headings = [tokens[at + 1].content for at, t in enumerate(tokens) if t.type == "heading_open"]
    assert headings[0] == "Decision points"
    assert headings[2] == "turn 1: failure"
    for token in tokens:
        if token.type == "text":
            assert not text.strip() or len(text) < 4 or text not in token.content


def test_a_fence_holds_the_text_whole() -> None:
    text = "before\n````\ninside ``` of it\n~~~\n    indented\nafter"
    fences = [
        t.content for t in tokens_of("".join(markdown([point_of(text)]))) if t.type == "fence"
    ]
    assert fences == [f"{text}\n"] * 2, "why, and the user's words; the summary is the title here"


# JSON Lines


@given(texts)
def test_a_validator_accepts_each_line(text: str) -> None:
    validator = jsonschema.Draft202012Validator(json.loads(schema_text("decision")))
    for line in "".join(jsonl([point_of(text), point_of(text, 2)])).splitlines():
        assert line.isascii()
        validator.validate(json.loads(line))
        assert DecisionPoint.model_validate_json(line) in (point_of(text), point_of(text, 2))


def test_the_schema_refuses_what_is_no_record() -> None:
    validator = jsonschema.Draft202012Validator(json.loads(schema_text("decision")))
    (line,) = jsonl([point_of("x")])
    wrong = json.loads(line) | {"outcome": "won"}
    assert not validator.is_valid(wrong)
    assert not validator.is_valid({k: v for k, v in wrong.items() if k != "id"})


# Parquet, and what opens it


def saved(folder: Path, points: list[DecisionPoint], form: Format) -> Path:
    path = folder / f"decisions.{form}"
    write_export(path, written(points, form))
    return path


def test_duckdb_reads_the_parquet_as_it_was(tmp_path: Path) -> None:
    points = [point_of(text, number) for number, text in enumerate(HOSTILE, 1)]
    path = saved(tmp_path, points, "parquet")
    found = duckdb.sql(
        "SELECT stage_title, steering[1].text, evidence[2].value, files[1].source_event_seqs, "
        f"outcome, epoch(started_at) FROM '{path}' ORDER BY first_seq"
    ).fetchall()
    assert found == [
        (text, text, 1, [10 * number + 3], "failure", 1_770_000_000.0)
        for number, text in enumerate(HOSTILE, 1)
    ]
    (counted,) = duckdb.sql(f"SELECT sum(tokens) FROM '{path}'").fetchall()
    assert counted == (120 * len(points),)


def test_duckdb_reads_the_csv_and_the_json_lines(tmp_path: Path) -> None:
    points = [point_of(text, number) for number, text in enumerate(HOSTILE, 1)]
    table, lines = saved(tmp_path, points, "csv"), saved(tmp_path, points, "jsonl")
    rows = duckdb.sql(
        f"SELECT first_seq, outcome FROM read_csv('{table}', parallel=false) ORDER BY 1"
    ).fetchall()
    assert rows == [(point.first_seq, "failure") for point in points]
    titles = duckdb.sql(f"SELECT stage.title FROM '{lines}' ORDER BY first_seq").fetchall()
    assert titles == [(text,) for text in HOSTILE]


def test_an_empty_export_has_its_columns(tmp_path: Path) -> None:
    path = saved(tmp_path, [], "parquet")
    assert "source_event_seqs" in duckdb.sql(f"SELECT * FROM '{path}'").columns
    assert rows_of("".join(csv_text([]))) == []
    assert "None." in "".join(markdown([]))


def test_figures_beyond_what_parquet_holds_are_left_to_the_text(tmp_path: Path) -> None:
    record = point_of("x")
    huge = record.evidence[1].model_copy(update={"value": 2**63})
    path = saved(tmp_path, [record.model_copy(update={"evidence": (huge,)})], "parquet")
    assert duckdb.sql(f"SELECT evidence[1].value FROM '{path}'").fetchall() == [(None,)]


def test_without_pyarrow_the_refusal_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"ullage\[parquet\]"):
        parquet([])


# Files


@pytest.mark.parametrize(
    ("name", "form"),
    [("a.jsonl", "jsonl"), ("a.CSV", "csv"), ("a.md", "md"), ("a.b.parquet", "parquet")],
)
def test_the_name_tells_the_form(name: str, form: str) -> None:
    assert format_named(Path(name)) == form


def test_a_name_that_tells_nothing_is_refused() -> None:
    with pytest.raises(UnknownFormatError, match="does not tell its format"):
        format_named(Path("decisions.xlsx"))


@pytest.mark.hard
def test_a_planted_link_is_not_followed(hard_inputs: Path) -> None:
    folder = hard_inputs / "E06"
    for name in ("decisions.jsonl", "decisions.csv", "decisions.parquet"):
        for force in (False, True):
            with pytest.raises(ExportFileError, match="is a link"):
                write_export(folder / "out" / name, [b"x"], force=force)
    assert (folder / "victim.txt").read_text() == "do not touch\n"
    with pytest.raises(ExportFileError, match="cannot be written"):
        write_export(folder / "outlink" / "decisions.csv", [b"x"])


def test_a_file_is_new_private_and_whole(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    write_export(path, [b"one"])
    assert path.stat().st_mode & 0o777 == 0o600
    with pytest.raises(ExportFileError, match="name another file, or add --force"):
        write_export(path, [b"two"], force=False)
    with pytest.raises(ExportFileError, match=r"name another file\.$"):
        write_export(path, [b"two"])

    def broken() -> Any:
        yield b"thr"
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        write_export(path, broken(), force=True)
    assert path.read_bytes() == b"one"
    write_export(path, [b"four"], force=True)
    assert path.read_bytes() == b"four"
    assert [p.name for p in tmp_path.iterdir()] == ["out.csv"]
    with pytest.raises(ExportFileError, match="is a folder"):
        write_export(tmp_path, [b""])
