"""An own document as a page. Runs in a worker process, which keeps the index open."""

from actors.evidence.dedup import hash_of, sketch_of
from actors.evidence.entities import entities
from actors.evidence.sources import PAGE_CHARACTERS
from actors.evidence.summarize import key_points, summary
from runtime.crawl.extract.extracted import Extracted
from runtime.knowledge.query import search


def read(database: str, source: str, question: str) -> Extracted:
    """The beginning of an indexed document, letter by letter: offsets of its passages refer to it."""
    text = search.read(database, source)
    kept = text[:PAGE_CHARACTERS]
    return Extracted(
        title="", text=kept, full_length=len(text), sha256=hash_of(text), sketch=sketch_of(kept),
        summary=summary(kept), key_points=key_points(kept, question), entities=entities(kept),
    )  # fmt: skip
