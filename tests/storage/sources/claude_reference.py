"""The agent's derivation on resume, written plainly from its rules, over the raw records only.

Slow and from scratch at every call: what the incremental reader must equal at every prefix.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

Raw = dict[str, Any]


def index(rows: Sequence[Any]) -> dict[str, Raw]:
    """Records by id in file order; a later record of the same id takes the earlier's place."""
    return {r["uuid"]: r for r in rows if isinstance(r, dict) and r.get("uuid")}


def standing(rows: Sequence[Any]) -> list[str]:
    """Ids of the records that stand, in the order of the path, recovered siblings included."""
    rows_by_id = index(rows)
    groups, results = _groups(rows_by_id), _results(rows_by_id)
    leaf = _leaf(rows, rows_by_id)
    path, boundary = _path(rows_by_id, leaf)
    path = _preserve(rows_by_id, path, boundary)
    path += _trail(rows_by_id, leaf, set(path))
    on_path = set(path)
    anchors = {_group(rows_by_id[u]): u for u in path if _group(rows_by_id[u])}
    found: list[str] = []
    for uuid in path:
        found.append(uuid)
        group = _group(rows_by_id[uuid])
        if group and anchors[group] == uuid:
            siblings = groups[group]
            below = [u for u, parent in results.items() if parent in siblings]
            found.extend(u for u in [*siblings, *below] if u not in on_path)
    return found


def nodes(rows: Sequence[Any]) -> Iterator[list[str]]:
    """The records that stand, all records of one message together at the place of its first."""
    rows_by_id = index(rows)
    groups = _groups(rows_by_id)
    emitted: set[str] = set()
    for uuid in standing(rows):
        if uuid not in emitted:
            members = groups.get(_group(rows_by_id[uuid]) or "", [uuid])
            emitted.update(members)
            yield members


def _groups(rows_by_id: dict[str, Raw]) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for uuid, row in rows_by_id.items():
        group = _group(row)
        if group:
            groups.setdefault(group, []).append(uuid)
    return groups


def _results(rows_by_id: dict[str, Raw]) -> dict[str, str | None]:
    """Records with tool results → their parents, in file order."""
    return {u: r.get("parentUuid") for u, r in rows_by_id.items() if _has_results(r)}


def _is_message(row: Raw) -> bool:
    return row.get("type") in ("user", "assistant")


def _is_boundary(row: Raw) -> bool:
    return row.get("subtype") == "compact_boundary"


def _group(row: Raw) -> str | None:
    return row["message"].get("id") if row.get("type") == "assistant" else None


def _has_results(row: Raw) -> bool:
    content = row["message"]["content"] if row.get("type") == "user" else ()
    return any(isinstance(b, dict) and b.get("type") == "tool_result" for b in content)


def _leaf(rows: Sequence[Any], rows_by_id: dict[str, Raw]) -> str | None:
    messages = [u for u, r in rows_by_id.items() if _is_message(r)]
    for row in reversed(rows):
        target = row.get("leafUuid") if row.get("type") == "last-prompt" else None
        if target in rows_by_id:
            below = {target}
            size = 0
            while size != len(below):
                size = len(below)
                below |= {u for u, r in rows_by_id.items() if _link(r) in below}
            return next((u for u in reversed(messages) if u in below), target)
    return messages[-1] if messages else None


def _link(row: Raw) -> str | None:
    """The parent, or for a boundary without one the record that it was written after."""
    return row.get("parentUuid") or (row.get("logicalParentUuid") if _is_boundary(row) else None)


def _path(rows_by_id: dict[str, Raw], leaf: str | None) -> tuple[list[str], Raw | None]:
    path: dict[str, None] = {}
    uuid = leaf
    while uuid in rows_by_id and uuid not in path:
        if _is_boundary(rows_by_id[uuid]):
            return list(path)[::-1], rows_by_id[uuid]
        path[uuid] = None
        uuid = rows_by_id[uuid].get("parentUuid")
    return list(path)[::-1], None


def _preserve(rows_by_id: dict[str, Raw], path: list[str], boundary: Raw | None) -> list[str]:
    metadata = (boundary or {}).get("compactMetadata") or {}
    segment = metadata.get("preservedSegment")
    if not segment or segment["anchorUuid"] not in path:
        return path
    kept: list[str] = []
    uuid = segment["tailUuid"]
    while uuid in rows_by_id and uuid not in kept and uuid not in path:
        kept.append(uuid)
        if uuid == segment["headUuid"]:
            break
        uuid = rows_by_id[uuid].get("parentUuid")
    place = path.index(segment["anchorUuid"]) + 1
    return [*path[:place], *kept[::-1], *path[place:]]


def _trail(rows_by_id: dict[str, Raw], leaf: str | None, path: set[str]) -> list[str]:
    """What stands behind the leaf in a straight line and is no message."""
    order = list(rows_by_id)
    tip, found = leaf, []
    for uuid in order[order.index(leaf) + 1 :] if leaf else order:
        row = rows_by_id[uuid]
        if _is_message(row) or _is_boundary(row) or uuid in path:
            continue
        if tip is None or row.get("parentUuid") == tip:
            tip = uuid
            found.append(uuid)
    return found
