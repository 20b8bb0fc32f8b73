"""Which passages and pages answer best: full-text candidates, scored again with what FTS5 does not know."""

from collections import Counter, defaultdict
from collections.abc import Collection, Container, Iterable

import msgspec

from actors.text.tokenizer import tokens
from runtime.knowledge.index.index_reader import Candidate, IndexReader
from runtime.knowledge.query.analyze import Question

CANDIDATES = 80
"""Passages taken from each of the two full-text queries: the question's own words, and their synonyms."""

MANY_CANDIDATES = 300
"""For a topic of few, common words, whose passages of a few pages would crowd out all others."""

PASSAGE_TERMS = 90
"""Terms of a middling passage: longer ones need more mentions."""
IN_PATH, IN_TITLE = 1.6, 0.5
SATURATION = 1.2
COVERAGE = 0.6
NEAR, NEAR_TERMS = 0.35, 8
LEAF = 0.35
MORE_PASSAGES, MORE_COUNT, FADING = 0.4, 3, 0.6
TITLE = 0.3


class Hit(msgspec.Struct, frozen=True, gc=False):
    """A passage with its score."""

    id: int
    document: int
    score: float
    evidence: float
    """How much of the question it matches, as the gate measures it."""
    terms: frozenset[str]
    """All terms of passage, path and title."""
    heads: frozenset[str]
    """The terms of path and title."""


class Page(msgspec.Struct, frozen=True, gc=False):
    """A document's hits, best first, and its own score."""

    document: int
    score: float
    hits: list[Hit]


def rank(
    shelf: IndexReader, question: Question, documents: Collection[int] | None = None, *, most: int = CANDIDATES
) -> list[Page]:
    """
    All pages that share a word with the question, best first; of some documents only, if they are given.

    :param most: passages taken from each full-text query.
    """
    synonyms = [v for each in question.terms.values() for v in each.variants]
    found = {c.id: c for c in shelf.candidates(list(question.terms), most, documents)}
    found |= {c.id: c for c in shelf.candidates(synonyms, most, documents)}
    return rank_pages(shelf, question, found.values())


def rank_pages(shelf: IndexReader, question: Question, candidates: Iterable[Candidate]) -> list[Page]:
    """Passages with their scores, by page, best first."""
    pages: dict[int, list[tuple[Hit, Candidate]]] = defaultdict(list)
    for candidate in candidates:
        pages[candidate.document].append((_hit(shelf, question, candidate), candidate))
    ranked = [_page(shelf, question, hits) for hits in pages.values()]
    return sorted(ranked, key=lambda page: (-page.score, page.hits[0].id))


def _page(shelf: IndexReader, question: Question, hits: list[tuple[Hit, Candidate]]) -> Page:
    hits.sort(key=lambda pair: (-pair[0].score, pair[0].id))
    best, candidate = hits[0]
    score = best.score
    score += MORE_PASSAGES * sum(hit.score * FADING**i for i, (hit, _) in enumerate(hits[1 : 1 + MORE_COUNT]))
    score *= 1 + TITLE * _share(shelf, candidate.title.split(), question.terms)
    return Page(best.document, score, [hit for hit, _ in hits])


def _hit(shelf: IndexReader, question: Question, candidate: Candidate) -> Hit:
    title, path, body = candidate.title.split(), candidate.path.split(), candidate.body.split()
    score, matched = _mentions(shelf, question, title, path, body)
    coverage = question.coverage(matched)
    score *= 1 - COVERAGE + COVERAGE * coverage
    score += _nearness(question, body)
    variants = {v for each in question.terms.values() for v in each.variants}
    score *= 1 + LEAF * _share(shelf, tokens(candidate.leaf), variants)
    heads = frozenset(title + path)
    evidence = question.evidence(matched)
    return Hit(candidate.id, candidate.document, score * candidate.prior, evidence, heads.union(body), heads)


def _mentions(
    shelf: IndexReader, question: Question, title: list[str], path: list[str], body: list[str]
) -> tuple[float, dict[str, float]]:
    """BM25 over the terms, each by the best of its variants."""
    in_body, in_path, in_title = Counter(body), Counter(path), set(title)
    norm = 0.5 + 0.5 * len(body) / PASSAGE_TERMS
    score, matched = 0.0, dict[str, float]()
    for term, each in question.terms.items():
        best = 0.0
        for variant, strength in each.variants.items():
            mentions = in_body[variant] / norm + IN_PATH * min(in_path[variant], 2) + IN_TITLE * (variant in in_title)
            if mentions:
                weight = each.weight if variant == term else min(each.weight, shelf.rarity(variant))
                gain = strength * weight * mentions * (1 + SATURATION) / (mentions + SATURATION)
                best = max(best, gain)
                matched[term] = max(matched.get(term, 0.0), strength)
        score += best
    return score, matched


def _nearness(question: Question, body: list[str]) -> float:
    """Words that follow each other in the question and stand close together in the passage."""
    owner = {v: term for term, each in question.terms.items() for v in each.variants}
    places: dict[str, list[int]] = defaultdict(list)
    for i, word in enumerate(body):
        if word in owner and len(places[owner[word]]) < 40:
            places[owner[word]].append(i)
    score = 0.0
    for a, b in zip(question.order, question.order[1:], strict=False):
        if a != b and places[a] and places[b]:
            distance = min(abs(i - j) for i in places[a] for j in places[b])
            if distance <= NEAR_TERMS:
                score += NEAR * min(question.terms[a].weight, question.terms[b].weight) * (1 - distance / 12)
    return score


def _share(shelf: IndexReader, words: list[str], wanted: Container[str]) -> float:
    """How much of a heading, by rarity, is in the question."""
    total = sum(shelf.rarity(word) for word in words)
    return sum(shelf.rarity(word) for word in words if word in wanted) / total if total else 0.0
