"""An own document as a page. Runs in a worker process, which keeps the index open."""

from actors.research.identity import hash_of, sketch_of
from actors.research.ports import PAGE_CHARACTERS
from actors.research.rules.compress import entities, key_points, summary
from runtime.extract.wire import Extracted
from runtime.knowledge import search


def read(database: str, source: str, question: str) -> Extracted:
    """The beginning of an indexed document, letter by letter: offsets of its passages refer to it."""
    text = search.read(database, source)
    kept = text[:PAGE_CHARACTERS]
    return Extracted(
        title="", text=kept, full_length=len(text), sha256=hash_of(text), sketch=sketch_of(kept),
        summary=summary(kept), key_points=key_points(kept, question), entities=entities(kept),
    )  # fmt: skip
