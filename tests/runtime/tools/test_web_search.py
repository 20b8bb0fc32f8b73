"""The web as a tool: the best configured source is asked, the next where it fails; what is said can be cited."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest

from actors.ports import PortFailed, Untraced
from runtime.engine.node import Node
from runtime.search import sources
from runtime.settings import Settings, StorageSettings
from runtime.storage.effects import Effects
from runtime.tools.shipped.web_search import NOTHING_FOUND, TOOL, Query, list_sources
from runtime.tools.tool import ToolContext, ToolPorts, ToolResult

FILE = """
from actors.evidence.sources import SearchResult
from actors.ports import PortFailed
from runtime.search.source import Source


class Mills:
    def __init__(self, ports): ...

    def for_run(self, effects, budget):
        return self.search

    async def search(self, query, *, limit, within):
        assert within == 15.0
        if "{name}" in query:
            raise PortFailed("{name} is down.")
        if "nothing" in query:
            return ()
        place = "https://{name}.example"
        return tuple(SearchResult("{name}", f"Mill {{n}}", f"{{place}}/{{n}}", "Built in 1412.") for n in range(9))

    async def close(self): ...


SOURCE = Source("{name}", {prior}, Mills)
"""


@pytest.fixture(autouse=True)
def added(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name, prior in (("first", 0.8), ("second", 0.7)):
        (tmp_path / f"{name}.py").write_text(FILE.format(name=name, prior=prior), encoding="utf-8")
    monkeypatch.setattr(sources, "__path__", [*sources.__path__, str(tmp_path)])
    yield
    for name in ("first", "second"):
        sys.modules.pop(f"runtime.search.sources.{name}", None)


async def ask(folder: Path, *queries: str) -> list[ToolResult]:
    async with Node.open(Settings(storage=StorageSettings(folder=str(folder / "data")))) as node:
        ports, effects = cast("ToolPorts", node), Effects(node.effects, "R-1")
        own = ToolContext("R-1", "worker", ports, node.workers, Untraced(), effects)
        return [await TOOL.call(Query(query), own, 30.0) for query in queries]


async def test_the_most_trusted_source_is_asked_and_the_next_where_it_fails(tmp_path: Path) -> None:
    assert list_sources(Settings()) == ["first", "second"]
    best, other, none = await ask(tmp_path, "mills", "mills first", "nothing")
    assert [each.source for each in best.passages] == [f"https://first.example/{n}" for n in range(6)]
    assert (best.passages[0].title, best.passages[0].text) == ("Mill 0", "Built in 1412.")
    assert other.passages[0].source == "https://second.example/0"
    assert none == ToolResult(NOTHING_FOUND)


async def test_all_of_them_failing_is_a_failure(tmp_path: Path) -> None:
    with pytest.raises(PortFailed, match="second is down"):
        await ask(tmp_path, "mills first second")


def test_without_a_source_it_is_not_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "__path__", sources.__path__[:1])
    assert not TOOL.configured(Settings())
