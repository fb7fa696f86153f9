"""Availability of identifiers after a compaction. See ``__main__`` for what is measured."""
