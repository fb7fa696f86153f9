"""Records as they come in many sessions of Claude Code."""

from __future__ import annotations

from tests.storage.decisions.expected import Point, Told


def refused(title: str, call: int, result: int, why: str | None, words: str = "") -> Point:
    return Point(
        "approval",
        Told(title, [call]),
        "aborted",
        first=call,
        end=result,
        summary=Told(title, [call]),
        why=Told(why, [call]) if why else None,
        decided=[result],
        steering=[("rejection", words, [result])],
        evidence=[("decision", "rejected", [result])],
    )


def done_item(
    title: str,
    first: int,
    end: int,
    files: dict[str, tuple[str, list[int]]],
    words: Told | None = None,
) -> Point:
    """An item of which nothing says how it went, but which files it changed."""
    changed = sorted(line for _, lines in files.values() for line in lines)
    by_files = Told("created " if "created" in str(files) else "changed ", changed)
    return Point(
        "plan_item",
        Told(title, [first]),
        "unknown",
        first=first,
        end=end,
        summary=words or (by_files if files else Told(title, [first])),
        evidence=[("status", "completed", [end])],
        files=files,
    )
