"""Decision points: one record for each stage that a session went through, read from structured
fields only. Start at :class:`compress.decisions.harvest.Harvest`."""
