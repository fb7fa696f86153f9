"""Time zones by name, and the one that this machine is set to."""

from __future__ import annotations

import difflib
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

LOCAL = "local"
_LOCALTIME = Path("/etc/localtime")


class UnknownZoneError(Exception):
    """No zone has this name."""

    code = "unknown_zone"

    def __init__(self, name: str) -> None:
        super().__init__(
            f"There is no time zone {name}; give an IANA name like Europe/Berlin, UTC, or local."
        )
        self.choices = tuple(difflib.get_close_matches(name, sorted(available_timezones()), n=3))


@dataclass(frozen=True, slots=True)
class Zone:
    """A zone with the name to state beside what was counted in it."""

    name: str
    info: ZoneInfo | None
    """``None``: as the machine is set, where that has no IANA name."""

    def day(self, seconds: float) -> date:
        """The day on which a moment (seconds since 1970) falls here; days of 23 and 25 hours are
        as long as they are (T15)."""
        return datetime.fromtimestamp(seconds, self.info).date()


def zone_named(name: str, environment: Mapping[str, str], localtime: Path = _LOCALTIME) -> Zone:
    """The zone of an IANA name, or of this machine for ``local``.

    Raises :class:`UnknownZoneError`.
    """
    if name != LOCAL:
        info = _info(name)
        if info is None:
            raise UnknownZoneError(name)
        return Zone(name, info)
    # POSIX: TZ goes before the system's zone, and may begin with a colon.
    named = environment.get("TZ")
    own = _linked(localtime) if named is None else named.removeprefix(":")
    info = _info(own)
    if info is None:
        return Zone(f"local ({'/'.join(dict.fromkeys(time.tzname))})", None)
    return Zone(own, info)


def _linked(localtime: Path) -> str:
    """``Europe/Berlin`` of a link to ``…/zoneinfo/Europe/Berlin``."""
    return str(localtime.resolve()).rpartition("/zoneinfo/")[2]


def _info(name: str) -> ZoneInfo | None:
    try:
        return ZoneInfo(name)
    # A name may be that of a folder, or of no file at all.
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None
