"""Own documents and pages of the web, put together for one question."""

import pytest

from actors.evidence.passages import Passage, SearchHits, Sentence, Span
from runtime.knowledge.query.rank_fusion import merge


def found(source: str, *scores: float, quote: float = 1.0, confidence: float = 0.5) -> SearchHits:
    """Findings with passages of these scores, the first one's quote with a score of its own."""
    passages = tuple(
        Passage(f"{source}#{n}", source, source, source, "A mill.", 0, 7, "", score, (Span(0, 7, quote / (n + 1)),))
        for n, score in enumerate(scores)
    )
    return SearchHits(
        passages, "", confidence, tuple(Sentence(n, Span(0, 7, quote / n)) for n in range(1, len(scores) + 1))
    )


def test_passages_are_compared_by_what_their_quotes_say_not_by_the_size_of_their_index() -> None:
    own, web = found("own", 90.0, 45.0, quote=1.0), found("web", 9.0, 4.5, quote=1.2)

    both = merge(own, web, limit=10)

    assert [each.id for each in both.passages] == ["web#0", "own#0", "web#1", "own#1"]
    assert [each.score for each in both.passages] == sorted((each.score for each in both.passages), reverse=True)


def test_sentences_point_at_their_passages_in_the_new_order_and_those_cut_off_are_dropped() -> None:
    both = merge(found("own", 90.0, 45.0, quote=1.0), found("web", 9.0, 4.5, quote=1.2), limit=3)

    assert [both.passages[each.passage - 1].id for each in both.sentences] == ["web#0", "own#0", "web#1"]


def test_one_side_that_abstains_adds_nothing() -> None:
    silent = SearchHits(found("web", 99.0, quote=3.0).passages, "No passage of the documents covers this question.")

    for both in (merge(found("own", 5.0), silent, limit=10), merge(silent, found("own", 5.0), limit=10)):
        assert both == found("own", 5.0)


def test_when_both_abstain_the_one_that_came_nearer_says_why() -> None:
    near = SearchHits(found("own", 5.0, quote=0.9).passages, "No passage on 'SQL Server' was found.")
    far = SearchHits(found("web", 5.0, quote=0.2).passages, "No passage of the documents covers this question.")

    assert merge(near, far, limit=10) == merge(far, near, limit=10) == near


@pytest.mark.parametrize("limit", [1, 2, 3])
def test_there_are_never_more_passages_than_asked_for(limit: int) -> None:
    assert len(merge(found("own", 3.0, 2.0), found("web", 3.0, 2.0), limit=limit).passages) == limit


def test_the_greater_confidence_counts() -> None:
    assert merge(found("own", 1.0, confidence=0.2), found("web", 1.0, confidence=0.7), limit=5).confidence == 0.7


def test_nothing_read_is_said() -> None:
    assert merge(SearchHits(), SearchHits(), limit=5).abstain == "Nothing was read."
