"""What is no text is not reduced line by line: one line says that it came."""

from __future__ import annotations

import re

from compress.reduction.render import sign_for
from compress.reduction.values import Reduction, StageReport
from compress.tokens import TokenCounter

_SHARE = 0.05
"""Control characters above which an output is no text. Text in another encoding than UTF-8 has
none; a picture or a program has many."""
_CONTROL = re.compile(r"[\x00-\x07\x0e-\x1a\x1c-\x1f\x7f]")


def is_binary(text: str) -> bool:
    """Whether an output, decoded with replacement, is no text."""
    return bool(text) and len(_CONTROL.findall(text)) > _SHARE * len(text)


def binary_notice(
    text: str, size: int, counter: TokenCounter, *, pointer: str | None, exit_code: int | None
) -> Reduction | None:
    """One line in place of an output of ``size`` bytes; ``None`` where that is no gain."""
    before = counter.count(text)
    lines = text.count("\n") + (not text.endswith("\n"))
    code = [] if exit_code is None else [f"exit {exit_code}"]
    where = [] if pointer is None else [f"all in {pointer}"]
    header = " · ".join(
        [
            f"{sign_for(text, 'full')} ullage: 0 of {lines} lines",
            f"{size} bytes that are no text",
            *code,
            *where,
        ]
    )
    after = counter.count(f"{header}\n")
    if after >= before:
        return None
    return Reduction(
        text=f"{header}\n",
        header=header,
        profile="binary",
        stages=(StageReport("filter", lines, before - after, (f"{size} bytes that are no text",)),),
        verdicts=(),
        success=False,
        lines_before=lines,
        lines_after=1,
        tokens_before=before,
        tokens_after=after,
        exit_code=exit_code,
        pointer=pointer,
        kept=(),
    )
