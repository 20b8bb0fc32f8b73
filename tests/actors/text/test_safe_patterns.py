"""A regular expression that a person wrote is refused where it could search for hours, and only there."""

import re
import time

import pytest

from actors.text.safe_patterns import CHARACTERS, find_problem

CHOICES = "(?:公司|单位|老板|物业|房东|邻居|银行|医院|学校|政府|对方|卖家|司机|业主|中介|快递)"


def test_choices_of_plain_words_may_stand_on_both_sides_of_a_gap() -> None:
    word = f"{CHOICES}.{{0,80}}{CHOICES}.{{0,80}}怎么办"

    assert find_problem(word) == ""
    begin = time.process_time()
    assert re.search(word, "公司" * (CHARACTERS // 2)) is None
    assert time.process_time() - begin < 1.0


@pytest.mark.parametrize(
    "word",
    [
        "(?:a|aa|aaa|aaaa){1,16}b",  # each word begins with the one before it
        "(?:ab|ab|acd){1,20}e",  # the same word twice
        "(?:a.|ab|ac){1,20}d",  # a word fits where an expression does
        "(a+)+b",
        ".*合同.*审查",
    ],
)
def test_choices_that_fit_one_place_in_several_ways_are_counted(word: str) -> None:
    assert "for hours" in find_problem(word)


@pytest.mark.parametrize("word", ["(?:ab|ac|ad){1,20}e", "(?:起诉|起草|上诉){1,9}状", "第[0-9]{1,4}条"])
def test_choices_that_exclude_each_other_are_one_way(word: str) -> None:
    assert find_problem(word) == ""
