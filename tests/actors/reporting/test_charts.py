"""Charts count what is there, and no label can break a diagram."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.reporting.charts import MOMENTS, charts
from actors.reporting.measures import find_years
from actors.reporting.mermaid import label, mermaid
from actors.reporting.report import Chart, ReportSentence, SourceEntry


def source(number: int, host: str, cited: int = 1) -> SourceEntry:
    return SourceEntry(
        number, "T", f"https://{host}/{number}", "web", "ab", "2026-01-02T03:04:05Z", 10, 10, cited=cited
    )


def test_only_the_subject_is_drawn_not_how_many_pages_were_read_or_cited() -> None:
    sources = [source(n, f"h{n % 3}.example", n) for n in range(1, 12)]

    assert charts([ReportSentence("The lamp burns.", (1,))], (), sources) == ()


def test_a_chart_that_tells_nothing_is_not_drawn() -> None:
    lines = [ReportSentence("It was sold in 2015.", (1,)), ReportSentence("It was sold again in 2016.", (1,))]

    assert charts(lines, (), [source(1, "a.example"), source(2, "a.example")]) == ()


def test_years_of_cited_sentences_make_a_timeline() -> None:
    lines = [ReportSentence("Since 2022 there is a stand.", (2,)), ReportSentence("In 2015, and in 2019 again.", (1,))]

    chart = charts(lines, (), [source(1, "a.example")])[-1]

    assert chart.kind == "timeline"
    assert [year for _, year in chart.items] == [2015, 2019, 2022]
    assert chart.items[2][0] == "Since 2022 there is a stand. (source 2)"


def test_every_chart_is_bounded() -> None:
    lines = [ReportSentence(f"In {1900 + n}.", (1,)) for n in range(50)]

    (timeline,) = charts(lines, (), [source(1, "a.example")])

    assert len(timeline.items) == MOMENTS


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("It was founded in 1987.", [1987]),
        ("On 3 March 2021, it closed; March 4, 2022 it opened.", [2021, 2022]),
        ("Released 2024-05-06 after May 2023.", [2024, 2023]),
        ("2019년에 시작했다. 2020年开始。", [2019, 2020]),
        ("It takes 2048 bytes and 1999 rows.", []),
        ("By 2000 requests it slows down.", []),
        ("in 2000 steps", []),
        ("port 1521", []),
        ("In 1999 and to 2005", [1999]),
    ],
)
def test_only_a_number_that_is_named_as_a_year_is_one(text: str, found: list[int]) -> None:
    assert sorted({year for year, _ in find_years(text)}) == sorted(found)


def test_a_year_far_beyond_the_reading_is_a_number() -> None:
    lines = [ReportSentence(f"Sold in {year}.", (1,)) for year in (2019, 2020, 2099)]

    assert charts(lines, (), [source(1, "a.example")]) == ()


@pytest.mark.req("PR-7")
def test_a_diagram_of_each_kind_is_mermaid() -> None:
    items = (("a", 2), ("b", 1))

    assert mermaid(Chart("pie", "T", items)) == 'pie showData\n    title T\n    "a" : 2\n    "b" : 1'
    assert mermaid(Chart("bar", "T", items)).splitlines() == [
        "xychart-beta", '    title "T"', '    x-axis ["a", "b"]', '    y-axis "Citations" 0 --> 2', "    bar [2, 1]",
    ]  # fmt: skip
    assert mermaid(Chart("timeline", "T", (("Sold", 2015),))) == "timeline\n    title T\n    2015 : Sold"


@given(st.text(max_size=100))
def test_a_label_has_nothing_that_a_diagram_would_obey(text: str) -> None:
    said = label(text)

    assert said
    assert not re.search(r"""["'`:;#%<>{}\[\]\\|&\n=]""", said)


@given(
    st.sampled_from(["pie", "bar", "timeline"]),
    st.lists(st.tuples(st.text(max_size=40), st.integers(0, 99)), min_size=1),
)
def test_no_label_adds_a_line_to_a_diagram(kind: str, items: list[tuple[str, int]]) -> None:
    drawn = mermaid(Chart(kind, "T", tuple(items)))  # type: ignore[arg-type]

    assert len(drawn.splitlines()) == (5 if kind == "bar" else len(items) + 2)


def test_a_year_stands_beside_what_is_said_of_it() -> None:
    said = (
        "Mud settles behind the dam. The number of salmon that pass the long fish ladder at the dam fell from 5,200 in "
        "2012 to 3,100 in 2018, and has not recovered. It was dredged in 2021."
    )

    (chart,) = charts([ReportSentence(said, (2,))], (), [source(1, "a.example")])

    assert [year for _, year in chart.items] == [2012, 2018, 2021]
    assert all(str(year) in event for event, year in chart.items)
    assert all(word in f"{said} …" for event, _ in chart.items for word in event.removesuffix(" (source 2)").split("…"))
    assert chart.items[2][0] == "It was dredged in 2021. (source 2)"


@pytest.mark.parametrize("kind", ["pie", "bar", "timeline"])
def test_a_chart_that_somebody_emptied_by_hand_is_no_error(kind: str) -> None:
    assert mermaid(Chart(kind, "T", ()))  # type: ignore[arg-type]
