"""Tavily: web search and extraction, when it is configured. Its SDK is loaded when it is first asked."""

import asyncio
import functools
import math
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, cast

from actors.evidence.sources import SearchResult
from actors.ports import PortFailed
from actors.text.truncate import shorten
from bus import Clock
from runtime.resilience.limiters import ResearchBudget, retry_after
from runtime.search.results import quote_error, validate
from runtime.search.source import Kind, Search, Source, SourceClient, SourceFailed
from runtime.settings import TavilySettings
from runtime.storage.effects import Effects

if TYPE_CHECKING:
    import httpx

NAME = "Tavily"
URL = "https://api.tavily.com"
QUERY_CHARACTERS = 400
RESULTS = 20
"""Tavily gives at most this many to one query."""
URLS_A_CALL = 20
URLS_A_CREDIT = 5
CREDITS = {"basic": 1, "advanced": 2}
ANSWER_BYTES = 8_000_000

Json = Mapping[str, Any]
"""As it came: everything in it is checked before it is used."""


class Sdk(Protocol):
    """What is used of `tavily.AsyncTavilyClient`."""

    async def search(self, query: str, **options: object) -> object: ...

    async def extract(self, urls: list[str], **options: object) -> object: ...


class Answered(Exception):
    """Tavily answered with another status than 200."""

    def __init__(self, status: int, detail: str, retry_after: float | None) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.retry_after = retry_after


class TooMuch(Exception):
    """An answer is larger than any honest one, or packed, so that a few bytes could become as much."""


class Tavily:
    """One a process: its limits hold for searches and extractions of all runs together."""

    def __init__(self, settings: TavilySettings, clock: Clock) -> None:
        self._settings = settings
        self._client = SourceClient(
            NAME, clock, seconds=settings.seconds, concurrency=settings.concurrency,
            requests_per_minute=settings.requests_per_minute,
        )  # fmt: skip
        self._loading: asyncio.Future[tuple[Sdk, httpx.AsyncClient]] | None = None

    def for_run(self, effects: Effects, budget: ResearchBudget) -> Search:  # noqa: ARG002 - its answers are kept for it
        return functools.partial(self.search, budget=budget)

    async def search(
        self, query: str, *, limit: int, within: float, budget: ResearchBudget
    ) -> tuple[SearchResult, ...]:
        """As `Search`: the hits for a query, best first."""
        depth = self._settings.search_depth
        asked = shorten(" ".join(query.split()), QUERY_CHARACTERS)

        async def call(sdk: Sdk, seconds: float) -> object:
            return await sdk.search(
                asked, search_depth=depth, max_results=min(limit, RESULTS), include_usage=True, timeout=seconds
            )

        answer = await self._pay(call, CREDITS[depth], budget, within=within)
        hits = [
            validate(
                "tavily", query, title=each.get("title"), url=each.get("url"), text=each.get("content"),
                quality=each.get("score"), published=each.get("published_date"),
            )
            for each in _list_of(answer, "results")
        ]  # fmt: skip
        return tuple(each for each in hits if each is not None)[:limit]

    async def extract(self, urls: Sequence[str], *, within: float, budget: ResearchBudget) -> dict[str, str]:
        """
        The text of pages by URL, in Markdown. What Tavily could not read is missing; so is what was not asked for.

        :raises PortFailed: not a single call came to anything.
        """
        unique = list(dict.fromkeys(urls))
        batches = [unique[n : n + URLS_A_CALL] for n in range(0, len(unique), URLS_A_CALL)]
        answers = await asyncio.gather(
            *(self._extract_batch(batch, within, budget) for batch in batches), return_exceptions=True
        )
        failures = [each for each in answers if isinstance(each, BaseException)]
        for failure in failures:
            if len(failures) == len(batches) or not isinstance(failure, PortFailed):
                raise failure
        return {url: text for each in answers if not isinstance(each, BaseException) for url, text in each.items()}

    async def _extract_batch(self, urls: list[str], within: float, budget: ResearchBudget) -> dict[str, str]:
        async def call(sdk: Sdk, seconds: float) -> object:
            return await sdk.extract(
                urls, extract_depth="basic", format="markdown", include_usage=True, timeout=min(60.0, max(1.0, seconds))
            )

        answer = await self._pay(call, math.ceil(len(urls) / URLS_A_CREDIT), budget, within=within)
        got: dict[str, str] = {}
        for each in _list_of(answer, "results"):
            url, text = each.get("url"), each.get("raw_content")
            if isinstance(url, str) and url in urls and isinstance(text, str) and text.strip():
                got.setdefault(url, text)
        return got

    async def _pay(
        self, call: Callable[[Sdk, float], Awaitable[object]], credits_: int, budget: ResearchBudget, *, within: float
    ) -> Json:
        """Make a call whose price is put aside before; what turns out not to be charged is given back."""

        async def attempt(seconds: float) -> Json:
            sdk, _ = await self._load()
            budget.reserve("credits", credits_)
            try:
                answer = await call(sdk, seconds)
            except Exception as error:  # the SDK has no common base class, and raises what it should not
                failure, charged = classify(error)
                if not charged:
                    budget.give_back("credits", credits_)
                raise failure from error
            if not isinstance(answer, dict) or not isinstance(answer.get("results"), list):
                raise SourceFailed("broken", f"{NAME} sent an answer without results.")
            budget.give_back("credits", credits_ - _charge_of(answer, credits_))
            return cast("Json", answer)

        return await self._client.ask(attempt, within=within)

    async def _load(self) -> "tuple[Sdk, httpx.AsyncClient]":
        """The SDK, imported and made once, off the loop."""
        if self._loading is None:
            self._loading = asyncio.get_running_loop().run_in_executor(None, _make_sdk, self._settings)
        try:
            return await asyncio.shield(self._loading)
        except Exception as error:  # whatever it is, the other sources can be asked
            what = f"{NAME}'s client cannot be loaded ({type(error).__name__})"
            raise SourceFailed("refused", f"{what}: install again, or check SSL_CERT_FILE.") from error

    async def close(self) -> None:
        self._client.close()
        if self._loading is not None:
            await asyncio.wait([self._loading])
            if self._loading.exception() is None:
                await self._loading.result()[1].aclose()


def _make_sdk(settings: TavilySettings) -> "tuple[Sdk, httpx.AsyncClient]":
    import httpx
    from tavily import AsyncTavilyClient  # type: ignore[import-untyped]

    async def look(response: httpx.Response) -> None:
        """The SDK drops Retry-After, stumbles over statuses that it does not know, and reads without end."""
        assert isinstance(response.stream, httpx.AsyncByteStream)  # noqa: S101 - the client is async
        if response.headers.get("Content-Encoding", "identity") != "identity":
            raise TooMuch
        response.stream = _bound(response.stream)
        if response.status_code != 200:
            await response.aread()
            after = retry_after(response.headers, time.time())
            raise Answered(response.status_code, _detail(response, settings.api_key), after)

    headers = {"Accept-Encoding": "identity"}
    if not settings.api_key:
        headers["X-Tavily-Access-Mode"] = "keyless"  # the SDK only says so through a client of its own
    base = settings.base_url or URL
    client = httpx.AsyncClient(base_url=base, headers=headers, event_hooks={"response": [look]})
    return AsyncTavilyClient(api_key=settings.api_key, api_base_url=base, client=client), client


def _bound(stream: "httpx.AsyncByteStream") -> "httpx.AsyncByteStream":
    import httpx

    class Bounded(httpx.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            size = 0
            async for chunk in stream:
                size += len(chunk)
                if size > ANSWER_BYTES:
                    raise TooMuch
                yield chunk

        async def aclose(self) -> None:
            await stream.aclose()

    return Bounded()


def classify(error: Exception) -> tuple[SourceFailed, bool]:
    """What an exception means to the user, and whether the call may have been charged."""
    import httpx
    from tavily.errors import TimeoutError as TavilyTimedOut  # type: ignore[import-untyped]

    match error:
        case Answered():
            return _explain_status(error), False
        case httpx.ConnectError() | httpx.UnsupportedProtocol() | httpx.InvalidURL():
            return SourceFailed(
                "unreachable", f"{NAME} cannot be reached: check the network or [tavily] base_url."
            ), False
        case TavilyTimedOut() | httpx.TimeoutException():
            return SourceFailed("timed_out", f"{NAME} did not answer in time."), True
        case httpx.HTTPError() | httpx.StreamError():
            return SourceFailed("unreachable", f"{NAME} broke the connection off."), True
        case TooMuch():
            return SourceFailed("broken", f"{NAME} sent too much to be read."), True
    return SourceFailed("broken", f"{NAME} sent something that is no answer ({type(error).__name__})."), True


STATUSES: Mapping[int, tuple[Kind, str]] = {
    400: ("rejected", f"{NAME} did not accept the query"),
    401: ("refused", f"{NAME} refuses the key: mend TAVILY_API_KEY"),
    403: ("refused", f"{NAME} does not allow this with this key: look at your plan"),
    413: ("rejected", f"{NAME} found the query too long"),
    422: ("rejected", f"{NAME} did not accept the query"),
    429: ("rate_limited", f"{NAME} asks for fewer requests: lower [tavily] requests_per_minute"),
    432: ("refused", f"{NAME}'s credits of your plan are used up: raise its limit, or wait for the next month"),
    433: ("refused", f"{NAME}'s pay-as-you-go limit is reached: raise it in your account"),
}


def _explain_status(error: Answered) -> SourceFailed:
    usual: tuple[Kind, str] = ("broken", f"{NAME} answered with status {error.status}")
    kind, sentence = STATUSES.get(error.status, usual)
    said = f" (it says: {error.detail})" if error.detail else ""
    return SourceFailed(kind, f"{sentence}{said}.", retry_after=error.retry_after)


def _detail(response: "httpx.Response", key: str) -> str:
    """What an error says of itself, as one short line without the key."""
    try:
        body = response.json()
        said = body.get("detail", body)["error"]  # without a key it leaves the outer one out
        said = said.get("message") if isinstance(said, dict) else said
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return ""
    return quote_error(said, key)


def _list_of(answer: Json, name: str) -> list[Json]:
    return [each for each in answer[name] if isinstance(each, dict)]


def _charge_of(answer: Json, most: int) -> int:
    """What Tavily says that it charged, or else all that was put aside."""
    usage = answer.get("usage")
    said = usage.get("credits") if isinstance(usage, dict) else None
    return min(said, most) if isinstance(said, int) and not isinstance(said, bool) and said >= 0 else most


SOURCE = Source(
    NAME, 0.8, lambda ports: Tavily(ports.settings.tavily, asyncio.get_running_loop()), extracts=True,
    found=lambda its: f"{NAME}, key {'set' if its.tavily.api_key else 'not set, so for a few queries only'}",
    remedy="set TAVILY_API_KEY", module="tavily", install="pip install tavily-python",
    # Its SDK would send queries without a key, and say nothing: it is never opened without being configured.
    configured=lambda settings: bool(settings.tavily.api_key or settings.tavily.keyless),
)  # fmt: skip
