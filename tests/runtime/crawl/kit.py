"""What tests of fetching share: limits that pass quickly, a resolver with a script, workers without processes."""

import asyncio
import socket
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from aiohttp.abc import AbstractResolver, ResolveResult

from actors.evidence.sources import FailedSource, Page, SearchResult
from runtime.crawl import originals
from runtime.crawl.extract.extracted import Extracted
from runtime.crawl.extract.page import extract
from runtime.crawl.http_client import Client
from runtime.crawl.pages import Pages
from runtime.processes.pool import Workers
from runtime.processes.worker_process import _function
from runtime.resilience.limiters import ResearchBudget
from runtime.search.source import SourcePorts
from runtime.search.source_registry import Sources
from runtime.settings import FetchSettings, ResearchSettings, Settings, StorageSettings
from runtime.storage.effects import Effects
from tests.fakes import Knows

R = TypeVar("R")
SOON = 0.02
LOOPBACK = FetchSettings(allow=("127.0.0.0/8",), per_host=4)


class Names(AbstractResolver):
    """Each question gets the next answer, the last one for ever."""

    def __init__(self, *answers: Sequence[str]) -> None:
        self._answers = list(answers)

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        addresses = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        return [
            ResolveResult(
                hostname=host, host=each, port=port, proto=0, flags=socket.AI_NUMERICHOST,
                family=socket.AF_INET6 if ":" in each else socket.AF_INET,
            )
            for each in addresses
        ]  # fmt: skip

    async def close(self) -> None:
        """Nothing is open."""


class Here(Workers):
    """Runs what it is asked in this process, with all that crosses the line encoded as on the line."""

    def __init__(self) -> None:
        super().__init__(1)
        self.calls: list[str] = []

    async def call(
        self, function: str, *arguments: Any, within: float, returns: type[R], waiting: float = 0.0
    ) -> R:  # fmt: skip
        self.calls.append(function)
        await asyncio.sleep(0)
        sent = msgspec.msgpack.decode(msgspec.msgpack.encode(arguments))
        answer = msgspec.msgpack.decode(msgspec.msgpack.encode(_function(function)(*sent)))
        return msgspec.convert(answer, returns)


class Noted(Effects):
    """Effects that are durable at once and in no thread, which a clock that is hurried would not wait for."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], bytes] = {}

    def get(self, kind: str, key: str, type_: Any) -> Any:
        known = self._known.get((kind, key))
        return None if known is None else msgspec.msgpack.decode(known, type=type_)

    def all(self, kind: str, type_: Any) -> list[Any]:
        return [self.get(*each, type_) for each in sorted(self._known) if each[0] == kind]

    async def put(self, kind: str, key: str, value: Any) -> None:
        self._known.setdefault((kind, key), msgspec.msgpack.encode(value))
        await asyncio.sleep(0)


def settings(folder: Any, fetch: FetchSettings = LOOPBACK, **research: Any) -> Settings:
    return Settings(
        fetch=fetch, storage=StorageSettings(folder=str(folder)), research=ResearchSettings(**research)
    )  # fmt: skip


def extract_again(folder: Path, page: Page, question: str) -> Extracted | None:
    """The text of a page from what was sent then, without asking its server; nothing when that is not there."""
    original = page.original
    body = originals.read(folder, original.sha256) if original is not None else None
    if original is None or body is None:
        return None
    return extract(body, original.charset, original.content_type, page.url, question)


def make_pages(
    settings: Settings, workers: Workers, client: Client, now: Callable[[], float] = time.time
) -> Pages:  # fmt: skip
    """The reading of a process, with an index that nobody searches."""
    return Pages(Sources(SourcePorts(settings, Knows(), workers, client)), now)


def budget(pages: float = 0) -> ResearchBudget:
    return ResearchBudget({"pages": pages, "credits": 0})


def results(*urls: str, source: str = "urls") -> list[SearchResult]:
    return [SearchResult(source, f"Result {n}", url, quality=0.5) for n, url in enumerate(urls)]


class Heard:
    """What a reading told."""

    def __init__(self) -> None:
        self.all: list[Page | FailedSource] = []

    def __call__(self, read: Page | FailedSource) -> None:
        self.all.append(read)

    @property
    def pages(self) -> list[Page]:
        return [each for each in self.all if isinstance(each, Page)]

    @property
    def missed(self) -> dict[str, str]:
        """Reason by place."""
        return {each.place: each.reason for each in self.all if isinstance(each, FailedSource)}


async def read(
    pages: Pages,
    effects: Effects,
    urls: Sequence[str],
    *,
    wanted: int = 5,
    within: float = 30.0,
    money: ResearchBudget | None = None,
    then: Callable[[Page | FailedSource], None] | None = None,
    source: str = "urls",
    arrived: Callable[[Page | FailedSource], None] | None = None,
) -> Heard:
    heard = Heard()

    def done(each: Page | FailedSource) -> None:
        heard(each)
        if then is not None:
            then(each)

    run = pages.for_run(effects, money or budget())
    await run.read(
        results(*urls, source=source), wanted=wanted, query="the tidal barrage", within=within, done=done,
        arrived=arrived or (lambda _: None),
    )  # fmt: skip
    return heard
