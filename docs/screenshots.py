"""Takes the README's pictures of the pages, docs/images/*.png: `python -m docs.screenshots`, with a Chromium."""

import asyncio
import logging
import shutil
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import structlog
from playwright.async_api import Browser, async_playwright

from runtime import families
from runtime.cli.commands.demo import KNOWLEDGE, ORDER, QUESTION, TICKETS
from runtime.engine.service import TicketService, open_service
from runtime.http.server import address, bound, listening
from runtime.program import shipped_file
from runtime.settings import ServerSettings, Settings, StorageSettings
from runtime.tickets import HELPDESK, RESEARCH, Ticket

FOLDER = Path(__file__).with_name("images")
MOST_KILOBYTES = 150
SECONDS = 60.0
COMPLAINT = "请帮我写一份民事起诉状。原告：张三。被告：李四。"


class Picture(NamedTuple):
    """One picture: where, how wide and high in pixels, in which light and language."""

    name: str
    path: str
    width: int
    height: int
    scheme: str = "light"
    locale: str = "en-GB"
    part: str = ""
    """The element that is shown, with all that is closed in it open; empty: what a window shows."""


PICTURES = (
    Picture("tickets", "/", 1100, 760),
    Picture("ticket", "/ui/tickets/T-vpn", 1100, 860),
    Picture("how", "/ui/tickets/T-vpn", 1100, 860, part=".how"),
    Picture("knowledge", "/ui/knowledge?q=My+VPN+drops+every+hour", 1100, 760),
    Picture("research-dark", "/ui/tickets/T-research", 1100, 860, "dark"),
    Picture("complaint-zh", "/ui/tickets/T-complaint", 420, 860, locale="zh-CN"),
)


async def _fill(service: TicketService) -> None:
    """Tickets as the demo has them, a research and a question of law, each at its end."""
    await service.node.index([str(shipped_file(KNOWLEDGE))], lambda _: None)
    settings = service.node.settings
    orders = [
        Ticket(text=TICKETS[2][1], id="T-court", requester="Ann"),
        Ticket(text=COMPLAINT, id="T-complaint", workflow="legal", requester="王律师"),
        Ticket(
            text=QUESTION, id="T-research", workflow=RESEARCH,
            options=families.read_options(RESEARCH, ORDER, settings),
        ),
        Ticket(text=TICKETS[0][1], id="T-vpn", workflow=HELPDESK, requester="Kim"),
    ]  # fmt: skip
    for each in orders:
        await service.outcome(await service.submit(each), SECONDS)


async def _take(browser: Browser, at: str, picture: Picture) -> None:
    size = {"width": picture.width, "height": picture.height}
    page = await browser.new_page(
        base_url=at, viewport=size, color_scheme=picture.scheme, locale=picture.locale, timezone_id="UTC"
    )
    await page.goto(picture.path)
    file = FOLDER / f"{picture.name}.png"
    if picture.part:
        await page.evaluate("document.querySelectorAll('.how details').forEach((each) => { each.open = true; })")
        await page.locator(picture.part).screenshot(path=file)
    else:
        await page.screenshot(path=file)
    kilobytes = file.stat().st_size / 1000
    print(f"{file.name}: {kilobytes:.0f} KB")
    if kilobytes > MOST_KILOBYTES:
        sys.exit(f"{file.name} is over {MOST_KILOBYTES} KB.")


async def take(folder: str) -> None:
    """Take all pictures of a node in this folder."""
    settings = Settings(storage=StorageSettings(folder=folder), server=ServerSettings(port=0))
    async with open_service(settings) as service:
        service.ready = True
        await _fill(service)
        with bound(settings.server) as sock:
            at = address(sock)
            async with listening(service, sock), async_playwright() as playwright:
                browser = await playwright.chromium.launch(
                    executable_path=shutil.which("chromium"), args=["--no-sandbox"]
                )
                FOLDER.mkdir(exist_ok=True)
                for picture in PICTURES:
                    await _take(browser, at, picture)
                await browser.close()


if __name__ == "__main__":
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    with tempfile.TemporaryDirectory(prefix="terminus-pictures-") as folder:
        asyncio.run(take(folder))
