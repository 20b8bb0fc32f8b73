"""Whatever stands in a ticket, a document, a report or a name: it is shown as text, and nothing of it runs or leads."""

from pathlib import Path
from typing import Any, cast

import msgspec
from playwright.async_api import Page, expect

from actors.evidence.passages import SearchHits
from actors.reporting.report import Report
from actors.workflow.outcome import Handoff
from runtime.http.pages.page_routes import Texts, load_template
from runtime.http.pages.ticket_page import draw_handoffs
from tests.fakes import PASSAGE
from tests.runtime.http.kit import interface
from tests.runtime.http.pages.browser import browse, find_barriers
from tests.runtime.http.test_research import ONE_ROUND, knowing
from tests.runtime.reports.samples import hostile

SCRIPT = "<script>alert(1)</script><img src=x onerror=alert(2)><svg onload=alert(3)>"
LINK = "[press](javascript:alert(4)) <a href='javascript:alert(5)'>here</a> {{ 7919 * 7919 }} javascript:alert(6)"
HOSTILE = f"{SCRIPT} {LINK} \"'><b onmouseover=alert(7)>"


class Poisoned:
    """A knowledge whose one passage is hostile in all its parts."""

    async def search(self, question: str, *, within: float, limit: int | None = None, **_: object) -> SearchHits:
        passage = msgspec.structs.replace(
            PASSAGE, source="javascript:alert(8)", title=SCRIPT, heading=HOSTILE, anchor='"onclick="alert(9)'
        )
        return SearchHits((passage,))


async def find_dangers(page: Page) -> list[str]:
    """Elements and attributes that no page of ours has, and links that lead elsewhere than to the web."""
    return cast(
        "list[str]",
        await page.evaluate(
            """() => [...document.querySelectorAll('*')].flatMap((element) => [
                ...(['IMG', 'IFRAME', 'OBJECT', 'STYLE', 'BASE'].includes(element.tagName) ? [element.outerHTML] : []),
                ...(element.tagName === 'SCRIPT' && !element.src.endsWith('/terminus.js') ? [element.text] : []),
                ...[...element.attributes].filter(({ name, value }) =>
                    name.startsWith('on') || name === 'style' || /^\\s*(javascript|data:text)/i.test(value)
                ).map(({ name, value }) => `${name}=${value}`),
            ])"""
        ),
    )


async def test_a_hostile_ticket_and_document_are_only_text(tmp_path: Path) -> None:
    async with interface(tmp_path, memory=True) as web, browse(web) as page:
        web.node.knowledge = cast("Any", Poisoned())
        await web.submit(HOSTILE, id="T-1", subject=SCRIPT, requester=HOSTILE, wait=20)
        for path in ("/", "/ui/tickets/T-1", f"/?q={SCRIPT}", f"/ui/tickets/{SCRIPT}", f"/?status={SCRIPT}"):
            await page.goto(path)
            assert await find_dangers(page) == []
            await expect(page.locator("body")).not_to_contain_text("62710561")
        await page.goto("/ui/tickets/T-1")
        await expect(page.locator("h1")).to_have_text(SCRIPT)
        await expect(page.locator(".question")).to_contain_text(LINK)
        await page.locator(".beside summary").click()
        await expect(page.locator(".beside")).to_contain_text("javascript:alert(8)")
        assert await page.locator(".beside a").count() == 0
        assert await find_barriers(page) == []


async def test_a_hostile_draft_and_a_taught_answer_are_only_text(tmp_path: Path) -> None:
    async with interface(tmp_path, memory=True) as web, browse(web) as page:
        await web.submit(id="T-1", wait=20)
        await web.ask("POST", "/tickets/T-1/feedback", json={"answer": HOSTILE, "person": SCRIPT})
        await web.submit(id="T-2", wait=20)
        await page.goto("/ui/tickets/T-2")
        await expect(page.locator(".given")).to_have_text(HOSTILE)
        await page.evaluate("text => showDraft(text)", HOSTILE)
        assert await find_dangers(page) == []


async def test_a_hostile_research_is_only_text(tmp_path: Path) -> None:
    async with knowing(tmp_path, memory=True) as web, browse(web) as page:
        poison = f"# Eviction {SCRIPT}\n\nHalyard evicts what was used least {LINK}. {SCRIPT}\n"
        (tmp_path / "docs" / "poison.md").write_text(poison, encoding="utf-8")
        await web.node.index([str(tmp_path / "docs")], lambda _: None)
        await web.submit(f"How does Halyard evict entries? {SCRIPT}", research=ONE_ROUND, id="RS-1", wait=20)
        await page.goto("/ui/tickets/RS-1")
        await expect(page.locator(".report")).to_contain_text("Halyard evicts")
        assert await find_dangers(page) == []

        async def report(_: str) -> Report:
            return hostile(SCRIPT)

        cast("Any", web.node).report = report  # charts, tables, sources, headings: all of it hostile
        await page.reload()
        await expect(page.locator(".report figure").first).to_be_visible()
        assert await find_dangers(page) == []
        assert await find_barriers(page) == []


def test_the_names_of_agents_are_text_wherever_they_are_drawn() -> None:
    drawing = draw_handoffs((Handoff(SCRIPT, HOSTILE, SCRIPT),))
    drawn = str(cast("Any", load_template("parts.html").module).handoff_drawing(Texts("en"), drawing))
    assert "&lt;script&gt;" in drawn
    assert not [each for each in ("<script", "<img", "<b ") if each in drawn]
