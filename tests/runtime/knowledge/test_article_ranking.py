"""Which of the articles that words find fit a question, and in which order."""

import pytest

from actors.statutes.articles import LawVersion
from actors.statutes.jurisdiction import load_jurisdictions
from runtime.knowledge.statute_search import Candidate, score_articles


def order(question: str, texts: list[str], scores: list[float]) -> list[int]:
    """The places of the texts, the best first."""
    candidates = [Candidate(LawVersion("民法典"), *each) for each in zip(texts, scores, strict=True)]
    scored = score_articles(question, candidates, {}, load_jurisdictions()[0])
    return sorted(range(len(texts)), key=lambda place: -scored[place])


def test_an_article_with_more_of_the_characters_of_a_question_comes_first_where_two_are_close() -> None:
    texts = ["出租人收取租金。", "承租人丢失或者损毁钥匙。", "房屋。"]

    assert order("租客弄丢钥匙", texts, [1.0, 0.95, 0.1]) == [1, 0, 2]
    assert order("租客弄丢钥匙", texts, [1.0, 0.3, 0.1]) == [0, 1, 2]


def test_of_two_that_fit_alike_the_one_that_is_as_the_best_are_comes_first() -> None:
    alike = ["遗嘱继承人放弃继承", "遗嘱继承人丧失继承权", "遗嘱继承人先于遗嘱人死亡"]

    assert order("？", [*alike, "船舶抵押登记", "继承人死亡"], [1.0, 1.0, 1.0, 0.5, 0.5])[3:] == [4, 3]


def test_texts_of_other_scripts_keep_their_order() -> None:
    assert order("Who pays the rent?", ["rent", "pays rent", "deposit"], [1.0, 0.9, 0.8]) == [0, 1, 2]


@pytest.mark.parametrize(
    ("question", "first", "second", "fields"),
    [
        ("甲", LawVersion("租赁法"), LawVersion("租赁条例"), {}),
        ("甲", LawVersion("租赁法", category="刑法"), LawVersion("租赁法"), {"criminal_law": 0.9}),
        ("因结婚辞退", LawVersion("职工法"), LawVersion("妇女保护法"), {}),
    ],
)
def test_of_two_that_say_the_same_the_rank_the_field_and_the_group_of_a_law_decide(
    question: str, first: LawVersion, second: LawVersion, fields: dict[str, float]
) -> None:
    candidates = [Candidate(law, "甲乙丙", 1.0) for law in (second, first)]

    other, best = score_articles(question, candidates, fields, load_jurisdictions()[0])

    assert best > 1.1 * other


def test_nothing_fits_where_words_find_nothing() -> None:
    assert score_articles("甲", [], {}, load_jurisdictions()[0]) == []
