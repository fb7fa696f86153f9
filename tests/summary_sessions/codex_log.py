"""A Codex rollout, record by record."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any


class CodexLog:
    """Every method appends what Codex writes for it."""

    def __init__(self, session: str, cwd: str, begun: datetime) -> None:
        self.lines: list[str] = []
        self._now = begun.astimezone(UTC)
        self._cwd = cwd
        self._turn = self._calls = 0
        facts = {
            "id": session,
            "timestamp": self._stamp(),
            "cwd": cwd,
            "originator": "codex_cli_rs",
        }
        self._write("session_meta", {**facts, "cli_version": "0.106.0", "source": "cli"})

    def rules(self, text: str) -> None:
        """The project's memory file, as Codex injects it."""
        body = f"<INSTRUCTIONS>\n{text}\n</INSTRUCTIONS>"
        self._message("user", "input_text", f"# AGENTS.md instructions for {self._cwd}\n\n{body}")

    def user(self, text: str) -> None:
        """A turn begins."""
        self._turn += 1
        turn = f"turn-{self._turn}"
        self._event("task_started", turn_id=turn, model_context_window=258_400)
        self._message("user", "input_text", text)
        self._event("user_message", message=text, images=[])
        context = {"turn_id": turn, "cwd": self._cwd, "approval_policy": "on-request"}
        self._write("turn_context", {**context, "model": "gpt-5.3-codex"})

    def says(self, text: str) -> None:
        """The agent's words between calls."""
        self._message("assistant", "output_text", text)
        self._event("agent_message", message=text)

    def runs(self, command: str, output: str, code: int = 0, seconds: float = 0.4) -> None:
        """A shell command and its output."""
        call = self._call("exec_command", {"cmd": command})
        head = f"Wall time: {seconds:.4f} seconds\nProcess exited with code {code}\nOutput:\n"
        self._output("function_call_output", call, head + output)

    def plans(self, explanation: str, steps: dict[str, str]) -> None:
        """The agent's plan: each step with its status."""
        plan = [{"step": step, "status": status} for step, status in steps.items()]
        call = self._call("update_plan", {"explanation": explanation, "plan": plan})
        self._output("function_call_output", call, "Plan updated")

    def patches(self, path: str, hunk: str, *, add: bool = False) -> None:
        """A change of one file."""
        verb = "Add" if add else "Update"
        body = f"*** Begin Patch\n*** {verb} File: {path}\n{hunk}\n*** End Patch\n"
        call = self._next()
        made = {"type": "custom_tool_call", "status": "completed", "call_id": call}
        self._write("response_item", {**made, "name": "apply_patch", "input": body})
        done = f"Success. Updated the following files:\n{verb[0]} {path}\n"
        facts = {"output": done, "metadata": {"exit_code": 0, "duration_seconds": 0.0}}
        self._output("custom_tool_call_output", call, json.dumps(facts))

    def ends(self, text: str) -> None:
        """The last words of a turn."""
        self.says(text)
        self._event("task_complete", turn_id=f"turn-{self._turn}", last_agent_message=text)

    def _call(self, name: str, arguments: dict[str, Any]) -> str:
        call = self._next()
        made = {"type": "function_call", "name": name, "call_id": call}
        self._write("response_item", {**made, "arguments": json.dumps(arguments)})
        return call

    def _next(self) -> str:
        self._calls += 1
        return f"call_{self._calls:04d}"

    def _output(self, kind: str, call: str, text: str) -> None:
        self._write("response_item", {"type": kind, "call_id": call, "output": text})

    def _message(self, role: str, kind: str, text: str) -> None:
        content = [{"type": kind, "text": text}]
        self._write("response_item", {"type": "message", "role": role, "content": content})

    def _event(self, kind: str, **facts: Any) -> None:
        self._write("event_msg", {"type": kind, **facts})

    def _stamp(self) -> str:
        return self._now.strftime("%Y-%m-%dT%H:%M:%S.000Z")

    def _write(self, kind: str, payload: dict[str, Any]) -> None:
        self._now += timedelta(seconds=3)
        record = {"timestamp": self._stamp(), "type": kind, "payload": payload}
        self.lines.append(json.dumps(record, ensure_ascii=False))
