"""How the sections begin that a question names."""

import sqlite3

import pytest

from actors.evidence.passages import SearchHits
from runtime.knowledge.index import index_writer
from runtime.knowledge.index.index_reader import IndexReader
from runtime.knowledge.query.search import search
from runtime.knowledge.readers.markdown_reader import read_markdown

FILLER = "The miller of the village sells bread and flour on every market day. " * 12
MILL = f"""# Tide mills
A tide mill is driven by the tide.

{FILLER}

## Restrictions
The wheel rests at high water.

{FILLER}

## gate_height (number)
The height of the gate.
"""


@pytest.fixture
def shelf() -> IndexReader:
    db = sqlite3.connect(":memory:", isolation_level=None)
    index_writer.create(db)
    folder = index_writer.add_folder(db, "notes")
    index_writer.replace(db, folder, "mill.md", "", read_markdown(MILL), keep=False)
    index_writer.forget_priors(db)
    return IndexReader(db)


def found(shelf: IndexReader, question: str, *, reads: bool = True) -> SearchHits:
    shelf.begin()
    try:
        return search(shelf, question, 10, hops=True, reads=reads)
    finally:
        shelf.end()
        shelf.close()


def openings(findings: SearchHits) -> list[str]:
    return [findings.passages[number - 1].text.partition("\n")[0] for number in findings.begins]


def test_a_section_that_the_question_names_is_found_from_its_first_sentence_on(shelf: IndexReader) -> None:
    assert "The wheel rests at high water." in openings(found(shelf, "What are the restrictions of a tide mill?"))


def test_a_document_that_the_question_names_is_found_from_its_first_sentence_on(shelf: IndexReader) -> None:
    assert "A tide mill is driven by the tide." in openings(found(shelf, "What is a tide mill?"))


def test_the_words_of_the_question_come_with_what_they_tell(shelf: IndexReader) -> None:
    told = dict(found(shelf, "What are the restrictions of a zeppelin by the village miller?").weights)
    assert told["zeppelin"] == 0.0
    assert told["restrictions"] > 0.0


def test_a_search_that_is_no_reading_looks_for_no_sections(shelf: IndexReader) -> None:
    findings = found(shelf, "What is a tide mill?", reads=False)
    assert (findings.begins, findings.weights) == ((), ())
