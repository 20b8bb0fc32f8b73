"""The Extractor: what it reads first, what it never reads again, and what it hands in."""

import asyncio
from typing import Any

import pytest

from actors.evidence.sources import FailedSource, Page, SearchResult
from actors.research.extractor import Extractor, candidates
from actors.research.messages import ExtractionCompleted, ExtractionFellShort, ReadSources
from actors.research.models import Plan, ResearchOptions
from actors.text.catalogue import say
from actors.workflow.progress import StageProgress
from tests.clock import settle
from tests.inquiry import WEB, Reads

PLAN = Plan(("What?",), ("halyard cache",), ("web",), least_quality=0.2)
RESULTS = tuple(SearchResult("web", url, url, quality=0.5, query="halyard cache") for url in WEB)


class Turn:
    """The part of a bus that an agent sees in one turn."""

    def __init__(self, seconds: float = 100.0) -> None:
        self.seconds, self.stopping, self.address = seconds, False, "extractor"
        self.said: list[Any] = []
        self._at_stop: list[Any] = []

    def remaining_seconds(self) -> float:
        return self.seconds

    def publish(self, message: Any) -> None:
        self.said.append(message)

    def on_stop(self, call: Any) -> None:
        if self.stopping:
            call()
        else:
            self._at_stop.append(call)

    def stop(self) -> None:
        self.stopping = True
        for call in self._at_stop:
            call()


def order(**more: Any) -> ReadSources:
    usual: dict[str, Any] = {
        "text": "halyard cache",
        "brief": ResearchOptions(breadth=2),
        "plan": PLAN,
        "results": RESULTS,
        "pages": (),
        "missed": (),
        "partial": "",
        "read_before": len(more.get("pages", ())),
    }
    return ReadSources(**(usual | more))


async def read(fetch: Any, message: ReadSources, turn: Turn | None = None) -> ExtractionCompleted | ExtractionFellShort:
    return await Extractor(fetch).receive(message, turn or Turn())  # type: ignore[arg-type]


def test_ordered_pages_come_first_then_what_this_round_found_then_the_poor_ones() -> None:
    ordered = SearchResult("urls", "o", "https://o.example/")
    poor = SearchResult("web", "p", "https://p.example/", quality=0.1, query="halyard cache")
    old = SearchResult("web", "q", "https://q.example/", quality=0.9, query="another round")
    good = SearchResult("web", "g", "https://g.example/", quality=0.5, query="halyard cache")

    found = candidates([poor, old, good, ordered], PLAN, {"https://known.example/"})

    assert [each.title for each in found] == ["o", "g", "q", "p"]


async def test_what_was_read_or_missed_before_is_not_tried_again() -> None:
    first = await read(Reads(missing=["https://two.example/limits"]), order(brief=ResearchOptions(breadth=3)))
    fetch = Reads()

    again = await read(fetch, order(pages=first.pages, missed=first.missed, brief=ResearchOptions(breadth=3)))

    assert len(first.pages) == 3
    assert fetch.fetched == []
    assert again.pages == first.pages


async def test_too_few_pages_are_a_shortfall_that_says_how_many_were_tried() -> None:
    said = await read(Reads(missing=list(WEB)), order())

    assert isinstance(said, ExtractionFellShort)
    assert said.shortfall == "Of 4 pages that were found none could be read."
    assert {each.place for each in said.missed} == set(WEB)


class Poor(Reads):
    """There is money for one page."""

    async def read(self, results: Any, *, wanted: int, query: str, within: float, done: Any, **_: Any) -> None:
        await super().read(results[:1], wanted=1, query=query, within=within, done=done)
        done(FailedSource(results[1].url, "budget", "The budget of 1 pages is used up."))


async def test_a_spent_budget_makes_the_research_partial_and_nothing_is_tried_anew() -> None:
    said = await read(Poor(), order(plan=Plan(("What?",), ("halyard cache",), ("web",), least_pages=2)))

    assert isinstance(said, ExtractionCompleted)
    assert say(said.partial, "en").startswith("What may be spent on reading")
    assert len(said.pages) == 1


class Backwards(Reads):
    """The network answers in another order than it was asked, and one page never."""

    def __init__(self, slow: bool = False) -> None:
        super().__init__()
        self.slow, self.let_go = slow, False

    async def read(self, results: Any, *, wanted: int, query: str, within: float, done: Any, **_: Any) -> None:
        await super().read(results[::-1], wanted=wanted, query=query, within=within, done=done)
        if self.slow:
            try:
                await asyncio.Event().wait()
            finally:
                self.let_go = True


async def test_the_order_of_pages_is_not_the_networks() -> None:
    said = await read(Backwards(), order(brief=ResearchOptions(breadth=4)))

    assert [page.url for page in said.pages] == list(WEB)


class Early(Reads):
    """One page is there before the one that stands before it, and then turns out to be its copy."""

    async def read(
        self, results: Any, *, wanted: int, query: str, within: float, done: Any, arrived: Any = None, **_: Any
    ) -> None:
        read: list[Page | FailedSource] = []
        await super().read(results, wanted=wanted, query=query, within=within, done=read.append)
        first, second, third = read[:3]
        arrived(second)
        arrived(third)
        arrived(first)
        done(first)
        done(FailedSource(results[1].url, "duplicate", "It has the same text."))
        done(third)


@pytest.mark.req("PR-29")
async def test_a_page_shows_as_soon_as_it_is_there_and_once_more_only_if_it_is_something_else() -> None:
    turn = Turn()

    said = await read(Early(), order(brief=ResearchOptions(breadth=3)), turn)

    first, second, third, _ = WEB
    assert [(each.done, each.total, each.item) for each in turn.said if isinstance(each, StageProgress)] == [
        (0, 3, ""), (1, 3, second), (2, 3, third), (3, 3, first), (2, 3, f"{second} (duplicate)"),
    ]  # fmt: skip
    assert [page.url for page in said.pages] == [first, third]


async def test_what_was_read_is_handed_in_when_the_run_winds_down() -> None:
    fetch, turn = Backwards(slow=True), Turn()
    working = asyncio.ensure_future(read(fetch, order(), turn))
    await settle()
    assert not working.done()

    turn.stop()
    said = await working

    assert isinstance(said, ExtractionCompleted)
    assert len(said.pages) == 2
    assert fetch.let_go


async def test_pages_that_take_too_long_leave_what_was_read() -> None:
    fetch = Backwards(slow=True)

    said = await read(fetch, order(), Turn(seconds=-1.4))

    assert [isinstance(page, Page) for page in said.pages] == [True, True]
    assert fetch.let_go
