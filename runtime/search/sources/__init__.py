"""One file a source of searches: its name is the file's, and its `SOURCE` the record that says all about it."""

from pathlib import Path


def names() -> list[str]:
    """The names of all sources, by the names of their files: nothing is imported, so that help costs nothing."""
    return sorted({file.stem for folder in __path__ for file in Path(folder).glob("[a-z]*.py")})
