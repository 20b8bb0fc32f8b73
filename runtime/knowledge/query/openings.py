"""How the sections begin that a question names: for reading documents that were found, not for finding them."""

from actors.evidence.heading_types import generic, is_entry
from actors.text.tokenizer import tokens
from runtime.knowledge.index.index_reader import IndexReader, Stored
from runtime.knowledge.query.analyze import Question
from runtime.knowledge.query.ranking import Page
from runtime.knowledge.query.snippets import Snippet

DOCUMENTS = 6
"""The best documents whose sections are looked at,"""
SECTIONS = 6
"""and so many of these sections."""
LEAST = 0.25
"""So much of the question stands in the last heading, or in that of the document,"""
LEAST_OF_ENTRY = 0.5
"""more where that is the entry of a reference,"""
LEAST_OF_PATH = 0.3
"""and in all the headings together."""
PATH, OPENS = 0.5, 0.1
"""What counts beside the last heading: those above it, and that it is the document's own."""
OPENING_CHARACTERS = 700


def openings(shelf: IndexReader, question: Question, pages: list[Page]) -> list[Snippet]:
    """The first paragraphs of the sections whose headings say most of the question, the best first."""
    documents = {page.document: n for n, page in enumerate(pages[:DOCUMENTS])}
    found: list[tuple[float, int]] = []
    last = (0, "")
    for passage, document, ordinal, heading, leaf in shelf.outline(documents):
        if (document, heading) == last:
            continue
        last = document, heading
        parts = heading.split(" > ")
        named = [part for part in parts if not generic(part)]
        of_leaf = _fit(question, tokens(named[-1] if generic(leaf) and named else leaf))
        of_path = question.coverage(question.matches(tokens(" ".join(parts))))
        if of_leaf >= (LEAST_OF_ENTRY if is_entry(heading) else LEAST) and of_path >= LEAST_OF_PATH:
            score = of_leaf + PATH * of_path + OPENS * (ordinal == 0) - documents[document] / 100
            found.append((-score, passage))
    best = sorted(found)[:SECTIONS]
    of = {stored.id: stored for stored in shelf.load([passage for _, passage in best])}
    return [_opening(of[passage], question, -score) for score, passage in best]


def _fit(question: Question, words: list[str]) -> float:
    """How much of the question a heading says; less when it says other things, too."""
    said = question.matches(words)
    known = sum(any(word in question.terms[term].variants for term in said) for word in words)
    return question.coverage(said) * (1 + known / len(words)) / 2 if words else 0.0


def _opening(stored: Stored, question: Question, score: float) -> Snippet:
    end = stored.units[0].end
    for unit in stored.units[1:]:
        if unit.opens or unit.end > OPENING_CHARACTERS:
            break
        end = unit.end
    terms = frozenset(stored.body_terms.split())
    return Snippet(stored, stored.units[0].start, end, score, question.matches(terms), terms)
