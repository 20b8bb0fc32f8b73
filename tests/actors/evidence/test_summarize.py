"""What is essential of much: verbatim, in order, and never longer than it may be."""

from itertools import pairwise

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.evidence.entities import entities
from actors.evidence.sources import PAGE_CHARACTERS, SearchResult, Statement
from actors.evidence.summarize import essential, key_points, summary
from actors.research import searcher
from actors.research.analysis_summary import analysis_summary
from actors.research.models import Analysis, Competitor, Profile, Swot
from actors.research.searcher import RESULTS
from actors.text.markdown_blocks import segments
from actors.text.truncate import cut_at_paragraph

WORDS = st.text(alphabet="abcdefgh 德한é.!?#*`|[]()<>-\n", max_size=400)
TEXTS = st.lists(WORDS, max_size=12).map("\n\n".join)


def result(number: int, quality: float = 0.5, summary: str = "Short.") -> SearchResult:
    return SearchResult(
        source="web", title=f"Title {number}", url=f"https://example.org/{number}", summary=summary,
        key_points=tuple("abcdefg"), quality=quality, query="q", published="2024-01-01",
    )  # fmt: skip


@pytest.mark.req("PR-17")
def test_over_fifty_results_keep_five_things_and_the_best_comes_first() -> None:
    found = tuple(result(n, n / 100, "word " * 100) for n in range(RESULTS + 1))

    small = searcher.results(found)

    assert [each.quality for each in small] == sorted((each.quality for each in found), reverse=True)
    assert all(len(each.summary) < 200 and len(each.key_points) < 5 for each in small)
    assert {(each.query, each.published) for each in small} == {("", "")}
    assert {(each.url, each.title) for each in small} == {(each.url, each.title) for each in found}


@pytest.mark.req("PR-17")
def test_fifty_results_stay_as_they_are_and_fifty_one_do_not() -> None:
    found = tuple(result(n, n / 100, "word " * 100) for n in range(51))

    assert searcher.results(found[:50]) == found[:50]
    assert [each.quality for each in searcher.results(found)] == [n / 100 for n in range(50, -1, -1)]


@pytest.mark.req("PR-17")
@pytest.mark.parametrize(("length", "kept"), [(198, True), (199, True), (200, False), (5_000, False)])
def test_a_summary_has_less_than_two_hundred_characters(length: int, kept: bool) -> None:
    text = ("word " * 1_000)[: length - 1] + "!"
    (small, *_) = searcher.results((result(0, 1.0, text), *(result(n) for n in range(1, 51))))

    assert (small.summary == text) == kept
    assert len(small.summary) < 200
    assert len(small.summary) > 150


@pytest.mark.req("PR-17")
def test_a_result_has_less_than_five_key_points() -> None:
    points = ("one", "two", "three", "four", "five")
    many = [msgspec.structs.replace(result(n), key_points=points[: n % 6]) for n in range(60)]

    small = {each.url: each.key_points for each in searcher.results(many)}

    assert {small[each.url] for each in many} == {points[:n] for n in range(5)}
    assert all(small[each.url] == each.key_points[:4] for each in many)


LONG = "# Pumps\n\nPumps move water.\n\n" + "\n\n".join(
    f"## Part {n}\n\nFiller {n} about gardens, flowers and the weather of that year. " + "More words follow here. " * 40
    for n in range(120)
).replace("Filler 77", "The turbine of the barrage cost 412 million crowns. Filler 77")  # fmt: skip


@pytest.mark.req("PR-18")
def test_the_essential_of_a_long_text_holds_what_was_asked_for_with_its_heading() -> None:
    short = essential(LONG, "What did the turbine cost?")

    assert len(LONG) > 100_000
    assert len(short) <= PAGE_CHARACTERS
    assert "## Part 77\n\nThe turbine of the barrage cost 412 million crowns." in short


@pytest.mark.req("PR-18")
@given(TEXTS, st.text(max_size=40), st.integers(1, 600))
def test_what_is_kept_of_a_text_are_slices_of_it_in_their_order(text: str, question: str, limit: int) -> None:
    short = essential(text, question, limit)

    assert len(short) <= max(limit, len(text) if len(text) <= limit else 0)
    at = 0
    for part in short.split("\n\n"):
        found = text.find(part, at)
        assert found >= 0
        at = found + len(part)


@given(TEXTS, st.integers(1, 300))
def test_a_text_is_cut_to_a_beginning_of_it(text: str, limit: int) -> None:
    short = cut_at_paragraph(text, limit)

    assert len(short) <= limit or short == text
    assert text.startswith(short)


@given(TEXTS)
def test_segments_leave_out_nothing_but_white_space(text: str) -> None:
    parts = list(segments(text))

    assert "".join("".join(each.text.split()) for each in parts) == "".join(text.split())
    assert all(each.of(text) == each.text for each in parts)
    assert all(other.start >= each.end for each, other in pairwise(parts))


@given(TEXTS, st.text(max_size=30))
def test_summary_and_key_points_keep_to_their_bounds(text: str, question: str) -> None:
    assert len(summary(text)) < 200
    points = key_points(text, question)
    assert len(points) < 5
    assert len(set(points)) == len(points)


def test_key_points_are_sentences_of_the_text_in_its_order() -> None:
    text = (
        "# Ferry\n\nThe ferry crosses the sound in 25 minutes every day. The weather is nice there in the summer. "
        "Its battery holds 4,300 kilowatt hours of energy. Tickets are sold at the pier by friendly people.\n\n"
        "```\nbattery = ferry.battery.kilowatt_hours()\n```\n"
    )

    points = key_points(text, "How many kilowatt hours does the ferry's battery hold?", 2)

    assert points == (
        "The ferry crosses the sound in 25 minutes every day.", "Its battery holds 4,300 kilowatt hours of energy.",
    )  # fmt: skip
    assert summary(text) == "The ferry crosses the sound in 25 minutes every day."


PRODUCT = """# Foo

Foo was written in English in Berlin, but its core was written in Python and Go. It is built on top of SQLite. Unlike
MySQL, it needs no server.

## Features

- **Replication**: keeps copies in several places.
- Backups – every night
- Full text search

## Missing features

- Clustering

## Alternatives

- DuckDB: for analysis
- read more about the others

Popular competitors include Redis, MongoDB and Apache Cassandra. See PostgreSQL vs. MariaDB.

```
built with Nothing
```
"""


@pytest.mark.req("PR-18")
def test_entities_are_what_headings_and_sentences_say_they_are() -> None:
    found = entities(PRODUCT)

    assert found.features == ("Replication", "Backups", "Full text search")
    assert found.competitors == (
        "MySQL", "DuckDB", "Redis", "MongoDB", "Apache Cassandra", "PostgreSQL", "MariaDB",
    )  # fmt: skip
    assert set(found.tech_stack) == {"Python", "Go", "SQLite"}


def test_a_text_about_something_else_names_no_entities() -> None:
    found = entities(
        "# The weather\n\nIt was built in 1990. Written in London. This vs. that. We feature many birds.\n"
    )

    assert found == entities("")


def said(text: str) -> Statement:
    return Statement(text, text, "p#1", "p")


@pytest.mark.req("PR-19")
def test_the_summary_of_an_analysis_has_all_its_parts_and_a_short_overview() -> None:
    analysis = Analysis(
        overview=tuple(said(f"Sentence {n} says something about the subject that fills the line.") for n in range(20)),
        profile=Profile(
            "Lumen",
            ("features",),
            features=(said("It copies | data\n# every night."),),
            competitors=(Competitor("Lumen *A2*", (said("It costs 42,000 crowns."),)),),
            swot=Swot(weaknesses=(said("It is loud."),)),
        ),
    )

    text = analysis_summary(analysis)

    overview = text.partition("## Overview\n\n")[2].partition("\n\n## Features")[0]
    assert 0 < len(overview) < 500
    assert overview.endswith("fills the line.")
    assert "- It copies | data # every night." in text
    assert "- **Lumen \\*A2\\***: It costs 42,000 crowns." in text
    assert "### Weaknesses\n\n- It is loud." in text
    assert "### Strengths\n\n_Not found in the sources._" in text


@pytest.mark.req("PR-19")
def test_the_summary_of_an_empty_analysis_says_so() -> None:
    assert analysis_summary(Analysis()).count("_Not found in the sources._") == 7


def test_a_statement_that_was_an_item_of_a_list_is_one_item_of_the_summary() -> None:
    steps = tuple(map(said, ("- Search: finds all.", "* - Two bullets.", "3. Press start.", "1990 was dry.")))

    text = analysis_summary(Analysis(overview=steps[:1], profile=Profile("Lumen", (), features=steps)))

    assert "## Overview\n\nSearch: finds all.\n" in text
    assert "\n- Search: finds all.\n- Two bullets.\n- 3\\. Press start.\n- 1990 was dry.\n" in text
