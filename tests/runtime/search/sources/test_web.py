"""DuckDuckGo, through a stand-in for its library that the worker process finds first."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from actors.ports import PortFailed
from runtime.search.source import SourceFailed
from runtime.search.sources.web import DuckDuckGo
from runtime.settings import DuckduckgoSettings
from tests.patience import promised

LIBRARY = """
import json, os, sys, threading, time
from pathlib import Path
from ddgs.exceptions import DDGSException, RatelimitException, TimeoutException

class DDGS:
    def __init__(self, proxy=None, timeout=5, *, verify=True):
        self.timeout = timeout

    def text(self, query, **options):
        asked = Path(__file__).parent / "asked.jsonl"
        with asked.open("a") as file:
            file.write(json.dumps([query, self.timeout, options, os.getpid()]) + "\\n")
        if query == "hang":
            threading.Thread(target=time.sleep, args=(600,)).start()  # as its executor does
            while True:
                time.sleep(1)
        if query == "late" and options["backend"] == "brave":
            time.sleep(min(self.timeout, 4))  # longer than others are waited for
        if query in {"late", "one engine"} and options["backend"] != "brave":
            if query == "late":
                raise TimeoutException("timed out")
            while True:
                time.sleep(1)
        if query == "die":
            os._exit(3)
        if query == "print":
            print("noise on stdout")
        faults = {
            "nothing": DDGSException("No results found."), "limited": RatelimitException("202 Ratelimit"),
            "slow": TimeoutException("timed out"), "down": DDGSException("ConnectError:\\n  no route"),
            "limited too": DDGSException("418 Ratelimit"), "odd": ZeroDivisionError("division by zero"),
        }
        if query in faults:
            raise faults[query]
        found = {"title": "Tea", "href": "https://a.example/tea", "body": "How tea is made."}
        bad = {"title": "Bad", "href": "javascript:alert(1)", "body": ""}
        return [found, bad, {"title": None}, {**found, "href": "https://b.example/", "title": query}]
"""
EXCEPTIONS = """
class DDGSException(Exception): ...
class RatelimitException(DDGSException): ...
class TimeoutException(DDGSException): ...
"""


class Library:
    """The stand-in, and what it was asked."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "ddgs"
        self.folder.mkdir()
        (self.folder / "__init__.py").write_text(LIBRARY, encoding="utf-8")
        (self.folder / "exceptions.py").write_text(EXCEPTIONS, encoding="utf-8")

    @property
    def asked(self) -> str:
        file = self.folder / "asked.jsonl"
        return file.read_text(encoding="utf-8") if file.exists() else ""


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Library:
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    return Library(tmp_path)


@contextlib.asynccontextmanager
async def duckduckgo(**settings: float) -> AsyncIterator[DuckDuckGo]:
    known = {"requests_per_minute": 0, **settings}
    source = DuckDuckGo(DuckduckgoSettings(**known), asyncio.get_running_loop())  # type: ignore[arg-type]
    try:
        yield source
    finally:
        await source.close()


@pytest.mark.req("PR-11")
async def test_hits_become_results_and_what_cannot_be_read_is_left_out(library: Library) -> None:
    async with duckduckgo() as source:
        results = await source.search("print", limit=5, within=20)

    assert [(each.source, each.title, each.url, each.summary) for each in results] == [
        ("web", "Tea", "https://a.example/tea", "How tea is made."),
        ("web", "print", "https://b.example/", "How tea is made."),
    ]
    for engine in ("duckduckgo", "brave", "mojeek"):
        assert f'["print", 15, {{"max_results": 5, "backend": "{engine}"}}' in library.asked, "each has all the time"


async def test_finding_nothing_is_no_failure(library: Library) -> None:
    async with duckduckgo() as source:
        assert await source.search("nothing", limit=5, within=20) == ()


@pytest.mark.req("RE-4")
@pytest.mark.parametrize(
    ("query", "kind", "said"),
    [
        ("limited", "rate_limited", "limits how often"),
        ("limited too", "rate_limited", "limits how often"),
        ("slow", "timed_out", "did not answer in time"),
        ("down", "unreachable", "(ConnectError: no route): check the network"),
        ("odd", "broken", "ZeroDivisionError"),
        ("die", "broken", "died"),
    ],
)
async def test_every_failure_is_one_sentence(library: Library, query: str, kind: str, said: str) -> None:
    async with duckduckgo() as source:
        with pytest.raises(SourceFailed) as caught:
            await source.search(query, limit=5, within=20)
        assert len(await source.search("tea", limit=5, within=20)) == 2, "the next search is none the worse for it"

    assert caught.value.kind == kind
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.req("PR-25")
async def test_a_search_that_hangs_is_killed_in_time_and_another_is_served(library: Library) -> None:
    async with duckduckgo(seconds=1.5) as source:
        begun = time.monotonic()
        with pytest.raises(PortFailed, match="did not answer"):
            await source.search("hang", limit=5, within=20)
        took = time.monotonic() - begun

        assert 1.0 < took < promised(4.0)
    async with duckduckgo(seconds=15) as source:
        hanging = asyncio.create_task(source.search("hang", limit=5, within=20))
        assert len(await source.search("tea", limit=5, within=20)) == 2, "one that hangs holds up no other"
        hanging.cancel()
        with pytest.raises(asyncio.CancelledError):
            await hanging


@pytest.mark.req("PR-25")
async def test_an_engine_that_answers_late_is_waited_for_as_long_as_is_configured(library: Library) -> None:
    async with duckduckgo(seconds=20) as source:
        assert len(await source.search("late", limit=5, within=60)) == 2
    async with duckduckgo(seconds=1) as source:
        with pytest.raises(PortFailed, match="did not answer"):
            await source.search("late", limit=5, within=60)


async def test_engines_that_hang_cost_nothing_of_what_another_found(library: Library) -> None:
    async with duckduckgo(seconds=20) as source:
        assert [each.title for each in await source.search("one engine", limit=5, within=20)] == ["Tea", "one engine"]


async def test_without_the_library_it_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "ddgs.py").write_text("raise ImportError('none here')", encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))

    async with duckduckgo() as source:
        with pytest.raises(PortFailed, match=r"pip install -e '\.\[duckduckgo\]'"):
            await source.search("tea", limit=5, within=20)
