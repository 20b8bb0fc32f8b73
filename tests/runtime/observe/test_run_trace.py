"""The trace of a run: durable with the event that it led to, within a bound that says so, there after a crash."""

import asyncio
from pathlib import Path
from typing import Any

import msgspec
import pytest

from actors.evidence.trace_steps import AnswerStep, CallStep, CheckedClaim, Found, SearchStep, ToolStep
from actors.ports import Entry
from actors.workflow.outcome import Outcome
from runtime.engine.node import Node
from runtime.observe.run_trace import KILOBYTES, ROOM, RunTrace, Traces, load_steps, read_part
from runtime.observe.trace_record import TraceRecord, read_trace
from runtime.settings import ModelSettings, Settings, StorageSettings
from runtime.storage.records import Record
from runtime.storage.sqlite.statements import INSERT_EVENT
from runtime.tickets import Ticket
from tests.fake_openai import FakeOpenAI, Step, calls, fails
from tests.fakes import OBTAINED, Knows
from tests.solving import Finds, alter_numbers, keep, solves
from tests.thinking import asked

TICKET = Ticket(id="T-1", text="What must I know about the press?")
WORDY = SearchStep("worker", "q" * 200, "documents", tuple(Found("s" * 100, "h" * 100) for _ in range(8)))


def settings(folder: Path, url: str = "", **model: Any) -> Settings:
    chosen = ModelSettings(base_url=url, name="small-1", **{"tries": 2, **model}) if url else ModelSettings()
    return Settings(model=chosen, storage=StorageSettings(folder=str(folder)))


async def solve(folder: Path, step: Step, knowledge: Any = None, **model: Any) -> tuple[Outcome, TraceRecord]:
    """How a ticket ended, and its trace as another process reads it."""
    async with FakeOpenAI(step) as server:
        async with Node.open(settings(folder, server.url, **model)) as node:
            node.knowledge = knowledge or Finds()
            outcome = await (await node.submit(TICKET)).outcome()
        return outcome, await read_later(folder)


async def read_later(folder: Path, some_id: str = "T-1") -> TraceRecord:
    async with Node.open(settings(folder)) as node:
        return await read_trace(node, await node.journal.find(some_id))


async def test_a_search_is_shown_with_what_it_found(tmp_path: Path) -> None:
    _, trace = await solve(tmp_path, solves())

    (search,) = trace.searches
    assert (search.by, search.where, search.query) == ("worker", "documents", TICKET.text)
    assert [each.source for each in search.found] == ["kb/press.md"] * 3


async def test_secrets_and_personal_data_are_taken_out_before_a_step_is_kept() -> None:
    trace = RunTrace()
    trace.note(ToolStep("worker", "look_up", '{"password": "hunter"}', "Write to jane@example.org"))
    trace.note(AnswerStep("worker", claims=(CheckedClaim("Ring 13812345678.", "Order 20240517 is late."),)))

    body = trace.take()

    assert not [each for each in (b"hunter", b"jane@", b"13812345678") if each in body]
    assert b"[secret]" in body
    assert b"[e-mail]" in body
    assert b"Ring [phone number]." in body
    assert b"Order 20240517 is late." in body


async def test_a_trace_that_redacts_nothing_keeps_a_step_as_it_is() -> None:
    trace = RunTrace(redact=False)
    trace.note(ToolStep("worker", "look_up", "{}", "Write to jane@example.org"))

    assert b"jane@example.org" in trace.take()


async def test_a_search_of_real_documents_says_what_it_found_and_why_it_found_nothing(tmp_path: Path) -> None:
    (tmp_path / "manual").mkdir()
    text = "# Press\n\n## Ink\n\nOrder new ink for the printing press nine days ahead of the fair.\n"
    (tmp_path / "manual" / "press.md").write_text(text, encoding="utf-8")
    async with Node.open(settings(tmp_path / "data")) as node:
        await node.index([str(tmp_path / "manual")])
        for number, question in enumerate(("When do I order new ink for the printing press?", "Llamas?")):
            await (await node.submit(Ticket(id=f"T-{number}", text=question))).outcome()

    found, kept_out = [(await read_later(tmp_path / "data", f"T-{n}")).searches[0] for n in range(2)]

    assert (found.found[0].source, found.found[0].heading) == ("manual/press.md", "Press > Ink")
    assert found.abstain == ""
    assert (kept_out.found, kept_out.abstain) == ((), "The documents hold nothing on this.")


async def test_each_claim_stands_with_its_quote_and_a_dropped_one_with_the_sentence_of_the_rule(tmp_path: Path) -> None:
    outcome, trace = await solve(tmp_path, solves(alter_numbers))

    claims = [claim for answer in trace.answers for claim in answer.claims]
    (dropped, *_) = [each for each in claims if each.fate == "dropped"]
    kept = [each for each in claims if each.fate == "kept"]
    assert outcome.status == "suggested"
    assert dropped.text == "In short: the press needs 52 minutes to warm up."
    assert dropped.quote == "The press needs 45 minutes to warm up."
    assert (dropped.source, dropped.why) == ("kb/press.md", "it gives another number than its quote")
    assert [each.why for each in kept] == [""] * 3


async def test_what_was_put_right_is_shown_as_it_was_and_why_it_went_back(tmp_path: Path) -> None:
    outcome, trace = await solve(tmp_path, solves(alter_numbers, keep))

    rewritten = [each for each in trace.answers[0].claims if each.fate == "rewritten"]
    assert outcome.status == "resolved"
    assert [each.text[10:32] for each in rewritten][:1] == ["the press needs 52 min"]
    assert {each.why for each in rewritten} == {"it gives another number than its quote"}


async def test_a_claim_that_the_second_reader_refuses_says_so(tmp_path: Path) -> None:
    def refuse(it: Any) -> Any:
        count = it.material["statements"].count("statement: ")
        return {"verdicts": [{"number": n, "verdict": "not_said"} for n in range(1, count + 1)]}

    _, trace = await solve(tmp_path, solves(reads=refuse), second_reading=True)

    whys = {each.why for each in trace.answers[0].claims if each.fate != "kept"}
    assert whys == {"a second reader finds that its quote does not say it"}


async def test_each_model_call_has_its_form_tokens_seconds_and_tries(tmp_path: Path) -> None:
    _, trace = await solve(tmp_path, solves())

    assert [(each.by, each.shape) for each in trace.calls] == [
        ("ticketing", "Analysis"), ("worker", "Draft"), ("worker", "SecondReading"), ("summarization", "Summary"),
    ]  # fmt: skip
    for call in trace.calls:
        assert (call.model, call.form, call.requests, call.tries) == ("small-1", "json_schema", 1, 1)
        assert (call.tokens_in, call.tokens_out, call.estimated) == (100, 20, False)
        assert 0 < call.seconds < 60
        assert (call.repaired, call.failed) == ("", "")


async def test_a_server_that_fails_once_and_one_that_minds_the_form_show_in_the_tries_and_the_form(
    tmp_path: Path,
) -> None:
    honest, seen = solves(), list[Any]()

    async def step(server: Any, request: Any) -> Any:
        body = await request.json()
        seen.append(body)
        if len(seen) == 1:
            return await fails(500, "once")(server, request)
        if body.get("response_format", {}).get("type") == "json_schema":
            return await fails(400, "response_format json_schema is not supported")(server, request)
        return await honest(server, request)

    outcome, trace = await solve(tmp_path, step)

    first, *_, last = trace.calls
    assert outcome.status == "resolved"
    assert (first.form, first.requests, first.tries) == ("json_object", 2, 3)
    assert (last.form, last.requests, last.tries) == ("json_object", 1, 1), "the form is known by then"
    assert asked(seen[0]).shape == "Analysis"


async def test_a_call_that_came_to_nothing_says_why(tmp_path: Path) -> None:
    outcome, trace = await solve(tmp_path, fails(401, "no"))

    assert outcome.degraded
    assert [(each.tokens_out, each.tries) for each in trace.calls[:2]] == [(0, 1), (0, 0)]
    assert "401" in trace.calls[0].failed or "key" in trace.calls[0].failed
    assert trace.calls[1].failed.startswith("It was not asked. ")


async def test_a_model_that_searches_itself_has_its_searches_shown(tmp_path: Path) -> None:
    honest, seen = solves(), list[Any]()

    async def step(server: Any, request: Any) -> Any:

        body = await request.json()
        if body.get("tools") and not seen:
            seen.append(True)
            return await calls(("search_knowledge", '{"question": "the VPN of the press"}'))(server, request)
        return await honest(server, request)

    _, trace = await solve(tmp_path, step, Knows())

    assert ("model", "the VPN of the press") in [(each.by, each.query) for each in trace.searches]
    assert next(each for each in trace.calls if each.shape == "Draft").requests == 2


async def test_a_run_keeps_no_more_than_its_bound_and_says_how_much_had_no_room(tmp_path: Path) -> None:
    async with Node.open(settings(tmp_path)) as node:
        await node.journal.accept(TICKET, "R-1", node.flows["helpdesk"], node.make_case(TICKET), "nobody")
        trace = node.traces.begin("R-1")
        for _ in range(500):
            trace.note(WORDY)
            trace.note(AnswerStep("worker", claims=(CheckedClaim("t" * 200, "q" * 200),) * 9))
            trace.note(CallStep("worker", "Draft", "small-1", failed="f" * 200))
        written = asyncio.get_running_loop().create_future()
        node.journal.record(Entry("R-1", 1, 0.5, "worker", 1, OBTAINED), written.set_result)
        assert await written is None
        node.traces.end("R-1")

        parts = await node.journal.store.records("trace", run="R-1")
        known = await load_steps(node.journal.store, "R-1")
        shown = await read_trace(node, await node.journal.find("R-1"))

    whole = sum(len(msgspec.json.encode(each)) for each in known)
    assert whole <= (KILOBYTES << 10) + 100
    assert sum(len(part.body) for part in parts) < KILOBYTES << 10, "it is stored compressed"
    assert shown.omitted > 1000
    assert shown.notes == (f"{shown.omitted:,} more steps had no room: a run keeps {KILOBYTES} KiB of its trace.",)
    assert min(map(len, (shown.searches, shown.answers, shown.calls))) > 5, "each kind has its share"


async def test_where_there_is_little_room_a_step_is_told_briefly() -> None:
    empty = SearchStep("worker", "", "documents")
    taken = ROOM[SearchStep] - len(msgspec.json.encode(WORDY)) + 1
    trace = RunTrace(known=[msgspec.structs.replace(empty, query="q" * (taken - len(msgspec.json.encode(empty))))])

    trace.note(WORDY)

    (step,) = trace.steps()
    assert isinstance(step, SearchStep)
    assert (len(step.found), step.more) == (2, 6)


async def test_a_trace_is_durable_with_its_event_and_a_run_that_goes_on_has_the_room_that_is_left(
    tmp_path: Path,
) -> None:
    async with Node.open(settings(tmp_path)) as node:
        await node.journal.accept(TICKET, "R-1", node.flows["helpdesk"], node.make_case(TICKET), "nobody")
        trace = node.traces.begin("R-1")
        for _ in range(5):
            trace.note(WORDY)
        written = asyncio.get_running_loop().create_future()
        node.journal.record(Entry("R-1.9", 1, 0.5, "worker", 1, OBTAINED), written.set_result)
        await written
        trace.note(WORDY)  # the process dies before the next event
        assert len((await read_trace(node, await node.journal.find("R-1"))).searches) == 6, "here it is known already"

    async with Node.open(settings(tmp_path)) as node:
        known = await load_steps(node.journal.store, "R-1")
        assert len([each for each in known if isinstance(each, SearchStep)]) == 5, "all of it but what followed"
        again = RunTrace(known=known)
        for _ in range(9):
            again.note(WORDY)
        whole = [each for each in again.steps() if isinstance(each, SearchStep) and len(each.found) == 8]
        assert 0 < len(whole) < 4


async def test_nothing_is_noted_of_a_run_that_is_over_or_of_another_one() -> None:
    traces = Traces()
    trace = traces.begin("R-1")
    assert traces.take(Entry("R-1", 1, 0.0, "worker", 1, OBTAINED)) == ()
    trace.note(WORDY)

    assert traces.take(Entry("R-2", 1, 0.0, "worker", 1, OBTAINED)) == ()
    (record,) = traces.take(Entry("R-1", 2, 0.0, "worker", 1, OBTAINED))
    assert (record.run, record.kind, traces.take(Entry("R-1", 3, 0.0, "worker", 1, OBTAINED))) == ("R-1", "trace", ())
    trace.note(WORDY)
    traces.end("R-1")
    assert traces.take(Entry("R-1", 4, 0.0, "worker", 1, OBTAINED)) == ()


@pytest.mark.parametrize("body", [b"", b"[", b'[{"type":"other"}]', b"\x78\x9cgarbage", b"\xff"])
async def test_a_damaged_part_hides_nothing_else(body: bytes, tmp_path: Path) -> None:
    assert read_part(body) == []
    _, trace = await solve(tmp_path, solves())
    async with Node.open(settings(tmp_path)) as node:
        await node.journal.store.put(Record(kind="trace", id="zz", run=trace.run, body=body))
    assert len((await read_later(tmp_path)).calls) == len(trace.calls)


async def test_the_trace_is_written_with_events_only_and_costs_no_commit_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = list[list[str]]()
    async with FakeOpenAI(solves()) as server, Node.open(settings(tmp_path, server.url)) as node:
        node.knowledge, write = Finds(), node.database.write

        def watch(statements: Any, *more: Any, **options: Any) -> None:
            written.append([sql for sql, _ in statements])
            write(statements, *more, **options)

        monkeypatch.setattr(node.database, "write", watch)
        await (await node.submit(TICKET)).outcome()

    traced = [each for each in written if any("INTO record " in sql for sql in each)]
    assert len(traced) == 3, "with the analysis, with the answer, with the note"
    assert all(INSERT_EVENT in each for each in traced)
