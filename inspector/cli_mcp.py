"""``ullage mcp``: an agent asks its own past."""

from __future__ import annotations

from pathlib import Path

import click

from inspector.cli_shell import Shell, example, paths_argument, store_options


class McpError(Exception):
    """The server cannot be started."""

    code = "mcp"
    choices: tuple[object, ...] = ()


@click.command(
    short_help="Let a running agent ask its past (MCP, over stdio).",
    epilog=example(
        "ullage mcp", "claude mcp add ullage -- ullage mcp", "codex mcp add ullage -- ullage mcp"
    ),
)
@paths_argument
@click.option("--may-pin", is_flag=True, help="Let the agent pin and unpin, too.")
@store_options
@click.pass_obj
def mcp(shell: Shell, paths: tuple[Path, ...], may_pin: bool) -> None:
    """Serve the store to a running agent over stdin and stdout, in the Model Context Protocol:
    search the past, fetch an output by its pointer, build a pack under a budget, list decision
    points, read its own pressure. Logs are followed meanwhile: all that are found on this machine,
    or these files or folders.

    An agent may only look, unless --may-pin is given."""
    try:
        from inspector.mcp_server import server
    except ImportError as error:
        raise McpError(
            f"The server needs {error.name}, which is not installed: "
            "pip install 'ullage[mcp]' brings it."
        ) from error
    from inspector.mcp_answers import Answers

    with shell.usecases(makes=True) as usecases:
        usecases.start_watching(list(paths), lambda: None)
        server(Answers(usecases, Path.cwd()), may_pin=may_pin).run("stdio")
