"""A plan as a session of pi: a header, and one straight chain of entries."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import Any, ClassVar

from storage.resume.base import Composed, PlanCopy
from storage.resume.checks import check_paired, check_said
from storage.resume.jsontext import dumps, object_text
from storage.resume.pi_chain import Chain
from storage.resume.pi_log import read_log

_VERSION = 3


class PiWriter:
    """Session files below a folder named after the project's."""

    agent: ClassVar[str] = "pi"
    label: ClassVar[str] = "pi"

    def compose(self, copy: PlanCopy) -> Composed:
        """See :meth:`storage.resume.base.Writer.compose`. A call without a result is let through:
        pi answers it itself."""
        check_said(copy)
        check_paired(copy)
        made = datetime.fromtimestamp(copy.made_at, UTC)
        time = f"{made:%Y-%m-%dT%H:%M:%S}.{made.microsecond // 1000:03d}Z"
        entries = Chain(copy, read_log(copy), time).build()
        name = f"{re.sub('[:.]', '-', time)}_{copy.session_id}.jsonl"
        return Composed(
            place=PurePosixPath(_folder(copy.source.cwd or ""), name),
            lines=tuple(_encoded(line) for line in (_header(copy, time), *entries)),
            command=("pi", "--session", "{path}"),
        )


def _header(copy: PlanCopy, time: str) -> str:
    fields: Mapping[str, Any] = {
        "type": "session",
        "version": _VERSION,
        "id": copy.session_id,
        "timestamp": time,
        "cwd": copy.source.cwd,
        "parentSession": str(copy.source.path),
    }
    return object_text({name: dumps(value) for name, value in fields.items() if value is not None})


def _folder(cwd: str) -> str:
    """How pi names the folder of a project's sessions."""
    inside = cwd[1:] if cwd[:1] in ("/", "\\") else cwd
    return "--" + re.sub(r"[/\\:]", "-", inside) + "--"


def _encoded(line: str) -> bytes:
    """pi itself writes half a surrogate pair as an escape."""
    try:
        return line.encode()
    except UnicodeEncodeError:
        return json.dumps(json.loads(line, strict=False)).encode()
