"""A trace as a tree of spans: who worked on what for whom, how long it took, what came of it."""

from pathlib import Path
from typing import Any

import pytest

from actors.evidence.trace_steps import BY_MODEL, SearchStep, ToolStep
from actors.ports import Entry, PortFailed
from actors.workflow.tables import TimeUp
from bus import Failed
from runtime.engine.node import Node
from runtime.families import find_intent
from runtime.observe.span import TraceSpan
from runtime.observe.span_tree import SpanTree, TracedRun
from runtime.observe.trace_record import TraceRecord, read_trace
from runtime.settings import ModelSettings, Settings, StorageSettings
from runtime.tickets import Ticket
from tests.actors.legal.answering import TWO_FIELDS
from tests.fake_openai import FakeOpenAI, Step, fails
from tests.runtime.cli.commands.test_research import dug
from tests.solving import Finds, alter_numbers, solves

TICKET = Ticket(id="T-1", text="What must I know about the press?")


def open_node(folder: Path, url: str = "", **model: Any) -> Any:
    chosen = ModelSettings(base_url=url, name="small-1", tries=1, **model) if url else ModelSettings()
    return Node.open(Settings(model=chosen, storage=StorageSettings(folder=str(folder))))


async def solve(folder: Path, step: Step, **model: Any) -> TraceRecord:
    async with FakeOpenAI(step) as server, open_node(folder, server.url, **model) as node:
        node.knowledge = Finds()
        await (await node.submit(TICKET)).outcome()
        return await read_trace(node, await node.journal.find("T-1"))


def of_kind(trace: TraceRecord, kind: str) -> list[TraceSpan]:
    return [each for each in trace.spans if each.kind == kind]


def parent(trace: TraceRecord, span: TraceSpan) -> TraceSpan:
    return next(each for each in trace.spans if each.id == span.parent)


@pytest.mark.req("LG-27", "LG-28")
async def test_each_agent_stands_below_the_run_and_what_it_did_below_it(tmp_path: Path) -> None:
    trace = await solve(tmp_path, solves(alter_numbers))

    root = trace.spans[0]
    assert (root.kind, root.name, root.parent, root.status) == ("run", "helpdesk", "", "ok")
    assert "3 kept, 3 dropped" in {each.output for each in of_kind(trace, "claims")}
    agents = of_kind(trace, "agent")
    assert [each.name for each in agents] == ["memory", "ticketing", "worker", "memory", "summarization", "ticketing"]
    assert {(each.parent, each.status) for each in agents} == {(root.id, "ok")}
    (search,) = of_kind(trace, "search")
    assert (search.name, search.input, parent(trace, search).name) == ("documents", TICKET.text, "worker")
    assert [parent(trace, each).name for each in of_kind(trace, "model")][:2] == ["ticketing", "worker"]
    for each in trace.spans[1:]:
        above = parent(trace, each)
        assert trace.spans.index(above) < trace.spans.index(each)
        assert above.begin <= each.begin
        assert each.seconds is not None


@pytest.mark.req("LG-27")
async def test_the_intent_says_who_found_it_and_to_whom_the_ticket_went(tmp_path: Path) -> None:
    trace = await solve(tmp_path, solves())

    (intent,), (route,) = of_kind(trace, "classification"), of_kind(trace, "routing")
    assert (intent.by, parent(trace, intent).name) == ("model", "ticketing")
    assert (route.name, route.input) == ("worker", intent.name)


async def test_a_search_by_a_tool_stands_below_the_tool_and_has_its_time(tmp_path: Path) -> None:
    step, hits = ToolStep("worker", "look_up", "{}", seconds=0.5, at=1.5), SearchStep(BY_MODEL, "ink", "laws", at=1.5)
    async with open_node(tmp_path) as node:
        await node.journal.accept(TICKET, "R-1", node.flows["helpdesk"], node.make_case(TICKET), "nobody")
        course = await node.journal.course(await node.journal.run("R-1"))
        run = TracedRun(await node.journal.run("R-1"), course, None)

    spans = SpanTree("0" * 32, find_intent, lambda *_: None, str).build([run], [hits, step])

    tool, search = (next(each for each in spans if each.kind == kind) for kind in ("tool", "search"))
    assert (search.parent, search.begin, search.seconds) == (tool.id, 1.0, 0.5)
    assert all('"type"' not in each.input for each in spans)


@pytest.mark.req("LG-27")
async def test_specialists_side_by_side_are_spans_side_by_side(tmp_path: Path) -> None:
    async with open_node(tmp_path) as node:
        await (await node.submit(Ticket(id="L-1", text=TWO_FIELDS, workflow="legal"))).outcome()
        stored = await node.journal.find("L-1")
        trace = await read_trace(node, stored)

    (intent,), (route,) = of_kind(trace, "classification"), of_kind(trace, "routing")
    assert (intent.name, intent.by) == (stored.intent, "rules")
    assert intent.confidence is not None
    assert len(intent.category.split(", ")) > 1
    team = route.name.split(", ")
    agents = [each for each in of_kind(trace, "agent") if each.name in team]
    assert sorted(each.name for each in agents) == sorted(team)
    assert len({each.begin for each in agents}) == 1


async def test_what_went_wrong_says_why(tmp_path: Path) -> None:
    trace = await solve(tmp_path, fails(401))

    call = of_kind(trace, "model")[0]
    assert call.status == "failed"
    assert call.why


async def test_an_agent_that_was_asked_again_has_a_span_for_each_time(tmp_path: Path) -> None:
    async with open_node(tmp_path) as node:
        await node.journal.accept(TICKET, "R-1", node.flows["helpdesk"], node.make_case(TICKET), "nobody")
        events = ((Failed(request="RecallResolution", error="It broke."), "memory", 1), (TimeUp(), "", 0))
        for n, (event, sender, number) in enumerate(events, 1):
            node.journal.record(Entry("R-1", n, 300.0 * n + 1, sender, number, event), lambda _: None)
        await node.database.run()  # behind them
        trace = await read_trace(node, await node.journal.find("T-1"))

    first, second, *_ = of_kind(trace, "agent")
    assert (first.name, first.status, first.why, first.seconds) == ("memory", "failed", "It broke.", 301.0)
    assert (second.name, second.begin, second.status) == ("memory", 301.0, "timed_out")
    assert trace.spans[0].status == "running"


async def test_a_run_within_a_run_stands_below_the_agent_that_it_plays(tmp_path: Path) -> None:
    await dug(tmp_path)
    async with open_node(tmp_path) as node:
        trace = await read_trace(node, await node.journal.find("RS-1"))

    runs = of_kind(trace, "run")
    assert len(runs) == 3
    assert [parent(trace, each).name for each in runs[1:]] == ["round", "round"]
    assert parent(trace, runs[2]).parent == runs[1].id
    assert runs[1].begin == parent(trace, runs[1]).begin


async def test_a_search_that_failed_has_its_time(tmp_path: Path) -> None:
    class Breaks(Finds):
        async def search(self, question: str, **_: Any) -> Any:
            raise PortFailed("The index is gone.")

    async with open_node(tmp_path) as node:
        node.knowledge = Breaks()
        await (await node.submit(TICKET)).outcome()
        trace = await read_trace(node, await node.journal.find("T-1"))

    search = of_kind(trace, "search")[0]
    assert (search.status, search.why) == ("failed", "The index is gone.")
    assert search.seconds is not None


async def test_what_calls_cost_is_told_where_prices_are_known(tmp_path: Path) -> None:
    free = await solve(tmp_path / "free", solves())
    priced = await solve(tmp_path / "priced", solves(), price_in=2.0, price_out=10.0)

    assert {each.cost for each in of_kind(free, "model")} == {None}
    assert of_kind(priced, "model")[0].cost == pytest.approx((100 * 2.0 + 20 * 10.0) / 1e6)


async def test_spans_keep_their_ids_and_no_secret(tmp_path: Path) -> None:
    secret = Ticket(id="T-1", text="Write to jane@example.org about the press, my password=hunter2.")
    async with open_node(tmp_path) as node:
        node.knowledge = Finds()
        await (await node.submit(secret)).outcome()
        stored = await node.journal.find("T-1")
        one, other = await read_trace(node, stored), await read_trace(node, stored)

    assert one.spans == other.spans
    assert len({each.id for each in one.spans}) == len(one.spans)
    said = "".join(each.input + each.output for each in one.spans)
    assert "[e-mail]" in said
    assert "jane@" not in said
    assert "hunter2" not in said


async def test_a_step_of_before_it_had_seconds_can_be_read() -> None:
    assert SearchStep("worker", "q", "documents").seconds == 0.0
