"""Templates of documents as files: those that ship, and those of the user's own folder."""
