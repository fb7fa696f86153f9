"""One line for every preview of many histories: run as a module, in a process of its own."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator
from random import Random

from compress.errors import CompressError
from tests.compress.histories import history
from tests.compress.invariants.acting import WAYS


def digests(count: int) -> Iterator[str]:
    """A preview in every way of each of so many histories, or why there is none."""
    for seed in range(count):
        for way in dict.fromkeys(WAYS):
            made = history(Random(seed))
            try:
                found = repr(way(made, Random(seed)))
            except CompressError as error:
                found = f"{error.code}: {error} {error.choices}"
            yield f"{seed} {way.__name__} {hashlib.sha256(found.encode()).hexdigest()}"


if __name__ == "__main__":
    print("\n".join(digests(int(sys.argv[1]))))
