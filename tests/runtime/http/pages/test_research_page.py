"""A research's report stands on its ticket's page, with its files to take along and a time line of how it was made."""

from pathlib import Path

from playwright.async_api import ViewportSize, expect

from tests.runtime.http.pages.browser import browse, find_barriers
from tests.runtime.http.test_research import ONE_ROUND, QUESTION, knowing

PRICES = """\
# Prices of coffee at the kiosk

An espresso at the coffee kiosk costs $2.20. A cappuccino at the coffee kiosk costs $3.50.

| Drink | Price |
| --- | --- |
| Espresso | $2.20 |
| Cappuccino | $3.50 |
| Filter coffee | $1.80 |
"""


async def test_a_reports_charts_stand_on_its_page_and_each_format_is_linked_and_there(tmp_path: Path) -> None:
    phone: ViewportSize = {"width": 360, "height": 700}
    async with knowing(tmp_path, memory=True) as web, browse(web, viewport=phone) as page:
        (tmp_path / "docs" / "prices.md").write_text(PRICES, encoding="utf-8")
        await web.node.index([str(tmp_path / "docs")], lambda _: None)
        await web.submit("What does coffee at the kiosk cost?", research=ONE_ROUND, id="RS-1", wait=20)
        await page.goto("/ui/tickets/RS-1")
        chart = page.get_by_role("figure").get_by_role("img")
        await expect(chart).to_have_accessible_name("Price by Drink (dollars, source 1)")
        await expect(chart).to_contain_text("Cappuccino")
        assert await find_barriers(page) == []
        assert await page.evaluate("document.documentElement.scrollWidth - window.innerWidth") <= 0
        # what stands in it is as large as a reader needs it, however narrow the page is
        assert await chart.evaluate("(svg) => svg.getBoundingClientRect().width") > 400

        links = page.locator("a[href^='/tickets/RS-1/report']")
        found = {}
        for link in await links.all():
            path = await link.get_attribute("href") or ""
            async with web.client.get(path) as response:
                found[path.rpartition("=")[2]] = response.status
    assert found == {"pdf": 200, "docx": 200, "md": 200, "html": 200}


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
