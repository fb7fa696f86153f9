"""``--since``, ``--until`` and ``--zone``: a range of days on the command line."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from datetime import date, datetime

F = TypeVar("F", bound=Callable[..., Any])


class _Day(click.DateTime):
    """A day, written as ISO 8601 has it."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> datetime:
        try:
            found: datetime = super().convert(value, param, ctx)
        except click.BadParameter:
            text = f"{value!r} is no day: write year, month and day, like 2026-03-01"
            raise click.BadParameter(text, ctx, param) from None
        return found


_DAY = _Day(("%Y-%m-%d",))


def day_options(function: F) -> F:
    """The three options; :func:`days` reads the first two."""
    for option in (
        click.option(
            "--zone",
            default="local",
            show_default=True,
            metavar="NAME",
            help="Where the days begin and end: an IANA name like Asia/Tokyo.",
        ),
        click.option(
            "--until", type=_DAY, metavar="YYYY-MM-DD", help="The last day, itself included."
        ),
        click.option("--since", type=_DAY, metavar="YYYY-MM-DD", help="The first day."),
    ):
        function = option(function)
    return function


def days(since: datetime | None, until: datetime | None) -> tuple[date | None, date | None]:
    """The first and the last day. Raises ``click.UsageError`` where they stand in no order."""
    if since is not None and until is not None and since > until:
        raise click.UsageError("--since is a later day than --until")
    return None if since is None else since.date(), None if until is None else until.date()
