"""Searcher: asks every source of the plan every query, and keeps each page once."""

import asyncio
from collections.abc import Iterable, Sequence
from typing import Literal

import msgspec
import structlog

from actors.evidence.dedup import hash_of
from actors.evidence.result_scoring import reading_order, score_results
from actors.evidence.shortfalls import Shortfall, merge_shortfalls
from actors.evidence.sources import FailedSource, SearchResult
from actors.evidence.summarize import KEY_POINTS, SUMMARY_CHARACTERS
from actors.ports import PortFailed, Search
from actors.research.messages import RunSearches, SearchCompleted, SearchFellShort
from actors.research.models import Plan, ResearchOptions, SearchTask
from actors.text.truncate import shorten
from actors.text.urls import key_of, web_address
from actors.workflow.cancellation import run_until_stop
from actors.workflow.progress import StageProgress
from bus import Actor, Context

log = structlog.get_logger()

SHARE = 0.6
"""Of the time that is left: what searching may take."""
AT_ONCE = 8
"""Questions to sources at once; each source has limits of its own below that (RE-1)."""
MOST_RESULTS = 500
SPARES = 2
"""Results that each query may bring beyond those that will be read."""
MOST_OF_A_QUERY = 100
"""Results that one query may bring at most, however many are known by now."""


class Inquiry(msgspec.Struct):
    """A search at work."""

    query: str
    source: str
    status: Literal["pending", "done", "failed"] = "pending"
    found: tuple[SearchResult | FailedSource, ...] = ()

    def tell(self, number: int) -> SearchTask:
        """
        How far it has come.

        :param number: of the round.
        """
        failed = [each for each in self.found if isinstance(each, FailedSource)]
        hits = len(self.found) - len(failed)
        status = "failed" if failed and not hits else self.status
        return SearchTask(self.query, self.source, status, hits, failed[0].detail if failed else "", number)


class Searcher(Actor[RunSearches]):
    """Mailbox: RunSearches."""

    __slots__ = ("_search",)

    def __init__(self, search: Search) -> None:
        self._search = search

    async def receive(self, message: RunSearches, ctx: Context) -> SearchCompleted | SearchFellShort:
        plan = message.plan
        assert plan is not None  # noqa: S101 - the table makes a plan first
        tasks = [Inquiry(query, source) for query in plan.queries for source in plan.sources if source != "urls"]
        if not ctx.stopping:
            await self._run(tasks, message, ctx)
        heard = [*ordered_pages(message.brief), *(each for task in tasks for each in task.found)]
        found, failures = collect(message, heard)
        for each in failures:
            log.warning("search.failed", source=each.place, reason=each.detail)
        silent = {each.place: None for each in heard if isinstance(each, FailedSource) and each.place in plan.sources}
        missed = (*message.missed, *failures)
        searches = {(each.source, each.query): each for each in message.searches}
        searches |= {(each.source, each.query): each.tell(message.brief.round) for each in tasks}
        said = (found, missed, tuple(dict.fromkeys((*message.unavailable, *silent))))
        failed = [Shortfall("source_failed", each) for each in silent]
        asked = plan.sources if message.shortfall else ()  # again: what answers now is not lacking any more
        before = (each for each in message.incomplete if each.code != "source_failed" or each.detail not in asked)
        incomplete = merge_shortfalls(before, failed)
        tried = {page.key for page in message.pages} | {key_of(each.place) for each in missed}
        fresh = [each for each in found if key_of(each.url) not in tried]
        shortfall = "" if ctx.stopping else failed_check(fresh, plan, len(silent))
        if shortfall:
            return SearchFellShort(*said, shortfall, tuple(searches.values()), incomplete=incomplete)
        return SearchCompleted(*said, searches=tuple(searches.values()), incomplete=incomplete)

    async def _run(self, tasks: Sequence[Inquiry], message: RunSearches, ctx: Context) -> None:
        """Carry out all tasks, several at once; those that the time is too short for have failed."""
        left, limit, explored = ctx.remaining_seconds(), most_results(message), message.brief.direction or message.text
        seconds = left * SHARE
        places, ended = asyncio.Semaphore(AT_ONCE), 0

        async def carry_out(task: Inquiry) -> None:
            nonlocal ended
            name = f"{task.source}: {task.query}"
            async with places:
                ctx.publish(StageProgress("searching", "Searching", ended, len(tasks), name))
                within = max(0.0, seconds - (left - ctx.remaining_seconds()))
                await self._ask(task, limit, within)
            found = [each for each in task.found if isinstance(each, SearchResult)]
            failed = tuple(each for each in task.found if isinstance(each, FailedSource))
            task.found = (*score_results(found, task.query, explored, prior=self._search.prior(task.source)), *failed)
            ended += 1
            ctx.publish(StageProgress("searching", "Searching", ended, len(tasks), name))

        async def carry_out_all() -> None:
            await asyncio.gather(*map(carry_out, tasks))

        ctx.publish(StageProgress("searching", "Searching", 0, len(tasks)))
        await run_until_stop(carry_out_all(), ctx, within=seconds)
        if not ctx.stopping:
            for task in tasks:
                if task.status == "pending":
                    why = f"The time for searching was over before {task.source} had answered all queries."
                    task.status, task.found = "failed", (FailedSource(task.source, "timed_out", why),)

    async def _ask(self, task: Inquiry, limit: int, within: float) -> None:
        try:
            task.found = await self._search.search(task.source, task.query, limit=limit, within=within)
        except PortFailed as error:
            why = str(error)
        except Exception as error:  # whatever a source does, the others go on
            why = f"{task.source} broke down ({type(error).__name__}); the log tells more."
            log.exception("search.broke_down", source=task.source)
        else:
            task.status = "done"
            return
        task.status, task.found = "failed", (FailedSource(task.source, "source_failed", why),)


def most_results(message: RunSearches) -> int:
    """How many results each query may bring: those that were read before come first again, and must not fill it."""
    tried = len(message.pages) + sum(each.reason != "source_failed" for each in message.missed)
    return min(message.brief.breadth + SPARES + tried, MOST_OF_A_QUERY)


def ordered_pages(brief: ResearchOptions) -> Iterable[SearchResult | FailedSource]:
    """The pages that the user named, as results that nobody has to search for."""
    for url in brief.urls:
        if address := web_address(url):
            yield SearchResult("urls", address.partition("://")[2], address, quality=1.0)
        else:
            yield FailedSource(url[:200], "refused", "This is no http(s) address that can be read.")


def collect(
    message: RunSearches, heard: Iterable[SearchResult | FailedSource]
) -> tuple[tuple[SearchResult, ...], tuple[FailedSource, ...]]:
    """
    All results, each page and each content once, those that were known before as they were, and what failed anew.

    :param heard: in an order that does not depend on who answered first.
    """
    keys = {key_of(each.url) for each in message.results} | {page.key for page in message.pages}
    contents = {_content(each) for each in message.results} - {""}
    places = {each.place for each in message.missed}
    fresh: dict[str, SearchResult] = {}
    missed: dict[str, FailedSource] = {}
    for each in heard:
        if isinstance(each, FailedSource):
            if each.place not in places:
                missed.setdefault(each.place, each)
            continue
        key, content = key_of(each.url), _content(each)
        if key in fresh:
            best = max(fresh[key].quality, each.quality)
            fresh[key] = msgspec.structs.replace(fresh[key], quality=best)
        elif key not in keys and content not in contents:
            contents |= {content} - {""}
            fresh[key] = each
    return _arrange(message, tuple(fresh.values())), tuple(missed.values())


def _arrange(message: RunSearches, fresh: Sequence[SearchResult]) -> tuple[SearchResult, ...]:
    """Known ones first, then the new ones as they should be read; over 50 only the essential of each (PR-17)."""
    every = (*message.results, *reading_order(fresh, message.brief.breadth))
    if len(every) <= RESULTS:
        return every
    queries, held = {each.url: each.query for each in every}, {page.key for page in message.pages}
    small = [msgspec.structs.replace(each, query=queries[each.url]) for each in results(every)]
    read = [each for each in small if key_of(each.url) in held]
    unread = reading_order((each for each in small if key_of(each.url) not in held), message.brief.breadth)
    return (*read, *unread)[:MOST_RESULTS]


def _content(result: SearchResult) -> str:
    """By which two results with the same text are recognised (PR-21); empty for one that says nothing but its title."""
    return hash_of(f"{result.title}\n{result.summary}") if result.summary else ""


def failed_check(fresh: Sequence[SearchResult], plan: Plan, failed: int = 0) -> str:
    """
    Why what was found is too little to go on with, in a sentence; empty when it is enough (PR-9).

    :param fresh: results that nobody has read yet.
    :param failed: how many sources did not answer.
    """
    besides = f" {failed} of {len(plan.sources)} sources did not answer." if failed else ""
    if not fresh:
        return f"The searches found nothing new.{besides}"
    if len(fresh) < plan.least_results:
        return f"Of {plan.least_results} new results that are needed the searches found {len(fresh)}.{besides}"
    if all(each.quality < plan.least_quality for each in fresh):
        return f"Of {len(fresh)} new results none seems to answer the question.{besides}"
    return ""


RESULTS = 50
"""More results than these are compressed (PR-17)."""


def results(found: Sequence[SearchResult]) -> tuple[SearchResult, ...]:
    """Over 50 results: each only URL, title, summary, key points, quality and source, the best first (PR-17)."""
    if len(found) <= RESULTS:
        return tuple(found)
    small = (
        SearchResult(
            source=each.source, title=each.title, url=each.url, summary=shorten(each.summary, SUMMARY_CHARACTERS),
            key_points=each.key_points[:KEY_POINTS], quality=each.quality,
        )
        for each in found
    )  # fmt: skip
    return tuple(sorted(small, key=lambda each: -each.quality))
