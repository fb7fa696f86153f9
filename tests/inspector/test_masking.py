"""Secrets are masked, each by what it is; what is none stays readable."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.decision_exports import csv_text, jsonl, markdown
from inspector.masking import Masker
from tests.inspector.points import point_of

# Put together here, so that no scanner of this repository takes one for real.
SECRETS = {
    "anthropic": "sk-" + "ant-" + "api03-FAKE0fakeFAKE0fake",
    "openai": "sk-" + "proj-" + "FAKEfake1234FAKEfake5678",
    "aws": "AKIA" + "FAKEFAKEFAKEFAKE",
    "github": "ghp_" + "FAKEfakeFAKEfakeFAKEfakeFAKEfakeFAKE",
    "slack": "xoxb-" + "1234567890-fakefakefake",
    "stripe": "sk_live_" + "FAKEfakeFAKEfakeFAKEfake",
    "jwt": "eyJhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiIxIn0." + "FAKEfakeFAKEfakeFAKEfake",
    "google": "AIza" + "FAKEfakeFAKEfakeFAKEfakeFAKEfakeFAK",
    "unknown vendor": "q9Zr4Kx7Lm2Wb8Tc5Yd1Ve6Uf3Sg0Ph" + "RjNtAo",
}


@pytest.mark.parametrize("name", SECRETS)
@pytest.mark.parametrize(
    "around", ["{}", "key {} in words", "('{}')", "a={},b", "?t={}&x=1", "x\n{}\ny"]
)
def test_a_known_shape_is_masked_wherever_it_stands(name: str, around: str) -> None:
    masked = Masker().text(around.format(SECRETS[name]))
    assert SECRETS[name] not in masked
    assert SECRETS[name][8:20] not in masked
    assert "[masked: " in masked


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("MY_TOKEN=abcdefgh", "MY_TOKEN=[masked: named secret]"),
        ("export DB_PASSWORD='hunter2 and more'", "export DB_PASSWORD='[masked: named secret]'"),
        ('{"api_key": "qwertyuiop"}', '{"api_key": "[masked: named secret]"}'),
        (
            "postgres://app:hunter2@db/x",
            "postgres://app:[masked: basic auth credentials]@db/x",
        ),
        ("Authorization: Bearer abc123def456", "Authorization: Bearer [masked: credential]"),
        ("Cookie: sid=abcdef; b=c", "Cookie: [masked: credential]"),
        ("secret: x9y8z7w6", "secret: [masked: named secret]"),
    ],
)
def test_a_name_or_a_header_tells_of_a_value(text: str, masked: str) -> None:
    assert Masker().text(text) == masked


@pytest.mark.parametrize(
    "text",
    [
        "max_tokens: 8192, output tokens = 12",
        "password: required",
        "token: Optional[str] = None",
        "password = getpass()",
        '"session_id": "2026-01-23-abc123"',
        "commit 6c1f0a4be1d0b5a9f5e1c2d3a4b5c6d7e8f90123",
        "0b1c2d3e-4f50-6172-8394-a5b6c7d8e9f0",
        "sha256:" + "ab" * 32,
        "tests/test_a_very_long_name_of_a_test_that_says_what_it_tests_2026.py::test_A",
        "https://example.invalid/path/to/something?x=1",
        "the secret of a good talk is silence",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert Masker().text(text) == text


def test_a_private_key_is_masked_whole_and_cut_off() -> None:
    begin, end = "-----BEGIN " + "RSA PRIVATE KEY-----", "-----END " + "RSA PRIVATE KEY-----"
    assert Masker().text(f"a\n{begin}\nRkFL\nRQ==\n{end}\nb") == "a\n[masked: private key]\nb"
    assert Masker().text(f"a {begin} RkFL") == "a [masked: private key]"


@given(
    st.text(max_size=200)
    | st.lists(st.sampled_from([*SECRETS.values(), "token=", " ", "'", "\n"])).map("".join)
)
def test_masking_twice_changes_nothing(text: str) -> None:
    once = Masker().text(text)
    assert Masker().text(once) == once


@pytest.mark.hard
def test_the_planted_secrets_are_in_no_export(hard_generator: Path) -> None:
    payloads = runpy.run_path(str(hard_generator), run_name="payloads")["PAYLOADS"]
    masker = Masker()
    points = [
        masker.point(point_of(payloads[name], number))
        for number, name in enumerate(("secret", "pem"), 1)
    ]
    assert masker.masked >= 2 * 7, "in each of the texts that a record has"
    for made in (jsonl(points), csv_text(points), markdown(points)):
        text = "".join(made)
        assert "FAKEFAKE" not in text
        assert "RkFLRQ" not in text
        assert "FAKE_API_KEY" in text, "the name stays"


def test_ids_and_seqs_stay() -> None:
    record = point_of(f"token={SECRETS['github']}")
    masked = json.loads(next(jsonl([Masker().point(record)])))
    assert masked["id"] == record.id
    assert masked["source_event_seqs"] == list(record.source_event_seqs)
