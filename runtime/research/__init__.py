"""The research workflow wired to the world."""
