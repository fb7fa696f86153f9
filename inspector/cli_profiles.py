"""``ullage profiles``: the profiles of tool output in force here, one of them, and their tests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from inspector.cli_shell import Shell, example, json_option, json_options, put_all

if TYPE_CHECKING:
    from inspector.cli_paint import Paint
    from inspector.profile_reports import ProfileCheck, ProfileRow


class _Profiles(click.Group):
    """A profile's name in the place of a command is met with the command that shows it."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and self.get_command(ctx, args[0]) is None:
            raise click.UsageError(
                f"{args[0]} is neither show nor check; a profile is printed by "
                f"ullage profiles show {args[0]}",
                ctx,
            )
        return super().resolve_command(ctx, args)


@click.group(
    cls=_Profiles,
    short_help="List the profiles of tool output; show and check them.",
    invoke_without_command=True,
    epilog=example(
        "ullage profiles",
        "ullage profiles show pytest > .ullage/tools/pytest.toml",
        "ullage profiles check .ullage/tools/pytest.toml",
    ),
)
@json_options
@click.pass_context
def profiles(context: click.Context) -> None:
    """The profiles by which `ullage squeeze` reduces outputs, in the order in which they are
    tried: those of tools' own definitions, the project's, the built-in ones."""
    if context.invoked_subcommand is not None:
        return
    from inspector.profile_reports import ProfileRow
    from storage.profiles import find_profiles

    shell: Shell = context.obj
    rows = [
        ProfileRow(
            name=found.profile.name,
            description=found.profile.description,
            origin=found.origin,
            path=str(found.path),
            examples=len(found.profile.examples),
        )
        for found in find_profiles(Path.cwd())
    ]
    shell.listing(rows, lambda paint: _rows(rows, paint))


@profiles.command(short_help="Print a profile's file, to be read or copied.")
@click.argument("name")
@click.pass_obj
def show(shell: Shell, name: str) -> None:
    """Print the file that holds the profile NAME, as it is."""
    from inspector.profile_choice import UnknownProfileError
    from storage.profiles import find_profiles

    known = find_profiles(Path.cwd())
    found = next((one for one in known if one.profile.name == name), None)
    if found is None:
        raise UnknownProfileError(name, [one.profile.name for one in known])
    shell.text(found.path.read_text(encoding="utf-8").removesuffix("\n"))


@profiles.command(short_help="Run the inline tests of a profile.")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@json_option
@click.pass_context
def check(context: click.Context, file: Path) -> None:
    """Read FILE – a profile, or a file that defines tools – and run its inline tests
    ([[examples]]). Exit code 1 if one does not hold."""
    from inspector.profile_choice import profile_check

    shell: Shell = context.obj
    report = profile_check(file)
    shell.document(report, lambda paint: _checked(report, paint))
    put_all()
    if report.failed:
        context.exit(1)


def _rows(rows: Sequence[ProfileRow], paint: Paint) -> Iterator[str]:
    from inspector.cli_paint import Column, table

    columns = (
        Column("NAME", most=24),
        Column("FROM", most=10),
        Column("WHAT", flexible=True),
    )
    cells = [[row.name, row.origin, row.description] for row in rows]
    yield from table(columns, cells, paint)


def _checked(report: ProfileCheck, paint: Paint) -> Iterator[str]:
    from inspector.cli_paint import counted
    from inspector.sanitize import clean

    for row in report.examples:
        verdict = paint("fails", "red") if row.faults else paint("holds", "green")
        yield f"{verdict}  {clean(row.profile)}: {clean(row.name)}"
        for fault in row.faults:
            yield f"       {clean(fault)}"
    if not report.examples:
        yield "No inline tests. Write one: [[examples]] with name, input, keeps, drops."
    failed = f", {report.failed} failed" if report.failed else ""
    yield f"{counted(len(report.examples), 'test')}{failed}: {', '.join(report.profiles)}"
