"""Tickets of real helpdesks, started here: a customer asks, people decide, the customer is answered; once."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes import ANSWER, ON_A_MAC
from tests.helpdesks.connecting import connect, count, until
from tests.helpdesks.real_helpdesks import RealHelpdesk, needs_helpdesks, start_django_helpdesk, start_roundup
from tests.helpdesks.request_tracker import needs_request_tracker, start_request_tracker
from tests.patience import HANGS_SECONDS
from tests.runtime.http.kit import interface

TEXT = "My VPN drops every hour – Größe 漢字."
STARTS = [
    pytest.param(start_roundup, marks=needs_helpdesks, id="roundup"),
    pytest.param(start_django_helpdesk, marks=needs_helpdesks, id="django-helpdesk"),
    pytest.param(start_request_tracker, marks=needs_request_tracker, id="request-tracker"),
]


@pytest.fixture(params=STARTS, scope="module")
def helpdesk(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealHelpdesk]:
    with request.param(tmp_path_factory.mktemp("helpdesk")) as started:
        yield started


async def test_a_customer_is_answered_once_and_the_ticket_is_solved(helpdesk: RealHelpdesk, tmp_path: Path) -> None:
    ticket = await asyncio.to_thread(helpdesk.ask, "VPN", TEXT)
    connect(tmp_path, helpdesk, mode="auto", solve=True)

    for _ in range(2):  # the second time nothing is left to do
        async with interface(tmp_path) as web:
            await until(lambda: helpdesk.status(ticket) == helpdesk.solved)
            _, told = await web.ask("GET", f"/tickets/hd.desk.{ticket}")
            assert TEXT in told["question"]
            _, state = await web.ask("GET", "/intake")
            assert state["helpdesks"][0]["problem"] == ""
    assert count(helpdesk, ticket, public=True) == 1
    assert count(helpdesk, ticket, public=False) == 0


async def test_people_see_the_suggestion_and_decide(helpdesk: RealHelpdesk, tmp_path: Path) -> None:
    ticket = await asyncio.to_thread(helpdesk.ask, "VPN", TEXT)
    connect(tmp_path, helpdesk, mode="approve")

    async with interface(tmp_path) as web:
        if helpdesk.has_notes:
            await until(lambda: count(helpdesk, ticket, public=False) == 1)
        async with asyncio.timeout(HANGS_SECONDS):
            while (await web.ask("POST", f"/tickets/hd.desk.{ticket}/approve"))[0] != 200:  # noqa: ASYNC110
                await asyncio.sleep(0.2)
        await until(lambda: count(helpdesk, ticket, public=True) == 1)

    assert count(helpdesk, ticket, public=False) == helpdesk.has_notes


async def test_a_customer_who_goes_on_gets_another_answer(helpdesk: RealHelpdesk, tmp_path: Path) -> None:
    ticket = await asyncio.to_thread(helpdesk.ask, "VPN", TEXT)
    connect(tmp_path, helpdesk, mode="auto")

    async with interface(tmp_path):
        await until(lambda: count(helpdesk, ticket, public=True) == 1)
        await asyncio.to_thread(helpdesk.reply, ticket, "And on a Mac?")
        await until(lambda: count(helpdesk, ticket, public=True) == 3)

    answer, question, other = (text.strip() for text, seen in helpdesk.read(ticket)[1:] if seen)
    assert question == "And on a Mac?"
    assert ANSWER in answer
    assert ON_A_MAC in other
    assert ANSWER not in other
