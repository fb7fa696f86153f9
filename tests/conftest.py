"""Where the tests find their data, and what every test may rely on."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# No judgement by the clock; where others wait for the result, the same examples in every run.
settings.register_profile(
    "ullage",
    deadline=None,
    derandomize="CI" in os.environ,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("ullage")

REPOSITORY = Path(__file__).resolve().parent.parent


def _data_folder(variable: str, default: str) -> Path | None:
    folder = Path(os.environ.get(variable, REPOSITORY / default)).resolve()
    return folder if folder.is_dir() else None


CORPUS = _data_folder("ULLAGE_CORPUS", "../shared/corpus")
HARD = _data_folder("ULLAGE_HARD", "../shared/hard")


@pytest.fixture(scope="session")
def corpus() -> Path:
    """The folder of real logs; the test is skipped where it is absent."""
    if CORPUS is None:
        pytest.skip("no corpus here: set ULLAGE_CORPUS")
    return CORPUS


@pytest.fixture(scope="session")
def hard_generator() -> Path:
    """The generator of hard inputs; the test is skipped where it is absent."""
    if HARD is None:
        pytest.skip("no hard inputs here: set ULLAGE_HARD")
    return HARD / "hard_inputs.py"


@pytest.fixture(scope="session")
def hard_inputs(hard_generator: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that holds every hard case, one folder a case, made once a run."""
    folder = tmp_path_factory.mktemp("hard")
    subprocess.run([sys.executable, str(hard_generator), "make", str(folder)], check=True)
    return folder
