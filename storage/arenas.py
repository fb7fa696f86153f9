"""How the system's allocator keeps what is freed.

glibc gives each thread an arena of its own, up to eight a core, and what is freed in one serves no
other. A batch of a log is made by one thread, counted by another and freed by a third: with one
arena for all, reading a large tree takes 30 MB less at its peak. The interpreter's lock lets only
one of them allocate at a time anyway.
"""

from __future__ import annotations

import ctypes

_M_ARENA_MAX = -8
"""``malloc.h``."""


def use_one_arena() -> bool:
    """From now on no further arena is made. Whether the allocator knows of that: glibc's does."""
    try:
        return bool(ctypes.CDLL(None).mallopt(_M_ARENA_MAX, 1))
    except (AttributeError, OSError, TypeError):
        return False
