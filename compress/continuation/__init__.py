"""One context to go on with: the recent turns, what must stay, what is open, what is retrieved."""
