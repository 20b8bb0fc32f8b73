"""What `doctor` says of the index: what it holds, and what meaning does not reach."""

from pathlib import Path
from typing import Literal

from runtime.embeddings.embedder import choose_provider
from runtime.knowledge import KINDS
from runtime.knowledge.index import BUSY_SECONDS, VERSION
from runtime.knowledge.readers.pdf_reader import INSTALL
from runtime.program import command
from runtime.settings import EmbeddingsSettings
from runtime.storage.errors import StorageError
from runtime.storage.sqlite.integrity import read_rows
from runtime.user_text import pluralize

Finding = tuple[Literal["ok", "warning", "problem"], str, str]
"""How it stands, what was found, and what to do about it."""

_HELD = """
SELECT (SELECT count(*) FROM documents WHERE reason = ''), (SELECT count(*) FROM documents WHERE reason != ''),
(SELECT count(*) FROM passages), (SELECT group_concat(path, ', ') FROM folders),
(SELECT user_version FROM pragma_user_version), (SELECT count(*) FROM documents WHERE reason LIKE '%needs pypdf%')
"""
_REACHED = """
SELECT (SELECT name FROM vector_model),
(SELECT count(*) FROM passages WHERE digest NOT IN (SELECT digest FROM vectors))
"""


def look_at_index(file: Path, settings: EmbeddingsSettings) -> Finding:
    """What the index holds, and how many of its passages are found by their words only although a model is set up."""
    try:
        rows = read_rows(file, _HELD, BUSY_SECONDS)
        if not rows or not rows[0][2]:
            remedy = f"Run {command('index FOLDER')} on a folder of {KINDS}."
            return "warning", "no documents are indexed, so only memory can answer", remedy
        documents, skipped, passages, folders, version, unread = rows[0]
        if version != VERSION:
            found = f"the index of {folders} was made by another version of Terminus"
            return "warning", found, "It is made anew by itself when a ticket is submitted, or by `index`."
        words_only = _count_without_vectors(file, settings, passages)
    except StorageError as error:
        return "problem", f"{file} cannot be read: {error}", f"Remove {file} and index the folders again."
    more = f", {skipped:,} skipped" if skipped else ""
    found = f"{pluralize(documents, 'document')}, {pluralize(passages, 'passage')}{more}, of {folders}"
    if unread:
        found = f"{found}; {pluralize(unread, 'PDF file')} not read"
        return "warning", found, f"{INSTALL}, then {command('index')} the folders again."
    if not words_only:
        return "ok", found, ""
    found = f"{found}; {words_only:,} of the passages are found by their words only"
    return "warning", found, f"Run {command('index')} on the folders: it adds what is missing."


def _count_without_vectors(file: Path, settings: EmbeddingsSettings, passages: int) -> int:
    """How many passages have no vector of the model that is set up here; none where there is no model."""
    provider = choose_provider(settings)
    if provider == "none":
        return 0
    made_by, missing = read_rows(file, _REACHED, BUSY_SECONDS)[0]
    ours = f"{provider}/{settings.model if provider == 'server' else ''}"
    return int(missing) if (made_by or "").startswith(ours) else passages
