"""Plans, to-do lists and the documents that an agent works through: their state, step by step."""
