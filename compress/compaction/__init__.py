"""Compaction: what is replaced by what, previewed as a value and committed as an operation."""
