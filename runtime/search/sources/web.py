"""Web search without a key. ddgs blocks and cannot be cancelled, so it runs in a process that is killed in time."""

import asyncio
import math
import time
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from typing import Any, Literal

import msgspec

from actors.evidence.sources import SearchResult
from bus import Clock
from runtime.processes.pool import Workers, WorkFailed, WorkTimedOut
from runtime.resilience.limiters import ResearchBudget
from runtime.search.results import quote_error, validate
from runtime.search.source import Kind, Search, Source, SourceClient, SourceFailed
from runtime.settings import DuckduckgoSettings
from runtime.storage.effects import Effects

NAME = "DuckDuckGo"
ASK = "runtime.search.sources.web:ask"
BACKENDS = ("duckduckgo", "brave", "mojeek")
"""The best first. Left to itself, ddgs asks encyclopaedias first, and engines in waves, each with the time anew."""
OTHERS_SECONDS = 3.0
"""For which the others are waited for once one has found something."""
LAST_SHARE = 0.05
"""Of the time: for the answer's way back, before the process is killed."""
AT_ONCE = 2


class Answer(msgspec.Struct, frozen=True):
    """What ddgs said, or why it said nothing."""

    hits: tuple[tuple[str, str, str], ...] = ()
    """(title, URL, text)"""
    failed: Literal["", "missing", "rate_limited", "timed_out", "failed", "broken"] = ""
    detail: str = ""


def ask(query: str, limit: int, seconds: float) -> Answer:
    """In a worker process: ask all engines at once, and block until there is an answer or the time is nearly over."""
    try:
        import ddgs
    except ImportError:
        return Answer(failed="missing")
    begun, until = time.monotonic(), time.monotonic() + seconds * (1 - LAST_SHARE)
    pool = ThreadPoolExecutor(len(BACKENDS))
    asked = [pool.submit(_ask_one, ddgs, name, query, limit, seconds) for name in BACKENDS]
    while not all(each.done() for each in asked):
        found = any(each.done() and each.result().hits for each in asked)
        left = (min(until, begun + OTHERS_SECONDS) if found else until) - time.monotonic()
        if left <= 0:
            break
        wait([each for each in asked if not each.done()], timeout=left, return_when=FIRST_COMPLETED)
    pool.shutdown(wait=False)
    return _merge([each.result() if each.done() else Answer(failed="timed_out") for each in asked], limit)


def _ask_one(ddgs: Any, engine: str, query: str, limit: int, seconds: float) -> Answer:
    from ddgs.exceptions import DDGSException, RatelimitException, TimeoutException

    try:
        found: Any = ddgs.DDGS(timeout=math.ceil(seconds)).text(query, max_results=limit, backend=engine)
    except RatelimitException as error:
        return Answer(failed="rate_limited", detail=str(error))
    except TimeoutException as error:
        return Answer(failed="timed_out", detail=str(error))
    except DDGSException as error:  # finding nothing is one, too
        text = str(error)
        if "no results" in text.lower():
            return Answer()
        limited = any(mark in text.lower() for mark in ("ratelimit", "rate limit", "too many requests"))
        return Answer(failed="rate_limited" if limited else "failed", detail=text)
    except Exception as error:  # whatever one engine does, the others may find something
        return Answer(failed="broken", detail=f"{type(error).__name__}: {error}")
    hits = [tuple(str(each.get(key) or "") for key in ("title", "href", "body")) for each in found[:limit]]
    return Answer(hits=tuple(hit for hit in hits if len(hit) == 3))


def _merge(answers: Sequence[Answer], limit: int) -> Answer:
    """All that was found, each page once, in the order of the engines; else why the first of them found nothing."""
    hits = {hit[1]: hit for answer in reversed(answers) for hit in reversed(answer.hits)}
    ordered = dict.fromkeys(hit[1] for answer in answers for hit in answer.hits)
    if ordered:
        return Answer(hits=tuple(hits[url] for url in ordered)[:limit])
    return next((answer for answer in answers if not answer.failed), answers[0])


class DuckDuckGo:
    """One a process, with worker processes of its own: a search that hangs must not hold up others' work."""

    def __init__(self, settings: DuckduckgoSettings, clock: Clock) -> None:
        self._workers = Workers(AT_ONCE)
        self._client = SourceClient(
            NAME, clock, seconds=settings.seconds, concurrency=AT_ONCE,
            requests_per_minute=settings.requests_per_minute, tries=1,
        )  # fmt: skip

    def for_run(self, effects: Effects, budget: ResearchBudget) -> Search:  # noqa: ARG002 - it costs nothing
        return self.search

    async def search(self, query: str, *, limit: int, within: float) -> tuple[SearchResult, ...]:
        """As `Search`: the hits for a query, best first."""

        async def call(seconds: float) -> Answer:
            try:
                answer = await self._workers.call(ASK, query, limit, seconds, within=seconds, returns=Answer)
            except WorkTimedOut:
                raise _failure(Answer(failed="timed_out")) from None
            except WorkFailed as error:
                raise _failure(Answer(failed="broken", detail=str(error))) from error
            if answer.failed:
                raise _failure(answer)
            return answer

        answer = await self._client.ask(call, within=within)
        hits = [validate("web", query, title=title, url=url, text=text) for title, url, text in answer.hits]
        return tuple(each for each in hits if each is not None)

    async def close(self) -> None:
        self._client.close()
        self._workers.close()


_FAILURES: dict[str, tuple[Kind, str]] = {
    "missing": ("refused", f"{NAME} needs ddgs: pip install -e '.[duckduckgo]'."),
    "rate_limited": ("rate_limited", f"{NAME} limits how often it is asked: try again later, or use Tavily."),
    "timed_out": ("timed_out", f"{NAME} did not answer in time."),
    "failed": ("unreachable", f"{NAME} cannot be searched ({{}}): check the network."),
    "broken": ("broken", f"The search with {NAME} broke down ({{}})."),
}


def _failure(answer: Answer) -> SourceFailed:
    kind, sentence = _FAILURES[answer.failed]
    return SourceFailed(kind, sentence.format(quote_error(answer.detail)))


SOURCE = Source(
    NAME, 0.6, lambda ports: DuckDuckGo(ports.settings.duckduckgo, asyncio.get_running_loop()),
    configured=lambda settings: settings.duckduckgo.enabled, remedy="set [duckduckgo] enabled = true",
    module="ddgs", install="pip install -e '.[duckduckgo]'",
)  # fmt: skip
