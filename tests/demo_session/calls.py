"""The tool calls of the story that come more than once."""

from __future__ import annotations

from tests.demo_session import project
from tests.demo_session.writer import CWD, Call


def read(name: str, text: str) -> Call:
    return Call("Read", {"file_path": f"{CWD}/{name}"}, project.numbered(text), 0.2)


def bash(
    command: str, result: str, about: str, seconds: float = 2.0, *, failed: bool = False
) -> Call:
    prefix = "Exit code 2\n" if failed else ""
    given = {"command": command, "description": about}
    return Call("Bash", given, prefix + result, seconds, failed)


def task(number: int, status: str) -> Call:
    given = {"taskId": str(number), "status": status}
    ui = {"success": True, "taskId": str(number), "updatedFields": ["status"]}
    return Call("TaskUpdate", given, f"Updated task #{number} status", 0.1, ui=ui)


def edit(name: str, old: str, new: str) -> Call:
    path = f"{CWD}/{name}"
    given = {"file_path": path, "old_string": old, "new_string": new, "replace_all": False}
    return Call("Edit", given, f"The file {path} has been updated successfully.", 0.3)
