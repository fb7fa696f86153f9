"""A home whose agents' folders hold a large tree of logs, made of salted copies of the corpus."""

from __future__ import annotations

import json
import os
import re
import shutil
import time
from pathlib import Path

from tests.benchmarks.ingest import corpus_logs, salted

PLACES = {"claude": ".claude/projects/-work-{n:02}", "codex": ".codex/sessions/2026/{n:02}/01",
          "pi": ".pi/agent/sessions/--work-{n:02}--"}  # fmt: skip
"""Where each agent keeps its logs; a few folders of each."""
FOLDERS = 24
STAMP = re.compile(rb'"timestamp":"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)')


def make_tree(home: Path, megabytes: int) -> tuple[list[Path], int]:
    """The logs of the home, newest first, and their bytes; made where they are not there yet."""
    note = home / "made.json"
    if not note.exists() or json.loads(note.read_text())["megabytes"] != megabytes:
        shutil.rmtree(home, ignore_errors=True)
        _fill(home, megabytes << 20)
        note.write_text(json.dumps({"megabytes": megabytes}))
    logs = sorted(home.glob(".*/**/*.jsonl"), key=lambda log: -log.stat().st_mtime_ns)
    return logs, sum(log.stat().st_size for log in logs)


def _fill(home: Path, size: int) -> None:
    sources = [
        path
        for path in corpus_logs()
        if path.suffix == ".jsonl" and path.parent.name in PLACES and "NOT-A" not in path.name
    ]
    number = 0
    while size > 0:
        source = sources[number % len(sources)]
        data = salted(source.read_bytes(), number)
        place = PLACES[source.parent.name].format(n=number % FOLDERS + 1)
        name = f"rollout-{source.stem}" if source.parent.name == "codex" else source.stem
        log = home / place / f"{name}-{number:06x}.jsonl"
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_bytes(data)
        stamps = STAMP.findall(data)
        said = time.strptime(
            max(stamps, default=b"2025-01-01T00:00:00").decode(), "%Y-%m-%dT%H:%M:%S"
        )
        os.utime(log, (time.mktime(said) + number, time.mktime(said) + number))
        size -= len(data)
        number += 1


def environment(home: Path) -> dict[str, str]:
    """Of a process that finds its logs in this home, and nothing of this user's."""
    kept = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "TERM": "xterm-256color"}
    return kept | {"HOME": str(home), "TEXTUAL_ANIMATIONS": "none", "COLORTERM": "truecolor"}
