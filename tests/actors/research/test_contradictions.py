"""Two sources that say different figures of the same thing."""

import pytest

from actors.evidence.passages import Passage
from actors.evidence.sources import Statement
from actors.research.contradictions import CONTRADICTIONS, contradictions


def said(text: str, page: str) -> Statement:
    return Statement(text, text, f"{page}#1", page)


def found(one: str, other: str, pages: tuple[str, str] = ("a", "b")) -> int:
    return len(contradictions([said(one, pages[0]), said(other, pages[1])], (), 1))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The Harbor cache holds 4096 entries by default.", "The Harbor cache holds 2048 entries by default."),
        ("A Harbor session ends after 30 minutes idle.", "A Harbor session ends after 45 minutes idle."),
        ("Harbor 3 was released to users on 4 May 2024.", "Harbor 3 was released to users on 9 May 2024."),
        ("The Harbor licence costs $20 per user.", "The Harbor licence costs $25 per user."),
    ],
)
def test_another_figure_of_the_same_thing_in_another_source_is_a_contradiction(one: str, other: str) -> None:
    (pair,) = contradictions([said(one, "a"), said(other, "b")], (), 1)
    assert (pair.one.text, pair.other.text) == (one, other)
    assert "Harbor" in pair.subject


@pytest.mark.parametrize(
    ("one", "other", "why"),
    [
        ("The cache holds 4096 entries by default.", "The cache holds 4096 entries by default.", "the same figure"),
        ("The cache holds 4096 entries by default.", "The queue holds 2048 jobs at night.", "another thing"),
        ("A session ends after 30 minutes idle.", "A session ends after 1800 seconds idle.", "the same time"),
        ("A session ends after 30 minutes idle.", "A session ends after 30 clicks idle.", "another unit"),
        ("The cache holds 4096 entries.", "The cache does not hold 2048 entries.", "a negation"),
        ("The cache holds up to 4096 entries.", "The cache holds up to 2048 entries.", "a bound"),
        ("Set cache_size of the pool to 40 pages.", "Set queue_size of the pool to 50 pages.", "another name"),
        ("Assets: Fixed assets: House — $150,000", "Assets: Fixed assets: House — $300,000", "rows of tables"),
    ],
)
def test_what_need_not_contradict_is_none(one: str, other: str, why: str) -> None:
    assert found(one, other) == 0, why


def test_a_source_does_not_contradict_itself() -> None:
    one, other = "The cache holds 4096 entries by default.", "The cache holds 2048 entries by default."
    assert found(one, other, ("a", "a")) == 0
    assert found(one, other) == 1


def test_what_bears_on_a_question_is_compared_though_nobody_quoted_it() -> None:
    text = "Some words. The Harbor cache holds 2048 entries by default."
    passage = Passage("b#1", "b", "B", "", text, 0, len(text))
    (pair,) = contradictions([said("The Harbor cache holds 4096 entries by default.", "a")], [passage], 1)
    assert (pair.other.text, pair.other.page) == ("The Harbor cache holds 2048 entries by default.", "b")


def test_contradictions_are_bounded() -> None:
    many = [said(f"The Harbor cache holds {number} entries by default.", f"p{number}") for number in range(100, 300)]
    assert len(contradictions(many, (), 1)) == CONTRADICTIONS
