"""A text that is no page of the web, such as an own document, as what is read. Runs in a worker process."""

import msgspec

from actors.evidence.dedup import hash_of, sketch_of
from actors.evidence.entities import entities
from actors.evidence.sources import PAGE_CHARACTERS
from actors.evidence.summarize import key_points, summary
from runtime.crawl.extract.extracted import Extracted
from runtime.knowledge import index_search


def read(database: str, source: str, question: str) -> Extracted:
    """The beginning of an indexed document, letter by letter: offsets of its passages refer to it."""
    text, file = index_search.read(database, source)
    return msgspec.structs.replace(describe_text(text, question), file=file)


def describe_text(text: str, question: str, title: str = "") -> Extracted:
    """The beginning of a text as it is, with what a reader wants to know of it."""
    kept = text[:PAGE_CHARACTERS]
    return Extracted(
        title=title, text=kept, full_length=len(text), sha256=hash_of(text), sketch=sketch_of(kept),
        summary=summary(kept), key_points=key_points(kept, question), entities=entities(kept),
    )  # fmt: skip
