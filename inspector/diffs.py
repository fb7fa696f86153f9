"""What a preview would change, as a diff of texts: what stands now against what would stand."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from compress.compaction.values import Preview
from compress.events import ContentBlock, NodeId, Replace
from compress.tokens import compact_json
from inspector.contents import Contents
from inspector.loaded import LoadedSession
from storage.store import Store

LINES_OF_BLOCK = 400
"""Lines of one block that are compared."""
LINES = 6_000
"""Lines of all nodes together that are compared; what is beyond is named or counted."""


def preview_diff(store: Store, loaded: LoadedSession, preview: Preview, at: NodeId | None) -> str:
    """A unified diff of the region's texts, node by node; nodes that stay are one line each.
    ``at``: the moment that the preview is about, ``None`` for now.

    Raises :class:`compress.errors.StaleNodeError` where the region stands no longer.
    """
    state = loaded.plan(at)
    contents = Contents(store, loaded.record, state, measured=loaded.measured(state))
    start = state.surface.position(preview.region.start)
    stop = min(state.surface.position(preview.region.end) + 1, len(preview.fates))
    new = dict(_brought(preview))
    old: list[str] = []
    now: list[str] = []
    first = True
    for place in range(start, stop):
        fate = preview.fates[place]
        node, gone = fate.node, fate.fate not in ("kept", "pinned")
        if len(old) > LINES:
            left = f"… {stop - place:,} more nodes of the region are not compared"
            old.append(left)
            now.append(left)
            break
        if not gone:
            old.append(f"[{node}]")
        else:
            content = contents(node)
            old.append(f"[{node}] {content.events[0].type}")
            old += [line for e in content.events for b in e.blocks for line in block_lines(b)]
        # A checkpoint takes the place of its region's first node, a receipt that of its result.
        key = preview.region.start if first else node
        if key in new and (gone or first):
            now += ["[new]", *(line for block in new[key] for line in block_lines(block))]
        if not gone:
            now.append(f"[{node}]")
        first = False
    found = difflib.unified_diff(old, now, "stands now", "would stand", lineterm="", n=2)
    return "\n".join(found)


def _brought(preview: Preview) -> Iterator[tuple[NodeId, tuple[ContentBlock, ...]]]:
    """What the draft brings, by the node whose place it takes."""
    for event in preview.draft.events:
        if isinstance(event.op, Replace):
            yield event.op.start, event.blocks


def block_lines(block: ContentBlock) -> Iterator[str]:
    """The lines of a block as a diff shows them; a long one's end is only counted."""
    text = block.text
    if block.kind == "tool_call":
        text = f"{block.name} {compact_json(block.input)}"
    found = text.split("\n")
    yield from (f"  {line}" for line in found[:LINES_OF_BLOCK])
    if len(found) > LINES_OF_BLOCK:
        yield f"  … {len(found) - LINES_OF_BLOCK:,} more of {len(found):,} lines"
