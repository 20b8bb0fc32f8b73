"""Folders of documents as a passage index (`indexing.py`), and the search over it (`port.py`)."""

from runtime.program import command

KINDS = "Markdown, text, HTML, PDF, Word, AsciiDoc or reStructuredText"
NO_INDEX = "No documents are indexed yet"
"""What a worker process says. It does not know what its user started, so the remedy is added outside of it."""


def no_index_message() -> str:
    """The same for a user, with the remedy."""
    return f"{NO_INDEX}: run {command('index FOLDER')} on a folder of {KINDS}."
