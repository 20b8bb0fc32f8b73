"""Folders of documents as an index of passages, and the search over it."""

import msgspec

from runtime.program import command

FILE, LAWS_FILE, CASES_FILE = "knowledge.db", "statutes.db", "cases.db"
"""The indexes of a storage folder."""
KINDS = "Markdown, text, HTML, PDF, Word or reStructuredText"
NO_INDEX = "No documents are indexed yet"
"""What a worker process says. It does not know what its user started, so the remedy is added outside of it."""


def no_index_message() -> str:
    """The same for a user, with the remedy."""
    return f"{NO_INDEX}: run {command('index FOLDER')} on a folder of {KINDS}."


class QuestionVector(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What a question means, on its way into a worker process."""

    model: str
    """Only vectors that this model made can be compared with it."""
    vector: bytes
    """Empty: there is none."""
    failure: str = ""
    """Why, in a sentence."""
    floor: float = 0.0
    """What may answer it has this cosine with it, at least: as its model has it."""
    any_language: bool = False
    """What may answer it may be in another language."""
