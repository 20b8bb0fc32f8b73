"""A source that somebody adds is one file: help, refusals, `doctor`, searching, reading and citing follow from it."""

import argparse
import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from actors.research.models import ResearchOptions
from runtime.cli.commands import submit
from runtime.cli.diagnostics import web_search
from runtime.engine.node import Node
from runtime.families.research import ResearchOrder, make_options
from runtime.search import sources
from runtime.service_error import ServiceError
from runtime.settings import Settings, StorageSettings
from runtime.tickets import Ticket

FILE = '''
"""Remembers who did what, under addresses of its own."""

import os

from actors.evidence.sources import SearchResult
from runtime.crawl.own_document import describe_text
from runtime.search.source import Source

TEXT = "The Marwick tide mill was built in 1412 by the monks of Ansty. It ground barley for five villages until 1931."


class Almanac:
    def __init__(self, ports):
        self.ports = ports

    def for_run(self, effects, budget):
        return self.search

    async def search(self, query, *, limit, within):
        return (SearchResult("almanac", "The Marwick tide mill", "almanac:mill/1412", TEXT, quality=0.9, query=query),)

    async def read(self, url, question, *, within):
        return describe_text(TEXT, question, "The Marwick tide mill")

    async def close(self):
        os.environ["ALMANAC"] = "closed"


SOURCE = Source(
    "Almanac", 0.85, Almanac, scheme="almanac", configured=lambda settings: "ALMANAC" in os.environ,
    remedy="set ALMANAC", found=lambda settings: f"Almanac, opened with {os.environ['ALMANAC']}",
)
'''
QUESTION = "When was the Marwick tide mill built?"


@pytest.fixture(autouse=True)
def added(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The new file, and that it is configured."""
    (tmp_path / "sources").mkdir()
    (tmp_path / "sources" / "almanac.py").write_text(FILE, encoding="utf-8")
    monkeypatch.setattr(sources, "__path__", [*sources.__path__, str(tmp_path / "sources")])
    monkeypatch.setenv("ALMANAC", "a key")
    yield
    sys.modules.pop("runtime.search.sources.almanac", None)


def test_it_stands_in_the_help_text() -> None:
    parser = argparse.ArgumentParser()
    submit.arguments(parser)

    assert "of almanac,knowledge,rss,tavily,web (default:" in " ".join(parser.format_help().split())


def test_it_stands_in_what_doctor_says() -> None:
    assert web_search(Settings()).found == "Almanac, opened with a key"


def test_at_the_door_it_is_taken_and_what_is_nearly_its_name_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    assert make_options(ResearchOrder(sources=("almanac",)), Settings()).sources == ("almanac",)
    with pytest.raises(ServiceError, match=r"there is no source .almanak.\. Did you mean .almanac.\?"):
        make_options(ResearchOrder(sources=("almanak",)), Settings())
    monkeypatch.delenv("ALMANAC")
    with pytest.raises(ServiceError, match="the source almanac is not configured: set ALMANAC, or leave it away"):
        make_options(ResearchOrder(sources=("almanac",)), Settings())


async def test_it_is_searched_read_and_cited_and_a_stored_order_of_an_unknown_one_is_told(tmp_path: Path) -> None:
    node = Node(Settings(storage=StorageSettings(folder=str(tmp_path / "data"))))
    try:
        order = ResearchOptions(breadth=2, depth=1, sources=("almanac", "almanak"))
        handle = await node.submit(Ticket(id="T-1", text=QUESTION, workflow="research", options=order))
        outcome = await asyncio.wait_for(handle.outcome(), 60)
        report = await node.report("T-1")
    finally:
        await node.close()

    cited = [(each.url, each.source) for each in report.sources if each.number]
    assert cited == [("almanac:mill/1412", "almanac")]
    assert outcome.resolution is not None
    assert "1412" in outcome.resolution.text
    assert "almanak" in outcome.unavailable
    assert "almanak: A source did not answer" in outcome.resolution.text
