"""The statutes of this installation: read from Markdown files, looked up, searched."""
