"""Paths of files that are never opened: readers are handed records."""

from __future__ import annotations

from pathlib import Path

NOWHERE = Path("rollout-2026-01-01T00-00-00-made.jsonl")
