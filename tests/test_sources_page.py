"""docs/sources.md: its example is a source that is searched, read and cited as it stands there."""

import argparse
import asyncio
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from actors.research.models import ResearchOptions
from runtime.cli.commands import submit
from runtime.cli.diagnostics import web_search
from runtime.engine.node import Node
from runtime.search import sources
from runtime.settings import Settings, StorageSettings
from runtime.tickets import Ticket
from tests import ROOT

PAGE = (ROOT / "docs" / "sources.md").read_text(encoding="utf-8")


@pytest.fixture(autouse=True)
def added(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    (example,) = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    (tmp_path / "almanac.py").write_text(example, encoding="utf-8")
    monkeypatch.setattr(sources, "__path__", [*sources.__path__, str(tmp_path)])
    yield
    sys.modules.pop("runtime.search.sources.almanac", None)


def test_the_example_stands_in_the_help_text_and_in_what_doctor_says() -> None:
    parser = argparse.ArgumentParser()
    submit.arguments(parser)

    assert "of almanac,knowledge,rss,tavily,web (default:" in " ".join(parser.format_help().split())
    assert web_search(Settings()).found == "Almanac", "it needs no remedy, and is told all the same"


async def test_the_example_is_searched_read_and_cited(tmp_path: Path) -> None:
    async with Node.open(Settings(storage=StorageSettings(folder=str(tmp_path / "data")))) as node:
        options = ResearchOptions(breadth=2, depth=1, sources=("almanac",))
        question = "When was the Marwick tide mill built?"
        run = await node.submit(Ticket(id="T-1", text=question, workflow="research", options=options))
        outcome = await asyncio.wait_for(run.outcome(), 60)
        report = await node.report("T-1")

    assert [(each.url, each.source) for each in report.sources if each.number] == [("almanac:marwick", "almanac")]
    assert outcome.resolution is not None
    assert "1412" in outcome.resolution.text
