"""An app whose server is gone has nobody to draw for, and must not stay."""

from __future__ import annotations

import os
import signal
import threading
import time

LOOK = 0.2
"""Seconds between two looks at who the parent is."""
PATIENCE = 0.7
"""Seconds in which the app may end by itself."""


def end_with_parent() -> None:
    """End this process once its parent has ended, however that came."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(LOOK)
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(PATIENCE)
        os._exit(1)

    threading.Thread(target=watch, name="ullage-parent", daemon=True).start()
