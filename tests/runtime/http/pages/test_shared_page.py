"""A link to one ticket, as whoever is sent it sees it in a browser: with the script it opens by itself."""

from pathlib import Path

import pytest
from playwright.async_api import expect

from runtime.http.pages.page_routes import LANGUAGES, load_texts
from tests.runtime.http.kit import TEXT, Interface, interface
from tests.runtime.http.pages.browser import browse, find_barriers
from tests.runtime.http.test_research import ONE_ROUND, QUESTION, knowing


async def make_link(web: Interface, ticket: str) -> str:
    status, made = await web.ask("POST", f"/tickets/{ticket}/shares")
    assert status == 201
    link: str = made["link"]
    return link


async def test_its_owner_makes_it_by_a_button_and_another_browser_opens_it(tmp_path: Path) -> None:
    async with interface(tmp_path, memory=True) as web:
        await web.submit(id="T-1", wait=20)
        async with browse(web) as page:
            await page.goto("/ui/tickets/T-1")
            await page.get_by_role("button", name="Make a link").click()
            link = await page.get_by_label("The link").input_value()
            assert await find_barriers(page) == []
        async with browse(web) as page:
            asked: list[str] = []
            page.on("request", lambda request: asked.append(request.url))
            await page.goto(link)
            await expect(page.get_by_role("heading", level=1)).to_have_text(TEXT)
            assert page.url == link.partition("#")[0]
            assert not any(link.partition("#")[2] in url.partition("#")[0] for url in asked), "no server sees the code"
            assert await page.get_by_role("button").count() == 0
            assert await find_barriers(page) == []
            await page.reload()
            await expect(page.get_by_role("heading", level=1)).to_have_text(TEXT)
        async with browse(web) as page:
            await page.goto(link.partition("#")[0])
            await page.get_by_label("What stands behind").fill(link.partition("#")[2])
            await page.get_by_role("button", name="Open the ticket").click()
            await expect(page.get_by_role("heading", level=1)).to_have_text(TEXT)


async def test_its_report_is_taken_along(tmp_path: Path) -> None:
    async with knowing(tmp_path, memory=True) as web:
        await web.submit(QUESTION, research=ONE_ROUND, id="RS-1", wait=20)
        link = await make_link(web, "RS-1")
        async with browse(web, accept_downloads=True) as page:
            await page.goto(link)
            await expect(page.locator(".report")).to_contain_text("used least recently")
            async with page.expect_download() as coming:
                await page.get_by_role("link", name="Download as MD").click()
            file = await (await coming.value).path()
            assert "used least recently" in file.read_text(encoding="utf-8")


@pytest.mark.parametrize("language", LANGUAGES)
async def test_one_that_is_good_no_more_says_so_in_each_language_on_a_telephone(tmp_path: Path, language: str) -> None:
    texts = load_texts(language)
    async with interface(tmp_path, memory=True) as web:
        await web.submit(id="T-1", wait=20)
        link = await make_link(web, "T-1")
        async with browse(web, locale=language, viewport={"width": 360, "height": 740}, color_scheme="dark") as page:
            await page.goto(link)
            await expect(page.locator("#ticket")).to_contain_text(texts["shared_with_you"])
            assert await find_barriers(page) == []
            (share,) = (await web.ask("GET", "/tickets/T-1/shares"))[1]["shares"]
            await web.ask("DELETE", f"/tickets/T-1/shares/{share['id']}")
            await page.reload()
            await expect(page.get_by_role("alert")).to_have_text(texts["shared_refused"])
            assert await find_barriers(page) == []
            assert await page.evaluate("document.documentElement.scrollWidth - window.innerWidth") <= 0
