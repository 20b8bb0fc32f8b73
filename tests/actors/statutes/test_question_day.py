"""The day whose law a question is about."""

import pytest

from actors.statutes.question_day import find_question_day

TODAY = "2026-03-15"


@pytest.mark.req("LG-9")
@pytest.mark.parametrize(
    ("question", "day"),
    [
        ("2019年3月5日签的合同，能解除吗？", "2019-03-05"),
        ("2015年入职，2021年6月被辞退，有补偿吗", "2021-06-30"),
        ("2007年的借款还能要回来吗", "2007-12-31"),
        ("我2001年出生，去年结婚", "2025-12-31"),
        ("前年被公司开除", "2024-12-31"),
        ("What was the law in 2018?", "2018-12-31"),
        ("I signed the lease on 3 March 2020.", "2020-03-03"),
        ("February 2024 was when they dismissed me", "2024-02-29"),
        ("2019-11-30 was the day", "2019-11-30"),
        ("작년에 해고됐어요", "2025-12-31"),
        ("2020년 5월에 계약했습니다", "2020-05-31"),
        ("2019年签的合同，2026年违约了", TODAY),
        ("2012年3月入职，2026年3月被违法辞退", TODAY),
        ("2019年签的合同，今年对方违约", TODAY),
        ("2015年签的合同，2027年到期", "2015-12-31"),
        ("I was hired in 2015 and dismissed yesterday", TODAY),
        ("I was born in 1990 and was dismissed in 2020", "2020-12-31"),
    ],
)
def test_the_latest_day_that_is_told_counts(question: str, day: str) -> None:
    assert find_question_day(question, TODAY) == day


@pytest.mark.parametrize(
    "question",
    [
        "押金怎么退？", "（2021）京01民终123号判了什么", "《宪法修正案（2004年）》第二条", "2030年到期的合同怎么办",
        "工资2000元，欠了三个月", "公司法（2018年修正）第五条", "2019年13月", "order 2019-4711", "我1990年出生",
        "我1990年3月出生的，公司辞退我", "1990年3月5日出生", "身份证 1990-01-01", "赔了2020.5万元",
        "生于1985年，想立遗嘱",
    ],
)  # fmt: skip
def test_what_is_no_day_of_the_question_does_not_count(question: str) -> None:
    assert find_question_day(question, TODAY) == ""
