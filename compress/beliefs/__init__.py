"""What a log says, statement by statement, and how much of each a pack needs."""
