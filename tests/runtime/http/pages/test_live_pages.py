"""A page follows what happens without being loaded again: stages, drafts, answers, the list; or says that it cannot."""

import asyncio
import contextlib
import re
from pathlib import Path

from playwright.async_api import Error, Page, expect

from tests.fakes import ANSWER
from tests.patience import HANGS_SECONDS
from tests.runtime.http.kit import Held, interface, until
from tests.runtime.http.pages.browser import browse, find_barriers
from tests.runtime.http.test_answer_text import INVENTED, Writer, listened


async def test_a_ticket_that_is_worked_on_shows_its_stage_and_then_its_answer(tmp_path: Path) -> None:
    model = Held()
    async with interface(tmp_path, model=model, memory=True) as web, browse(web) as page:
        await web.submit(id="T-1")
        await model.asked.wait()
        await page.goto("/ui/tickets/T-1")
        await expect(page.locator("[aria-current=step]")).to_contain_text("Understand the ticket")
        await page.get_by_role("button", name="Cancel this ticket").focus()
        model.free.set()
        await expect(page.locator(".answer")).to_contain_text(ANSWER)
        await expect(page.get_by_role("status")).to_have_text("State: Resolved")
        await expect(page.locator("#handoffs-1 > summary")).to_have_text("11 handoffs")
        assert await find_barriers(page) == []


async def test_what_a_model_writes_is_shown_as_a_draft_until_it_is_checked(tmp_path: Path) -> None:
    writer = Writer()
    writer.listener.clear()
    async with listened(tmp_path, writer, memory=True) as web, browse(web) as page:
        await web.submit(id="T-1")
        await page.goto("/ui/tickets/T-1")
        await until(lambda: web.desk.streams == 1)
        writer.listener.set()
        draft = page.locator("[data-draft]")
        await expect(draft).to_contain_text("not checked yet")
        await expect(draft.locator("p")).to_have_text(re.compile("^Set"))
        assert await find_barriers(page) == []
        writer.go_on.set()
        await expect(page.locator(".answer")).to_contain_text(ANSWER)
        await expect(page.locator("main")).not_to_contain_text(INVENTED)


async def test_the_list_shows_what_comes_in_and_keeps_what_is_being_written(tmp_path: Path) -> None:
    model = Held()
    async with interface(tmp_path, model=model, memory=True) as web, browse(web) as page:
        await page.goto("/")
        await page.get_by_label("What do you want to know").fill("I am still writing")
        await until(lambda: web.desk.streams == 1)
        await web.submit(id="T-1")
        await expect(page.locator(".tickets .state")).to_have_text("Running")
        model.free.set()
        await web.desk.outcome((await web.desk.ticket("T-1")).id, 20)
        await expect(page.locator(".tickets .state")).to_have_text("Resolved")
        await expect(page.get_by_label("What do you want to know")).to_have_value("I am still writing")


async def test_a_page_that_cannot_follow_says_so_and_asks_no_more(tmp_path: Path) -> None:
    model, asked = Held(), list[str]()
    async with interface(tmp_path, model=model, memory=True, max_streams=1) as web, browse(web) as page:
        await web.submit(id="T-1")
        page.on("request", lambda request: asked.append(request.url) if "/events" in request.url else None)
        async with web.client.get("/tickets/T-1/events"):
            await page.goto("/ui/tickets/T-1")
            await expect(page.get_by_role("status")).to_contain_text("The connection was lost")
        assert len(asked) == 1
        model.free.set()
        await web.desk.outcome((await web.desk.ticket("T-1")).id, 20)


async def test_without_a_script_a_page_says_all_when_it_is_loaded_again(tmp_path: Path) -> None:
    model = Held()
    async with interface(tmp_path, model=model, memory=True) as web, browse(web, java_script_enabled=False) as page:
        await page.goto("/")
        await page.get_by_label("What do you want to know").fill("My VPN drops every hour.")
        await page.get_by_role("button", name="Ask").click()
        await expect(page.locator(".headline")).to_contain_text("Being worked on")
        model.free.set()
        await web.desk.outcome((await web.desk.ticket(page.url.rpartition("/")[2])).id, 20)
        await page.reload()
        await expect(page.locator(".answer")).to_contain_text(ANSWER)


async def mark(page: Page, selector: str) -> None:
    """Mark a text; a page that puts a fresh part in its place just then is tried again."""
    async with asyncio.timeout(HANGS_SECONDS):
        while not await page.evaluate("document.getSelection().toString()"):
            with contextlib.suppress(Error):
                await page.locator(selector).select_text()


async def test_what_somebody_has_marked_stays_until_they_are_done_and_then_the_answer_comes(tmp_path: Path) -> None:
    model = Held()
    async with interface(tmp_path, model=model, memory=True) as web, browse(web) as page:
        await web.submit(id="T-1")
        await page.goto("/ui/tickets/T-1")
        await mark(page, "h1")
        model.free.set()
        await web.desk.outcome((await web.desk.ticket("T-1")).id, 20)
        await until(lambda: web.desk.streams == 0)
        assert await page.evaluate("document.getSelection().toString()") == "My VPN drops every hour."
        await expect(page.locator(".headline")).to_contain_text("Being worked on")
        await page.evaluate("document.getSelection().removeAllRanges()")
        await expect(page.locator(".answer")).to_contain_text(ANSWER)
