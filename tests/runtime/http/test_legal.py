"""Questions of law over HTTP: their stream says what is done and who answers, to late watchers, too."""

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from actors.legal import intent_rules
from actors.legal.output_schemas import IntentDraft, LegalDraft
from actors.ports import Completion, ModelRequest
from runtime.http.openapi import document
from runtime.http.stream import OF_A_RUN
from tests.actors.legal.answering import DISMISSED, Model
from tests.runtime.http.kit import Interface, interface, until
from tests.runtime.http.test_stream import blocks, told

SURE = IntentDraft("legal_consultation", ("social_labor_law",), 0.9)
CLASSIFYING = ("status", {"type": "status", "status": "classifying"})
NAMED = {"status", "agent-selected"}
THINKING = ("status", {"type": "status", "status": "thinking", "agent": "legal_research"})


class Waits(Model):
    """Writes an answer when it is let."""

    def __init__(self) -> None:
        super().__init__(IntentDraft=SURE)
        self.at_work, self.free = asyncio.Event(), asyncio.Event()

    async def fill(self, shape: type[Any], task: ModelRequest, *, within: float) -> Completion:
        if shape is LegalDraft:
            self.at_work.set()
            await self.free.wait()
        return await super().fill(shape, task, within=within)


async def ask(web: Interface, **more: Any) -> Any:
    return await web.submit(DISMISSED, workflow="legal", **more)


@pytest.mark.req("LG-14", "LG-15", "LG-16")
async def test_who_comes_late_hears_what_was_done_in_its_place_and_then_the_rest(tmp_path: Path) -> None:
    model = Waits()
    async with interface(tmp_path, model=model) as web:
        receipt = await ask(web)
        await model.at_work.wait()
        async with web.client.get(receipt["links"]["events"]) as response:
            events = blocks(response)
            past = [await anext(events)]
            while past[-1] != THINKING:
                past.append(await anext(events))
            model.free.set()
            rest = [each async for each in events]

    names = [name for name, _ in past]
    assert names == ["began", "handoff", "status", "agent-selected", "handoff", "handoff", "status", "status"]
    assert past[0][1]["language"] == "zh"
    assert past[2] == CLASSIFYING
    chosen = past[3][1]
    assert (chosen["type"], chosen["agent"]) == ("agent-selected", "legal_research")
    assert 0 < chosen["confidence"] <= 1
    assert [data["target"] for name, data in past if name == "handoff"][-1] == chosen["agent"]
    assert past[-2][1] == {"type": "status", "status": "searching", "agent": "legal_research"}
    assert [name for name, _ in rest if name in NAMED] == [], "nobody else had to stand in"
    assert (rest[-1][0], rest[-1][1]["why"]) == ("ended", "completed")


@pytest.mark.req("LG-14")
async def test_who_watches_from_the_beginning_hears_the_same(tmp_path: Path) -> None:
    model = Waits()
    async with interface(tmp_path, model=model) as web:
        receipt = await ask(web)
        watching = asyncio.ensure_future(told(web, receipt["links"]["events"]))
        await model.at_work.wait()
        late = asyncio.ensure_future(told(web, receipt["links"]["events"]))
        await until(lambda: web.desk.streams == 2)
        model.free.set()

        assert await watching == await late


def test_the_description_has_their_form() -> None:
    schemas = document()["components"]["schemas"]

    status, chosen = schemas["StatusChanged"], schemas["AgentSelected"]
    assert (status["properties"]["type"]["enum"], chosen["properties"]["type"]["enum"]) == (
        ["status"],
        ["agent-selected"],
    )
    assert "classifying" in status["properties"]["status"]["enum"]
    assert status["required"] == ["type", "status"]
    assert chosen["required"] == ["type", "agent", "confidence"]
    assert all(f"`{name}`" in OF_A_RUN for name in ("status", "agent-selected"))


@pytest.fixture
def readers(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[str, int]]]:
    """Each rule file that is read, and by which thread; before, none is known."""
    reads: list[tuple[str, int]] = []
    original = intent_rules.read_table

    def read(file: Path, table: Any) -> Any:
        reads.append((file.name, threading.get_ident()))
        return original(file, table)

    monkeypatch.setattr(intent_rules, "read_table", read)
    intent_rules.load_rules.cache_clear()
    yield reads
    intent_rules.load_rules.cache_clear()


async def test_the_rules_are_read_once_in_a_process_and_not_on_the_loop(
    tmp_path: Path, readers: list[tuple[str, int]]
) -> None:
    async with interface(tmp_path, model=Model(IntentDraft=SURE)) as web:
        await asyncio.gather(*(ask(web, wait=20) for _ in range(3)))
        first = list(readers)
        await ask(web, wait=20)

    files = [file for file, _ in first]
    assert "zh.toml" in files
    assert len(files) == len(set(files)), "three at once read each file once"
    assert threading.get_ident() not in {thread for _, thread in first}
    assert readers == first, "a later run reads none"
