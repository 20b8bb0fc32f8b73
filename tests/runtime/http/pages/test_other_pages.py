"""Knowledge, memory and operation as people see them: what is there, found and wrong, with nothing in the way."""

from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import expect

from tests.runtime.http.kit import TEXT, interface, until
from tests.runtime.http.pages.browser import browse, find_barriers
from tests.runtime.intake.fake_helpdesk import fake_helpdesk

PATHS = ("/ui/knowledge?q=VPN", f"/ui/memory?text={TEXT}", "/ui/operation")


@pytest.mark.parametrize("context", [{}, {"color_scheme": "dark", "viewport": {"width": 360, "height": 700}}])
async def test_nothing_stands_in_a_readers_way(tmp_path: Path, context: dict[str, Any]) -> None:
    async with fake_helpdesk() as desk:
        desk.connect(tmp_path)
        async with interface(tmp_path, memory=True) as web, browse(web, **context) as page:
            for path in PATHS:
                await page.goto(path)
                assert await find_barriers(page) == [], path
                width = await page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
                assert width <= 0, path


async def test_a_search_of_the_documents_shows_passages_with_scores(tmp_path: Path) -> None:
    async with interface(tmp_path) as web, browse(web) as page:
        await page.goto("/")
        await page.get_by_role("link", name="Knowledge").click()
        await page.get_by_label("A question, as a ticket would ask it").fill(TEXT)
        await page.get_by_role("button", name="Search").click()

        await expect(page.locator(".passages > li").first).to_contain_text("keep-alive of the VPN client")
        await expect(page.locator(".passages > li").first).to_contain_text("score")


async def test_memory_says_what_it_would_recall_and_what_a_person_called_wrong(tmp_path: Path) -> None:
    async with interface(tmp_path, memory=True) as web, browse(web) as page:
        await web.submit(id="T-1", wait=20)
        await web.ask("POST", "/tickets/T-1/feedback", json={"answer": "<b>Ask Ann.</b>"})
        await page.goto("/")
        await page.get_by_role("link", name="Memory").click()
        await page.get_by_label("A question, as a ticket would ask it").fill(TEXT)
        await page.get_by_role("button", name="What would memory say?").click()

        await expect(page.get_by_role("heading", level=2)).to_have_text("It would answer")
        await expect(page.locator(".recalled")).to_have_text("<b>Ask Ann.</b>")
        await page.get_by_role("link", name="T-1").click()
        await expect(page.get_by_role("heading", level=1)).to_have_text(TEXT)


async def test_operation_says_whether_tickets_are_taken_and_how_helpdesks_do(tmp_path: Path) -> None:
    async with fake_helpdesk() as desk:
        desk.connect(tmp_path)
        async with interface(tmp_path) as web, browse(web, locale="ko-KR") as page:
            await page.goto("/ui/operation")

            await expect(page.get_by_role("heading", level=2).first).to_have_text("티켓을 받고 있습니다")
            await expect(page.locator("table.plain tbody th")).to_contain_text("desk")
            await expect(page.locator(".agents dt").first).to_have_text("memory")
            web.desk.stop()
            await page.reload()
            await expect(page.get_by_role("heading", level=2).first).to_have_text("지금은 티켓을 받지 않습니다")
            await expect(page.get_by_role("alert")).to_contain_text("stopping")


@pytest.mark.parametrize("word", ["Send it to the customer", "Do not send it"])
async def test_a_person_approves_a_suggestion_or_refuses_it_on_the_tickets_page(tmp_path: Path, word: str) -> None:
    async with fake_helpdesk() as desk:
        desk.connect(tmp_path, mode="approve")
        async with interface(tmp_path, memory=True) as web, browse(web) as page:
            await desk.deliver(web.client, desk.write("7", "ann", TEXT))
            await until(lambda: bool(desk.said("7", public=False)))
            await page.goto("/ui/operation")
            await page.get_by_role("link", name="hd.desk.7").click()
            await expect(page.locator("#helpdesk ~ ul")).to_contain_text("waits for approval")
            assert await find_barriers(page) == []
            assert desk.said("7", public=True) == []
            await page.get_by_role("button", name=word).click()
            await expect(page.get_by_role("button", name=word)).to_have_count(0)
            sent = word.startswith("Send")
            if sent:
                await until(lambda: bool(desk.said("7", public=True)))
            else:
                await expect(page.locator("#helpdesk ~ ul")).to_contain_text("Refused by local")
            assert len(desk.said("7", public=True)) == sent
            await page.goto("/ui/operation")
            await expect(page.get_by_role("link", name="hd.desk.7")).to_have_count(0)
