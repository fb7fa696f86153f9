"""Retrieval packs: ranked beliefs, rendered under one budget."""
