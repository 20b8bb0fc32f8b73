"""Web search without a key. ddgs blocks and cannot be cancelled, so it runs in a process that is killed in time."""

from typing import Any, Literal

import msgspec

from actors.research.ports import SearchResult
from bus import Clock
from runtime.search.line import Line, SourceFailed
from runtime.search.results import checked, line, shortened
from runtime.settings import DuckduckgoSettings
from runtime.workers import Workers, WorkFailed, WorkTimedOut

NAME = "DuckDuckGo"
ASK = "runtime.search.duckduckgo:ask"
BACKENDS = "duckduckgo,brave,mojeek"
"""Left to itself, ddgs asks encyclopaedias first and seven engines in waves, each with the time-out anew."""
WAVE_SECONDS = 3
AT_ONCE = 2
DETAIL_CHARACTERS = 200


class Answer(msgspec.Struct, frozen=True):
    """What ddgs said, or why it said nothing."""

    hits: tuple[tuple[str, str, str], ...] = ()
    """(title, URL, text)"""
    failed: Literal["", "missing", "rate_limited", "timed_out", "failed"] = ""
    detail: str = ""


def ask(query: str, limit: int) -> Answer:
    """In a worker process: search and block until there is an answer."""
    try:
        from ddgs import DDGS
        from ddgs.exceptions import DDGSException, RatelimitException, TimeoutException
    except ImportError:
        return Answer(failed="missing")
    try:
        found: Any = DDGS(timeout=WAVE_SECONDS).text(query, max_results=limit, backend=BACKENDS)
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
    hits = [tuple(str(each.get(key) or "") for key in ("title", "href", "body")) for each in found[:limit]]
    return Answer(hits=tuple(hit for hit in hits if len(hit) == 3))


class DuckDuckGo:
    """One a process, with worker processes of its own: a search that hangs must not hold up others' work."""

    def __init__(self, settings: DuckduckgoSettings, clock: Clock) -> None:
        self._workers = Workers(AT_ONCE)
        self._line = Line(
            NAME, clock, seconds=settings.seconds, concurrency=AT_ONCE,
            requests_per_minute=settings.requests_per_minute, tries=1,
        )  # fmt: skip

    async def search(self, query: str, *, limit: int, within: float) -> tuple[SearchResult, ...]:
        """
        The hits for a query, best first; none when there are none.

        :raises PortFailed: with a sentence for the user.
        """

        async def call(seconds: float) -> Answer:
            try:
                answer = await self._workers.call(ASK, query, limit, within=seconds, returns=Answer)
            except WorkTimedOut:
                raise SourceFailed("timed_out", f"{NAME} did not answer in time.") from None
            except WorkFailed as error:
                raise SourceFailed("broken", f"The search with {NAME} broke down ({_short(error)}).") from error
            if answer.failed:
                raise _failure(answer)
            return answer

        answer = await self._line.ask(call, within=within)
        hits = [checked("web", query, title=title, url=url, text=text) for title, url, text in answer.hits]
        return tuple(each for each in hits if each is not None)

    def close(self) -> None:
        self._line.close()
        self._workers.close()


def _failure(answer: Answer) -> SourceFailed:
    match answer.failed:
        case "missing":
            return SourceFailed("refused", f"{NAME} needs ddgs: pip install -e '.[duckduckgo]'.")
        case "rate_limited":
            return SourceFailed("rate_limited", f"{NAME} limits how often it is asked: try again later, or use Tavily.")
        case "timed_out":
            return SourceFailed("timed_out", f"{NAME} did not answer in time.")
    return SourceFailed("unreachable", f"{NAME} cannot be searched ({_short(answer.detail)}): check the network.")


def _short(said: object) -> str:
    return shortened(line(str(said), 10 * DETAIL_CHARACTERS), DETAIL_CHARACTERS).rstrip(".")
