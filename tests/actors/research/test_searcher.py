"""The Searcher: every query to every source, and one list of results that no timing changes."""

import asyncio
import random
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from structlog.testing import capture_logs

from actors.evidence.shortfalls import Shortfall
from actors.evidence.sources import FailedSource, SearchResult
from actors.ports import PortFailed
from actors.research import searcher
from actors.research.messages import RunSearches, SearchCompleted, SearchFellShort
from actors.research.models import Plan, ResearchOptions, SearchTask
from actors.research.searcher import AT_ONCE, Inquiry, Searcher
from actors.text.urls import host_of
from actors.workflow.progress import StageProgress
from tests.actors.research.test_extractor import Turn
from tests.clock import settle
from tests.fakes import Trusts
from tests.patience import HANGS_SECONDS, promised
from tests.research import a_page

Answer = tuple[SearchResult | FailedSource, ...]
QUERIES = ("tea leaves", "tea steeping")


def hit(url: str, title: str = "Tea leaves", summary: str = "", source: str = "web", **more: Any) -> SearchResult:
    return SearchResult(source, title, url, summary or f"On {url}.", query="tea leaves", **more)


class Answers(Trusts):
    """Sources that say what they were told; each answer is held back until it is let go, or not at all."""

    names = ("knowledge", "web", "rss")

    def __init__(self, say: Callable[[str, str], Answer], dice: random.Random | None = None) -> None:
        self._say = say
        self._dice = dice
        self.asked: list[tuple[str, str]] = []
        self.within: list[float] = []
        self.limits: set[int] = set()
        self.at_once = self.most_at_once = 0

    async def search(self, source: str, query: str, *, limit: int, within: float) -> Answer:
        self.asked.append((source, query))
        self.within.append(within)
        self.limits.add(limit)
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            for _ in range(self._dice.randrange(20) if self._dice else 1):
                await asyncio.sleep(0)
            if query == "silence":
                await asyncio.Event().wait()
            return self._say(source, query)
        finally:
            self.at_once -= 1


def each_its_own(source: str, query: str) -> Answer:
    return tuple(hit(f"https://{source}{n}.example/{query.replace(' ', '-')}", source=source) for n in range(3))


def order(*queries: str, sources: tuple[str, ...] = ("knowledge", "web"), **more: Any) -> RunSearches:
    usual: dict[str, Any] = {
        "text": "How is tea made?",
        "brief": ResearchOptions(breadth=3),
        "plan": Plan(("How?",), queries or QUERIES, sources),
        "results": (),
        "pages": (),
        "missed": (),
        "unavailable": (),
        "shortfall": "",
    }
    return RunSearches(**(usual | more))


async def search(port: Any, message: RunSearches, turn: Turn | None = None) -> SearchCompleted | SearchFellShort:
    return await Searcher(port).receive(message, turn or Turn())  # type: ignore[arg-type]


async def test_a_source_that_did_not_answer_is_what_the_search_lacked_until_it_answers_when_asked_again() -> None:
    def say(source: str, query: str) -> Answer:
        if source == "web":
            raise PortFailed("It is down.")
        return each_its_own(source, query)

    failed = await search(Answers(say), order())
    again = await search(Answers(each_its_own), order(incomplete=failed.incomplete, shortfall="Too little."))
    deeper = await search(Answers(each_its_own), order(incomplete=failed.incomplete))

    assert failed.incomplete == (Shortfall("source_failed", "web"),)
    assert again.incomplete == ()
    assert deeper.incomplete == failed.incomplete, "what was asked there before was never answered"


class Together(Answers):
    """Answers nobody before so many are open at once, and then counts them."""

    def __init__(self, least: int) -> None:
        super().__init__(each_its_own)
        self._least, self._all_there = least, asyncio.Event()

    async def search(self, source: str, query: str, *, limit: int, within: float) -> Answer:
        if self.at_once + 1 >= self._least:
            self._all_there.set()
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            await self._all_there.wait()
            for _ in range(5):
                await asyncio.sleep(0)
            return self._say(source, query)
        finally:
            self.at_once -= 1


@pytest.mark.req("RE-1")
@pytest.mark.parametrize(("limit", "searches"), [(None, 24), (1, 5), (3, 10), (20, 20)])
async def test_re_1_queries_are_searched_in_parallel_but_never_more_than_the_limit_at_once(
    limit: int | None, searches: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # given sources that answer nobody before as many are asked as may be
    if limit is not None:
        monkeypatch.setattr(searcher, "AT_ONCE", limit)
    most = limit or 8
    port = Together(most)

    # when
    queries = [f"tea {n}" for n in range(searches)]
    said = await asyncio.wait_for(search(port, order(*queries, sources=("web",))), HANGS_SECONDS)

    # then all are answered: so many were open at once, and no more
    assert len(said.results) == 3 * searches
    assert port.most_at_once == most
    assert port.at_once == 0


@pytest.mark.req("RE-14")
async def test_re_14_a_search_task_holds_its_query_and_how_far_it_has_come(monkeypatch: pytest.MonkeyPatch) -> None:
    # given
    tasks: list[Inquiry] = []

    class Kept(Inquiry):
        def __post_init__(self) -> None:
            tasks.append(self)

    monkeypatch.setattr(searcher, "Inquiry", Kept)
    monkeypatch.setattr(searcher, "AT_ONCE", 2)
    seen: list[list[str]] = []

    def say(source: str, query: str) -> Answer:
        seen.append([task.status for task in tasks])
        if query == "fails":
            raise PortFailed("No.")
        return each_its_own(source, query)

    # when
    port = Answers(say)
    said = await search(port, order("tea one", "fails", "tea two", "silence", sources=("web",)), Turn(seconds=0.2))

    # then each query of each source is one, and its status says what became of it
    assert [(task.query, task.source) for task in tasks] == [
        (query, "web") for query in ("tea one", "fails", "tea two", "silence")
    ]
    assert seen[0] == ["pending"] * 4
    assert [task.status for task in tasks] == ["done", "failed", "done", "failed"]
    assert said.searches == (
        SearchTask("tea one", "web", "done", 3),
        SearchTask("fails", "web", "failed", 0, "No."),
        SearchTask("tea two", "web", "done", 3),
        SearchTask(
            "silence", "web", "failed", 0, "The time for searching was over before web had answered all queries."
        ),
    )
    assert [len(task.found) for task in tasks] == [3, 1, 3, 1]
    assert {each.url for each in said.results} == {
        each.url for task in tasks for each in task.found if isinstance(each, SearchResult)
    }


@pytest.mark.req("PR-4", "RE-14")
async def test_every_query_is_asked_of_every_source_several_at_once_but_not_all() -> None:
    port, turn = Answers(each_its_own), Turn()
    queries = [f"tea {n}" for n in range(12)]

    said = await search(port, order(*queries), turn)

    assert sorted(port.asked) == sorted((source, query) for source in ("knowledge", "web") for query in queries)
    assert port.most_at_once == 8
    assert port.limits == {5}
    assert isinstance(said, SearchCompleted)
    assert len(said.results) == 2 * 12 * 3
    heard = [each for each in turn.said if isinstance(each, StageProgress)]
    assert list(dict.fromkeys(each.done for each in heard)) == list(range(25))
    assert [each.item for each in heard if not each.done] == [
        "", *(f"{source}: tea {n}" for n in range(4) for source in ("knowledge", "web"))
    ], "who is at work is told"  # fmt: skip
    assert {(each.stage, each.total) for each in heard} == {("searching", 24)}
    assert heard[1].item == "knowledge: tea 0"


@pytest.mark.parametrize("seed", range(5))
async def test_who_answers_first_changes_nothing(seed: int) -> None:
    def shared(source: str, query: str) -> Answer:
        if source == "rss":
            raise PortFailed(f"No feed on {query}.")
        return (*each_its_own(source, query), hit("https://same.example/", summary=f"{source} {query}", source=source))

    message = order(*QUERIES, "tea water", sources=("knowledge", "web", "rss"))

    assert await search(Answers(shared, random.Random(seed)), message) == await search(Answers(shared), message)


@pytest.mark.req("PR-20")
async def test_of_results_with_one_url_the_first_is_kept() -> None:
    def same(source: str, query: str) -> Answer:
        spelling = {"knowledge": "https://A.example:443/x?utm_source=y", "web": "https://a.example/x#top"}[source]
        return (hit(spelling, summary=f"{source}, {query}", source=source),)

    said = await search(Answers(same), order())

    (only,) = said.results
    assert (only.source, only.summary) == ("knowledge", "knowledge, tea leaves")


@pytest.mark.req("PR-21")
async def test_of_results_with_one_content_the_first_is_kept() -> None:
    def mirrored(source: str, query: str) -> Answer:
        return (hit(f"https://{source}.example/{query[-3:]}", "Tea", "The same  words.", source),)

    said = await search(Answers(mirrored), order())
    again = await search(Answers(mirrored), order(results=said.results))
    silent = await search(Answers(lambda source, _: (msgspec.structs.replace(hit(source), summary=""),)), order())

    assert [each.url for each in said.results] == ["https://knowledge.example/ves"]
    assert again.results == said.results
    assert len(silent.results) == 2, "a title alone tells nothing"


async def test_a_page_that_several_queries_find_is_judged_by_the_one_that_it_fits() -> None:
    def both(source: str, query: str) -> Answer:
        return (SearchResult(source, "Water for steeping", "https://a.example/", "It is boiled.", query=query),)

    said = await search(Answers(both), order("tea leaves", "steeping water", sources=("web",)))

    assert (said.results[0].query, said.results[0].quality > 0.8) == ("tea leaves", True)


@pytest.mark.req("PR-22", "DR-10")
async def test_a_page_that_was_read_is_not_found_anew_and_its_result_stays() -> None:
    known = hit("https://web0.example/tea-leaves", quality=0.7)
    held = [a_page(known.url), a_page("https://web1.example/tea-leaves")]

    said = await search(
        Answers(each_its_own), order("tea leaves", sources=("web",), results=(known,), pages=tuple(held))
    )

    assert said.results[0] == known
    assert [each.url for each in said.results[1:]] == ["https://web2.example/tea-leaves"]
    nothing_new = (*held, a_page("https://web2.example/tea-leaves"))
    again = await search(
        Answers(each_its_own), order("tea leaves", sources=("web",), results=(known,), pages=nothing_new)
    )
    assert isinstance(again, SearchFellShort)
    assert again.shortfall == "The searches found nothing new."


@pytest.mark.req("RE-4", "PR-4")
async def test_a_source_that_fails_is_named_once_logged_and_the_others_are_used() -> None:
    def half(source: str, query: str) -> Answer:
        if source == "web":
            raise PortFailed("The web is down: try again later.")
        if source == "rss":
            raise ZeroDivisionError("a bug")
        return (*each_its_own(source, query), FailedSource("https://feed.example/", "dead", "The feed is gone."))

    with capture_logs() as logs:
        said = await search(Answers(half), order(sources=("web", "knowledge", "rss")))

    assert isinstance(said, SearchCompleted)
    assert {each.source for each in said.results} == {"knowledge"}
    assert [(each.place, each.reason) for each in said.missed] == [
        ("web", "source_failed"), ("https://feed.example/", "dead"), ("rss", "source_failed"),
    ]  # fmt: skip
    assert said.missed[0].detail == "The web is down: try again later."
    assert said.missed[2].detail == "rss broke down (ZeroDivisionError); the log tells more."
    assert said.unavailable == ("web", "rss")
    failed = [(each["source"], each["reason"]) for each in logs if each["event"] == "search.failed"]
    assert failed == [(each.place, each.detail) for each in said.missed]


async def test_what_failed_before_is_not_listed_twice() -> None:
    def down(source: str, query: str) -> Answer:
        raise PortFailed("Down.")

    first = await search(Answers(down), order(sources=("web",)))
    again = await search(Answers(down), order(sources=("web",), missed=first.missed, unavailable=first.unavailable))

    assert isinstance(again, SearchFellShort)
    assert again.shortfall == "The searches found nothing new. 1 of 1 sources did not answer."
    assert (again.missed, again.unavailable) == (first.missed, ("web",))


@pytest.mark.req("PR-25")
async def test_who_does_not_answer_in_time_is_left_behind() -> None:
    port, turn = Answers(each_its_own), Turn(seconds=1.0)

    said = await search(port, order("tea leaves", "silence", sources=("web",)), turn)

    assert len(said.results) == 3
    assert said.missed == (
        FailedSource("web", "timed_out", "The time for searching was over before web had answered all queries."),
    )
    assert said.unavailable == ("web",)
    assert all(0 <= each <= 0.6 for each in port.within)
    assert port.at_once == 0


@pytest.mark.req("PR-31")
async def test_when_the_run_winds_down_it_hands_in_what_it_has_and_starts_nothing() -> None:
    port, turn = Answers(each_its_own), Turn()
    queries = ("tea leaves", *["silence"] * 20)
    task = asyncio.create_task(search(port, order(*queries, sources=("web",)), turn))
    await settle()

    turn.stop()
    said = await asyncio.wait_for(task, promised(2.0))

    assert isinstance(said, SearchCompleted)
    assert (len(said.results), said.missed, said.unavailable) == (3, (), ())
    assert len(port.asked) == AT_ONCE + 1
    assert port.at_once == 0


@pytest.mark.req("PR-31")
async def test_when_the_run_winds_down_already_nobody_is_asked() -> None:
    port, turn = Answers(each_its_own), Turn()
    turn.stop()

    said = await search(port, order(), turn)

    assert isinstance(said, SearchCompleted)
    assert port.asked == []


async def test_pages_that_the_user_named_come_first_and_are_not_searched_for() -> None:
    urls = ("https://named.example/tea", "javascript:alert(1)")
    port = Answers(each_its_own)

    said = await search(port, order(brief=ResearchOptions(breadth=3, urls=urls), sources=("urls", "web")))

    assert said.results[0] == SearchResult("urls", "named.example/tea", urls[0], quality=1.0)
    assert said.missed == (FailedSource(urls[1], "refused", "This is no http(s) address that can be read."),)
    assert {source for source, _ in port.asked} == {"web"}


@pytest.mark.req("RE-8")
async def test_the_first_results_are_of_several_hosts() -> None:
    def crowded(source: str, query: str) -> Answer:
        many = [hit(f"https://crowd.example/{n}", "Tea leaves, steeping", quality=0.9) for n in range(5)]
        return (*many, hit("https://b.example/", quality=0.8), hit("https://c.example/", quality=0.7))

    said = await search(Answers(crowded), order())

    assert len({host_of(each.url) for each in said.results[:3]}) == 3


@pytest.mark.req("PR-17")
async def test_over_fifty_results_are_only_the_essential_of_each_the_best_first() -> None:
    def many(source: str, query: str) -> Answer:
        best = hit(f"https://best.example/{query[-3:]}", "Tea leaves, tea steeping", quality=1.0)
        others = (hit(f"https://e{n}.example/{query[-3:]}", "Cats", published="2026-01-01") for n in range(29))
        return (*others, best)

    said = await search(Answers(many), order(sources=("web",)))

    assert len(said.results) == 60 > searcher.RESULTS
    assert [host_of(each.url) for each in said.results[:2]].count("best.example") == 2
    assert [each.quality for each in said.results] == sorted((each.quality for each in said.results), reverse=True)
    assert {each.published for each in said.results} == {""}
    assert {each.query for each in said.results} == {"tea leaves"}


@pytest.mark.req("PR-9")
async def test_when_nothing_fits_the_question_the_planner_hears_of_it() -> None:
    def off(source: str, query: str) -> Answer:
        return (hit(f"https://cats.example/{query}".replace(" ", ""), "Cats", f"They sleep {query[-3:]}."),)

    said = await search(Answers(off), order(sources=("web",)))

    assert isinstance(said, SearchFellShort)
    assert said.shortfall == "Of 2 new results none seems to answer the question."
    assert len(said.results) == 2, "what was found is kept all the same"


async def test_without_any_source_it_says_that_nothing_was_found() -> None:
    said = await search(Answers(each_its_own), order(sources=()))

    assert isinstance(said, SearchFellShort)
    assert said.shortfall == "The searches found nothing new."


async def test_whoever_cancels_it_leaves_nothing_running() -> None:
    port = Answers(each_its_own)
    task = asyncio.create_task(search(port, order("silence")))
    await settle()

    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert port.at_once == 0
