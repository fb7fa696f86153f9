"""The check of the recorded operations, as a report."""

from __future__ import annotations

from inspector.audit_reports import FindingReport, HeadReport, NotedReport, VerificationReport
from storage.catalog import SessionRecord
from storage.chain import Head
from storage.store import Store
from storage.verification import Noted, head_of, verify


def verification_report(
    store: Store, record: SessionRecord | None, noted: str | None
) -> VerificationReport:
    """Whether the operations of one session (``None``: of all) are what was recorded.

    Raises a :class:`storage.errors.StorageError` where it cannot be told.
    """
    found = verify(store.connections, None if record is None else record.id, noted)
    return VerificationReport(
        intact=not found.findings,
        session=None if record is None else record.name,
        events=found.rows,
        commits=found.commits,
        head=_head(found.head, None),
        noted=None if found.noted is None else _noted(found.noted),
        findings=tuple(
            FindingReport(
                kind=one.kind, session=one.session, operation=one.operation, message=one.message
            )
            for one in found.findings
        ),
    )


def head_report(store: Store, record: SessionRecord | None = None) -> HeadReport:
    """Where the chain of one session's operations ends, or (``None``) that of all commits."""
    if record is None:
        return _head(head_of(store.connections), None)
    return _head(head_of(store.connections, record.id), record.name)


def _head(head: Head, session: str | None) -> HeadReport:
    return HeadReport(session=session, count=head.count, digest=head.digest.hex())


def _noted(noted: Noted) -> NotedReport:
    return NotedReport(digest=noted.digest, session=noted.session, since=noted.since)
