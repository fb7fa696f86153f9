"""The audit on the command line: the list of operations, one of them opened, and their check."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from inspector.cli_completion import complete_session
from inspector.cli_shell import Shell, example, json_options, put_all, store_options
from inspector.cli_values import seq

if TYPE_CHECKING:
    from inspector.usecases import UseCases

_NO_DIGEST = ""
"""``--head`` without a value."""


@click.command(
    short_help="List every operation, yours and the agent's own.",
    epilog=example(
        "ullage audit",
        "ullage audit last --show o3",
        "ullage audit --verify",
        "ullage audit --head > noted; ullage audit --verify --head $(cut -d' ' -f1 noted)",
    ),
)
@click.argument("session", required=False, shell_complete=complete_session)
@click.option(
    "--show",
    "operation",
    type=seq,
    metavar="OPERATION",
    help="Open this one: who, when, what it lost, what it cost, and the diff.",
)
@click.option("--raw", is_flag=True, help="With --show: as it was written, not the diff.")
@click.option(
    "--verify",
    is_flag=True,
    help="Check that no recorded operation was changed, removed or moved; exit code 1 if one was.",
)
@click.option(
    "--head",
    is_flag=False,
    flag_value=_NO_DIGEST,
    metavar="[DIGEST]",
    help="Print where the chain of operations ends, to note it elsewhere; with --verify: check "
    "that this noted DIGEST is still on it.",
)
@store_options
@json_options
@click.pass_obj
def audit(
    shell: Shell,
    *,
    session: str | None,
    operation: int | str | None,
    raw: bool,
    verify: bool,
    head: str | None,
) -> None:
    """List every operation, yours and the agent's own; of one SESSION, what each lost, too.

    Operations are chained by digest. What --verify cannot see: a store in which someone made all
    of the chain anew. A head that was noted outside tells that, too."""
    from inspector.cli_lists import audit_text

    _refuse_mixtures(session, operation, raw=raw, verify=verify, head=head)
    with shell.usecases(session) as usecases:
        found = None if session is None else usecases.find(session)
        if verify:
            _verify(shell, usecases, found, head)
            return
        if head is not None:
            _head(shell, usecases, found)
            return
        if operation is not None and found is not None:
            _show_operation(shell, usecases, found, operation, raw=raw)
            return
        rows = usecases.audit(found)
    shell.listing(rows, lambda paint: audit_text(rows, shell.now(), paint, of_all=found is None))


def _refuse_mixtures(
    session: str | None, operation: int | str | None, *, raw: bool, verify: bool, head: str | None
) -> None:
    if operation is not None and session is None:
        raise click.UsageError("--show needs a SESSION")
    if operation is not None and (verify or head is not None):
        raise click.UsageError("--show, --verify and --head exclude each other")
    if raw and operation is None:
        raise click.UsageError("--raw needs --show OPERATION")
    if verify and head == _NO_DIGEST:
        raise click.UsageError("--verify --head needs the DIGEST that was noted")
    if head and not verify:
        raise click.UsageError(f"--head {head} is compared with --verify; --head alone prints it")


def _verify(shell: Shell, usecases: UseCases, session: str | None, head: str | None) -> None:
    """Print each finding; leave with exit code 1 if there is one."""
    from inspector.cli_operation import verification_text

    report = usecases.verify(session, head)
    shell.document(report, lambda paint: verification_text(report, paint), report.findings)
    if not report.intact:
        put_all()
        raise click.exceptions.Exit(1)


def _head(shell: Shell, usecases: UseCases, session: str | None) -> None:
    from inspector.cli_operation import head_text

    report = usecases.head(session)
    shell.document(report, lambda _: head_text(report))


def _show_operation(
    shell: Shell, usecases: UseCases, session: str, operation: int | str, *, raw: bool
) -> None:
    """One operation opened; for a program with its diff and its raw."""
    from inspector.cli_operation import operation_facts
    from inspector.sanitize import clean
    from inspector.schemas import OperationDocument

    diff = usecases.audit_diff(session, operation)
    written = usecases.audit_raw(session, operation)
    row = next(
        (row for row in usecases.audit(session) if row.operation == operation),
        None,
    )
    if raw and not shell.machine:
        shell.text(written)
        return
    if row is None:
        # A later event of the same operation was named.
        shell.text(diff)
        return
    document = OperationDocument(operation=row, diff=diff, raw=written)
    shell.document(
        document, lambda paint: (*operation_facts(row, paint), "", *clean(diff).split("\n"))
    )
