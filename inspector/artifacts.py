"""The plans, to-do lists and plan documents of a session, at any moment."""

from __future__ import annotations

from compress.artifacts.chunks import in_context
from compress.artifacts.harvest import TOLD, ArtifactHarvest, wanted
from compress.artifacts.values import Artifact
from compress.errors import CompressError
from compress.events import NodeId
from inspector.artifact_reports import ArtifactReport, ArtifactsReport
from inspector.loaded import LoadedSession
from inspector.reports import SessionHeader
from storage.store import Store


class UnknownArtifactError(CompressError):
    """An id, or a step, that no artifact of the session has."""

    code = "unknown_artifact"


def artifacts(store: Store, loaded: LoadedSession, at: NodeId | None) -> tuple[Artifact, ...]:
    """All artifacts as they stood at a moment (``None``: now), in the order in which they began.

    Raises what :meth:`LoadedSession.until` raises.
    """
    log, _ = loaded.until(at)
    stamp = (len(log), log[-1].seq if log else None)
    if loaded.artifacts is None or loaded.artifacts[0] != stamp:
        seqs = [seq for seq in wanted(log) if isinstance(seq, int)]
        blocks = {event.seq: event.blocks for event in store.events(loaded.record, seqs)}
        record = loaded.record
        harvest = ArtifactHarvest(record.agent, record.native_id or record.name)
        for entry in log:
            if entry.seq in blocks or entry.results or entry.type in TOLD:
                harvest.feed(entry, blocks.get(entry.seq, ()))
        loaded.artifacts = (stamp, harvest.artifacts())
    return loaded.artifacts[1]


def artifacts_report(
    store: Store, loaded: LoadedSession, header: SessionHeader, at: NodeId | None
) -> ArtifactsReport:
    """The same as a report."""
    found = artifacts(store, loaded, at)
    return ArtifactsReport(
        session=header,
        at_seq=loaded.record.last_seq if at is None else at,
        artifacts=tuple(ArtifactReport(artifact=a, context=in_context(a)) for a in found),
    )


def artifact_named(report: ArtifactsReport, name: str) -> ArtifactReport:
    """The artifact with this id, or with the only id that begins so.

    Raises :class:`UnknownArtifactError`.
    """
    alike = [one for one in report.artifacts if one.artifact.id.startswith(name)]
    if len(alike) == 1:
        return alike[0]
    ids = tuple(one.artifact.id for one in alike or report.artifacts)
    fault = "more than one artifact whose id begins with" if alike else "no artifact"
    raise UnknownArtifactError(
        f"Session {report.session.id} has {fault} {name}; ullage artifacts lists them.",
        choices=ids,
    )


def step_text(artifact: Artifact, number: int) -> str:
    """One step in full. Raises :class:`UnknownArtifactError`."""
    if not 1 <= number <= len(artifact.steps):
        have = f"1 to {len(artifact.steps)}" if artifact.steps else "none"
        raise UnknownArtifactError(
            f"Artifact {artifact.id} has no step {number}; its steps are {have}."
        )
    return artifact.steps[number - 1].text
