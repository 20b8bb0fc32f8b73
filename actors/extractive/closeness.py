"""How near what a search found is to what was asked: sure, perhaps, or not there. Pure."""

from actors.evidence.passages import Meaning, SearchHits
from actors.evidence.places import Closeness

SURE_COVERED, SURE_NEAR = 0.6, 0.43
"""
So much of the question stands in one passage, by words, and so near it is: what is said there answers it.

Over PostgreSQL's manual (`bench.manual`) 41 of 47 such answers show a right page; none is to a question without one.
"""
LONG = 40.0
"""In nats: of a longer story so much stands together by chance (5 of 6 in office mails), so nothing is sure."""
SHORT = 28.0
"""In nats: so few or common words must stand together somewhere; a longer story uses many that no document has."""
NEAR, NEAR_SHORT = 0.37, 0.55
"""
Cosines: nothing below is shown; of a short question whose words do not stand together, nothing below the second.

Of 30 questions in everyday words 2 are lost, of 25 that have nothing to do with the manual 22 are told so.
"""
LITTLE_COVERED = 0.25
"""By words alone: with less, what stands there has nothing to do with it."""


def judge_closeness(found: SearchHits) -> Closeness:
    """Whether the places found answer what was asked, as far as words and, where it is known, meaning tell."""
    if not found.passages or _is_far(found):
        return "far"
    literal = not found.abstain and found.covered >= SURE_COVERED and found.weight <= LONG
    near = _measure_nearness(found.meaning) if found.meaning else SURE_NEAR
    return "sure" if literal and near >= SURE_NEAR else "perhaps"


def _is_far(found: SearchHits) -> bool:
    short = bool(found.abstain) and found.weight <= SHORT
    if found.meaning is None:
        return short or found.covered < LITTLE_COVERED
    return _measure_nearness(found.meaning) < (NEAR_SHORT if short else NEAR)


def _measure_nearness(meaning: Meaning) -> float:
    """Between the nearest passage's cosine and the nearest sentence's: each alone is fooled by one word in common."""
    sentence = max((each.place.score for each in meaning.sentences), default=meaning.best)
    return (meaning.best + sentence) / 2
