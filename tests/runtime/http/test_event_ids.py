"""Who was cut off goes on with Last-Event-ID: each numbered event comes once, in order, of one ticket and of all."""

import asyncio
import json
import random
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, NamedTuple

import aiohttp
import pytest

from runtime.engine import event_feed
from runtime.engine import runs as run_handle
from runtime.engine import service as run_events
from runtime.storage.sqlite import run_store
from tests.fakes import Thinks
from tests.runtime.http.kit import Held, Interface, interface, until


class Told(NamedTuple):
    """One event of a stream, or a comment, which has no name."""

    name: str
    id: str
    data: Any


async def read(response: aiohttp.ClientResponse) -> AsyncIterator[Told]:
    fields: dict[str, str] = {}
    async for raw in response.content:
        if line := raw.decode().removesuffix("\n"):
            name, _, value = line.partition(": ")
            fields[name] = value
        else:
            yield Told(fields.get("event", ""), fields.get("id", ""), json.loads(fields.get("data", "null")))
            fields = {}


async def listen(web: Interface, path: str, last: str = "", most: int = 10_000, end: str = "ended") -> list[Told]:
    """What is told after an event, until the line has so many or the stream ends."""
    heard: list[Told] = []
    async with web.client.get(path, headers={"Last-Event-ID": last} if last else {}) as response:
        if response.status == 204:
            return heard
        assert response.status == 200, await response.text()
        async for each in read(response):
            heard += [each] if each.name else []
            if len(heard) >= most or each.name == end:
                break
    return heard


def ids(heard: list[Told]) -> list[str]:
    return [each.id for each in heard if each.id]


async def test_what_the_journal_has_is_numbered_and_goes_on_after_each_number(tmp_path: Path) -> None:
    async with interface(tmp_path) as web:
        outcome = await web.submit(wait=20)
        events = f"/tickets/{outcome['ticket']}/events"
        whole = await listen(web, events)

        assert ids(whole) == [f"{outcome['run']}:{n}" for n in range(len(outcome["handoffs"]) + 2)]
        for n, each in enumerate(whole):
            assert await listen(web, events, each.id) == whole[n + 1 :]
            assert await listen(web, f"{events}?after={each.id}") == whole[n + 1 :]
        assert await listen(web, f"{events}?after={whole[0].id}", whole[4].id) == whole[5:], "the header counts"
        async with web.client.get(events, headers={"Last-Event-ID": whole[-1].id}) as response:
            assert (response.status, await response.read()) == (204, b""), "a browser does not come again"


@pytest.mark.parametrize("seed", range(8))
async def test_who_is_cut_off_at_random_hears_each_event_of_a_run_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    monkeypatch.setattr(event_feed, "LOOK_SECONDS", 0.001)
    dice, model = random.Random(seed), Held()
    async with interface(tmp_path, model=model) as first, interface(tmp_path) as second:
        receipt = await first.submit()
        events, heard = receipt["links"]["events"], list[Told]()
        while not heard or heard[-1].name != "ended":
            web = dice.choice([first, second])
            last = ids(heard)[-1] if heard else ""
            most = dice.randint(1, 9 if model.free.is_set() else 4 - len(heard))  # the model is asked after four
            heard += [each for each in await listen(web, events, last, most) if each.id]
            if len(heard) >= 3:
                model.free.set()

        whole = await listen(second, events)
        assert ids(heard) == ids(whole)
        assert [each.data for each in heard] == [each.data for each in whole]
        assert await listen(first, events, heard[-1].id) == []


async def test_of_a_ticket_that_went_on_in_another_run_the_earlier_one_is_told_to_its_end_first(
    tmp_path: Path,
) -> None:
    async with interface(tmp_path) as web:
        first = await web.submit("One question.", id="T-1", wait=20)
        early = ids(await listen(web, "/tickets/T-1/events"))
        second = await web.submit("Another question.", id="T-1", wait=20)
        late = ids(await listen(web, "/tickets/T-1/events"))

        assert first["run"] != second["run"]
        assert ids(await listen(web, "/tickets/T-1/events", early[2])) == early[3:]
        assert ids(await listen(web, "/tickets/T-1/events", early[-1])) == late


async def test_an_id_that_is_none_is_refused(tmp_path: Path) -> None:
    async with interface(tmp_path) as web:
        one, other = await web.submit(wait=20), await web.submit("Another.", wait=20)
        events = f"/tickets/{one['ticket']}/events"

        for wrong in ("5", "R-1:", ":1", "R-1:-1", "R 1:1", f"{one['run']}:99999999999"):
            assert (await web.refusal("GET", events, headers={"Last-Event-ID": wrong}))[0] == 400
            assert (await web.refusal("GET", "/events", headers={"Last-Event-ID": wrong}))[0] == 400
        assert (await web.refusal("GET", f"{events}?after={other['run']}:1"))[0] == 400
        assert (await web.refusal("GET", f"{events}?after=R-404:1"))[0] == 404
        assert (await web.refusal("GET", "/events?after=R-404:1"))[0] == 410
        assert (await web.refusal("GET", f"{events}?before=1"))[0] == 400


async def listen_to_all(web: Interface, last: str, ends: int, most: int = 10_000) -> list[Told]:
    """Until so many runs have ended, or so much was told."""
    heard: list[Told] = []
    async with web.client.get("/events", headers={"Last-Event-ID": last} if last else {}) as response:
        assert response.status == 200, await response.text()
        async for each in read(response):
            heard += [each] if each.name else []
            if len(heard) >= most or [each.name for each in heard].count("ended") >= ends:
                return heard
    raise AssertionError("it does not end by itself")


@pytest.mark.parametrize("seed", range(4))
async def test_who_is_cut_off_at_random_hears_each_event_of_all_tickets_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    monkeypatch.setattr(event_feed, "LOOK_SECONDS", 0.001)
    monkeypatch.setattr(event_feed, "KEPT", 5)
    monkeypatch.setattr(event_feed, "PAGE", 7)
    dice, count = random.Random(seed), 12
    async with interface(tmp_path) as first, interface(tmp_path) as second:
        steady = asyncio.ensure_future(listen_to_all(second, "", count))
        heard = []
        cut = asyncio.ensure_future(listen_to_all(first, "", count, most=3))
        await until(lambda: first.desk.streams == 1 and second.desk.streams == 1)
        await until(lambda: first.desk.feed.looks > 1 and second.desk.feed.looks > 1)
        sent = [asyncio.ensure_future(dice.choice([first, second]).submit(f"Question {n}", wait=20)) for n in range(12)]
        heard += await cut
        while (ended := [each.name for each in heard].count("ended")) < count:
            web = dice.choice([first, second])
            heard += await asyncio.wait_for(listen_to_all(web, heard[-1].id, count - ended, dice.randint(1, 20)), 20)
        outcomes, whole = await asyncio.gather(*sent), await steady

        assert ids(heard) == ids(whole), "in one order"
        assert heard == whole
        for each in outcomes:
            of_run = [told for told in whole if told.id.startswith(f"{each['run']}:")]
            assert ids(of_run) == [f"{each['run']}:{n}" for n in range(len(each["handoffs"]) + 2)]
            assert all((told.data["run"], told.data["ticket"]) == (each["run"], each["ticket"]) for told in of_run)


async def test_the_order_of_all_outlives_the_process(tmp_path: Path) -> None:
    async with interface(tmp_path) as web:
        for n in range(3):
            await web.submit(f"Question {n}", wait=20)
        first = ids(
            await listen(web, f"/tickets/{(await web.ask('GET', '/tickets'))[1]['tickets'][-1]['ticket']}/events")
        )
    async with interface(tmp_path) as web:
        heard = await asyncio.wait_for(listen_to_all(web, first[0], 3), 20)
        again = await asyncio.wait_for(listen_to_all(web, heard[7].id, 3), 20)

    assert ids(heard)[: len(first) - 1] == first[1:]
    assert len(set(ids(heard))) == len(heard)
    assert again == heard[8:]


async def test_many_listeners_cost_one_look(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_feed, "LOOK_SECONDS", 3600.0)
    async with interface(tmp_path, model=Held()) as first, interface(tmp_path) as second:
        receipt = await first.submit()
        paths = ["/events", receipt["links"]["events"]] * 10
        streams = [await second.client.get(path) for path in paths]
        await until(lambda: second.desk.streams == 20)
        await until(lambda: second.desk.feed.looks == 1)
        for each in streams:
            each.close()
        await until(lambda: second.desk.streams == 0)
        assert second.desk.feed._task is None, "nobody looks for nobody"


async def test_who_reads_too_slowly_is_told_so_and_goes_on_without_a_loss(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_handle, "WATCH_LIMIT", 3)
    async with interface(tmp_path, model=(model := Held())) as web:
        receipt = await web.submit()
        await model.asked.wait()
        async with web.client.get(receipt["links"]["events"]) as response:
            body = await response.text()
        assert body.endswith(": too slow; ask again with Last-Event-ID, and nothing is lost\n\n")
        assert body.count("id: ") == 3
        model.free.set()
        outcome = await web.end(receipt["run"])

        rest = await listen(web, receipt["links"]["events"], f"{receipt['run']}:2")
        assert ids(rest) == [f"{receipt['run']}:{n}" for n in range(3, len(outcome.handoffs) + 2)]


async def test_all_tickets_have_a_heartbeat_and_a_limit_of_listeners(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_events, "HEARTBEAT_SECONDS", 0.01)
    async with interface(tmp_path, max_streams=1) as web, web.client.get("/events") as response:
        assert [(await anext(read(response))).name for _ in range(3)] == ["", "", ""]
        async with web.client.get("/events") as refused:
            assert refused.status == 503
            assert int(refused.headers["Retry-After"]) > 0


async def test_what_is_too_long_ago_is_said_to_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_store, "_TRIM_FEED", run_store._TRIM_FEED.replace(str(run_store.KEPT_PLACES), "5"))
    async with interface(tmp_path, model=Thinks()) as web:
        outcome = await web.submit(wait=20)
        await web.node.journal.store.trim_feed()

        assert len(await web.node.journal.store.feed(0, 100)) == 5
        assert (await web.refusal("GET", f"/events?after={outcome['run']}:1"))[0] == 410
        told = await listen_to_all(web, f"{outcome['run']}:{len(outcome['handoffs']) - 1}", 1)
        assert [each.name for each in told] == ["handoff", "ended"]
