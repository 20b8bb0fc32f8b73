"""A helpdesk with thousands of old tickets: what is new is seen at the next poll, and what is old costs no request."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from runtime.intake import adapter, intake
from runtime.intake.connections import read_connection
from runtime.intake.setup import check_connection
from tests.patience import HANGS_SECONDS
from tests.runtime.http.kit import interface
from tests.runtime.intake.documented.base import listen

OLD = 5_000
YEAR = 365 * 86_400
TEXT = "My VPN drops every hour."
MANY_SECONDS = 4 * HANGS_SECONDS
"""Thousands of tickets are written and read."""


class LargeHelpdesk:
    """Its tickets by number, each with the times of what its customer wrote; requests are counted."""

    system = ""
    bot = "7"

    def __init__(self) -> None:
        began = time.time() - YEAR
        self.tickets = {number: [began + number] for number in range(1, OLD + 1)}
        self.asked: Counter[str] = Counter()
        self.refuses_from = 10**9
        """Requests behind this number are answered with 429, until somebody sets it back."""
        self.refused = 0
        self.at = ""

    def write(self, number: int) -> None:
        """A customer writes to a ticket, which may be a new one."""
        self.tickets.setdefault(number, []).append(time.time())

    def list_page(self, query: dict[str, str]) -> Any:
        raise NotImplementedError

    def tell(self, number: int) -> Any:
        raise NotImplementedError

    async def handle(self, request: web.Request) -> web.StreamResponse:
        if self.asked.total() >= self.refuses_from:
            self.refused += 1
            return web.json_response({"error": "too many requests"}, status=429, headers={"Retry-After": "2"})
        name = request.path.rstrip("/").rpartition("/")[2]
        self.asked["ticket" if name.isdigit() else name] += 1
        found = self.tell(int(name)) if name.isdigit() else self.list_page(dict(request.query))
        return web.json_response(found, status=200 if found is not None else 404)

    def connect(self, folder: Path, **more: Any) -> None:
        (folder / "helpdesks").mkdir()
        (folder / "token").write_text("token", encoding="utf-8")
        known = {
            "system": self.system, "url": self.at, "bot": self.bot, "user": "1", "mode": "dry_run", "poll_seconds": 1,
            "token": f"file:{folder / 'token'}",
        } | more  # fmt: skip
        lines = (f"{name} = {str(value) if isinstance(value, int) else repr(value)}" for name, value in known.items())
        (folder / "helpdesks" / "desk.toml").write_text("\n".join(lines), encoding="utf-8")


class LargeDjangoHelpdesk(LargeHelpdesk):
    """It lists open tickets by their number, and can neither sort nor be asked by a time."""

    system = "django_helpdesk"

    def tell(self, number: int) -> Any:
        times = self.tickets[number]
        said = [{"id": number * 1_000 + n, "user": None, "public": True, "comment": TEXT, "message_id": None,
                 "date": write_time(at)} for n, at in enumerate(times)]  # fmt: skip
        return {"id": number, "title": "VPN", "status": 1, "queue": 1, "submitter_email": "ann@example.test",
                "assigned_to": None, "due_date": None, "followup_set": said}  # fmt: skip

    def list_page(self, query: dict[str, str]) -> Any:
        size, page = int(query["page_size"]), int(query["page"])
        numbers = sorted(self.tickets)[(page - 1) * size : page * size]
        return {"count": len(self.tickets), "next": None, "results": [self.tell(each) for each in numbers]}


class LargeChatwoot(LargeHelpdesk):
    """It lists open conversations 25 a page, the latest first."""

    system = "chatwoot"

    def tell(self, number: int) -> Any:
        times = self.tickets[number]
        last = {"id": number * 1_000 + len(times), "created_at": int(times[-1]), "message_type": 0, "content": TEXT,
                "private": False, "sender": {"id": 17}}  # fmt: skip
        return {"id": number, "status": "open", "labels": [], "inbox_id": 2, "meta": {"sender": {"id": 17}},
                "last_activity_at": int(times[-1]), "last_non_activity_message": last}  # fmt: skip

    def list_page(self, query: dict[str, str]) -> Any:
        if "page" not in query:  # the messages of a conversation
            return {"payload": [self.tell(max(self.tickets))["last_non_activity_message"]]}
        assert query["sort_by"] == "last_activity_at_desc"
        page = int(query["page"])
        latest = sorted(self.tickets, key=lambda each: -self.tickets[each][-1])[(page - 1) * 25 : page * 25]
        return {"data": {"meta": {}, "payload": [self.tell(each) for each in latest]}}


def write_time(at: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime(at))


@pytest.fixture(params=[LargeDjangoHelpdesk, LargeChatwoot])
async def desk(request: pytest.FixtureRequest) -> AsyncIterator[LargeHelpdesk]:
    async with listen(request.param()) as started:
        yield started


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(MANY_SECONDS):
        while not condition():  # noqa: ASYNC110 - it may be true of anything
            await asyncio.sleep(0.01)


async def read_state(web: Any) -> Any:
    return (await web.ask("GET", "/intake"))[1]["helpdesks"][0]


async def until_polled(web: Any, *, after: Any = None) -> None:
    async with asyncio.timeout(MANY_SECONDS):
        while (await read_state(web))["polled"] in {None, after}:  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def test_a_new_ticket_behind_thousands_is_seen_at_the_next_poll_and_no_old_one_is_fetched(
    desk: LargeHelpdesk, tmp_path: Path
) -> None:
    desk.connect(tmp_path)
    async with interface(tmp_path) as web:
        await until_polled(web)
        assert set(desk.asked) == {"tickets" if desk.system == "django_helpdesk" else "conversations"}
        assert desk.asked.total() <= adapter.MOST_PAGES

        polled, before = (await read_state(web))["polled"], desk.asked.total()
        desk.write(OLD + 1)
        await until_polled(web, after=polled)
        await until(lambda: desk.asked["ticket"] > 0)
        assert desk.asked.total() - before <= 2 * adapter.MOST_PAGES + 3
        await until_listed(web)


async def until_listed(web: Any) -> None:
    async with asyncio.timeout(MANY_SECONDS):
        while [each["ticket"] for each in (await web.ask("GET", "/tickets"))[1]["tickets"]] != [f"hd.desk.{OLD + 1}"]:  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def test_what_lies_beyond_a_polls_bound_is_said(tmp_path: Path) -> None:
    async with listen(LargeDjangoHelpdesk()) as desk:
        desk.connect(tmp_path)
        findings = await check_connection(read_connection(tmp_path / "helpdesks" / "desk.toml"))
        (poll,) = (each for each in findings if each.name == "Poll")
        async with interface(tmp_path) as web:
            await until_polled(web)
            state = await read_state(web)
            async with web.client.get("/ui/operation") as got:
                page = await got.text()

        desk.tickets = {number: desk.tickets[number] for number in range(1, 1_500)}
        fewer = await check_connection(read_connection(tmp_path / "helpdesks" / "desk.toml"))

    assert poll.state == "warning"
    assert "more tickets are open than the 2,000 that a poll reads" in poll.found
    assert state["beyond"] is True
    assert "More tickets are open than one poll reads" in page
    assert next(each for each in fewer if each.name == "Poll").state == "ok"


async def test_a_helpdesk_that_sorts_is_asked_for_what_is_new_only(tmp_path: Path) -> None:
    async with listen(LargeChatwoot()) as desk:
        desk.connect(tmp_path)
        async with interface(tmp_path) as web:
            await until_polled(web)
            assert desk.asked["conversations"] == 1, "the first page ends with what is old"
            assert (await read_state(web))["beyond"] is False


async def test_a_helpdesk_that_wants_to_be_left_alone_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intake, "TICK_SECONDS", 0.02)
    async with listen(LargeChatwoot()) as desk:
        desk.connect(tmp_path)
        for number in range(OLD + 1, OLD + 21):
            desk.write(number)
        desk.refuses_from = 2
        async with interface(tmp_path):
            await until(lambda: desk.refused > 0)
            began = time.monotonic()
            desk.refuses_from = 10**9
            await until(lambda: desk.asked["ticket"] > 4)
            assert time.monotonic() - began > 1.0, "it asked for two seconds"
            assert desk.refused <= 4, "those that were under way"
            await until(lambda: desk.asked["ticket"] >= 20)
