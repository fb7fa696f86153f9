"""One arena of the allocator for all threads, where it can be had."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.conftest import REPOSITORY

SCRIPT = """
import ctypes, sys, threading
from storage.arenas import use_one_arena
if sys.argv[1] == "one":
    assert use_one_arena()
libc = ctypes.CDLL(None)
libc.malloc.restype = libc.fopen.restype = ctypes.c_void_p
all_live = threading.Barrier(6)
def fill():
    libc.malloc(10_000)
    all_live.wait(60)  # the arena of a thread that ended would serve the next
threads = [threading.Thread(target=fill) for _ in range(6)]
for thread in threads: thread.start()
for thread in threads: thread.join()
told = ctypes.c_void_p(libc.fopen(sys.argv[2].encode(), b"w"))
assert libc.malloc_info(0, told) == 0 and libc.fclose(told) == 0
"""


def arenas_of_six_threads(told: Path, wish: str) -> int:
    """glibc's own count (``malloc_info(3)``: an element ``heap`` for each)."""
    command = [sys.executable, "-c", SCRIPT, wish, str(told)]
    environment = {
        name: value
        for name, value in os.environ.items()
        if name not in ("MALLOC_ARENA_MAX", "GLIBC_TUNABLES")
    }
    subprocess.run(command, cwd=REPOSITORY, env=environment, check=True)
    return len(ElementTree.parse(told).findall("heap"))


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another allocator")
def test_threads_share_the_one_arena_of_glibc(tmp_path: Path) -> None:
    assert arenas_of_six_threads(tmp_path / "told.xml", "any") > 1, "else this test shows nothing"
    assert arenas_of_six_threads(tmp_path / "told.xml", "one") == 1


def test_another_system_is_left_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    from storage import arenas  # noqa: PLC0415

    monkeypatch.setattr(arenas.ctypes, "CDLL", lambda _: object())
    assert arenas.use_one_arena() is False
