"""The searches of a research as its case tells of them."""

import msgspec

from actors.evidence.sources import FailedSource, SearchResult
from actors.research.models import Plan, SearchTask
from actors.research.search_steps import BETTER, list_searches
from actors.research.workflow import ResearchCase

CASE = ResearchCase(
    ticket_id="RS-1", text="How do gates open?",
    plan=Plan(("How?",), ("gates", "locks"), ("web", "rss")),
    results=(
        SearchResult("web", "Poor", "https://a.example/poor", quality=0.2, query="gates"),
        SearchResult("web", "Good", "https://a.example/good", quality=0.87654, query="gates"),
        SearchResult("web", "Deeper", "https://a.example/deep", quality=0.5, query="a round deeper"),
    ),
    missed=(
        FailedSource("https://a.example/good", "dead", "The page is not there."),
        FailedSource("rss", "source_failed", "The feed did not answer."),
    ),
)  # fmt: skip


def test_each_query_has_its_results_with_their_quality_and_why_one_was_not_read() -> None:
    first = list_searches(CASE)[0]

    assert (first.by, first.where, first.query, first.failed) == ("searcher", "web", "gates", "")
    assert [(each.source, each.quality, each.left_out) for each in first.found] == [
        ("https://a.example/good", 0.88, "The page is not there."),
        ("https://a.example/poor", 0.2, BETTER),
    ]


def test_queries_that_found_nothing_those_of_a_round_deeper_and_sources_that_failed_are_told_of_too() -> None:
    told = {(each.where, each.query): (len(each.found), each.failed) for each in list_searches(CASE)}

    assert told == {
        ("web", "gates"): (2, ""), ("web", "locks"): (0, ""), ("web", "a round deeper"): (1, ""),
        ("rss", "gates"): (0, "The feed did not answer."), ("rss", "locks"): (0, "The feed did not answer."),
    }  # fmt: skip


def test_a_case_without_a_plan_tells_of_none() -> None:
    assert list_searches(ResearchCase(ticket_id="RS-1", text="How?")) == ()


def test_a_query_is_told_as_its_search_task_says() -> None:
    searches = (
        SearchTask("gates", "web", "done", 2), SearchTask("locks", "web", "failed", 0, "It was busy."),
        SearchTask("locks", "rss"),
    )  # fmt: skip

    told = list_searches(msgspec.structs.replace(CASE, searches=searches))

    assert {(each.where, each.query): (each.failed, each.pending) for each in told} == {
        ("web", "gates"): ("", False), ("web", "locks"): ("It was busy.", False), ("rss", "locks"): ("", True),
        ("rss", "gates"): ("The feed did not answer.", False), ("web", "a round deeper"): ("", False),
    }  # fmt: skip
