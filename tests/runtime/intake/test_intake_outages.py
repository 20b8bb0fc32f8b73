"""Helpdesks and disks that fail at the wrong moment: nothing is lost, and nobody holds up others."""

import asyncio
import datetime
import time
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web as aiohttp_web

from runtime.intake import helpdesk_watcher, sender
from runtime.intake.adapter import Adapter
from runtime.storage.errors import StorageError
from runtime.storage.records import Record
from runtime.storage.sqlite.run_store import SqliteRuns
from tests.patience import HANGS_SECONDS
from tests.runtime.http.kit import TEXT, Held
from tests.runtime.intake import fake_helpdesk
from tests.runtime.intake.test_intake import Opened, connected, hurry, opened, until

__all__ = ["hurry", "opened"]


async def test_a_disk_that_is_full_when_helpdesks_are_connected_is_waited_for(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    put, refused = SqliteRuns.put, 0

    async def refuse_first(self: SqliteRuns, *records: Record, **more: Any) -> None:
        nonlocal refused
        if not refused and any(each.kind == "connected" for each in records):
            refused += 1
            raise StorageError("database or disk is full")
        await put(self, *records, **more)

    monkeypatch.setattr(SqliteRuns, "put", refuse_first)
    async with connected(tmp_path) as (desk, web):
        await desk.deliver(web.client, desk.write("7", "ann", TEXT))
        await until(lambda: len(desk.said("7", public=False)) == 1)
    assert refused == 1


async def test_whoever_cannot_listen_goes_on_polling(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    async def fail(self: Adapter, seconds: float) -> bool:
        raise ValueError("too many values")

    monkeypatch.setattr(Adapter, "wait", fail)
    async with connected(tmp_path) as (desk, web):
        await desk.deliver(web.client, desk.write("7", "ann", TEXT))
        await until(lambda: len(desk.said("7", public=False)) == 1)


async def test_the_first_poll_begins_where_the_helpdesk_was_connected_however_late_it_answers(
    opened: Opened, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    starts = fake_helpdesk.ADAPTER.replace('start = "0"', 'start = "{now_unix}"')
    monkeypatch.setattr(fake_helpdesk, "ADAPTER", starts)
    asked = list[str]()
    async with connected(tmp_path) as (desk, _):
        desk.down = True
        began = time.time()
        watcher = opened[-1].watchers["desk"]
        watcher._polled = 0.0
        watcher.ring()
        await until(lambda: watcher.health.problem != "")
        poll = watcher.adapter.poll

        async def note(cursor: str, *more: Any) -> Any:
            asked.append(cursor)
            return await poll(cursor, *more)

        monkeypatch.setattr(watcher.adapter, "poll", note)
        real = time.time
        monkeypatch.setattr(time, "time", lambda: real() + 7200)
        await until(lambda: bool(asked))
        monkeypatch.setattr(time, "time", real)
    assert float(asked[0]) <= began


async def test_tickets_that_cannot_be_written_to_hold_up_no_other(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sender, "AGAIN_SECONDS", 0.3)
    model = Held()
    async with connected(tmp_path, model=model) as (desk, web):
        lost, others = ([f"{name}{n}" for n in range(12)] for name in ("lost", "other"))
        for name in (*lost, *others):
            await desk.deliver(web.client, desk.write(name, f"ann {name}", f"{TEXT} {name}"))
        await until(lambda: web.node.live == len(lost) + len(others))
        desk.broken = dict.fromkeys(lost, 403)  # the account has lost their queue
        model.free.set()
        await until(lambda: all(desk.said(each, public=False) for each in others))


async def test_a_helpdesk_that_is_never_polled_and_is_down_is_asked_less_and_less_often(
    opened: Opened, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    before, behind = fake_helpdesk.ADAPTER.split("[poll]")
    monkeypatch.setattr(fake_helpdesk, "ADAPTER", before + behind[behind.index("[fetch.ticket]") :])
    monkeypatch.setattr(helpdesk_watcher, "BACK_OFF_SECONDS", 0.01)
    waits = list[float]()
    async with connected(tmp_path) as (desk, web):
        watcher = opened[-1].watchers["desk"]
        back_off = watcher._back_off

        def note(error: Exception) -> float:
            waits.append(back_off(error))
            return waits[-1]

        monkeypatch.setattr(watcher, "_back_off", note)
        desk.down = True
        await desk.deliver(web.client, desk.write("7", "ann", TEXT))
        await until(lambda: len(waits) == 3)
        assert waits == sorted(set(waits))
        assert watcher.health.problem
        desk.down = False
        await until(lambda: len(desk.said("7", public=False)) == 1)
        await until(lambda: watcher.health.problem == "")


async def test_nobody_is_reminded_of_what_has_its_word(
    opened: Opened, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    async with connected(tmp_path, mode="approve") as (desk, web):
        inbox, event = opened[-1].inbox, desk.write("3", "ann", TEXT)
        desk.tickets["3"]["due"] = _in_hours(0.001)
        await desk.deliver(web.client, event)
        await until(lambda: len(desk.said("3", public=False)) == 1)
        change, busy = desk._change, True

        def refuse(request: Any, ticket: Any, body: Any) -> Any:
            return aiohttp_web.json_response({}, status=503) if busy else change(request, ticket, body)

        monkeypatch.setattr(desk, "_change", refuse)
        async with asyncio.timeout(HANGS_SECONDS):
            while not any(each.has_reminded for _, each in await inbox.write_backs("desk")):  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        assert (await web.ask("POST", "/tickets/hd.desk.3/approve"))[0] == 200
        busy = False
        await until(lambda: len(desk.said("3", public=True)) == 1)
        async with asyncio.timeout(HANGS_SECONDS):
            while await inbox.write_backs("desk"):  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        assert len(desk.said("3", public=False)) == 1


def _in_hours(hours: float) -> str:
    return (datetime.datetime.now(datetime.UTC) + datetime.timedelta(hours=hours)).isoformat()
