"""The user's strand of a session as it comes from the store."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, overload

from compress.events import SessionEvent
from compress.operations import OperationRow


class Strand(Sequence[OperationRow]):
    """The rows of a strand, each decoded when it is asked for: one may name a million nodes."""

    def __init__(self, found: Sequence[Sequence[Any]]) -> None:
        self._found = found

    def __len__(self) -> int:
        return len(self._found)

    @overload
    def __getitem__(self, index: int) -> OperationRow: ...
    @overload
    def __getitem__(self, index: slice) -> list[OperationRow]: ...
    def __getitem__(self, index: int | slice) -> OperationRow | list[OperationRow]:
        if isinstance(index, slice):
            return [operation_of(row) for row in self._found[index]]
        return operation_of(self._found[index])


def operation_of(row: Sequence[Any]) -> OperationRow:
    """The row of (operation, after, origin, at, event as JSON)."""
    operation, after, origin, at, event = row
    return OperationRow(
        operation=f"o{operation}",
        after=after,
        origin=origin,
        at=at,
        event=SessionEvent.model_validate_json(event),
    )
