"""Looking up and searching statutes, in a worker process that keeps the file mapped and follows it when it changes."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from actors.evidence.passages import LOOKED_UP
from actors.statutes.article_parts import lacks_item, quote_part
from actors.statutes.articles import Article, FoundArticles, choose_version, find_change, find_repeal
from actors.statutes.jurisdiction import Jurisdiction, load_jurisdictions
from actors.statutes.question_day import find_question_day
from actors.statutes.references import Reference, find_references, render_reference
from runtime.statutes.article_ranking import Floats, Ranking
from runtime.statutes.shortlist import SHORTLIST, reweigh
from runtime.statutes.statute_file import FILE, StatuteFile

Mask = NDArray[np.bool_]
Days = tuple[str, ...]


class Statutes:
    """The statutes of one file."""

    def __init__(self, path: Path) -> None:
        """:raises FileNotFoundError: none were read."""
        self.file = StatuteFile(path)
        self.jurisdiction: Jurisdiction = load_jurisdictions()[0]
        self.ranking = Ranking(self.file, self.jurisdiction)
        self._names = {self.jurisdiction.squeeze(name): name for name in self.file.by_name}
        self._holds: tuple[Days, Mask] | None = None

    def search(self, question: str, days: Days, limit: int, fields: Mapping[str, float]) -> FoundArticles:
        """
        The articles that a question names, looked up, and those that fit it best; all in the version of a day.

        :param days: ISO 8601; the first of them on which a version of the law holds.
        """
        references = find_references(question, self.jurisdiction, self.find_law)
        places = [self._place(each, days) for each in references]
        named = {
            (place, each.paragraph, each.item): LOOKED_UP
            for each, place in zip(references, places, strict=True)
            if place is not None
        }
        absent = [
            each
            for each, place in zip(references, places, strict=True)
            if place is None and each.law in self.file.by_name
        ]
        missing = tuple(render_reference(each, self.jurisdiction) for each in absent)
        ends = [self._find_repeal(each.law, days) for each in absent]
        repealed = tuple((name, day) for name, day in zip(missing, ends, strict=True) if day)
        count = len(named)
        if count < limit:
            known = {place for place, _, _ in named}
            best = self._rank(question, days, limit + count, fields)
            named |= {(place, 0, 0): score for place, score in best if place not in known}
        articles = tuple(self._article(*each) for each in list(named.items())[: max(limit, count)])
        return FoundArticles(articles, count, missing, repealed, len(self.file))

    def find_miscited(self, text: str, days: Days) -> list[str]:
        """The articles that a text names and that are in force on none of these days, or not there at all."""
        references = find_references(text, self.jurisdiction, self.find_law)
        wrong = (each for each in references if all(self._place(each, (day,)) is None for day in days))
        return [render_reference(each, self.jurisdiction) for each in wrong]

    def find_law(self, name: str) -> str:
        """The name of the law that is called so; empty: there is none."""
        return self._names.get(self.jurisdiction.squeeze(name), "")

    def _place(self, reference: Reference, days: Days) -> int | None:
        """Where an article stands; None where none is in force, or it has items and not the one that is named."""
        places = self.file.by_name.get(reference.law, [])
        chosen = self._choose(places, days)
        place = None if chosen is None else self.file.find(places[chosen], reference.number, reference.sub)
        if place is None or not reference.item:
            return place
        return None if lacks_item(self.file.read(place).text, reference.item, self.jurisdiction) else place

    def _choose(self, places: Sequence[int], days: Days) -> int | None:
        """Which of a law's versions counts, by its place among them."""
        versions = [self.file.laws[each].law for each in places]
        chosen = (choose_version(versions, day) for day in days)
        return next((place for place in chosen if place is not None), None)

    def _find_repeal(self, law: str, days: Days) -> str:
        """The day from which on a law is none any more; empty where a version of it counts."""
        places = self.file.by_name[law]
        if self._choose(places, days) is not None:
            return ""
        return find_repeal([self.file.laws[each].law for each in places], days[-1])

    def _rank(self, question: str, days: Days, limit: int, fields: Mapping[str, float]) -> list[tuple[int, float]]:
        scores = self.ranking.score(question, fields)
        scores *= self._in_force(days)
        most = min(max(limit, SHORTLIST), len(scores))
        best = _sort(np.argpartition(-scores, most - 1)[:most] if most else np.empty(0, np.intp), scores)
        if not len(best):
            return []
        first = best[:SHORTLIST]
        scores[first] = reweigh(question, [self.file.read_text(place) for place in first.tolist()], scores[first])
        best = _sort(best, scores)[:limit]
        top = float(scores[best[0]])
        return [(int(place), round(float(scores[place]) / (top * 1.01), 3)) for place in best]

    def _in_force(self, days: Days) -> Mask:
        """Of each article, whether it stands in the version of its law that holds; kept for the last days."""
        if self._holds is None or self._holds[0] != days:
            holds = np.zeros(len(self.file.laws), bool)
            for places in self.file.by_name.values():
                chosen = self._choose(places, days)
                if chosen is not None:
                    holds[places[chosen]] = True
            self._holds = (days, holds[self.file.law])
        return self._holds[1]

    def _article(self, part: tuple[int, int, int], score: float) -> Article:
        place, paragraph, item = part
        number, sub, chapter, text = self.file.read(place)
        law = int(self.file.law[place])
        version = self.file.laws[law].law
        places = self.file.by_name[version.name]
        changed = find_change([self.file.laws[each].law for each in places], places.index(law))
        said = quote_part(text, paragraph, item, self.jurisdiction) if paragraph or item else ""
        reference = Reference(version.name, number, sub, *((paragraph, item) if said else (0, 0)))
        citation = render_reference(reference, self.jurisdiction)
        return Article(
            version, number, sub, chapter, said or text, citation, changed, score, reference.paragraph, reference.item
        )


def _sort(places: NDArray[np.intp], scores: Floats) -> NDArray[np.intp]:
    """Of some places those that fit at all, the best first."""
    places = places[scores[places] > 0]
    return places[np.argsort(-scores[places], kind="stable")]


_open: dict[str, tuple[tuple[int, int], Statutes]] = {}


def open_statutes(storage: str) -> Statutes:
    """The statutes of a storage folder; the same object as long as its file is the same."""
    path = Path(storage) / FILE
    known = path.stat()
    mark = (known.st_ino, known.st_mtime_ns)
    if storage not in _open or _open[storage][0] != mark:
        _open[storage] = (mark, Statutes(path))
    return _open[storage][1]


def search(storage: str, question: str, on: str, today: str, limit: int, fields: dict[str, float]) -> FoundArticles:
    """As `Statutes.search`, where statutes were read."""
    try:
        return open_statutes(storage).search(question, _list_days(question, on, today), limit, fields)
    except FileNotFoundError:
        return FoundArticles()


def find_miscited(storage: str, texts: list[str], question: str, today: str) -> list[list[str]]:
    """Of each text the articles that it names wrongly; where no statutes were read, nothing can be said of it."""
    try:
        statutes = open_statutes(storage)
    except FileNotFoundError:
        return [[] for _ in texts]
    days = _list_days(question, "", today)
    return [statutes.find_miscited(text, days) for text in texts]


def _list_days(question: str, on: str, today: str) -> Days:
    """The day that is asked for; else that of the question, and today for laws that there was not yet on that day."""
    return (on,) if on else tuple(filter(None, (find_question_day(question, today), today)))
