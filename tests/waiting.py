"""Waiting for what another thread brings about, whatever the machine does meanwhile."""

from __future__ import annotations

import time
from collections.abc import Callable

PATIENCE = 60.0
"""Seconds after which a test gives up; none of them needs more than two on an idle machine."""


def eventually(holds: Callable[[], bool]) -> bool:
    """Whether it comes to hold."""
    until = time.monotonic() + PATIENCE
    while not holds():
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True
