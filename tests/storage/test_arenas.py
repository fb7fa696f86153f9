"""One arena of the allocator for all threads, where it can be had."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

from tests.conftest import REPOSITORY

SCRIPT = """
import sys, threading
from storage.arenas import use_one_arena
known = use_one_arena()
def fill():
    for _ in range(50):
        held = [bytes(100_000) for _ in range(20)]
threads = [threading.Thread(target=fill) for _ in range(6)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(known, use_one_arena())
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another allocator")
def test_glibc_takes_it_and_threads_go_on_allocating() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], cwd=REPOSITORY, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["True", "True"]


def test_another_system_is_left_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    from storage import arenas  # noqa: PLC0415

    monkeypatch.setattr(arenas.ctypes, "CDLL", lambda _: object())
    assert arenas.use_one_arena() is False
