"""The pages as people have them: asked, read, answered and judged in a browser, with nothing in a reader's way."""

from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import expect

from runtime.families import extractive
from tests.runtime.http.kit import SECONDS, TEXT, TOKEN, Held, interface
from tests.runtime.http.pages.browser import browse, find_barriers

COMPLAINT = "请帮我写一份民事起诉状。原告：张三。被告：李四。"


async def test_a_question_that_is_asked_is_answered_with_its_source_beside_it(tmp_path: Path) -> None:
    async with interface(tmp_path, memory=True) as web, browse(web) as page:
        await page.goto("/")
        await page.get_by_label("What do you want to know").fill(TEXT)
        await page.get_by_role("button", name="Ask").click()
        await page.wait_for_url("**/ui/tickets/*")
        await web.desk.outcome((await web.desk.ticket(page.url.rpartition("/")[2])).id, SECONDS)
        await page.reload()

        await expect(page.get_by_role("heading", level=1)).to_have_text(TEXT)
        await expect(page.locator(".answer")).to_contain_text("keep-alive of the VPN client to 30 seconds")
        quote = page.locator(".beside blockquote")
        await expect(quote).to_be_hidden()
        await page.locator(".beside summary").click()
        await expect(quote).to_have_text("Set the keep-alive of the VPN client to 30 seconds.")
        assert await find_barriers(page) == []


async def test_tickets_are_listed_with_their_states_and_found_by_words(tmp_path: Path) -> None:
    async with interface(tmp_path, memory=True) as web, browse(web) as page:
        await web.submit(id="T-vpn", wait=20, requester="Kim")
        await web.submit("How do I reserve the tennis court?", id="T-court", wait=20)
        await page.goto("/")
        await expect(page.locator(".tickets > li")).to_have_count(2)
        assert await find_barriers(page) == []

        await page.get_by_label("Words, a requester or an id").fill("kim")
        await page.get_by_role("button", name="Search").click()
        await expect(page.locator(".tickets > li")).to_have_count(1)
        await expect(page.locator(".tickets > li")).to_contain_text("VPN")
        await page.get_by_label("State").select_option("error")
        await page.get_by_role("button", name="Search").click()
        await expect(page.locator(".empty")).to_have_text("No ticket is like that.")


@pytest.mark.parametrize("context", [{}, {"java_script_enabled": False}])
async def test_runs_are_found_by_what_they_ask_for_who_worked_on_them_and_how_long_they_took(
    tmp_path: Path, context: dict[str, Any]
) -> None:
    async with interface(tmp_path) as web, browse(web, **context) as page:
        await web.submit(id="T-vpn", wait=20)
        await web.submit("How do I reserve the tennis court?", id="T-court", wait=20)
        await page.goto("/")
        await expect(page.locator("#more")).not_to_have_attribute("open", "")
        await expect(page.locator(".tickets > li").first).to_contain_text("asks for: incident")
        await expect(page.locator(".tickets > li").first).to_contain_text("by memory, ticketing")

        await page.get_by_text("More filters").click()
        await expect(page.locator("#intent-choices option")).to_have_attribute("value", "incident")
        for name, given in (("Asks for", "incident"), ("Agent", "summarization"), ("Begun since", "1h")):
            await page.get_by_label(name).fill(given)
        await page.get_by_role("button", name="Search").click()
        await expect(page.locator(".tickets > li")).to_have_count(2)
        await expect(page.get_by_label("Agent")).to_have_value("summarization")

        await page.get_by_label("Stopped or cancelled").check()
        await page.get_by_role("button", name="Search").click()
        await expect(page.locator(".empty")).to_have_text("No ticket is like that.")
        await page.get_by_label("Took at least").fill("soon")
        await page.get_by_role("button", name="Search").click()
        await expect(page.get_by_role("alert")).to_contain_text("slow must be a duration such as 10s")
        if not context:
            assert await find_barriers(page) == []
        await page.get_by_role("link", name="한국어").click()
        await expect(page.get_by_label("에이전트")).to_have_value("summarization")


async def test_what_a_ticket_asks_is_answered_in_a_form_and_it_goes_on(tmp_path: Path) -> None:
    async with interface(tmp_path, model=extractive()) as web, browse(web, locale="zh-CN") as page:
        await web.submit(COMPLAINT, id="T-1", workflow="legal", wait=20)
        await page.goto("/ui/tickets/T-1")
        assert await find_barriers(page) == []

        await page.get_by_label("被告的住址或住所地在哪里？").fill("上海市浦东新区某某路1号")
        await page.get_by_label("用自己的话说明").fill(
            "请求判令被告返还借款12000元，2024年3月1日借款，向上海市浦东新区人民法院起诉。"
        )
        async with page.expect_navigation():
            await page.get_by_role("button", name="提交回答").click()

        stored = await web.desk.ticket("T-1")
        rounds = web.node.journal.case(stored).answers
        assert [each.value for each in rounds[0].given] == ["上海市浦东新区某某路1号"]
        await page.get_by_text("对其问题的回答").click()
        await expect(page.locator("#answered dd").first).to_have_text("上海市浦东新区某某路1号")
        assert page.url.endswith("/ui/tickets/T-1")


async def test_an_answer_is_judged_and_the_right_one_given(tmp_path: Path) -> None:
    async with interface(tmp_path, memory=True) as web, browse(web) as page:
        await web.submit(id="T-1", wait=20)
        await page.goto("/ui/tickets/T-1")
        await page.get_by_role("button", name="It was wrong").click()
        await expect(page.locator(".headline")).to_contain_text("but a person said that it did not help")

        await page.get_by_text("I know the answer").click()
        await page.get_by_label("The answer, in your words").fill("Plug the cable in.")
        await page.get_by_role("button", name="This is the answer").click()
        await expect(page.locator(".headline")).to_contain_text("given another answer since")
        again = await web.submit(id="T-2", wait=20)
        assert again["resolution"]["text"] == "Plug the cable in."
        await page.goto("/ui/tickets/T-2")
        await expect(page.locator(".given")).to_have_text("Plug the cable in.")


async def test_a_ticket_that_is_worked_on_can_be_cancelled(tmp_path: Path) -> None:
    async with interface(tmp_path, model=Held()) as web, browse(web) as page:
        await web.submit(id="T-1")
        await page.goto("/ui/tickets/T-1")
        assert await find_barriers(page) == []
        await page.get_by_role("button", name="Cancel this ticket").click()
        await web.desk.outcome((await web.desk.ticket("T-1")).id, 20)
        await page.goto("/ui/tickets/T-1")
        await expect(page.locator(".headline")).to_have_text("Cancelled")


async def test_who_needs_a_token_signs_in_once_and_out_again(tmp_path: Path) -> None:
    async with interface(tmp_path, memory=True, token=TOKEN) as web, browse(web) as page:
        await web.submit(id="T-1", wait=20)
        await page.goto("/ui/tickets/T-1")
        assert await find_barriers(page) == []
        await page.get_by_label("Token").fill("terminus_wrong")
        await page.get_by_role("button", name="Sign in").click()
        await expect(page.get_by_role("alert")).to_contain_text("no token of this server")
        assert await find_barriers(page) == []

        await page.get_by_label("Token").fill(TOKEN)
        await page.get_by_role("button", name="Sign in").click()
        await expect(page.get_by_role("heading", level=1)).to_have_text(TEXT)
        await page.get_by_role("button", name="It was right").click()
        await expect(page.locator("article")).to_contain_text("server-token")
        assert await page.evaluate("document.cookie") == ""

        await page.get_by_role("button", name="Sign out").click()
        await expect(page.get_by_role("button", name="Sign in")).to_be_visible()
        await page.goto("/")
        await expect(page.get_by_label("Token")).to_be_visible()


async def test_a_refusal_is_a_page_that_says_why(tmp_path: Path) -> None:
    async with interface(tmp_path, memory=True) as web, browse(web) as page:
        answer = await page.goto("/ui/tickets/T-none")
        assert answer is not None
        assert answer.status == 404
        await expect(page.locator("main")).to_contain_text("There is no ticket T-none.")
        assert await find_barriers(page) == []
