"""Long texts cut into spans that a search can find and a pack can hold."""
