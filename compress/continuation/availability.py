"""What of a session stands in a text, by the measure that judges compactions."""

from __future__ import annotations

from compress.compaction.identifiers import likelihood, ranked
from compress.compaction.loss import lost_from
from compress.compaction.material import Digest
from compress.compaction.names import UNLIKELY, Present
from compress.compaction.values import SessionInput
from compress.continuation.values import Availability

LOOKED_FOR = 200
"""Names, the most likely ones, that are looked for."""


def availability(session: SessionInput, found: Digest, text: str) -> Availability:
    """Which of the names most likely needed again, of the user's words and of the unresolved
    errors of a session (``found``: its facts) stand in the text."""
    present = Present(text)
    names = [
        mention.text
        for mention in ranked(found.mentions.values(), found.length)[:LOOKED_FOR]
        if likelihood(mention, found.length) >= UNLIKELY
    ]
    missing = tuple(name for name in names if name not in present)
    lost = lost_from(session, found, (text,), (), 0)
    return Availability(
        identifiers=len(names),
        standing=len(names) - len(missing),
        missing=missing,
        instructions=lost.instructions,
        errors=lost.errors,
        instructions_of=len(found.said) + len(found.rules),
        errors_of=len(found.failures),
    )
