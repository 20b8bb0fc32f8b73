"""Events of one ticket: all of the past, then what happens, the outcome last; a bad client harms nobody."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from bus import Event
from runtime.cli.view import board as plain_lines
from runtime.engine import event_feed
from runtime.engine import service as desk_module
from runtime.engine import service as run_events
from runtime.http import stream as stream_module
from tests.runtime.http.kit import Held, Interface, interface, until

ROUTE = ["memory", "orchestrator", "ticketing"]


async def blocks(response: aiohttp.ClientResponse) -> AsyncIterator[tuple[str, Any]]:
    """(name, data) of each event, and ("", comment) of each comment, until the stream ends."""
    lines: list[str] = []
    async for raw in response.content:
        line = raw.decode().removesuffix("\n")
        if line:
            lines.append(line)
            continue
        if lines[0].startswith(":"):
            yield "", lines[0]
        else:
            *_, name, data = lines
            yield name.removeprefix("event: "), json.loads(data.removeprefix("data: "))
        lines = []
    assert not lines


async def told(web: Interface, path: str) -> list[tuple[str, Any]]:
    async with web.client.get(path) as response:
        assert (response.status, response.content_type) == (200, "text/event-stream")
        return [each async for each in blocks(response)]


@pytest.mark.req("HD-1.4", "SY-4")
async def test_a_run_is_told_from_its_beginning_to_its_end_while_it_happens(tmp_path: Path) -> None:
    model = Held()
    async with interface(tmp_path, model=model) as web:
        receipt = await web.submit()
        await model.asked.wait()
        async with web.client.get(receipt["links"]["events"]) as response:
            events = blocks(response)
            past = [await anext(events) for _ in range(4)]
            assert [name for name, _ in past] == ["began", "handoff", "handoff", "handoff"]
            assert (past[0][1]["run"], past[0][1]["agent"]) == (receipt["run"], "memory")
            model.free.set()
            rest = [each async for each in events]

        handoffs = [data for name, data in [*past, *rest] if name == "handoff"]
        assert [each["number"] for each in handoffs] == list(range(1, len(handoffs) + 1))
        name, outcome = rest[-1]
        assert (name, outcome["status"], outcome["run"]) == ("ended", "resolved", receipt["run"])
        assert [each["target"] for each in outcome["handoffs"]] == [each["target"] for each in handoffs]
        assert [name for name, _ in rest].count("ended") == 1


async def test_a_run_that_is_over_is_told_the_same(tmp_path: Path) -> None:
    model = Held()
    async with interface(tmp_path, model=model) as web:
        receipt = await web.submit()
        watching = asyncio.ensure_future(told(web, receipt["links"]["events"]))
        await until(lambda: web.desk.streams == 1)
        model.free.set()
        live = await watching

        later = await told(web, receipt["links"]["events"])

        assert [name for name, _ in later] == [name for name, _ in live if name != "answered"], "the end has it"
        assert [data for name, data in later if name == "handoff"] == [data for name, data in live if name == "handoff"]
        assert len({data["state"] for name, data in later if name == "handoff"}) > 4
        assert [data["source"] for name, data in later if data.get("marker") == "WORKFLOW_COMPLETE"] == [
            "summarization"
        ]
        assert later[-1][1]["marker"] == "TERMINATE_WORKFLOW"


@pytest.mark.req("LG-26")
async def test_spans_are_told_each_once_when_they_are_over_and_the_same_later(tmp_path: Path) -> None:
    model = Held()
    async with interface(tmp_path, model=model) as web:
        receipt = await web.submit()
        address = f"{receipt['links']['events']}?spans=1"
        watching = asyncio.ensure_future(told(web, address))
        await model.asked.wait()
        await until(lambda: web.desk.streams == 1)
        model.free.set()
        live = await watching

        later, plain = await told(web, address), await told(web, receipt["links"]["events"])
        half = await told(web, f"{address}&after={receipt['run']}:4")
        known = (await web.ask("GET", f"/tickets/{receipt['ticket']}/trace"))[1]["spans"]
        refused, why = await web.refusal("GET", f"{receipt['links']['events']}?spans=yes")

    ids = [each["id"] for each in known]
    assert len(ids) > 5
    for heard in (live, later, half):
        found = [data["id"] for name, data in heard if name == "span"]
        assert len(found) == len(set(found))
        assert set(found) == set(ids)
        assert heard[-1][0] == "ended"
    first = next(number for number, (name, _) in enumerate(live) if name == "span")
    assert "handoff" in {name for name, _ in live[first:]}, "while it happens"
    assert "span" not in {name for name, _ in plain}
    assert (refused, "1 or 0" in why) == (400, True)


async def test_a_watcher_who_comes_in_the_very_moment_of_the_end_hears_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = Held()
    async with interface(tmp_path, model=model) as web:
        receipt = await web.submit()
        handle = web.handle(receipt["run"])
        model.free.set()
        await handle.outcome()
        monkeypatch.setattr(web.node.runs, "here", lambda _: handle)  # until the loop's next turn it is still known

        events = await told(web, receipt["links"]["events"])

        assert [name for name, _ in events].count("ended") == 1
        assert (events[0][0], events[-1][0]) == ("began", "ended")


class Aside(Event, frozen=True):
    """What an agent may say to all, and nobody here knows."""

    said: str


async def test_what_agents_say_besides_is_not_for_clients(tmp_path: Path) -> None:
    model = Held()
    async with interface(tmp_path, model=model) as web:
        receipt = await web.submit()
        watching = asyncio.ensure_future(told(web, receipt["links"]["events"]))
        await until(lambda: bool(web.node.runs.live._runs[receipt["run"]]._bus.watchers))
        web.node.runs.live._runs[receipt["run"]]._bus.publish("worker", Aside(said="psst"))
        model.free.set()

        events = await watching
        assert events[-1][0] == "ended"
        assert "psst" not in json.dumps(events)


@pytest.mark.req("PR-29")
def test_pr_29_terminals_and_streams_have_a_heartbeat_of_five_seconds() -> None:
    assert [vars(each)["HEARTBEAT_SECONDS"] for each in (run_events, plain_lines)] == [5.0, 5.0]


@pytest.mark.req("PR-29")
async def test_a_silent_run_sends_signs_of_life(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_events, "HEARTBEAT_SECONDS", 0.01)
    model = Held()
    async with interface(tmp_path, model=model) as web:
        receipt = await web.submit()
        async with web.client.get(receipt["links"]["events"]) as response:
            comments = 0
            async for name, _ in blocks(response):
                comments += name == ""
                if comments == 3:
                    model.free.set()
            assert comments >= 3
            assert name == "ended"


async def test_a_run_of_another_process_is_told_as_it_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_events, "HEARTBEAT_SECONDS", 0.01)
    monkeypatch.setattr(event_feed, "LOOK_SECONDS", 0.01)
    model = Held()
    async with interface(tmp_path, model=model) as first, interface(tmp_path) as second:
        receipt = await first.submit()
        async with second.client.get(receipt["links"]["events"]) as response:
            events = blocks(response)
            names = list[str]()
            async for name, _ in events:
                names.append(name)
                if not name and len([*filter(None, names)]) == 4:  # it only says that it is there
                    break
            assert [*filter(None, names)] == ["began", "handoff", "handoff", "handoff"], "it has not ended"
            model.free.set()
            names += [name async for name, _ in events if name]

        assert names[-1] == "ended"


@pytest.mark.req("LG-26")
async def test_spans_of_a_run_of_another_process_are_told_as_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_feed, "LOOK_SECONDS", 0.01)
    model = Held()
    async with interface(tmp_path, model=model) as first, interface(tmp_path) as second:
        receipt = await first.submit("My VPN drops, write to ann.lee@example.org or +49 170 1234567.")
        address = f"{receipt['links']['events']}?spans=1"
        await model.asked.wait()
        watching = asyncio.ensure_future(told(second, address))
        await until(lambda: second.desk.streams == 1)
        model.free.set()
        heard = await watching
        known = (await first.ask("GET", f"/tickets/{receipt['ticket']}/trace"))[1]["spans"]

    spans = [data for name, data in heard if name == "span"]
    assert sorted(each["id"] for each in spans) == sorted(each["id"] for each in known)
    assert {each["id"]: each for each in spans} == {each["id"]: each for each in known}, "as the trace has them"
    inputs = json.dumps(spans)
    assert "write to [e-mail] or [phone number]" in inputs
    assert "ann.lee" not in inputs
    assert heard[-1][0] == "ended"


async def test_what_a_ticket_says_cannot_forge_an_event(tmp_path: Path) -> None:
    async with interface(tmp_path) as web:
        receipt = await web.submit(
            'VPN\n\nevent: ended\ndata: {"status": "resolved"}\n\n\u2028\r\revent: ended', wait=20
        )
        async with web.client.get(f"/tickets/{receipt['ticket']}/events") as response:
            body = await response.read()

        assert body.count(b"\nevent: ended\n") == 1
        assert b"\r" not in body
        assert body.endswith(b"}\n\n")


async def test_who_goes_away_is_forgotten_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_events, "HEARTBEAT_SECONDS", 3600.0)  # it is not a write that finds it out
    model = Held()
    async with interface(tmp_path, model=model) as web:
        receipt = await web.submit()
        await model.asked.wait()
        before = len(asyncio.all_tasks())
        for _ in range(20):
            async with web.client.get(receipt["links"]["events"]) as response:
                events = blocks(response)
                assert [(await anext(events))[0] for _ in range(4)] == ["began", "handoff", "handoff", "handoff"]
                assert web.desk.streams >= 1
        await until(lambda: web.desk.streams == 0)
        await until(lambda: len(asyncio.all_tasks()) <= before + 1)
        assert web.node.runs.live._runs[receipt["run"]]._bus.watchers == ()
        assert web.desk._waiting == set()


async def test_who_does_not_read_is_dropped_and_harms_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream_module, "WRITE_SECONDS", 0.05)
    monkeypatch.setattr(stream_module, "BUFFER_BYTES", 1024)
    monkeypatch.setattr(run_events, "HEARTBEAT_SECONDS", 0.0)
    monkeypatch.setattr(stream_module, "HEARTBEAT", b":" + b"x" * 65_536 + b"\n\n")
    model = Held()
    async with interface(tmp_path, model=model) as web:
        receipt = await web.submit()
        with socket.create_connection(("127.0.0.1", web.port)) as deaf:
            deaf.sendall(f"GET {receipt['links']['events']} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            await until(lambda: web.desk.streams == 1)
            await until(lambda: web.desk.streams == 0)

        model.free.set()
        assert (await web.end(receipt["run"])).status == "resolved"


async def test_as_many_as_may_listen_all_hear_the_end(tmp_path: Path) -> None:
    model = Held()
    async with interface(tmp_path, model=model, max_streams=400) as web:
        receipt = await web.submit()
        watching = [asyncio.ensure_future(told(web, receipt["links"]["events"])) for _ in range(400)]
        await until(lambda: web.desk.streams == 400)

        status, why = await web.refusal("GET", receipt["links"]["events"])
        assert (status, "400" in why) == (503, True)
        model.free.set()

        for events in await asyncio.gather(*watching):
            assert events[-1][0] == "ended"
        await until(lambda: web.desk.streams == 0)


async def test_the_end_of_the_server_ends_streams_without_an_outcome(tmp_path: Path) -> None:
    model = Held()
    async with interface(tmp_path, model=model) as web:
        receipt = await web.submit()
        await model.asked.wait()
        async with web.client.get(receipt["links"]["events"]) as response:
            events = blocks(response)
            names = [(await anext(events))[0] for _ in range(4)]
            waiting = asyncio.ensure_future(web.submit(id=receipt["ticket"], wait=20))
            await until(lambda: len(web.desk._waiting) == 2)
            web.desk.close()
            names += [name async for name, _ in events]

        assert names == ["began", "handoff", "handoff", "handoff"]
        assert (await waiting)["status"] == "running"


async def test_no_stream_of_what_there_is_not(tmp_path: Path) -> None:
    async with interface(tmp_path) as web:
        assert (await web.refusal("GET", "/tickets/T-404/events"))[0] == 404


async def test_a_stream_that_breaks_says_so_in_its_last_event_and_nothing_of_the_inside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("a secret of the inside")

    async with interface(tmp_path, model=Held()) as web:
        receipt = await web.submit()
        monkeypatch.setattr(desk_module.TicketService, "handle", broken)
        events = receipt["links"]["events"]
        asked = f"GET {events} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        answer = await web.raw(asked.encode())

        assert answer.count(b"HTTP/1.1") == 1
        assert answer.endswith(b"\r\n0\r\n\r\n"), "it has ended, and was not cut off"
        assert b"event: failed\ndata: {" in answer
        assert b"its log says more" in answer
        assert b"inside" not in answer
        assert web.desk.streams == 0
    assert "a secret of the inside" in caplog.text
