"""Traces sent to a collector: the tree as it is here, by the names of OpenTelemetry, and no run harmed."""

import asyncio
import contextlib
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from aiohttp import web
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from runtime.config import ConfigError, load
from runtime.engine.node import Node
from runtime.observe import trace_export
from runtime.observe.trace_id import UNSAMPLED
from runtime.observe.trace_record import read_trace
from runtime.processes.pool import ROOT
from runtime.settings import ModelSettings, Settings, StorageSettings, TraceSettings
from runtime.tickets import Ticket
from tests.fake_openai import FakeOpenAI
from tests.patience import HANGS_SECONDS, promised
from tests.solving import Finds, alter_numbers, solves

TICKET = Ticket(id="T-1", text="What must I know about the press?")
CALLER = "0af7651916cd43dd8448eb211c80319c" + "b7ad6b7169203331"


class Collector:
    """Takes spans in as a collector does, or hangs."""

    def __init__(self) -> None:
        self.spans: list[Any] = []
        self.service = ""
        self.asked = asyncio.Event()
        self.free = asyncio.Event()
        self.free.set()
        self.url = ""

    async def take(self, request: web.Request) -> web.Response:
        body = await request.read()
        self.asked.set()
        await self.free.wait()
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
            self.service = attributes(resource.resource)["service.name"]
            for scope in resource.scope_spans:
                self.spans += scope.spans
        return web.Response(content_type="application/x-protobuf")


@contextlib.asynccontextmanager
async def collecting() -> AsyncIterator[Collector]:
    collector = Collector()
    app = web.Application()
    app.router.add_post("/v1/traces", collector.take)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    collector.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield collector
    finally:
        collector.free.set()
        await runner.cleanup()


def attributes(told: Any) -> dict[str, Any]:
    return {each.key: getattr(each.value, each.value.WhichOneof("value")) for each in told.attributes}


def settings(folder: Path, otlp: str, url: str = "") -> Settings:
    model = ModelSettings(base_url=url, name="small-1") if url else ModelSettings()
    return Settings(model=model, storage=StorageSettings(folder=str(folder)), trace=TraceSettings(otlp=otlp))


@pytest.mark.req("LG-26", "LG-28")
async def test_a_collector_gets_the_tree_with_parents_and_the_names_of_the_conventions(tmp_path: Path) -> None:
    async with (
        collecting() as collector,
        FakeOpenAI(solves(alter_numbers)) as server,
        Node.open(settings(tmp_path, collector.url, server.url)) as node,
    ):
        node.knowledge = Finds()
        await (await node.submit(msgspec.structs.replace(TICKET, trace=CALLER))).outcome()
        ours = (await read_trace(node, await node.journal.find("T-1"))).spans
        await asyncio.wait_for(collector.asked.wait(), HANGS_SECONDS)

    assert collector.service == "terminus"
    sent = {each.span_id.hex(): each for each in collector.spans}
    assert {each.id for each in ours} == set(sent)
    assert {each.trace_id.hex() for each in sent.values()} == {CALLER[:32]}
    for each in ours:
        assert sent[each.id].parent_span_id.hex() == (each.parent or CALLER[32:])
        took = (sent[each.id].end_time_unix_nano - sent[each.id].start_time_unix_nano) / 1e9
        assert took == pytest.approx(each.seconds or 0.0, abs=1e-5)
    root = sent[ours[0].id]
    assert root.name == "invoke_workflow helpdesk"
    assert attributes(root)["gen_ai.conversation.id"] == "T-1"
    called = [attributes(each) for each in sent.values() if each.name == "chat small-1"]
    assert {each["gen_ai.operation.name"] for each in called} == {"chat"}
    assert called[0]["gen_ai.request.model"] == "small-1"
    assert (called[0]["gen_ai.usage.input_tokens"], called[0]["gen_ai.usage.output_tokens"]) == (100, 20)
    names = {each.name for each in sent.values()}
    assert {"invoke_agent worker", "retrieval documents", "routing worker"} <= names


async def test_what_its_caller_does_not_sample_is_not_sent(tmp_path: Path) -> None:
    async with collecting() as collector, Node.open(settings(tmp_path, collector.url)) as node:
        node.knowledge = Finds()
        for number, more in enumerate((UNSAMPLED, "")):
            ticket = msgspec.structs.replace(TICKET, id=f"T-{number}", trace=CALLER + more)
            await (await node.submit(ticket)).outcome()
    assert {attributes(each)["gen_ai.conversation.id"] for each in collector.spans} == {"T-1"}


async def test_a_run_that_a_version_without_traces_began_gets_a_trace_of_its_own_id(tmp_path: Path) -> None:
    async with collecting() as collector, Node.open(settings(tmp_path, collector.url)) as node:
        node.knowledge = Finds()
        handle = await node.submit(TICKET)
        await node.database.run(("UPDATE run SET trace = x'' WHERE id = ?", (handle.run,)))
        await handle.outcome()
    roots = [each for each in collector.spans if each.name == "invoke_workflow helpdesk"]
    assert [each.parent_span_id for each in roots] == [b""]
    assert len({each.trace_id for each in collector.spans}) == 1


async def test_a_collector_that_hangs_holds_up_neither_a_run_nor_long_the_end(tmp_path: Path) -> None:
    async with collecting() as collector:
        collector.free.clear()
        async with Node.open(settings(tmp_path, collector.url)) as node:
            node.knowledge = Finds()
            for number in range(3):
                ticket = msgspec.structs.replace(TICKET, id=f"T-{number}")
                outcome = await asyncio.wait_for((await node.submit(ticket)).outcome(), HANGS_SECONDS)
                assert outcome.status == "suggested"
            await asyncio.wait_for(collector.asked.wait(), HANGS_SECONDS)
            closing = time.monotonic()
        assert time.monotonic() - closing < promised(2 * trace_export.CLOSE_SECONDS + 1)


async def test_where_no_collector_listens_runs_go_on(tmp_path: Path) -> None:
    async with Node.open(settings(tmp_path, "http://127.0.0.1:9")) as node:
        node.knowledge = Finds()
        outcome = await (await node.submit(TICKET)).outcome()
    assert outcome.status == "suggested"


async def test_what_ends_while_too_many_wait_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trace_export, "MOST_WAITING", 1)
    async with collecting() as collector, Node.open(settings(tmp_path, collector.url)) as node:
        node.knowledge = Finds()
        tickets = [msgspec.structs.replace(TICKET, id=f"T-{number}") for number in range(8)]
        handles = [await node.submit(each) for each in tickets]
        outcomes = await asyncio.gather(*(each.outcome() for each in handles))
    assert {each.status for each in outcomes} == {"suggested"}
    assert collector.spans


async def test_without_the_package_a_sentence_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(ConfigError, match=r"pip install -e '.\[otel\]'"):
        async with Node.open(settings(tmp_path, "http://127.0.0.1:4318")):
            """Not opened."""


def test_an_address_that_is_none_is_refused() -> None:
    with pytest.raises(
        ConfigError, match=r"\[trace\] otlp must be an address .* such as http://127\.0\.0\.1:4318, not"
    ):
        load(None, {"TERMINUS_TRACE_OTLP": "127.0.0.1:4318"})


def test_who_exports_nothing_loads_nothing_of_it() -> None:
    look = (
        "import runtime.engine.node, runtime.engine.service, sys; "
        "print([n for n in sys.modules if n.startswith('opentelemetry')])"
    )
    done = subprocess.run([sys.executable, "-c", look], cwd=ROOT, capture_output=True, text=True, check=True)  # noqa: S603 - our own
    assert done.stdout == "[]\n"
