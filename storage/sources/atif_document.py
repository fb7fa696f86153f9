"""One trajectory in the Agent Trajectory Interchange Format → steps → events, from it alone.

Source: Harbor's RFC 0001, ATIF 1.0 to 1.8. What a version adds is read wherever it stands, and
what none of them has is left alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from compress.events import ContentBlock, EventType, Role, Usage
from compress.images import image_from_url
from storage.sources.draft import NO_META, text_block, usage_of_prompt, word
from storage.sources.values import count, listing, mapping, string

STRIDE = 1 << 12
"""Block indices of one step: what is added to a document moves none."""
EXTRAS = 1 << 40
"""Block index of the first log-only event of a trajectory."""
TRAJECTORY = 1 << 44
"""Block indices of one trajectory."""
MOST_TRAJECTORIES = 500
"""Of one document; further ones stay in its raw record."""
_DEEPEST = 8


class Said(NamedTuple):
    """One event of a step."""

    type: EventType
    role: Role
    blocks: tuple[ContentBlock, ...]
    meta: Mapping[str, Any] = NO_META
    is_result: bool = False
    """What came of the step: a node of its own, where all others are its message."""


@dataclass(frozen=True, slots=True)
class Trajectory:
    """A trajectory of a document: its own, or one of a sub-agent's in it."""

    raw: Mapping[str, Any]
    name: str
    """Its id; of a sub-agent's without one, its place."""
    base: int
    """Its first block index."""
    parent: str | None
    """The trajectory that holds it, by name."""
    call: str | None
    """The call of the parent's that started it, where a result tells."""

    @property
    def steps(self) -> Sequence[Any]:
        """Its steps, in order."""
        return listing(self.raw.get("steps"))


def is_trajectory(value: Any) -> bool:
    """Whether this is such a document."""
    record = mapping(value)
    version = string(record.get("schema_version"))
    return version.upper().startswith("ATIF") and isinstance(record.get("steps"), list)


def trajectories(value: Any) -> list[Trajectory]:
    """The trajectories of a document, its own first; none where it is no such document."""
    if not is_trajectory(value):
        return []
    found = islice(_walk(mapping(value), told=True), MOST_TRAJECTORIES)
    return [
        Trajectory(raw, name, index * TRAJECTORY, parent, call)
        for index, (raw, name, parent, call) in enumerate(found)
    ]


def said(step: Any) -> list[Said]:
    """The events of a step: what was said, what was called, what came of it. None where it is no
    step."""
    fields = mapping(step)
    source = fields.get("source")
    texts = _parts(fields.get("message"))
    results = [_result(result) for result in _results(fields)]
    if source == "system":
        meta = {"source": "system"}
        found = [Said("context/message", "system", (block,), meta) for block in texts]
    elif source == "user":
        found = [Said("user/message", "user", (block,)) for block in texts]
    elif source == "agent":
        thought = string(fields.get("reasoning_content"))
        blocks = [text_block("thinking", thought)] if thought else []
        blocks += texts
        blocks += [_call(call) for call in map(mapping, listing(fields.get("tool_calls")))]
        found = [Said("assistant/message", "assistant", (block,)) for block in blocks]
        if not found:
            found = [Said("assistant/message", "assistant", ())]
    else:
        return []
    if not found and not results:
        kind: EventType = "context/message" if source == "system" else "user/message"
        found = [Said(kind, "system" if source == "system" else "user", ())]
    return found + results


def blocks_at(value: Any, block: int) -> tuple[ContentBlock, ...]:
    """The content of the event with this block index. Looks at its step alone: a document is asked
    for each of its events."""
    number, place = divmod(block, TRAJECTORY)
    known = 0 <= number < MOST_TRAJECTORIES and place < EXTRAS
    if not known or not is_trajectory(value):
        return ()
    raw = next((raw for raw, *_ in islice(_walk(mapping(value), told=False), number, None)), {})
    index, part = divmod(place, STRIDE)
    steps = listing(raw.get("steps"))
    events = said(steps[index]) if index < len(steps) else []
    return events[part].blocks if part < len(events) else ()


def usage_of(step: Mapping[str, Any]) -> Usage | None:
    """What the step's request cost. Cached tokens are a part of the prompt's. The sum over several
    requests says nothing of any of their prompts, so that these are unknown."""
    metrics = mapping(step.get("metrics"))
    prompt, cached = count(metrics.get("prompt_tokens")), count(metrics.get("cached_tokens"))
    output = count(metrics.get("completion_tokens"))
    more = mapping(metrics.get("extra"))
    written = count(more.get("cache_creation_input_tokens"))
    reasoning = count(more.get("reasoning_tokens"))
    if prompt is None and output is None:
        return None
    if (count(step.get("llm_call_count")) or 1) > 1:
        return Usage(output=output, reasoning=reasoning)
    return usage_of_prompt(prompt, output, read=cached, written=written, reasoning=reasoning)


def _walk(
    raw: Mapping[str, Any],
    name: str = "",
    parent: str | None = None,
    call: str | None = None,
    depth: int = 0,
    *,
    told: bool,
) -> Iterator[tuple[Mapping[str, Any], str, str | None, str | None]]:
    """``told``: with the calls, for which all steps are read."""
    name = word(raw.get("trajectory_id")) or word(raw.get("session_id")) or name
    yield raw, name, parent, call
    held = listing(raw.get("subagent_trajectories"))
    if depth == _DEEPEST or not held:
        return
    calls = _started(raw) if told else {}
    for index, inner in enumerate(map(mapping, held), 1):
        own = word(inner.get("trajectory_id")) or f"{name}.{index}"
        # The run's id is that of the whole run, not the sub-agent's.
        named = {**inner, "session_id": own}
        yield from _walk(named, own, name, calls.get(own), depth + 1, told=told)


def _started(raw: Mapping[str, Any]) -> dict[str, str]:
    """Sub-agent → the call whose result tells of it."""
    found: dict[str, str] = {}
    for step in map(mapping, listing(raw.get("steps"))):
        for result in _results(step):
            agent, call = _agent(result), word(result.get("source_call_id"))
            if agent is not None and call is not None:
                found.setdefault(agent, call)
    return found


def _results(step: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [mapping(r) for r in listing(mapping(step.get("observation")).get("results"))]


def _agent(result: Mapping[str, Any]) -> str | None:
    """The sub-agent that a result names: the id of its trajectory, or its file's name."""
    references = result.get("subagent_trajectory_ref")
    if isinstance(references, dict):  # before 1.7: one, not in a list
        references = [references]
    for reference in map(mapping, listing(references)):
        if name := word(reference.get("trajectory_id")):
            return name
        if path := word(reference.get("trajectory_path")):
            return PurePosixPath(path).stem or None
    return None


def _result(result: Mapping[str, Any]) -> Said:
    parts = _parts(result.get("content"))
    text = "".join(part.text for part in parts if part.kind == "text")
    images = tuple(image for part in parts for image in part.images)
    call = word(result.get("source_call_id"))
    agent = _agent(result)
    meta = {"agent": agent} if agent else NO_META
    if call is None:
        told = {**meta, "source": "observation"}
        return Said("context/message", "user", tuple(parts), told, is_result=True)
    failed = mapping(result.get("extra")).get("is_error") is True or None
    block = text_block("tool_result", text, id=call, is_error=failed, images=images)
    return Said("tool/result", "user", (block,), meta, is_result=True)


def _call(call: Mapping[str, Any]) -> ContentBlock:
    return text_block(
        "tool_call",
        id=string(call.get("tool_call_id")),
        name=string(call.get("function_name")),
        input=call.get("arguments"),
    )


def _parts(content: Any) -> list[ContentBlock]:
    if isinstance(content, str):
        return [text_block("text", content)] if content else []
    return [_part(mapping(part)) for part in listing(content)]


def _part(part: Mapping[str, Any]) -> ContentBlock:
    kind = part.get("type")
    if kind == "text":
        return text_block("text", string(part.get("text")))
    source = mapping(part.get("source"))
    if kind == "image":
        image = image_from_url(string(source.get("path")))
        media = word(source.get("media_type")) or image.media_type
        return text_block("image", images=(image.model_copy(update={"media_type": media}),))
    return text_block("opaque", name=word(kind))
