"""Searcher: asks every source of the plan every query, and keeps each page once."""

import asyncio

from actors.ports import PortFailed
from actors.progress import Worked
from actors.research.identity import key_of
from actors.research.messages import RunSearches, SearchCompleted, SearchFellShort
from actors.research.ports import Missed, Search, SearchResult
from bus import Actor, Context

SHARE = 0.6
"""Of the time that is left: what searching may take."""


class Searcher(Actor[RunSearches]):
    """Mailbox: RunSearches."""

    __slots__ = ("_search",)

    def __init__(self, search: Search) -> None:
        self._search = search

    async def receive(self, message: RunSearches, ctx: Context) -> SearchCompleted | SearchFellShort:
        plan = message.plan
        assert plan is not None  # noqa: S101 - the table makes a plan first
        jobs = [(source, query) for query in plan.queries for source in plan.sources]
        found: dict[str, SearchResult] = {key_of(each.url): each for each in message.results}
        missed: list[Missed] = list(message.missed)
        unavailable = dict.fromkeys(message.unavailable)
        done = 0

        async def one(source: str, query: str) -> tuple[SearchResult, ...] | Missed:
            nonlocal done
            try:
                limit = message.brief.breadth + 2
                return await self._search.search(source, query, limit=limit, within=ctx.time_left() * SHARE)
            except PortFailed as error:
                return Missed(source, "source_failed", str(error))
            finally:
                done += 1
                ctx.publish(Worked("searching", "Searching", done, len(jobs), f"{source}: {query}"))

        for answer in await asyncio.gather(*(one(*job) for job in jobs)):
            if isinstance(answer, Missed):
                missed.append(answer)
                unavailable[answer.place] = None
                continue
            for result in answer:
                found.setdefault(key_of(result.url), result)
        results = tuple(found.values())
        held = {page.key for page in message.pages}
        fresh = [each for each in results if key_of(each.url) not in held]
        said = (results, tuple(missed), tuple(unavailable))
        if len(fresh) < plan.least_results:
            return SearchFellShort(*said, "The searches found nothing new.")
        return SearchCompleted(*said)
