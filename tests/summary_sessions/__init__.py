"""The made sessions of ``tests/fixtures/summaries``: ``python -m tests.summary_sessions``."""
