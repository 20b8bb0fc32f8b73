"""The shortlist of articles, ordered again by single characters."""

import numpy as np

from runtime.statutes.bigrams import characters_of
from runtime.statutes.shortlist import reweigh


def order(question: str, texts: list[str], scores: list[float]) -> list[int]:
    """The places of the texts, the best first."""
    reweighed = reweigh(question, texts, np.array(scores, np.float32)).tolist()
    return sorted(range(len(texts)), key=lambda place: -reweighed[place])


def test_characters_are_counted_each_with_its_text() -> None:
    places, codes = characters_of(["押金 a", "", "金"])

    assert [(place, chr(code)) for place, code in zip(places, codes, strict=True)] == [(0, "押"), (0, "金"), (2, "金")]


def test_an_article_with_more_of_the_characters_of_a_question_comes_first_where_two_are_close() -> None:
    texts = ["出租人收取租金。", "承租人丢失或者损毁钥匙。", "房屋。"]

    assert order("租客弄丢钥匙", texts, [1.0, 0.95, 0.1]) == [1, 0, 2]
    assert order("租客弄丢钥匙", texts, [1.0, 0.3, 0.1]) == [0, 1, 2]


def test_of_two_that_fit_alike_the_one_that_is_as_the_best_are_comes_first() -> None:
    alike = ["遗嘱继承人放弃继承", "遗嘱继承人丧失继承权", "遗嘱继承人先于遗嘱人死亡"]

    assert order("？", [*alike, "船舶抵押登记", "继承人死亡"], [1.0, 1.0, 1.0, 0.5, 0.5])[3:] == [4, 3]


def test_texts_of_other_scripts_keep_their_order() -> None:
    assert order("Who pays the rent?", ["rent", "pays rent", "deposit"], [1.0, 0.9, 0.8]) == [0, 1, 2]
