"""What sources count is drawn where it can be compared, with its source; nothing else is."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.reporting.charts import SUBJECTS, charts
from actors.reporting.measures import MOST, Cited, amounts
from actors.reporting.mermaid import mermaid
from actors.reporting.report import Chart, ReportSentence, Table
from actors.research.models import Section
from tests.actors.research import cases as c
from tests.actors.research.cases import compose

SALMON = "The number of salmon fell from 5,200 in 2012 to 4,000 in 2015 and 3,100 in 2018."
TABLE = """Rail freight of the three ports, as counted at their gates.

| Port | Cranes | Freight (tonnes) | Since |
| --- | ---: | ---: | --- |
| Esk | 4 | 41,000 tonnes | 1987 |
| Brannock | 9 | 98,500 tonnes | 1992 |
| Marwick | 2 | 7,250 tonnes | 2003 |
"""


def subject(
    lines: Sequence[ReportSentence], passages: Sequence[Cited], table: Table | None = None
) -> tuple[Chart, ...]:
    """The charts of amounts."""
    return tuple(each for each in charts(lines, passages, (), table) if each.kind == "bar")


def drawn(*sentences: str, numbers: tuple[int, ...] = (1,), passages: tuple[str, ...] = ()) -> tuple[Chart, ...]:
    return subject([ReportSentence(each, numbers) for each in sentences], [(each, (2,)) for each in passages])


@pytest.mark.req("PR-7")
def test_amounts_year_by_year_are_drawn_with_their_source() -> None:
    (chart,) = drawn(SALMON)

    assert chart.kind == "bar"
    assert chart.title == "The number of salmon fell from 5,200 in 2012 to 4,000 in… (source 1)"
    assert chart.items == (("2012", 5200.0), ("2015", 4000.0), ("2018", 3100.0))


@pytest.mark.req("PR-7")
def test_names_with_their_shares_are_drawn() -> None:
    (chart,) = drawn("Of the wood, Oak has 41 %, Ash (32 %) and Elm with 7.5 percent.")

    assert (chart.unit, chart.items) == ("percent", (("Oak", 41.0), ("Ash", 32.0), ("Elm", 7.5)))


@pytest.mark.req("PR-7")
def test_sentences_that_say_the_same_of_several_things_are_drawn_each_with_its_source() -> None:
    lines = [
        ReportSentence(f"The {name} plan of Halyard costs ${price} a month.", (number,))
        for number, (name, price) in enumerate((("Basic", "9"), ("Pro", "25"), ("Team", "1,200")), 1)
    ]

    (chart,) = subject(lines, ())

    assert chart.title == "The … plan of Halyard costs … a month. (dollars)"
    assert chart.items == (("Basic (source 1)", 9.0), ("Pro (source 2)", 25.0), ("Team (source 3)", 1200.0))


@pytest.mark.req("PR-7")
def test_one_sentence_a_year_makes_one_chart_in_the_order_of_the_years() -> None:
    said = [f"In {year} the barrage gave {power} GWh of power." for year, power in ((2021, 35), (2019, 31), (2020, 33))]

    (chart,) = drawn(*said)

    assert chart.items == (("2019", 31.0), ("2020", 33.0), ("2021", 35.0))
    assert chart.unit == "GWh"


@pytest.mark.req("PR-7")
def test_a_column_of_a_cited_table_is_drawn() -> None:
    (chart,) = drawn(passages=(TABLE,))

    assert chart.title == "Cranes by Port (source 2)"
    assert chart.items == (("Esk", 4.0), ("Brannock", 9.0), ("Marwick", 2.0))


@pytest.mark.req("PR-7")
def test_a_row_of_a_comparison_is_drawn_when_each_side_has_an_amount() -> None:
    def cell(text: str, number: int) -> ReportSentence:
        return ReportSentence(text, (number,))

    table = Table(
        ("", "Harbor", "Quay", "Dock"),
        (
            (
                ReportSentence("Rules"),
                cell("At most 250 rules.", 1),
                cell("It takes 40 rules.", 2),
                cell("Up to 90 rules.", 3),
            ),
            (ReportSentence("Price"), cell("It is free.", 1), cell("$ 9 a month.", 2), ReportSentence("—")),
            (ReportSentence("Size"), cell("9 GB", 1), cell("700 MB", 2), cell("3 GB", 3)),
        ),
    )

    (chart,) = subject((), (), table)

    assert chart.title == "Rules (rules)"
    assert chart.items == (("Harbor (source 1)", 250.0), ("Quay (source 2)", 40.0), ("Dock (source 3)", 90.0))


@pytest.mark.req("PR-7")
@pytest.mark.parametrize(
    "sentences",
    [
        ("It was sold in 2015, in 2016 and in 2019.",),
        ("It has 3 cranes, 4 gates and 12 doors.",),
        ("Oak has 41 % and Ash 32 %.",),
        ("Oak has 41 %, Ash 32 kg and Elm 7 %.",),
        ("It fell from 5,200 in 2012 to 3,100 in 2018.",),
        ("It rose by 3 % in 2012, 4 t in 2013 and 5 % in 2014.",),
        ("Prices are $10 to $50, and $100 to $200 for more.",),
        ("Version 1.2.3 follows 1.1.0 and 1.0.9.",),
        ("It opens at 10:30, at 11:30 and at 12:45 on 3/4, 4/5 and 5/6.",),
        ("The Esk plan costs $9 a month.", "The Pro plan costs $25 a month."),
        ("Oak was planted in 1990.", "Ash was planted in 1991.", "Elm was planted in 1992."),
        ("The Oak plan costs $9 a month.", "The Ash tree is 25 m high here.", "An Elm of 1,200 kg fell on it."),
        ("Esk has a 9–2 record.", "Ash has a 9–3 record.", "Elm has a 9–4 record."),
    ],
)
def test_what_is_not_one_measure_of_several_things_is_not_drawn(sentences: tuple[str, ...]) -> None:
    assert drawn(*sentences) == ()


@pytest.mark.parametrize(
    "table",
    [
        "| Rank | Name |\n| --- | --- |\n| 1 | Oak |\n| 2 | Ash |\n| 3 | Elm |\n",
        "| Name | Year |\n| --- | --- |\n| Oak | 1 |\n| Ash | 2 |\n| Elm | 3 |\n",
        "| Name | Founded |\n| --- | --- |\n| Oak | 1990 |\n| Ash | 1991 |\n| Elm | 1993 |\n",
        "| Name | Height |\n| --- | --- |\n| Oak | 9 m |\n| Ash | 8 kg |\n| Elm | 3 m |\n",
        "| Name | Height |\n| --- | --- |\n| Oak | 9 m |\n| Ash | tall |\n| Elm | 3 m |\n",
        "| Name | Height |\n| --- | --- |\n| Oak | 9 m or 8 m |\n| Ash | 8 m |\n| Elm | 3 m |\n",
        "| Name | Height |\n| --- | --- |\n| Oak | 9 m |\n| Ash | 8 m |\n",
        "| Name | Height |\n| --- | --- |\n| Oak | 9 m |\n| Oak | 8 m |\n| Elm | 3 m |\n",
    ],
)
def test_a_table_that_compares_nothing_is_not_drawn(table: str) -> None:
    assert drawn(passages=(table,)) == ()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("It costs $1,250.50 a month, 7 % less.", [(1250.5, "$"), (7.0, "%")]),
        ("4096 entries of 3 kB, 12 per cent and 5 million users", [
            (4096.0, "entries"), (3.0, "kB"), (12.0, "%"), (5.0, "million users")]),
        ("€ 3 billion, $60 CAD", [(3.0, "€ billion"), (60.0, "$ CAD")]),
        ("a 4K screen of 10-inch at 3pm, v2, 3rd, #4, 1.2.3", []),
    ],
)  # fmt: skip
def test_an_amount_has_the_unit_that_its_source_gives_it(text: str, found: list[tuple[float, str]]) -> None:
    assert [(each.value, each.unit) for each in amounts(text)] == found


def test_no_more_than_a_few_charts_are_drawn_and_none_is_too_long() -> None:
    tables = [
        f"| Name | Height {n} |\n| --- | --- |\n| Oak | {n} m |\n| Ash | 8 m |\n| Elm | 30 m |\n" for n in range(9)
    ]
    rows = "".join(f"| Tree {chr(65 + n)}x | {n + 1} m |\n" for n in range(MOST + 1))

    assert len(drawn(passages=tuple(tables))) == SUBJECTS
    assert drawn(passages=(f"| Name | Height |\n| --- | --- |\n{rows}",)) == ()


@given(st.lists(st.text(alphabet="Ab 0123456789,.%$|()-–:\n", max_size=80), max_size=6))
def test_whatever_a_page_says_a_chart_has_only_amounts_that_stand_in_it(texts: list[str]) -> None:
    for chart in drawn(*texts, passages=tuple(texts)):
        whole = " ".join(texts).replace(",", "")
        assert all(f"{value:.12g}".rstrip("0").rstrip(".") in whole for _, value in chart.items)
        assert len({label for label, _ in chart.items}) == len(chart.items) >= 3
        assert mermaid(chart)


@pytest.mark.req("PR-7")
def test_a_report_draws_its_subject_and_nothing_of_how_it_was_made() -> None:
    text = f"{SALMON} Mud settles behind the dam."
    case = c.case(
        text="How many salmon pass the dam?", pages=(c.page(c.LAMP, text),), passages=(c.passage(c.LAMP, text),),
        sections=(Section("How many salmon pass the dam?", (c.said(SALMON, c.LAMP),), answered=True),),
        learnings=(), analysis=None,
    )  # fmt: skip

    chart, *_ = compose(case).charts

    assert [value for _, value in chart.items] == [5200.0, 4000.0, 3100.0]
    assert "source 1" in chart.title
    assert "bar [5200, 4000, 3100]" in mermaid(chart)
    assert all("salmon" not in each.title for each in compose(c.case()).charts)
