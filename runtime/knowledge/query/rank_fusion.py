"""What two indexes found for one question, made comparable and put together. Pure."""

import msgspec

from actors.evidence.passages import Meaning, SearchHits, Sentence
from actors.evidence.shortfalls import merge_shortfalls

SENTENCES = 8


def merge(own: SearchHits, web: SearchHits, *, limit: int) -> SearchHits:
    """
    The passages of both, best first.

    Scores of passages depend on the size of their index; scores of quotes are shares of the question and do not. So
    a side's passages are scaled to its best quote. A side that abstains adds nothing to one that does not.
    """
    incomplete = merge_shortfalls(own.incomplete, web.incomplete)
    sides = [each for each in (own, web) if each.passages or each.abstain]
    sides = [each for each in sides if not each.abstain] or sides
    if len(sides) < 2 or any(each.abstain for each in sides):
        best = max(sides, key=_strength, default=SearchHits(abstain="Nothing was read."))
        return msgspec.structs.replace(best, incomplete=incomplete)
    rows = [
        (-_scale(side) * passage.score, n, number, passage)
        for n, side in enumerate(sides)
        for number, passage in enumerate(side.passages, 1)
    ]
    rows = sorted(rows, key=lambda row: row[:3])[:limit]
    passages = tuple(msgspec.structs.replace(passage, score=round(-score, 4)) for score, _, _, passage in rows)
    places = {(n, number): place for place, (_, n, number, _) in enumerate(rows, 1)}
    said = [
        (n, msgspec.structs.replace(each, passage=places[n, each.passage]))
        for n, side in enumerate(sides)
        for each in side.sentences
        if (n, each.passage) in places
    ]
    said.sort(key=lambda pair: (-pair[1].place.score, pair[0], pair[1].passage, pair[1].place.start))
    sentences: tuple[Sentence, ...] = tuple(each for _, each in said[:SENTENCES])
    begins = tuple(
        sorted(places[n, number] for n, side in enumerate(sides) for number in side.begins if (n, number) in places)
    )
    weights = tuple({word: weight for side in sides for word, weight in side.weights}.items())
    nearest = max((side.meaning.best for side in sides if side.meaning), default=None)
    meaning = None if nearest is None else Meaning(nearest)
    sure = max(each.confidence for each in sides)
    words = tuple(sides[n].words[number - 1] for _, n, number, _ in rows) if all(each.words for each in sides) else ()
    return SearchHits(passages, "", sure, sentences, begins, weights, meaning, incomplete, words=words)


def _strength(side: SearchHits) -> float:
    return max((place.score for passage in side.passages for place in passage.quotes), default=0.0)


def _scale(side: SearchHits) -> float:
    best = max((passage.score for passage in side.passages), default=0.0)
    return _strength(side) / best if best else 0.0
