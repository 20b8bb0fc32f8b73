"""One file a tool: its name is the file's, and its `TOOL` the record that says all about it."""

from pathlib import Path


def names() -> list[str]:
    """The names of all tools that ship, by the names of their files: nothing is imported."""
    return sorted({file.stem for folder in __path__ for file in Path(folder).glob("[a-z]*.py")})
