"""What ``ullage install`` and ``ullage uninstall`` answer."""

from __future__ import annotations

from inspector.reports import Report


class InstallReport(Report):
    """One file of an agent's settings."""

    agent: str
    title: str
    """The agent's name for a person."""
    path: str
    """The file, as the agent finds it."""
    file: str
    """The same behind all links."""
    changed: bool
    """False: everything stands as it should already."""
    written: bool = False
    """False for a dry run."""
    removes_file: bool = False
    """The whole file goes, since it held nothing but what Ullage wrote."""
    diff: str = ""
    """Unified."""
    backup: str | None = None
    """A copy of the file as it was before."""
    notes: tuple[str, ...] = ()
    """What is still to be done, or to be known."""
