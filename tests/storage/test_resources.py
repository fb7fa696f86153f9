"""What ships inside the package: the published vocabularies, and the table of windows."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
import tiktoken_ext.openai_public as published
from hypothesis import given
from hypothesis import strategies as st

from compress.tokens import SEPARATOR
from storage import resources
from storage.resources import (
    DIGESTS,
    PATTERNS,
    ResourceError,
    asset,
    counter,
    counter_for,
    table_window,
    vocabulary_bytes,
)
from tests.storage.windows_snapshot import snapshot


@pytest.mark.parametrize("vocabulary", ["o200k_base", "cl100k_base"])
def test_a_vocabulary_is_the_one_that_tiktoken_pins(
    vocabulary: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: dict[str, str] = {}

    def load(url: str, expected_hash: str) -> dict[bytes, int]:
        asked[url] = expected_hash
        return {}

    monkeypatch.setattr(published, "load_tiktoken_bpe", load)
    definition = published.ENCODING_CONSTRUCTORS[vocabulary]()
    assert list(asked.values()) == [DIGESTS[vocabulary]]
    assert definition["pat_str"] == PATTERNS[vocabulary]


def test_known_counts() -> None:
    # From tiktoken's own README and OpenAI's cookbook on counting tokens.
    assert counter("o200k_base").count("hello world") == 2
    assert counter("cl100k_base").count("tiktoken is great!") == 6
    assert counter("cl100k_base").count("antidisestablishmentarianism") == 6


def test_a_counter_is_loaded_once() -> None:
    assert counter() is counter_for("claude-opus-4-5")
    assert counter("cl100k_base") is counter_for("gpt-4")


def test_a_damaged_vocabulary_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resources, "ASSET_FOLDERS", (tmp_path,))
    with pytest.raises(ResourceError, match="missing"):
        vocabulary_bytes("o200k_base")
    (tmp_path / "o200k_base.tiktoken.gz").write_bytes(b"not gzip")
    with pytest.raises(ResourceError, match="damaged"):
        vocabulary_bytes("o200k_base")


def test_another_vocabulary_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "o200k_base.tiktoken.gz").write_bytes(asset("cl100k_base.tiktoken.gz"))
    monkeypatch.setattr(resources, "ASSET_FOLDERS", (tmp_path,))
    with pytest.raises(ResourceError, match="not the published one"):
        vocabulary_bytes("o200k_base")


def test_t13_counting_asks_no_network_and_no_cache() -> None:
    script = (
        "import socket\n"
        "def refuse(*_, **__): raise OSError('asked the network')\n"
        "socket.socket.connect = refuse; socket.getaddrinfo = refuse\n"
        "from storage.resources import counter, table_window\n"
        "import sys; assert 'tiktoken' not in sys.modules\n"
        "assert counter().count('hello world') == 2\n"
        "assert table_window('claude-opus-4-5') == 200000\n"
    )
    subprocess.run(
        [sys.executable, "-c", script],
        check=True,
        cwd=Path(__file__).resolve().parents[2],
        env={"TIKTOKEN_CACHE_DIR": "/nonexistent", "PATH": ""},
    )


@pytest.mark.parametrize(
    ("model", "window"),
    [
        ("claude-opus-4-5-20251101", 200_000),
        ("claude-sonnet-4-20250514", 200_000),
        ("claude-sonnet-4-5[1m]", 1_000_000),
        ("anthropic/claude-sonnet-4.5", 200_000),
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", 200_000),
        ("gpt-5-codex", 400_000),
        ("gpt-4-0613", 8_192),
        ("gpt-4o", 128_000),
        ("mystery-model-9", None),
        ("claude-opus-5-99", None),
        ("<synthetic>", None),
        ("", None),
        (None, None),
    ],
)
def test_t10_windows_by_the_table(model: str | None, window: int | None) -> None:
    assert table_window(model) == window


def test_the_table_is_the_snapshot_that_it_says_it_is() -> None:
    shipped = json.loads(asset("windows.json"))
    if shipped["source"] != f"genai-prices {version('genai-prices')}":
        pytest.skip(f"the table was made from {shipped['source']}")
    assert shipped == snapshot()


@given(texts=st.lists(st.text(max_size=400), max_size=12))
def test_texts_counted_together_count_as_one_by_one(texts: list[str]) -> None:
    counter = resources.counter()
    odd = [*texts, "", SEPARATOR, f"a{SEPARATOR}b", "<|endoftext|>", " " * 50_000, "word " * 9_000]
    assert counter.count_many(odd) == [counter.count(text) for text in odd]
