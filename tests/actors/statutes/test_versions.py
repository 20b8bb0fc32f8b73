"""Which version of a law holds on a day."""

import pytest

from actors.statutes.articles import LawVersion, choose_version, find_change

OLD, NEW = LawVersion("公司法", "2018-10-26"), LawVersion("公司法", "2023-12-29", "2024-07-01")


@pytest.mark.parametrize(
    ("day", "chosen"),
    [("2010-01-01", None), ("2020-01-01", 0), ("2024-06-30", 0), ("2024-07-01", 1), ("2030-01-01", 1)],
)
def test_the_latest_that_has_begun_holds(day: str, chosen: int | None) -> None:
    assert choose_version([OLD, NEW], day) == chosen
    assert find_change([OLD, NEW], 0) == "2024-07-01"
    assert find_change([OLD, NEW], 1) == ""


def test_a_repealed_law_holds_until_that_day() -> None:
    law = LawVersion("合同法", "1999-03-15", "1999-10-01", "2021-01-01")

    assert choose_version([law], "2020-12-31") == 0
    assert choose_version([law], "2021-01-01") is None


def test_one_without_a_date_holds_always() -> None:
    assert choose_version([LawVersion("刑法")], "1990-01-01") == 0
