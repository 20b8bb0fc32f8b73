"""By keyboard alone, on a narrow screen, in the dark and in three languages, each page can be used."""

from pathlib import Path

import pytest
from playwright.async_api import Page, expect

from runtime.families import extractive
from tests.runtime.http.kit import TEXT, Interface, interface
from tests.runtime.http.pages.browser import browse, find_barriers
from tests.runtime.http.pages.test_in_browser import COMPLAINT
from tests.runtime.http.test_research import ONE_ROUND, QUESTION, knowing

WIDTH = 360
"""Pixels of a small telephone."""
LONG = "supercalifragilistic" * 12


async def describe_focus(page: Page) -> str:
    """What has the focus, as a person would call it; each thing that has it is seen."""
    assert await page.evaluate("document.activeElement.getBoundingClientRect().height") > 0
    name: str = await page.evaluate(
        "(e => e.getAttribute('aria-label') || e.labels?.[0]?.textContent || e.textContent)(document.activeElement)"
    )
    return name.strip()


async def test_a_question_is_asked_read_and_judged_by_keyboard_alone(tmp_path: Path) -> None:
    async with interface(tmp_path, memory=True) as web, browse(web) as page:
        await page.goto("/")
        await page.keyboard.press("Tab")
        assert await describe_focus(page) == "Skip to the content"
        await page.keyboard.press("Enter")
        await page.keyboard.press("Tab")
        assert await describe_focus(page) == "What do you want to know, or what is wrong?"
        await page.keyboard.type(TEXT)
        for name in ("Who answers", "Ask"):
            await page.keyboard.press("Tab")
            assert await describe_focus(page) == name
        await page.keyboard.press("Enter")
        await expect(page.locator(".answer")).to_be_visible()

        seen = list[str]()
        while not seen or (seen[-1] != "It was right" and len(seen) < 30):
            await page.keyboard.press("Tab")
            seen.append(await describe_focus(page))
            if seen[-1].startswith("1 VPN"):
                await page.keyboard.press("Enter")
                await expect(page.locator(".beside blockquote")).to_be_visible()
        await page.keyboard.press("Enter")
        await expect(page.locator(".headline")).to_contain_text("confirmed that it helped")


async def fill(web: Interface) -> tuple[str, ...]:
    """Tickets of each kind, and the paths of their pages."""
    await web.submit(QUESTION, research=ONE_ROUND, id="T-research", wait=20, subject=LONG, requester=LONG)
    await web.submit(COMPLAINT, id="T-complaint", workflow="legal", wait=20)
    await web.submit(f"{QUESTION} {LONG}", id="T-long", wait=20)
    return (
        "/",
        "/ui/tickets/T-research",
        "/ui/tickets/T-complaint",
        "/ui/tickets/T-long",
        "/ui/tickets/none",
        "/ui/sign-in",
    )


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_each_page_fits_a_small_telephone_and_has_no_barrier_in_the_light_and_in_the_dark(
    tmp_path: Path, scheme: str
) -> None:
    small = {"viewport": {"width": WIDTH, "height": 740}, "color_scheme": scheme, "has_touch": True}
    async with knowing(tmp_path, memory=True, model=extractive()) as web, browse(web, **small) as page:
        for path in await fill(web):
            await page.goto(path)
            await page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
            wide = await page.evaluate("document.documentElement.scrollWidth")
            assert (path, wide) == (path, WIDTH)
            assert (path, await find_barriers(page)) == (path, [])


@pytest.mark.parametrize(("locale", "asks", "kinds"), [
    ("zh-CN", "提问", ["服务台", "研究", "法律"]), ("ko-KR", "질문하기", ["헬프데스크", "조사", "법률"]),
])  # fmt: skip
async def test_a_page_is_in_the_language_of_its_reader_and_stays_in_the_one_that_was_chosen(
    tmp_path: Path, locale: str, asks: str, kinds: list[str]
) -> None:
    async with interface(tmp_path, memory=True) as web, browse(web, locale=locale) as page:
        await page.goto("/")
        await expect(page.get_by_role("heading", level=1)).to_have_text(asks)
        assert [
            (await each.text_content() or "").strip() for each in await page.locator("#workflow option").all()
        ] == kinds
        await page.get_by_role("link", name="English").click()
        await page.goto("/")
        await expect(page.get_by_role("heading", level=1)).to_have_text("Ask a question")
