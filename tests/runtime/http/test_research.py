"""Researches over HTTP: ordered like tickets, watched round by round, their reports served harmlessly."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from actors.research.output_schemas import PlanDraft
from runtime.families import extractive
from runtime.http.files import POLICY
from runtime.knowledge.knowledge_index import KnowledgeIndex
from tests.runtime.http.kit import Held, Interface, interface
from tests.runtime.http.test_stream import told

QUESTION = "How does Halyard evict entries of its cache?"
DOCUMENT = """\
# Eviction in Halyard

Halyard evicts the entry that was used least recently. A pinned entry is never evicted by Halyard.

## Limits

The cache of Halyard holds 4096 entries unless its limit is raised. When it is full, each write evicts one entry.
"""
ONE_ROUND = {"breadth": 2, "depth": 1}


@contextlib.asynccontextmanager
async def knowing(folder: Path, model: Any = None, **more: Any) -> AsyncIterator[Interface]:
    """An interface whose node has read a document."""
    (folder / "docs").mkdir()
    (folder / "docs" / "eviction.md").write_text(DOCUMENT, encoding="utf-8")
    async with interface(folder, model=model or extractive(), **more) as web:
        web.node.knowledge = KnowledgeIndex(web.node.folder, web.node.workers, web.node.settings.knowledge)
        await web.node.index([str(folder / "docs")], lambda _: None)
        yield web


class Waits(Held):
    """Plans when it is let."""

    async def fill(self, shape: type[Any], task: Any, *, within: float) -> Any:
        if shape is PlanDraft:
            self.asked.set()
            await self.free.wait()
        return await extractive().fill(shape, task, within=within)


@pytest.mark.req("DR-7", "SY-4")
async def test_a_research_is_ordered_like_a_ticket_and_ends_with_its_report(tmp_path: Path) -> None:
    async with knowing(tmp_path) as web:
        outcome = await web.submit(QUESTION, research=ONE_ROUND, id="RS-1", wait=20)
        async with web.client.get("/tickets/RS-1/report") as response:
            text = await response.text()
            headers = response.headers

        _, standing = await web.ask("GET", "/tickets/RS-1")
        assert (outcome["workflow"], outcome["by"]) == ("research", "reporter")
        assert outcome["resolution"]["text"] == text
        assert "used least recently" in text
        assert headers["Content-Type"] == "text/markdown; charset=utf-8"
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert standing["links"]["report"] == "/tickets/RS-1/report"


@pytest.mark.req("DR-9", "DR-8")
@pytest.mark.parametrize(
    ("order", "size"),
    [
        (True, (5, 2)),
        ({}, (5, 2)),
        ({"depth": 10}, (10, 1)),
        ({"breadth": 3}, (3, 2)),
        ({"breadth": 3, "depth": 4}, (3, 4)),
    ],
)
async def test_the_order_is_read_as_on_the_command_line(tmp_path: Path, order: Any, size: tuple[int, int]) -> None:
    async with interface(tmp_path, model=Waits()) as web:
        receipt = await web.submit(QUESTION, research=order)

        brief: Any = web.node.journal.case(await web.node.journal.find(receipt["run"])).brief  # type: ignore[attr-defined]
        assert (brief.breadth, brief.depth) == size


@pytest.mark.parametrize(
    ("order", "part"),
    [
        ({"breadth": 99}, "research.breadth must be a whole number from 1 to 20, not 99."),
        ({"sources": ["tavliy"]}, "Did you mean 'tavily'?"),
        ({"sources": ["rss"]}, "name feeds in [feeds] urls"),
        ({"urls": ["file:///etc/passwd"]}, "is no address of a web page"),
        ({"deep": 3}, "The options of a research are breadth, depth, sources, urls: Object contains unknown field"),
        ({"breadth": "3"}, "The options of a research are breadth, depth, sources, urls: Expected `int | null`"),
        ("yes", "The body must be a JSON object"),
        (None, "The body must be a JSON object"),
    ],
)
async def test_an_order_that_cannot_be_is_refused_in_one_sentence(tmp_path: Path, order: Any, part: str) -> None:
    async with interface(tmp_path) as web:
        status, said = await web.refusal("POST", "/tickets", json={"text": QUESTION, "research": order})

        assert status == 400
        assert part in said
        assert web.node.live == 0


async def test_the_same_research_again_is_the_same_run_and_another_is_refused(tmp_path: Path) -> None:
    key = {"Idempotency-Key": "one"}
    async with interface(tmp_path, model=Waits()) as web:
        body = {"text": QUESTION, "research": ONE_ROUND}
        _, first = await web.ask("POST", "/tickets", json={**body, "id": "RS-1"})
        _, again = await web.ask("POST", "/tickets", json={**body, "id": "RS-1"})
        other, _ = await web.refusal("POST", "/tickets", json={**body, "research": True, "id": "RS-1"})
        ticket, _ = await web.refusal("POST", "/tickets", json={"text": QUESTION, "id": "RS-1"})
        _, keyed = await web.ask("POST", "/tickets", json=body, headers=key)
        _, same = await web.ask("POST", "/tickets", json=body, headers=key)
        misused, _ = await web.refusal("POST", "/tickets", json={"text": QUESTION}, headers=key)

        assert first["run"] == again["run"]
        assert keyed["run"] == same["run"]
        assert (other, ticket, misused) == (409, 409, 422)


@pytest.mark.req("PR-27", "DR-11")
async def test_events_tell_rounds_and_what_the_stages_complete(tmp_path: Path) -> None:
    model = Waits()
    async with knowing(tmp_path, model) as web:
        receipt = await web.submit(QUESTION, research=ONE_ROUND)
        await model.asked.wait()
        watching = asyncio.ensure_future(told(web, receipt["links"]["events"]))
        model.free.set()
        events = await watching

    names = [name for name, _ in events]
    rounds = [data for name, data in events if name == "round"]
    stages = {data["stage"] for name, data in events if name == "worked"}
    assert names[:3] == ["began", "handoff", "round"], "what was said before anybody watched stands in its place"
    assert rounds == [{"number": 1, "of": 1, "direction": QUESTION, "learnings": 0, "percent": 0}]
    percents = [data["percent"] for name, data in events if name == "worked"]
    assert percents == sorted(percents)
    assert percents[-1] >= 60, "all was searched and read"
    assert stages >= {"planning", "searching", "extracting", "analyzing"}
    assert names[-1] == "ended"


async def report(web: Interface, query: str = "", **headers: str) -> tuple[int, Any, bytes]:
    async with web.client.get(f"/tickets/RS-1/report{query}", headers=headers) as response:
        return response.status, response.headers, await response.read()


@pytest.mark.req("PR-7")
async def test_a_report_is_served_in_every_form_and_runs_nothing_in_a_browser(tmp_path: Path) -> None:
    async with knowing(tmp_path) as web:
        await web.submit(QUESTION, research=ONE_ROUND, id="RS-1", wait=20)

        _, by_accept, page = await report(web, Accept="text/html,application/xhtml+xml;q=0.9,*/*;q=0.8")
        _, by_query, same = await report(web, "?format=html")
        _, word, docx = await report(web, "?format=docx")
        _, print_, pdf = await report(web, "?format=pdf")
        _, plain, _ = await report(web, Accept="text/markdown, text/html")

    assert page == same
    assert b"used least recently" in page
    assert by_accept["Content-Type"] == by_query["Content-Type"] == "text/html; charset=utf-8"
    assert plain["Content-Type"].startswith("text/markdown")
    for headers in (by_accept, word, print_, plain):
        assert headers["Content-Security-Policy"] == POLICY
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Cache-Control"] == "no-store"
    assert "script-src" not in POLICY
    assert POLICY.startswith("default-src 'none'")
    assert (docx[:2], pdf[:4]) == (b"PK", b"%PDF")
    assert print_["Content-Disposition"] == 'attachment; filename="RS-1.pdf"'


async def test_a_report_that_is_not_there_is_refused_with_what_to_do(tmp_path: Path) -> None:
    model = Waits()
    async with interface(tmp_path, model=model) as web:
        await web.submit(QUESTION, research=ONE_ROUND, id="RS-1")
        await web.submit("My VPN drops.", id="HD-1", wait=0)

        running = await web.refusal("GET", "/tickets/RS-1/report")
        ticket = await web.refusal("GET", "/tickets/HD-1/report")
        none = await web.refusal("GET", "/tickets/RS-2/report")
        form = await web.refusal("GET", "/tickets/RS-1/report?format=odt")
        model.free.set()

    assert running == (409, "There is no report of RS-1 yet; ask again when it has ended.")
    assert ticket == (404, "HD-1 is a ticket of the helpdesk; GET /tickets/HD-1 shows it.")
    assert none == (404, "There is no ticket RS-2.")
    assert form[0] == 400
    assert json.dumps(form[1]).count("odt") == 1


async def test_a_report_that_cannot_be_made_is_said_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runtime.http.files.RENDER", "runtime.reports:gone")
    async with knowing(tmp_path) as web:
        await web.submit(QUESTION, research=ONE_ROUND, id="RS-1", wait=20)

        status, said = await web.refusal("GET", "/tickets/RS-1/report?format=html")

    assert status == 503
    assert said.startswith("The report could not be made as html")
