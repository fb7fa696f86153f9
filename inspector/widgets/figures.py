"""How figures are written: tokens, shares, ages, bars. Pure functions, values to text."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, tzinfo

from compress.events import NodeId

WARM = 0.70
HOT = 0.80
"""Shares of the window at which a figure changes colour where no thresholds are known: the
policy's defaults. Nothing but colour depends on them."""

_EIGHTHS = " ▏▎▍▌▋▊▉"
_LEVELS = "▁▂▃▄▅▆▇█"
_AGES = ((60, "s"), (60, "m"), (24, "h"), (7, "d"), (52, "w"))


def tokens(count: int | None) -> str:
    """``1,204`` · ``14.2k`` · ``142k`` · ``1.2M``; ``–`` for unknown. At most 6 cells."""
    if count is None:
        return "–"
    size = abs(count)
    if size < 10_000:
        return f"{count:,}"
    if size < 99_950:
        return f"{count / 1000:.1f}k"
    if size < 999_500:
        return f"{count / 1000:.0f}k"
    return f"{count / 1e6:.1f}M" if size < 99_950_000 else f"{count / 1e6:.0f}M"


def counted(count: int, one: str) -> str:
    """``1 session`` · ``1,204 sessions``; the plural of ``one`` takes an s."""
    return f"{count:,} {one}" if count == 1 else f"{count:,} {one}s"


def percent(share: float | None) -> str:
    """A share, 0…, as whole percent: ``71 %``; ``<1 %`` for little, ``–`` for unknown."""
    if share is None:
        return "–"
    return "<1 %" if 0 < share <= 0.005 else f"{share * 100:.0f} %"


def age(seconds: float | None) -> str:
    """``now`` · ``42s`` · ``3m`` · ``2h`` · ``5d`` · ``3w`` · ``2y``; ``–`` for unknown."""
    if seconds is None:
        return "–"
    if seconds < 5:
        return "now"
    amount = seconds
    for size, unit in _AGES:
        if amount < size:
            return f"{amount:.0f}{unit}" if unit == "s" else f"{int(amount)}{unit}"
        amount /= size
    return f"{int(amount)}y"


def moment(time: float | None, zone: tzinfo | None) -> str:
    """``2026-03-01 14:02:07`` in the zone (``None``: the machine's); ``–`` for unknown."""
    if time is None:
        return "–"
    try:
        return datetime.fromtimestamp(time, zone).strftime("%Y-%m-%d %H:%M:%S")
    except (OverflowError, OSError, ValueError):
        return "–"


def event_name(seq: NodeId | None) -> str:
    """``#12`` for an event of the agent's log, ``o3`` for one of the user's operations."""
    if seq is None:
        return "–"
    return f"#{seq}" if isinstance(seq, int) else seq


def bar(share: float, width: int) -> str:
    """A bar of at most ``width`` cells, in eighths of a cell; anything above zero is visible."""
    if width <= 0 or share <= 0:
        return ""
    eighths = min(max(round(share * width * 8), 1), width * 8)
    full, rest = divmod(eighths, 8)
    return "█" * full + (_EIGHTHS[rest] if rest else "")


def meter(share: float | None, width: int) -> tuple[str, str]:
    """Filled and empty part of a thin bar of ``width`` cells."""
    if share is None or width <= 0:
        return "", "─" * max(width, 0)
    full = min(max(round(share * width), 1 if share > 0 else 0), width)
    return "━" * full, "─" * (width - full)


def sparkline(shares: Sequence[float], width: int) -> str:
    """The last ``width`` shares of the window as levels from 0 to 1."""
    return "".join(
        _LEVELS[min(max(int(share * len(_LEVELS)), 0), len(_LEVELS) - 1)]
        for share in (shares[-width:] if width > 0 else ())
    )


def heat(share: float | None, warm: float = WARM, hot: float = HOT) -> str:
    """The tone of a pressure: ``calm`` · ``warm`` · ``hot`` · ``muted`` for unknown."""
    if share is None:
        return "muted"
    if share >= hot:
        return "hot"
    return "warm" if share >= warm else "calm"
