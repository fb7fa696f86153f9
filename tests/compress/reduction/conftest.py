from __future__ import annotations

import pytest

from compress.reduction.profile import Profile
from compress.tokens import TokenCounter
from storage.resources import counter
from tests.compress.reduction.outputs import shipped_profile


@pytest.fixture(scope="session")
def generic() -> Profile:
    return shipped_profile("generic")


@pytest.fixture(scope="session")
def count() -> TokenCounter:
    return counter()
