"""Chinese numerals: what counts is a number, what is part of a word stays one."""

import pytest

from actors.evidence.claims import Claim, verify
from actors.evidence.facts import facts
from actors.evidence.passages import Passage


@pytest.mark.parametrize(
    ("numerals", "digits"),
    [
        ("提前三十日通知", "提前30日通知"), ("第三十九条第二款", "第39条第2款"), ("百分之五十以上", "50%以上"),
        ("罚款五万元", "罚款50000元"), ("罚款5万元", "罚款50000元"), ("六个月", "6个月"), ("二〇一二年", "2012年"),
        ("十六周岁", "16周岁"), ("一百零五天", "105天"), ("一千二百六十元", "1260元"), ("两万元", "20000元"),
        ("十二万三千元", "123000元"), ("一亿元", "100000000元"),
    ],
)  # fmt: skip
def test_what_counts_is_the_number_that_digits_say(numerals: str, digits: str) -> None:
    assert facts(numerals).quantities == facts(digits).quantities != frozenset()


@pytest.mark.parametrize("text", ["一般情况下十分重要", "万一发生", "统一安排", "三者之间", "一些人员"])
def test_what_is_part_of_a_word_stays(text: str) -> None:
    assert facts(text).quantities == frozenset()


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        ("用人单位应当提前三十日书面通知劳动者。", "supported"), ("用人单位应当提前30日书面通知劳动者。", "supported"),
        ("用人单位应当提前六十日书面通知劳动者。", "contradicted"),
        ("用人单位应当提前13日书面通知劳动者。", "contradicted"),
    ],
)  # fmt: skip
def test_a_statement_with_another_time_limit_than_its_article_is_no_statement_of_it(claim: str, verdict: str) -> None:
    text = "用人单位应当提前三十日以书面形式通知劳动者。"

    assert verify(Claim(claim, 1, text), [Passage("", "", "", "", text, 0, len(text))]) == verdict
