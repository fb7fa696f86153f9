"""An empty store in a file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from storage.sources.registry import registry
from storage.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = Store(tmp_path / "store.db", registry())
    yield opened
    opened.close()
