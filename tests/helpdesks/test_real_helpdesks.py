"""Tickets of real helpdesks, started here: a customer asks, people decide, the customer is answered; once."""

import asyncio
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from actors.workflow.outcome import Spent
from runtime.intake import intake, sender
from tests.helpdesks.real_helpdesks import RealHelpdesk, needs_helpdesks, start_django_helpdesk, start_roundup
from tests.patience import HANGS_SECONDS
from tests.runtime.http import kit
from tests.runtime.http.kit import interface

pytestmark = [pytest.mark.req("SY-6"), needs_helpdesks]
TEXT = "My VPN drops every hour – Größe 漢字."
STARTS: dict[str, Any] = {"roundup": start_roundup, "django-helpdesk": start_django_helpdesk}


@pytest.fixture(params=STARTS, scope="module")
def helpdesk(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealHelpdesk]:
    with STARTS[request.param](tmp_path_factory.mktemp("helpdesk")) as started:
        yield started


@pytest.fixture(autouse=True)
def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sender, "AGAIN_SECONDS", 0.5)
    monkeypatch.setattr(intake, "TICK_SECONDS", 0.05)
    monkeypatch.setattr(kit.OneModel, "for_run", lambda self, *_, **__: (self._model, lambda: Spent(calls=3)))


def connect(folder: Path, helpdesk: RealHelpdesk, **more: Any) -> None:
    (folder / "helpdesks").mkdir()
    (folder / "token").write_text(helpdesk.token, encoding="utf-8")
    known = {
        **helpdesk.connection,
        "token": f"file:{folder / 'token'}",
        "poll_seconds": 1,
        "spacing_seconds": 0,
        **more,
    }
    lines = "\n".join(f"{name} = {json.dumps(value)}" for name, value in known.items())
    (folder / "helpdesks" / "desk.toml").write_text(lines, encoding="utf-8")


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(HANGS_SECONDS):
        while not await asyncio.to_thread(condition):  # noqa: ASYNC110 - another process decides it
            await asyncio.sleep(0.2)


def count(helpdesk: RealHelpdesk, ticket: str, *, public: bool) -> int:
    """How much has been written behind the customer's first words."""
    return sum(seen is public for _, seen in helpdesk.read(ticket)[1:])


async def test_a_customer_is_answered_once_and_the_ticket_is_solved(helpdesk: RealHelpdesk, tmp_path: Path) -> None:
    ticket = await asyncio.to_thread(helpdesk.ask, "VPN", TEXT)
    connect(tmp_path, helpdesk, mode="auto", solve=True)
    solved = {"roundup": "resolved", "django_helpdesk": "3"}[helpdesk.connection["system"]]

    for _ in range(2):  # the second time nothing is left to do
        async with interface(tmp_path) as web:
            await until(lambda: helpdesk.status(ticket) == solved)
            _, told = await web.ask("GET", f"/tickets/hd.desk.{ticket}")
            assert TEXT in told["question"]
            _, state = await web.ask("GET", "/intake")
            assert state["helpdesks"][0]["problem"] == ""
    assert count(helpdesk, ticket, public=True) == 1
    assert count(helpdesk, ticket, public=False) == 0


async def test_people_see_the_suggestion_and_decide(helpdesk: RealHelpdesk, tmp_path: Path) -> None:
    ticket = await asyncio.to_thread(helpdesk.ask, "VPN", TEXT)
    connect(tmp_path, helpdesk, mode="approve")
    has_notes = helpdesk.connection["system"] != "roundup"

    async with interface(tmp_path) as web:
        if has_notes:
            await until(lambda: count(helpdesk, ticket, public=False) == 1)
        async with asyncio.timeout(HANGS_SECONDS):
            while (await web.ask("POST", f"/tickets/hd.desk.{ticket}/approve"))[0] != 200:  # noqa: ASYNC110
                await asyncio.sleep(0.2)
        await until(lambda: count(helpdesk, ticket, public=True) == 1)

    assert count(helpdesk, ticket, public=False) == has_notes


async def test_a_customer_who_goes_on_gets_another_answer(helpdesk: RealHelpdesk, tmp_path: Path) -> None:
    if helpdesk.connection["system"] != "roundup":
        pytest.skip("its customers reply by mail only")
    ticket = await asyncio.to_thread(helpdesk.ask, "VPN", TEXT)
    connect(tmp_path, helpdesk, mode="auto")

    async with interface(tmp_path):
        await until(lambda: count(helpdesk, ticket, public=True) == 1)
        await asyncio.to_thread(helpdesk.reply, ticket, "It still drops.")
        await until(lambda: count(helpdesk, ticket, public=True) == 3)

    assert [text for text, _ in helpdesk.read(ticket)][2] == "It still drops."
