"""The list after some records of Copilot CLI, derived a second time: all anew from the beginning.

Approximate by the same rules: a compaction leaves the user's words, the newest messages that its
counts leave, and what came since it began; a truncation takes the oldest.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Entry = tuple[str, str]
"""Role, and all texts and names of calls, joined by ``|``."""


def sent(rows: Sequence[dict[str, Any]]) -> list[Entry]:
    """What the main session's list holds after all of these rows."""
    rows = [row for row in rows if "agentId" not in row]
    rewound = _without_rewound(rows)
    instructions: dict[tuple[str, str], str] = {}
    said: list[tuple[int, str | None, Entry]] = []
    began: int | None = None
    asked: set[int] = set()
    for place, row in enumerate(rewound):
        data = row["data"]
        match row["type"]:
            case "system.message":
                instructions[data["role"], data.get("name", "")] = data["content"]
            case "user.message":
                text = data.get("transformedContent", data["content"])
                said.append((place, None, ("user", text)))
                asked.add(place)
            case "assistant.message":
                names = [f"{call['name']}:{call['toolCallId']}" for call in data["toolRequests"]]
                texts = [t for t in (data.get("reasoningText"), data["content"]) if t]
                request = data.get("apiCallId")
                entry = ("assistant", "|".join([*texts, *names]))
                same = next((i for i, s in enumerate(said) if request and s[1] == request), None)
                if same is None:
                    said.append((place, request, entry))
                else:
                    first, _, (role, before) = said[same]
                    joined = "|".join(filter(None, [before, entry[1]]))
                    said[same] = (first, request, (role, joined))
            case "tool.execution_complete":
                given = data.get("result", {}).get("content") or data["error"]["message"]
                said.append((place, None, ("user", f"{data['toolCallId']}:{given}")))
            case "session.compaction_start":
                began = place
            case "session.compaction_complete":
                start = place if began is None else began
                began = None
                if data["success"]:
                    earlier = [entry for entry in said if entry[0] < start]
                    since = [entry for entry in said if entry[0] >= start]
                    before = data.get("preCompactionMessagesLength", 0)
                    left = before - data.get("messagesRemoved", before) - len(instructions)
                    cut = len(earlier) - max(0, left)
                    kept = [e for at, e in enumerate(earlier) if at >= cut or e[0] in asked]
                    said = [(place, None, ("user", data["summaryContent"])), *kept, *since]
            case "session.truncation":
                said = said[data["messagesRemovedDuringTruncation"] :]
    told = [("system", text) for text in instructions.values()]
    return [*told, *(entry for _, _, entry in said if entry[1])]


def _without_rewound(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows without those that were taken back."""
    kept: list[dict[str, Any]] = []
    for row in rows:
        if row["type"] != "session.snapshot_rewind":
            kept.append(row)
            continue
        target = row["data"]["upToEventId"]
        places = [i for i, other in enumerate(kept) if other["id"] == target]
        if places:
            del kept[places[0] :]
    return kept
