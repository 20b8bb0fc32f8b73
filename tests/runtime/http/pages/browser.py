"""A real browser on the pages: Chromium without a window, and what a screen reader would miss."""

import contextlib
import os
import shutil
from collections.abc import AsyncIterator
from typing import Any

import pytest
from axe_playwright_python.async_playwright import Axe
from playwright.async_api import Page, async_playwright, expect

from tests.runtime.http.kit import SECONDS, Interface

CHROMIUM = shutil.which("chromium") or ""
FLAGS = (
    "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update",
    "--disable-sync",
)  # fmt: skip


expect.set_options(timeout=SECONDS * 1000)


@contextlib.asynccontextmanager
async def browse(web: Interface, **context: Any) -> AsyncIterator[Page]:
    """
    A page of a new browser, at no address yet.

    It fails the test afterwards if the page complained, opened a dialog, or asked another server for anything.
    """
    if not CHROMIUM:
        assert not os.environ.get("CI"), "chromium is not installed"
        pytest.skip("chromium is not installed")
    complaints: list[str] = []
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        page = await browser.new_page(base_url=web.url, **context)
        page.set_default_timeout(SECONDS * 1000)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: complaints.append(f"dialog {dialog.message}"))
        page.on("console", lambda said: complaints.append(said.text) if "Content Security" in said.text else None)
        page.on("request", lambda asked: None if _is_ours(asked.url, web) else complaints.append(asked.url))
        yield page
        await browser.close()
    assert complaints == []


def _is_ours(url: str, web: Interface) -> bool:
    return url.startswith((web.url, "data:", "blob:"))


async def find_barriers(page: Page) -> list[str]:
    """What axe finds: each rule that is broken, with the elements that break it."""
    found = await Axe().run(page)
    return [
        f"{each['id']}: {', '.join(node['html'][:120] for node in each['nodes'])}"
        for each in found.response["violations"]
    ]
