"""A research's report stands on its ticket's page, with its files to take along and a time line of how it was made."""

from pathlib import Path

from playwright.async_api import expect

from tests.runtime.http.pages.browser import browse, find_barriers
from tests.runtime.http.test_research import ONE_ROUND, QUESTION, knowing


async def test_a_report_stands_on_its_page_with_files_and_a_time_line(tmp_path: Path) -> None:
    async with knowing(tmp_path, memory=True) as web, browse(web, accept_downloads=True) as page:
        await web.submit(QUESTION, research=ONE_ROUND, id="RS-1", wait=20)
        await page.goto("/ui/tickets/RS-1")
        await expect(page.locator(".report")).to_contain_text("evicts the entry that was used least recently")
        assert await page.locator("a[href^='file:']").count() == 0
        await page.get_by_text("Time line").click()
        await expect(page.locator(".spans tbody tr").first).to_contain_text("run research")
        assert await find_barriers(page) == []

        async with page.expect_download() as coming:
            await page.get_by_role("link", name="Download as MD").click()
        file = await (await coming.value).path()
        assert "used least recently" in file.read_text(encoding="utf-8")
        assert (await coming.value).suggested_filename == "RS-1.md"
