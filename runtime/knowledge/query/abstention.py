"""Whether the passages found speak of what is asked at all, and how far above the noise they stand."""

import math
from itertools import pairwise

from actors.evidence.passages import Reason
from actors.text.sentences import split_sentences
from actors.text.stop_words import EVERYDAY
from actors.text.tokenizer import is_cjk, runs, tokens
from runtime.knowledge.index.index_reader import IndexReader
from runtime.knowledge.query.analyze import Question
from runtime.knowledge.query.ranking import Page
from runtime.knowledge.query.snippets import Snippet

COVERAGE = 0.55
"""So much of the question, by weight, must be matched by one passage of the best pages (`bench.manual`: .6 refuses two
questions more that have no answer, but five of 47 on Chinese law that have one; .65 three of 44 on PostgreSQL);"""
FEW_PASSAGES, COVERAGE_OF_FEW = 1000, 0.45
"""of a few passages less: they have fewer words for a thing, and fewer that match by chance."""
COVERED_ALL_THE_SAME = 0.75
"""From here on an unknown word of the question, if it is no name, does not matter."""
PAGES = 3
NO_COINCIDENCE = 1.0
"""In nats: so much rarer than one in the collection is a passage that says so many of these words, whichever they are
(`bench.manual`, all sets: 14 of 55 wrong answers less than where a choice is taken for the only one, no right one)."""
NAME_RARITY = 8.0
NEAR_WORDS = 3
SUBJECT_RARITY = 3.0
"""A name that stands in one passage of twenty is what the documents are about, and says nothing by itself."""
OTHER_PAGE = 0.5
ENOUGH_EVIDENCE = 18.0
"""So many nats (inverse frequencies, added up) of literally matching words are no coincidence."""


def abstain(
    shelf: IndexReader, question: Question, pages: list[Page], chain: list[Page] | None = None
) -> Reason | None:
    """
    Why these pages are no answer; None when they may be one.

    :param chain: pages of which none may say it all: what they say together counts as if one of them did. With one,
        even if it is empty, an unknown word of a few passages is no reason by itself: they have few words for a thing.
    """
    if not pages or not question.terms:
        return Reason("nothing_near")
    top = pages[:PAGES] + (chain or [])
    have = frozenset[str]().union(*(hit.terms for page in top for hit in page.hits))
    covered = max(page.hits[0].evidence for page in top)
    if chain:
        said = frozenset[str]().union(*(page.hits[0].terms for page in chain))
        covered = max(covered, question.evidence(question.matches(said)))
    strange = _strange(shelf, question)
    telling = _telling(shelf, question, top, strange)
    vague = chain is None or shelf.passages >= FEW_PASSAGES
    for term in strange:
        if term not in have and (term in question.names or (vague and covered < COVERED_ALL_THE_SAME and not telling)):
            return Reason("no_word", question.words.get(term, term))
    for term in question.names:
        variants = question.terms[term].variants
        if shelf.rarity(term) < NAME_RARITY and not any(v in have for v in variants):
            return Reason("no_passage_with", question.words.get(term, term))
    if covered < (COVERAGE if shelf.passages >= FEW_PASSAGES else COVERAGE_OF_FEW) and not telling:
        return Reason("not_covered")
    solid = [term for term, each in question.terms.items() if not each.weak]
    if len(solid) == 1 and not any(question.matches(page.hits[0].heads).get(solid[0]) for page in top):
        return Reason("in_passing", question.words.get(solid[0], solid[0]))
    return None


def missing_pair(
    shelf: IndexReader, question: Question, quoted: list[Snippet], *, names: bool = False
) -> Reason | None:
    """
    A name with the word behind it, such as "SQL Server", must stand together in what is quoted.

    :param names: only where that word is written like a name, too.
    """
    for first, second, written in _compounds(question):
        if names and not written.rpartition(" ")[2][0].isupper():
            continue
        known = shelf.frequency(first) > shelf.by_chance and shelf.rarity(first) > SUBJECT_RARITY
        if known and not any(_together(w, first, second) for w in quoted):
            return Reason("no_passage_on", written)
    return None


def confidence(question: Question, pages: list[Page], quoted: list[Snippet]) -> float:
    """
    How far the best quote stands above noise: the share of the question that it and its headings say literally.

    Synonyms do not count. Few or common words are little evidence, and so is a quote that is not of the best page.
    """
    if not quoted or not pages:
        return 0.0
    best = quoted[0]
    have = best.terms.union(best.passage.path_terms.split())
    literal = question.coverage({term: 1.0 for term in question.terms if term in have})
    heavy = (term for term, each in question.terms.items() if term in have and not each.weak)
    evidence = sum(question.terms[term].weight * (0.5 if is_cjk(term) else 1.0) for term in heavy)
    share = 1.0 if best.passage.document == pages[0].document else OTHER_PAGE
    return round(literal * share * min(1.0, evidence / ENOUGH_EVIDENCE), 4)


def _telling(shelf: IndexReader, question: Question, top: list[Page], strange: list[str]) -> bool:
    """Whether a best passage says so many rare words of what is asked that it cannot be by chance, of however many."""
    solid = (term for term, each in question.terms.items() if each.gated and not each.weak)
    heavy = [term for term in solid if shelf.frequency(term) or term in strange]
    said = ([term for term in heavy if term in page.hits[0].terms] for page in top)
    most = max(
        sum(shelf.rarity(term) * (0.5 if is_cjk(term) else 1.0) for term in terms)
        - math.log(math.comb(len(heavy), len(terms)))
        for terms in said
    )
    return most - math.log(shelf.passages) >= NO_COINCIDENCE


def _strange(shelf: IndexReader, question: Question) -> list[str]:
    """Words of the question, but those of any talk, that the documents (almost) never have, names first."""
    found: list[str] = []
    for word in map(str.lower, runs(question.core)):
        if word in EVERYDAY or is_cjk(word) or word.isdigit():
            continue
        for term in tokens(word):
            known = question.terms.get(term)
            if known is not None and not any(shelf.frequency(v) > shelf.by_chance for v in known.variants):
                found.append(term)
    return sorted(found, key=lambda term: term not in question.names)


def _compounds(question: Question) -> list[tuple[str, str, str]]:
    words, found = runs(question.core), []
    for a, b in pairwise(words):
        one, two = tokens(a), tokens(b)
        if not one or not two or len(b) < 3 or is_cjk(a) or is_cjk(b):
            continue
        everyday = a.lower() in EVERYDAY or b.lower() in EVERYDAY
        if one[0] in question.names and not everyday and f"{a} {b}" in question.core:
            found.append((one[0], two[0], f"{a} {b}"))
    return found


def _together(window: Snippet, first: str, second: str) -> bool:
    for part in (window.passage.heading, *split_sentences(window.passage.text, lines=True)):
        words = tokens(part)
        ones = [i for i, word in enumerate(words) if word == first]
        twos = [i for i, word in enumerate(words) if word == second]
        if any(abs(i - j) <= NEAR_WORDS for i in ones for j in twos):
            return True
    return False
