"""How near what a search found is to what was asked: sure, perhaps, or not there. Pure."""

import math

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

FEW = 1000
"""Passages: of fewer, nothing is near by chance as often as in a manual, and there are fewer words for one thing."""
NEAR_OF_FEW = 0.3
"""The cosine below which nothing of a few passages is shown (`bench.folders`: off topic 0.24 is the highest)."""
SAID_OF_FEW = 0.6
"""What says so much of the question, its rarest word too, is shown of a few, whatever its cosine."""
COVERED_OF_FEW, COVERED_OF_MORE = 0.35, 0.1
"""By words alone so much is enough in ten passages, and so much more for each e times as many (`bench.folders`)."""


def judge_closeness(found: SearchHits) -> Closeness:
    """Whether the places found answer what was asked, as far as words and, where it is known, meaning tell."""
    if not found.passages or _is_far(found):
        return "far"
    literal = not found.abstain and not found.unsaid and found.covered >= SURE_COVERED and found.weight <= LONG
    near = _measure_nearness(found.meaning) if found.meaning else SURE_NEAR
    return "sure" if literal and near >= SURE_NEAR else "perhaps"


def list_sharing(found: SearchHits) -> list[int]:
    """The 1-based numbers of the passages that say enough of the question to be named even where all is far."""
    return [number for number, said in enumerate(found.words, 1) if said >= COVERED_OF_FEW]


def _is_far(found: SearchHits) -> bool:
    if 0 < found.searched < FEW:
        return _is_far_of_few(found)
    short = bool(found.abstain) and found.weight <= SHORT
    if found.meaning is None:
        return short or found.covered < LITTLE_COVERED
    return _measure_nearness(found.meaning) < (NEAR_SHORT if short else NEAR)


def _is_far_of_few(found: SearchHits) -> bool:
    """An unknown word refuses nothing by itself, nor does a table that in meaning is near nothing."""
    if found.meaning is None:
        return found.covered < COVERED_OF_FEW + COVERED_OF_MORE * max(0.0, math.log(found.searched / 10))
    said = found.covered >= SAID_OF_FEW and not found.unsaid
    return not said and _measure_nearness(found.meaning) < NEAR_OF_FEW


def _measure_nearness(meaning: Meaning) -> float:
    """Between the nearest passage's cosine and the nearest sentence's: each alone is fooled by one word in common."""
    sentence = max((each.place.score for each in meaning.sentences), default=meaning.best)
    return (meaning.best + sentence) / 2
