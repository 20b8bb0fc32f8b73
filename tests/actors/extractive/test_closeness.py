"""How near what was found is to what was asked. No rare word decides it, and no cosine alone."""

from typing import Any

import pytest

from actors.evidence.passages import Meaning, SearchHits, Sentence, Span
from actors.extractive.closeness import (
    COVERED_OF_FEW,
    FEW,
    LITTLE_COVERED,
    LONG,
    NEAR,
    NEAR_OF_FEW,
    NEAR_SHORT,
    SAID_OF_FEW,
    SHORT,
    SURE_COVERED,
    SURE_NEAR,
    judge_closeness,
    list_sharing,
)
from tests.fakes import PASSAGE

RARE = "The documents do not speak of 'tonight'."


def found(**known: Any) -> SearchHits:
    return SearchHits((PASSAGE,), **known)


def meaning(best: float, sentence: float) -> Meaning:
    return Meaning(best, (best,), (Sentence(1, Span(0, 5, sentence)),))


@pytest.mark.parametrize(
    ("found", "closeness"),
    [
        (SearchHits(covered=1.0), "far"),
        (found(covered=SURE_COVERED), "sure"),
        (found(covered=1.0, weight=LONG + 1), "perhaps"),
        (found(covered=SURE_COVERED, abstain=RARE, weight=SHORT + 1), "perhaps"),
        (found(covered=SURE_COVERED, abstain=RARE, weight=SHORT), "far"),
        (found(covered=LITTLE_COVERED, weight=SHORT), "perhaps"),
        (found(covered=LITTLE_COVERED, abstain=RARE, weight=2 * SHORT), "perhaps"),
        (found(covered=LITTLE_COVERED / 2, weight=2 * SHORT), "far"),
        (found(covered=SURE_COVERED, meaning=meaning(SURE_NEAR, SURE_NEAR)), "sure"),
        (found(covered=SURE_COVERED, meaning=meaning(SURE_NEAR - 0.02, SURE_NEAR)), "perhaps"),
        (found(covered=SURE_COVERED, meaning=meaning(0.1, 0.1)), "far"),
        (found(abstain=RARE, weight=2 * SHORT, meaning=meaning(0.9, 0.9)), "perhaps"),
        (found(abstain=RARE, weight=2 * SHORT, meaning=meaning(NEAR, NEAR)), "perhaps"),
        (found(abstain=RARE, weight=2 * SHORT, meaning=meaning(NEAR - 0.2, NEAR + 0.1)), "far"),
        (found(abstain=RARE, weight=SHORT, meaning=meaning(NEAR_SHORT, NEAR_SHORT)), "perhaps"),
        (found(abstain=RARE, weight=SHORT, meaning=meaning(0.1, 0.9)), "far"),
        (found(covered=0.1, weight=SHORT, meaning=Meaning(NEAR)), "perhaps"),
        (found(covered=1.0, unsaid="scanner"), "perhaps"),
        (found(covered=1.0, unsaid="scanner", meaning=meaning(0.9, 0.9)), "perhaps"),
    ],
)
def test_places_are_sure_perhaps_or_far(found: SearchHits, closeness: str) -> None:
    assert judge_closeness(found) == closeness


@pytest.mark.parametrize(
    ("found", "closeness"),
    [
        (found(covered=COVERED_OF_FEW, abstain=RARE, unsaid="tonight", searched=10), "perhaps"),
        (found(covered=COVERED_OF_FEW - 0.1, abstain=RARE, searched=10), "far"),
        (found(covered=COVERED_OF_FEW, abstain=RARE, searched=100), "far"),
        (found(covered=COVERED_OF_FEW, abstain=RARE, searched=FEW), "far"),
        (found(covered=SAID_OF_FEW, abstain=RARE, searched=10, meaning=meaning(0.15, 0.4)), "perhaps"),
        (found(covered=SAID_OF_FEW, unsaid="Carmen", searched=10, meaning=meaning(0.15, 0.4)), "far"),
        (found(covered=SAID_OF_FEW, abstain=RARE, searched=FEW, meaning=meaning(0.15, 0.4)), "far"),
        (found(abstain=RARE, searched=10, meaning=meaning(NEAR_OF_FEW, NEAR_OF_FEW)), "perhaps"),
        (found(abstain=RARE, searched=10, meaning=meaning(NEAR_OF_FEW, 0.1)), "far"),
        (found(covered=SURE_COVERED, searched=10, meaning=meaning(SURE_NEAR, SURE_NEAR)), "sure"),
        (found(covered=SURE_COVERED, unsaid="scanner", searched=10), "perhaps"),
    ],
)
def test_of_a_few_passages_less_is_enough_to_be_shown_but_not_to_be_sure(found: SearchHits, closeness: str) -> None:
    assert judge_closeness(found) == closeness


def test_only_passages_that_share_words_with_the_question_are_named() -> None:
    assert list_sharing(SearchHits((PASSAGE,) * 3, words=(0.0, COVERED_OF_FEW, 0.9))) == [2, 3]
