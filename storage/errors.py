"""The typed errors of the store. Each message is the sentence that a person reads."""

from __future__ import annotations

from collections.abc import Sequence


class StorageError(Exception):
    """Base of all refusals of the store; ``code`` is stable, ``choices`` lists ways out."""

    code = "storage"

    def __init__(self, message: str, choices: Sequence[object] = ()) -> None:
        super().__init__(message)
        self.choices = tuple(choices)


class StoreNewerError(StorageError):
    """The store was made by a newer Ullage. Nothing was written to it."""

    code = "store_newer"


class StoreUnusableError(StorageError):
    """The file is no Ullage store, is damaged, or cannot be opened."""

    code = "store_unusable"


class StoreLookOnlyError(StoreUnusableError):
    """The store is open for looking only: nothing can be added as long as it is."""


class StoreBusyError(StorageError):
    """Another process held the store's write lock for too long."""

    code = "store_busy"


class PositionMovedError(StorageError):
    """Another process has read further in the same log since this one looked."""

    code = "position_moved"


class UnknownSessionError(StorageError):
    """No session, or more than one, answers to a name."""

    code = "unknown_session"


class UnknownEventError(StorageError):
    """A seq that the session does not have."""

    code = "unknown_event"


class UnknownOutputError(StorageError):
    """No kept output, or more than one, answers to a pointer."""

    code = "unknown_output"


class HeadFormatError(StorageError):
    """What was given as the head of a chain is no digest."""

    code = "head_format"
