"""
Looking up and searching statutes, in a worker process that keeps the index open. At the end which of the articles that
words find fit a question: by the rank of a law, its field, and what the best of them share.
"""

import functools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from actors.evidence.passages import BELOW, LOOKED_UP
from actors.statutes.articles import Article, FoundArticles, LawVersion, choose_version, find_change, find_repeal
from actors.statutes.jurisdiction import Jurisdiction, load_jurisdictions
from actors.statutes.question_day import find_question_day
from actors.statutes.references import Reference, find_references, lacks_item, quote_part, render_reference
from actors.text.tokenizer import is_cjk, tokens
from runtime.knowledge.find_passages import CANDIDATES
from runtime.knowledge.index import Index
from runtime.knowledge.law_reader import STATUTES

QUESTION_CHARACTERS = 2_000
DAYS = 8
"""Of so many it is remembered which versions of laws count."""
TERMS = 48
"""Of a question, the rarest (bench.statutes: all of them find no more)."""
FIELD = 0.5
"""How much more an article of a field counts that the question is surely of (bench.statutes: R@10 +.03)."""
OUTSIDE = 0.7
"""
What an article counts whose law is for a group that the question does not name, as women or ships (R@10 +.005). Without
it a man's dismissal found the law that protects women.
"""
SHORTLIST = 100
"""So many articles are ordered again by single characters, which say less than pairs do."""
BEST = 5
"""What so many of the best ones have in common says what is asked."""
SHARES = 0.6
"""
What an article gains that has most of the question's characters, and one that is most as the best ones are: R@10 of
STARD +.03. Chosen by one half of it, judged by the other (bench.statutes --half).
"""

Days = tuple[str, ...]
Floats = NDArray[np.float64]


class Statutes:
    """The statutes as the index has them; articles are called by the numbers of their passages, laws by documents."""

    def __init__(self, shelf: Index) -> None:
        """:param shelf: within its `reading`, as whenever this is asked."""
        self._shelf, self._jurisdiction = shelf, load_jurisdictions()[0]
        self._laws = {law: msgspec.msgpack.decode(about, type=LawVersion) for law, about in shelf.list_about()}
        self._by_name: dict[str, list[int]] = {}
        for law, version in self._laws.items():
            self._by_name.setdefault(version.name, []).append(law)
        self._find_in_force = functools.lru_cache(DAYS)(self._list_in_force)
        self._names = {self._jurisdiction.squeeze(name): name for name in self._by_name}

    def search(self, question: str, days: Days, limit: int, fields: Mapping[str, float]) -> FoundArticles:
        """
        The articles that a question names, looked up, and those that fit it best; all in the version of a day.

        :param days: ISO 8601; the first of them on which a version of the law holds.
        """
        references = self._find_references(question)
        places = {each: self._find_place(each, days) for each in references}
        named = {
            (place, each.paragraph, each.item): LOOKED_UP for each, place in places.items() if place is not None
        }  # fmt: skip
        absent = [each for each, place in places.items() if place is None and each.law in self._by_name]
        missing = tuple(render_reference(each, self._jurisdiction) for each in absent)
        ends = [
            "" if self._choose(each.law, days) else find_repeal(self._list_versions(each.law), days[-1])
            for each in absent
        ]
        repealed = tuple((name, day) for name, day in zip(missing, ends, strict=True) if day)
        strange = dict.fromkeys(each.law for each in references if each.law not in self._by_name)
        unknown = tuple(name for name in strange if self._jurisdiction.is_law(name))
        count = len(named)
        if count < limit:
            known = {place for place, _, _ in named}
            best = self._rank(question, days, limit + count, fields)
            named |= {(place, 0, 0): score for place, score in best if place not in known}
        articles = tuple(self._load(*each) for each in list(named.items())[: max(limit, count)])
        return FoundArticles(articles, count, missing, repealed, unknown, self._shelf.passages)

    def find_miscited(self, text: str, days: Days) -> list[str]:
        """The articles that a text names and that are in force on none of these days, or not there at all."""
        wrong = (
            each for each in self._find_references(text) if all(self._find_place(each, (day,)) is None for day in days)
        )
        return [render_reference(each, self._jurisdiction) for each in wrong]

    def _find_references(self, text: str) -> tuple[Reference, ...]:
        return find_references(
            text, self._jurisdiction, lambda name: self._names.get(self._jurisdiction.squeeze(name), "")
        )

    def _list_versions(self, name: str) -> list[LawVersion]:
        return [self._laws[law] for law in self._by_name.get(name, [])]

    def _choose(self, name: str, days: Days) -> int | None:
        """Which of a law's versions counts."""
        versions = self._list_versions(name)
        chosen = (choose_version(versions, day) for day in days)
        place = next((place for place in chosen if place is not None), None)
        return None if place is None else self._by_name[name][place]

    def _list_in_force(self, days: Days) -> set[int] | None:
        """The versions of laws that count; None: there are no others."""
        laws = {law for name in self._by_name if (law := self._choose(name, days)) is not None}
        return None if len(laws) == len(self._laws) else laws

    def _find_place(self, reference: Reference, days: Days) -> int | None:
        """Where an article stands; None where none is in force, or it has items and not the one that is named."""
        law = self._choose(reference.law, days)
        place = None if law is None else self._shelf.find_passage(law, f"{reference.number}.{reference.sub}")
        if place is None or not reference.item:
            return place
        text = self._shelf.load_parts([place])[place].text
        return None if lacks_item(text, reference.item, self._jurisdiction) else place

    def _rank(self, question: str, days: Days, limit: int, fields: Mapping[str, float]) -> list[tuple[int, float]]:
        terms = tokens(question[:QUESTION_CHARACTERS])
        meant = (term for word in self._jurisdiction.translate(question) for term in tokens(word))
        terms += dict.fromkeys(term for term in meant if term not in terms)
        telling = self._shelf.find_telling(terms, TERMS)
        found = self._shelf.match(telling, CANDIDATES, self._find_in_force(days))
        places = [place for place, _ in found]
        parts = self._shelf.load_parts(places)
        candidates = [Candidate(self._laws[parts[place].document], parts[place].text, score) for place, score in found]
        scores = score_articles(question, candidates, fields, self._jurisdiction)
        best = sorted(zip(scores, places, strict=True), key=lambda each: -each[0])[:limit]
        return [(place, round(score / (best[0][0] * 1.01), 3)) for score, place in best]

    def _load(self, part: tuple[int, int, int], score: float) -> Article:
        place, paragraph, item = part
        its = self._shelf.load_parts([place])[place]
        law, (number, sub) = self._laws[its.document], map(int, its.anchor.split("."))
        changed = find_change(self._list_versions(law.name), self._by_name[law.name].index(its.document))
        said = quote_part(its.text, paragraph, item, self._jurisdiction) if paragraph or item else ""
        reference = Reference(law.name, number, sub, *((paragraph, item) if said else (0, 0)))
        chapter = its.heading.removeprefix(law.name).removeprefix(BELOW)
        citation = render_reference(reference, self._jurisdiction)
        return Article(
            law, number, sub, chapter, said or its.text, citation, changed, score, reference.paragraph, reference.item
        )


def search(storage: str, question: str, on: str, today: str, limit: int, fields: dict[str, float]) -> FoundArticles:
    """As `Statutes.search`, where statutes were read."""
    with STATUTES.open(Path(storage)) as shelf:
        if shelf is None:
            return FoundArticles()
        statutes = shelf.recall("statutes", lambda: Statutes(shelf))
        return statutes.search(question, _list_days(question, on, today), limit, fields)


def find_miscited(storage: str, texts: list[str], question: str, today: str) -> list[list[str]]:
    """Of each text the articles that it names wrongly; where no statutes were read, nothing can be said of it."""
    with STATUTES.open(Path(storage)) as shelf:
        if shelf is None:
            return [[] for _ in texts]
        statutes, days = shelf.recall("statutes", lambda: Statutes(shelf)), _list_days(question, "", today)
        return [statutes.find_miscited(text, days) for text in texts]


def _list_days(question: str, on: str, today: str) -> Days:
    """The day that is asked for; else that of the question, and today for laws that there was not yet on that day."""
    return (on,) if on else tuple(filter(None, (find_question_day(question, today), today)))


class Candidate(NamedTuple):
    """An article that words find."""

    law: LawVersion
    text: str
    score: float
    """How well its words fit, above 0."""


def score_articles(
    question: str, candidates: Sequence[Candidate], fields: Mapping[str, float], jurisdiction: Jurisdiction
) -> list[float]:
    """
    How well each article fits.

    :param fields: the fields of law that the question is of, each with how sure that is, 0 to 1.
    """
    outside = [
        names
        for names, said in jurisdiction.pair_groups()
        if not any(word in question for word in said)
    ]  # fmt: skip
    scores = np.array([each.score * _weigh(each.law, fields, outside, jurisdiction) for each in candidates])
    first = np.argsort(-scores, kind="stable")[:SHORTLIST]
    scores[first] = _compare(question, [candidates[place].text for place in first], scores[first])
    scored: list[float] = scores.tolist()
    return scored


def _weigh(
    law: LawVersion, fields: Mapping[str, float], outside: Sequence[Sequence[str]], jurisdiction: Jurisdiction
) -> float:
    its = 1 + FIELD * fields.get(jurisdiction.categories.get(law.category, ""), 0.0)
    groups = sum(any(word in law.name for word in names) for names in outside)
    return jurisdiction.weigh(law.name) * its * OUTSIDE**groups


def _compare(question: str, texts: Sequence[str], scores: Floats) -> Floats:
    """
    The scores of some articles by what they share with the question, and with the best of them.

    :param texts: of the articles, the best first.
    """
    columns = {letter: n for n, letter in enumerate(sorted(filter(is_cjk, {*"".join(texts)})))}
    has = np.zeros((len(texts), len(columns)))
    for row, text in enumerate(texts):
        has[row, [columns[letter] for letter in {*text} & columns.keys()]] = 1.0
    count = has.sum(axis=0)
    has *= np.log(1 + (len(texts) - count + 0.5) / (count + 0.5))
    asked = has[:, [columns[letter] for letter in {*question} & columns.keys()]].sum(axis=1)
    has /= np.maximum(np.linalg.norm(has, axis=1, keepdims=True), 1e-6)
    alike = has @ (scores[:BEST] @ has[:BEST])
    gains: Floats = sum((each / max(1e-6, each.max(initial=0.0)) for each in (asked, alike)), np.zeros(len(texts)))
    return scores * (1 + SHARES * gains)
