"""Chinese numerals: what counts is a number, what is part of a word stays one."""

import pytest

from actors.evidence.claims import Claim, verify
from actors.evidence.han_numbers import read_han, spell_han
from actors.evidence.passages import Passage


@pytest.mark.parametrize(
    ("numeral", "number"),
    [
        ("三", 3), ("十", 10), ("十二", 12), ("三十", 30), ("三十九", 39), ("一百零五", 105), ("一千二百六十", 1260),
        ("两万", 20_000), ("十二万三千", 123_000), ("一亿", 100_000_000), ("二〇一二", 2012), ("百", 100),
    ],
)  # fmt: skip
def test_a_numeral_is_read(numeral: str, number: int) -> None:
    assert read_han(numeral) == number


@pytest.mark.parametrize(
    ("text", "spelled"),
    [
        ("提前三十日通知", "提前30日通知"), ("第三十九条第二款", "第39条第2款"), ("百分之五十以上", "50%以上"),
        ("三分之二", "66.67%"), ("罚款五万元", "罚款50000元"), ("罚款5万元", "罚款50000元"), ("六个月", "6个月"),
        ("二〇一二年", "2012年"), ("十六周岁", "16周岁"),
    ],
)  # fmt: skip
def test_what_counts_is_spelled_in_digits(text: str, spelled: str) -> None:
    assert spell_han(text) == spelled


@pytest.mark.parametrize("text", ["一般情况下十分重要", "万一发生", "统一安排", "三者之间", "一些人员"])
def test_what_is_part_of_a_word_stays(text: str) -> None:
    assert spell_han(text) == text


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
