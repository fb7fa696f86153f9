"""Made lines of OpenAI's batch and fine-tuning files."""

from __future__ import annotations

from typing import Any

USER = {"role": "user", "content": "hi"}
CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
USAGE = {
    "prompt_tokens": 20,
    "completion_tokens": 5,
    "prompt_tokens_details": {"cached_tokens": 8},
}


def request(name: str, url: str = "/v1/chat/completions", **body: Any) -> dict[str, Any]:
    return {"custom_id": name, "method": "POST", "url": url, "body": {"model": "m", **body}}


def result(name: str, status: int = 200, error: Any = None, **body: Any) -> dict[str, Any]:
    response = {"status_code": status, "request_id": "r", "body": body} if body else None
    return {"id": f"batch_req_{name}", "custom_id": name, "response": response, "error": error}


def choice(*messages: Any) -> list[dict[str, Any]]:
    return [
        {"index": index, "finish_reason": "stop", "message": message}
        for index, message in enumerate(messages)
    ]


def said(text: str | None, *calls: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": text, **({"tool_calls": list(calls)} if calls else {})}


def preference() -> dict[str, Any]:
    return {
        "input": {"messages": [USER], "tools": [], "parallel_tool_calls": True},
        "preferred_output": [said("good")],
        "non_preferred_output": [said("bad")],
    }


def log() -> list[dict[str, Any]]:
    """A line of every kind."""
    asked = [
        {"role": "developer", "content": "d"},
        {"role": "user", "content": [{"type": "text", "text": "hi"}, PICTURE]},
        said(None, CALL),
        {"role": "tool", "tool_call_id": "c", "content": "r"},
    ]
    items = [
        {"role": "user", "content": [{"type": "input_text", "text": "x"}]},
        {"type": "function_call", "call_id": "d", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "d", "output": "o"},
    ]
    output = [
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "so"}]},
        {"type": "web_search_call", "id": "w"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "y"}]},
    ]
    figures = {"input_tokens": 9, "output_tokens": 2, "input_tokens_details": {"cached_tokens": 4}}
    return [
        request("r-1", messages=asked),
        request("r-2", "/v1/responses", instructions="be good", input=items),
        request("r-3", "/v1/completions", prompt="once"),
        request("r-4", "/v1/responses", input="plain"),
        result("r-1", model="m-1", choices=choice(said("done"), said("or so")), usage=USAGE),
        result("r-2", model="m-1", output=output, usage=figures),
        result("r-3", choices=[{"text": " upon", "index": 0}]),
        result("r-4", error={"code": "batch_expired", "message": "too late"}),
        result("r-5", status=429, error=None, object="error"),
        preference(),
        request("e", "/v1/embeddings", input="vector"),
    ]


PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
