"""The index file: how folders become one, and how it is read."""
