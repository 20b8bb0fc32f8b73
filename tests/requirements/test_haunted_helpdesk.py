"""Each acceptance criterion of the helpdesk's source document, by the command line or over HTTP, in its own words."""

import asyncio
import functools
import re
from typing import Any

import msgspec
import pytest
from structlog.testing import capture_logs

from actors.drafting.drafts import ReadingRequest
from actors.helpdesk import messages as m
from actors.helpdesk.output_schemas import Summary
from actors.ports import Completion, ModelRequest, Recall
from actors.workflow.tables import Handover
from bus import Actor, BusError, Context
from tests.clock import settle
from tests.fakes import OBTAINED, RESOLUTION, ROSTER, WORKERS, Hangs, PassesOn, Says, Stubborn, Thinks
from tests.requirements.desk import PLAIN, TEXT, Desk, Wraps, end, watch
from tests.runtime.http.kit import Held

ROLES = ("memory", "ticketing", "worker", "summarization")
CLOSED = m.TicketClosed(status="resolved", resolution=RESOLUTION)
MORE = Handover(to="worker", reason="more")
HUB = "orchestrator"


def targets(outcome: Any) -> list[str]:
    return [each["target"] for each in outcome["handoffs"]]


def pairs(outcome: Any) -> list[tuple[str, str]]:
    return [(each["source"], each["target"]) for each in outcome["handoffs"]]


def asked(desk: Desk, role: str) -> list[str]:
    """What a role was asked, by all who played it."""
    return [type(message).__name__ for actor in desk.played[role] for message in actor.asked]


class ClosesAndHandsOn(Wraps):
    """Says that the ticket is closed and, in the same breath, hands it on; so does everybody who has worked on it."""

    def __init__(self, real: Actor[Any], others: list[Context]) -> None:
        super().__init__(real)
        self.others = others

    async def answer(self, message: Any, ctx: Context) -> Any:
        answer = await super().answer(message, ctx)
        if not isinstance(answer, m.TicketClosed):
            return answer
        ctx.tell(HUB, answer, number=ctx.number)
        for each in (ctx, *self.others):
            for to in (*sorted(WORKERS), "memory", "summarization"):
                each.tell(HUB, Handover(to=to, reason="late"), number=each.number)
        return None


def hands_on_late(desk: Desk) -> list[Context]:
    contexts: list[Context] = []

    class Keeps(Wraps):
        async def answer(self, message: Any, ctx: Context) -> Any:
            contexts.append(ctx)
            return await super().answer(message, ctx)

    for role in ("memory", "worker", "summarization"):
        desk.wraps(role, Keeps)
    desk.wraps("ticketing", lambda real: ClosesAndHandsOn(real, contexts))
    return contexts


@pytest.mark.req("HD-1.1")
def test_hd_1_1_ticketings_final_update_ends_the_workflow_at_once(desk: Desk) -> None:
    outcome = desk.submit()

    assert targets(outcome) == PLAIN
    assert (outcome["why"], outcome["by"], outcome["status"]) == ("completed", "ticketing", "resolved")
    said = [line["event"] for line in desk.lines() if line.get("run") == outcome["run"]]
    assert said[-2:] == ["handoff.made", "workflow.terminated"], "nothing comes between, and nothing after it"
    assert said.count("handoff.made") == 11


@pytest.mark.req("HD-1.2")
async def test_hd_1_2_in_the_terminated_state_no_agent_starts_a_handoff(desk: Desk) -> None:
    for role in ROLES:
        desk.wraps(role)
    async with desk.serve() as web:
        outcome = await web.submit(wait=20)
        before = {role: asked(desk, role) for role in ROLES}

        for role in ROLES:
            ctx = desk.played[role][0].contexts[-1]
            with pytest.raises(BusError, match="sealed"):
                ctx.tell(HUB, MORE, number=ctx.number)
        await settle()

        assert {role: asked(desk, role) for role in ROLES} == before
        _, standing = await web.ask("GET", f"/runs/{outcome['run']}")
        assert standing["outcome"]["handoffs"] == outcome["handoffs"]


@pytest.mark.req("HD-1.3")
def test_hd_1_3_a_handoff_that_arrives_after_termination_is_ignored(desk: Desk) -> None:
    """They come before the end is written down, when the Orchestrator still hears."""
    hands_on_late(desk)

    outcome = desk.submit()

    assert (targets(outcome), outcome["why"], outcome["by"]) == (PLAIN, "completed", "ticketing")
    assert {line["reason"] for line in desk.log("message.refused")} == {"the run has ended"}
    assert desk.shell("status", outcome["run"], "--json").json["outcome"]["handoffs"] == outcome["handoffs"]


@pytest.mark.req("HD-1.4")
async def test_hd_1_4_the_result_reaches_the_caller_within_two_seconds_of_the_end(desk: Desk) -> None:
    """Though the disk does not say that the end is written down."""
    async with desk.serve() as web:
        web.node.journal.finish = lambda *_: None  # type: ignore[method-assign]
        receipt = await web.submit()

        outcome = await end(web, receipt["ticket"])

    assert targets(msgspec.to_builtins(outcome)) == PLAIN
    assert outcome.seconds - outcome.handoffs[-1].at <= 2.0


@pytest.mark.req("HD-1.4")
@pytest.mark.parametrize("role", ["worker", "ticketing"])
async def test_hd_1_4_so_does_that_of_a_run_whose_agents_do_not_let_go(desk: Desk, role: str) -> None:
    stubborn = Stubborn()
    desk.plays(role, lambda: stubborn)
    async with desk.serve() as web:
        receipt = await web.submit()
        while not stubborn.tasks:  # noqa: ASYNC110 - it is asked when it is its turn
            await asyncio.sleep(0)
        await web.ask("POST", receipt["links"]["cancel"])

        outcome = await end(web, receipt["ticket"])
        await stubborn.release()

    (cancelled,) = [each for each in outcome.handoffs if each.reason == "cancelled"]
    assert outcome.status == "cancelled"
    assert outcome.seconds - cancelled.at <= 2.0


class Echoes(Thinks):
    """Notes what was asked."""

    async def fill(self, shape: type[Any], task: ModelRequest, *, within: float) -> Completion:
        if shape is Summary:
            return Completion(Summary(task.material.ticket))
        return await super().fill(shape, task, within=within)


@pytest.mark.req("HD-1.5")
async def test_hd_1_5_tickets_one_after_another_and_side_by_side_end_independently(desk: Desk) -> None:
    desk.roles["worker"] = lambda make, own: PassesOn("worker") if own.ticket[-1] in "135" else make(own)
    async with desk.serve(Echoes()) as web:

        async def ended(name: str) -> tuple[Any, ...]:
            it = await web.submit(f"My VPN drops, says {name}.", id=name, wait=20)
            return it["ticket"], it["question"], it["why"], it["summary"], tuple(targets(it))

        alone = [await ended(f"A-{n}") for n in range(6)]
        together = await asyncio.gather(*(ended(f"B-{n}") for n in range(6)))

    for name, its in (("A", alone), ("B", together)):
        assert [each[0] for each in its] == [f"{name}-{n}" for n in range(6)]
        for n, (ticket, question, why, summary, to) in enumerate(its):
            assert question == f"My VPN drops, says {ticket}."
            assert why == ("loop_detected" if n % 2 else "completed")
            assert (summary, to) == (("", to) if n % 2 else (question, tuple(PLAIN)))


@pytest.mark.req("HD-1.5")
async def test_hd_1_5_the_end_of_one_ticket_is_nothing_to_one_that_goes_on(desk: Desk) -> None:
    go_on = asyncio.Event()

    class Waits(Wraps):
        async def answer(self, message: Any, ctx: Context) -> Any:
            await go_on.wait()
            return await super().answer(message, ctx)

    desk.roles["worker"] = lambda make, own: Waits(make(own)) if own.ticket == "T-1" else make(own)
    async with desk.serve() as web:
        await web.submit(id="T-1")
        others = [await web.submit(f"{TEXT} {n}", id=f"T-{n}", wait=20) for n in (2, 3)]
        go_on.set()
        outcome = await web.submit(id="T-1", wait=20)

    assert [each["status"] for each in others] == ["resolved", "resolved"]
    assert (outcome["why"], outcome["status"], targets(outcome)) == ("completed", "resolved", PLAIN)


@pytest.mark.req("HD-2.1")
def test_hd_2_1_ticketings_resolving_response_carries_terminate_workflow(desk: Desk) -> None:
    outcome = desk.submit()

    last = desk.events(outcome)[-1]
    assert (last["sender"], last["marker"], last["said"]["status"]) == ("ticketing", "TERMINATE_WORKFLOW", "resolved")
    assert outcome["marker"] == "TERMINATE_WORKFLOW"
    assert [line["marker"] for line in desk.log("workflow.terminated")] == ["TERMINATE_WORKFLOW"]


@pytest.mark.req("HD-2.2")
@pytest.mark.parametrize("verdict", ["hit", "miss"])
async def test_hd_2_2_an_orchestrator_that_sees_the_marker_hands_off_to_nobody(desk: Desk, verdict: Any) -> None:
    recalled = m.ResolutionRecalled(recalled=Recall(verdict, RESOLUTION, "T-0"))
    desk.plays("memory", lambda: Says(recalled, m.ResolutionStored()))
    for role in ROLES[1:]:
        desk.wraps(role)
    async with desk.serve(model := Held()) as web:
        receipt = await web.submit()
        model.free.set()
        told = await watch(web, receipt["ticket"])

    assert [name for name, _ in told if name in {"handoff", "ended"}][-2:] == ["handoff", "ended"]
    assert (told[-1][0], told[-1][1]["marker"]) == ("ended", "TERMINATE_WORKFLOW")
    assert targets(told[-1][1]) == (PLAIN[:3] if verdict == "hit" else PLAIN)
    counted = sum(len(asked(desk, role)) for role in ROLES[1:] if role in desk.played)
    assert counted == (1 if verdict == "hit" else 4), "nobody was asked anything besides"


@pytest.mark.req("HD-2.3")
def test_hd_2_3_the_completed_summary_carries_workflow_complete(desk: Desk) -> None:
    outcome = desk.submit()

    (event,) = [each for each in desk.events(outcome) if each["sender"] == "summarization"]
    (handoff,) = [each for each in outcome["handoffs"] if each["source"] == "summarization"]
    assert (event["marker"], event["said"]["summary"]) == ("WORKFLOW_COMPLETE", outcome["summary"])
    assert (handoff["marker"], handoff["target"]) == ("WORKFLOW_COMPLETE", "orchestrator")


@pytest.mark.req("HD-2.4")
async def test_hd_2_4_with_a_termination_marker_in_the_history_nobody_starts_a_handoff(desk: Desk) -> None:
    """Who sends the ticket again, or goes on with it elsewhere, finds the marker in its history."""
    for role in ROLES:
        desk.wraps(role)
    ticket: Any = {"id": "T-1", "wait": 20}
    async with desk.serve() as web:
        first = await web.submit(**ticket)
        again = await web.submit(**ticket)
        late = desk.played["worker"][0].contexts[0]
        with pytest.raises(BusError):
            late.tell(HUB, MORE, number=late.number)
    async with desk.serve() as web:
        elsewhere = await web.submit(**ticket)
        assert await web.node.resume() == []

    for each in (again, elsewhere):
        assert (each["run"], each["handoffs"]) == (first["run"], first["handoffs"])
    assert {role: len(asked(desk, role)) for role in ROLES} == {
        "memory": 2, "ticketing": 2, "worker": 1, "summarization": 1,
    }  # fmt: skip


@pytest.mark.req("HD-2.5")
@pytest.mark.parametrize("why", ["completed", "loop_detected", "storage_failed"])
def test_hd_2_5_termination_is_logged_with_its_reason_and_the_final_agent(
    desk: Desk, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if why == "loop_detected":
        desk.plays("worker", lambda: PassesOn("worker"))
    if why == "storage_failed":

        def lose(journal: Any, entry: Any, outcome: Any, then: Any) -> None:
            then(OSError("the disk is gone"))

        monkeypatch.setattr("runtime.storage.journal.RunJournal.finish", lose)

    outcome = desk.submit()

    (line,) = [each for each in desk.log("workflow.terminated") if each["run"] == outcome["run"]]
    assert (line["reason"], line["agent"]) == (why, "ticketing")


def loops(desk: Desk, *cycle: str, times: int) -> None:
    """Have agents hand the ticket round in a cycle so many times; then it is answered."""
    path = [*cycle[1:], cycle[0]] * times
    handed = iter(path)

    class HandsRound(Wraps):
        async def answer(self, message: Any, ctx: Context) -> Any:
            to = next(handed, "")
            return Handover(to=to, reason=f"better for {to}") if to else await super().answer(message, ctx)

    for role in WORKERS:
        desk.wraps(role, HandsRound)


CYCLES = [("worker",), ("worker", "network"), ("worker", "network", "billing")]


@pytest.mark.req("HD-3.1")
@pytest.mark.parametrize("cycle", CYCLES, ids=len)
def test_hd_3_1_the_same_pattern_three_times_in_a_row_is_a_loop(desk: Desk, cycle: tuple[str, ...]) -> None:
    loops(desk, *cycle, times=3)

    outcome = desk.submit()

    pattern = list(zip(cycle, [*cycle[1:], cycle[0]], strict=True))
    chosen = [each for each in pairs(outcome) if set(each) <= WORKERS]
    assert (outcome["why"], outcome["status"]) == ("loop_detected", "error")
    assert chosen == (pattern * 3)[:-1], "the handoff that would complete the third round is not made"


@pytest.mark.req("HD-3.1")
@pytest.mark.parametrize("cycle", CYCLES, ids=len)
def test_hd_3_1_twice_is_no_loop(desk: Desk, cycle: tuple[str, ...]) -> None:
    loops(desk, *cycle, times=2)

    outcome = desk.submit()

    assert (outcome["why"], len(outcome["handoffs"])) == ("completed", 11 + 2 * len(cycle))


@pytest.mark.req("HD-3.2")
def test_hd_3_2_handing_to_the_same_agent_twice_in_a_row_is_warned_of(desk: Desk) -> None:
    desk.plays("worker", lambda: Says(m.ResolutionStored(), OBTAINED))

    outcome = desk.submit()

    asked_twice = ["memory", "ticketing", "worker", "worker", "memory", "summarization", "ticketing"]
    assert [to for source, to in pairs(outcome) if source == HUB] == asked_twice
    assert [(line["target"], line["level"]) for line in desk.log("handoff.repeated")] == [("worker", "warning")]


@pytest.mark.req("HD-3.2")
def test_hd_3_2_also_when_it_is_for_another_task(desk: Desk) -> None:
    """Ticketing is asked to close what it could not analyse."""
    desk.plays("ticketing", lambda: Says(m.ResolutionStored(), m.ResolutionStored(), CLOSED))

    outcome = desk.submit()

    assert [to for source, to in pairs(outcome) if source == HUB] == ["memory", *["ticketing"] * 3]
    assert [(line["target"], line["level"]) for line in desk.log("handoff.repeated")] == [("ticketing", "warning")] * 2


@pytest.mark.req("HD-3.2")
def test_hd_3_2_nothing_is_warned_of_where_each_is_another(desk: Desk) -> None:
    desk.submit()

    assert desk.log("handoff.repeated") == []


def hands_over(desk: Desk, times: int) -> None:
    """Have the ticket handed over so many times, with no pattern in it; then it is answered."""
    names = {"n": "network", "b": "billing", "a": "accounts", "w": "worker"}
    path = iter([names[each] for each in "nbanwabwnawb"[:times]])

    class HandsOver(Wraps):
        async def answer(self, message: Any, ctx: Context) -> Any:
            to = next(path, "")
            return Handover(to=to, reason="better there") if to else await super().answer(message, ctx)

    for role in WORKERS:
        desk.wraps(role, HandsOver)


@pytest.mark.req("HD-3.3")
def test_hd_3_3_twenty_handoffs_are_allowed(desk: Desk) -> None:
    hands_over(desk, 9)

    outcome = desk.submit()

    assert (len(outcome["handoffs"]), outcome["why"], outcome["status"]) == (20, "completed", "resolved")


@pytest.mark.req("HD-3.3")
@pytest.mark.parametrize("times", [10, 11, 12])
def test_hd_3_3_more_than_twenty_handoffs_end_the_workflow(desk: Desk, times: int) -> None:
    hands_over(desk, times)

    outcome = desk.submit()

    assert (outcome["why"], outcome["status"]) == ("max_handoffs_exceeded", "error")
    *made, last = outcome["handoffs"]
    assert len(made) == 20
    assert (last["target"], last["reason"]) == ("ticketing", "max_handoffs_exceeded"), "who has to close the ticket"
    assert "20" in outcome["detail"]


@pytest.mark.req("HD-3.4")
def test_hd_3_4_a_loop_sets_the_tickets_status_to_error_with_details(desk: Desk) -> None:
    loops(desk, "worker", "network", times=3)
    desk.wraps("ticketing")

    outcome = desk.submit()

    for said in (outcome, desk.shell("status", outcome["ticket"], "--json").json["outcome"]):
        assert said["status"] == "error"
        assert said["loop"] == [["worker", "network"], ["network", "worker"]]
        assert "in a circle: worker → network, network → worker" in said["detail"]
    assert desk.closed() == [
        ("error", "loop_detected: The agents passed the task on in a circle: worker → network, network → worker.")
    ]


class Thorough(Wraps):
    """Takes nearly five minutes, and once has a colleague take as much."""

    async def answer(self, message: Any, ctx: Context) -> Any:
        await asyncio.sleep(298)
        if ctx.address == "worker":
            return Handover(to="network", reason="it knows better")
        return await super().answer(message, ctx)


@pytest.mark.req("HD-3.5")
@pytest.mark.parametrize("role", ["memory", "worker"])
async def test_hd_3_5_more_than_ten_minutes_end_the_workflow(desk: Desk, role: str) -> None:
    desk.plays(role, Hangs)
    async with desk.serve() as web:
        outcome = await end(web, (await web.submit())["ticket"])

    assert (outcome.why, outcome.status) == ("timed_out", "error")
    assert 600 <= outcome.seconds <= 602


@pytest.mark.req("HD-3.5")
async def test_hd_3_5_less_than_ten_minutes_do_not(desk: Desk) -> None:
    for role in ("worker", "network"):
        desk.wraps(role, Thorough)
    async with desk.serve() as web:
        outcome = await end(web, (await web.submit())["ticket"])

    assert (outcome.why, outcome.status) == ("completed", "resolved")
    assert 596 <= outcome.seconds < 600


async def find_states(desk: Desk) -> list[tuple[str, str]]:
    """After each answer of an agent: who answered, and the state that the run has come to."""
    async with desk.serve(model := Held()) as web:
        receipt = await web.submit()
        model.free.set()
        told = await watch(web, receipt["ticket"])
    handoffs = [data for name, data in told if name == "handoff"]
    assert [each["number"] for each in handoffs] == list(range(1, len(handoffs) + 1))
    return [(each["source"], each["state"]) for each in handoffs]


@pytest.mark.req("HD-4.1")
async def test_hd_4_1_a_workflow_starts_in_memory_check_pending(desk: Desk) -> None:
    states = await find_states(desk)

    assert states[0] == ("orchestrator", "memory_check_pending")


@pytest.mark.req("HD-4.2")
@pytest.mark.parametrize("verdict", ["hit", "suggestion", "miss"])
async def test_hd_4_2_memorys_answer_moves_it_to_memory_checked_with_the_result_type(desk: Desk, verdict: Any) -> None:
    recalled = Recall(verdict, RESOLUTION if verdict != "miss" else None, "T-0" if verdict != "miss" else "")
    desk.plays("memory", lambda: Says(m.ResolutionRecalled(recalled=recalled), m.ResolutionStored()))
    desk.wraps("ticketing")

    states = await find_states(desk)

    assert states[1:3] == [("memory", "memory_checked"), ("orchestrator", "memory_checked")]
    assert desk.played["ticketing"][0].asked[0].recalled.verdict == verdict, "what is known in that state"


@pytest.mark.req("HD-4.3")
async def test_hd_4_3_ticketings_analysis_moves_it_to_ticket_analyzed(desk: Desk) -> None:
    states = await find_states(desk)

    assert states[3:5] == [("ticketing", "ticket_analyzed"), ("orchestrator", "ticket_analyzed")]


@pytest.mark.req("HD-4.4")
@pytest.mark.parametrize("worker", ["worker", "network"])
async def test_hd_4_4_a_workers_resolution_moves_it_to_resolution_obtained(desk: Desk, worker: str) -> None:
    if worker == "network":
        desk.plays("worker", lambda: PassesOn("network"))

    states = await find_states(desk)

    at = states.index((worker, "resolution_obtained"))
    assert states[at + 1] == ("orchestrator", "resolution_obtained")
    assert "resolution_obtained" not in {state for _, state in states[:at]}


@pytest.mark.req("HD-4.5")
async def test_hd_4_5_summarizations_summary_moves_it_to_summary_complete(desk: Desk) -> None:
    states = await find_states(desk)

    assert states[-2:] == [("summarization", "summary_complete"), ("orchestrator", "summary_complete")]


@pytest.mark.req("HD-4.6")
def test_hd_4_6_in_terminated_the_orchestrator_refuses_every_handoff_request(desk: Desk) -> None:
    contexts = hands_on_late(desk)

    outcome = desk.submit()

    refused = [(line["sender"], line["reason"]) for line in desk.log("message.refused")]
    each = len(WORKERS) + 2
    senders = ["ticketing", *(ctx.address for ctx in contexts)]
    assert refused == [(sender, "the run has ended") for sender in senders for _ in range(each)]
    assert targets(outcome) == PLAIN


@pytest.mark.req("HD-5.1")
async def test_hd_5_1_given_a_cached_resolution_ticketing_ends_it_alone(desk: Desk) -> None:
    async with desk.serve(model := Thinks(), memory=True) as web:
        first = await web.submit(id="T-1", wait=20)
        await web.ask("POST", "/tickets/T-1/feedback", json={"right": True})
        thought = len(model.tasks)

        again = await web.submit(id="T-2", wait=20)

    assert targets(first) == PLAIN
    assert pairs(again) == [(HUB, "memory"), ("memory", HUB), (HUB, "ticketing")]
    assert (again["why"], again["by"], again["status"]) == ("completed", "ticketing", "resolved")
    assert again["resolution"]["text"] == first["resolution"]["text"]
    assert len(model.tasks) == thought, "nobody thinks about it again"


@pytest.mark.req("HD-5.2")
def test_hd_5_2_given_a_final_summary_ticketing_ends_it_alone(desk: Desk) -> None:
    desk.wraps("ticketing")

    outcome = desk.submit(model=Echoes())

    at = [each["reason"] for each in outcome["handoffs"]].index("SummaryCompleted")
    assert pairs(outcome)[at + 1 :] == [(HUB, "ticketing")]
    assert (outcome["by"], outcome["marker"]) == ("ticketing", "TERMINATE_WORKFLOW")
    assert asked(desk, "ticketing") == ["TriageTicket", "CloseTicket"]
    assert desk.played["ticketing"][0].asked[-1].summary == TEXT
    assert desk.closed() == [("resolved", TEXT)], "the summary is what the ticket is closed with"


@pytest.mark.req("HD-5.3")
async def test_hd_5_3_after_it_has_terminated_ticketing_accepts_no_handoff(desk: Desk) -> None:
    """Neither by the bus of its run, nor where one reaches it all the same: it says again that the ticket is closed."""
    for role in ("worker", "ticketing"):
        desk.wraps(role)
    async with desk.serve(model := Thinks()) as web:
        await web.submit(wait=20)
        (ticketing,), (worker,) = desk.played["ticketing"], desk.played["worker"]
        triage, close = ticketing.asked
        thought = len(model.tasks)

        with pytest.raises(BusError):
            worker.contexts[0].tell("ticketing", triage, number=3)
        cut = msgspec.structs.replace(close, reason="timed_out", detail="late")
        ctx = ticketing.contexts[-1]
        answers = [await ticketing.real.receive(each, ctx) for each in (triage, close, cut)]

    assert answers == [m.TicketClosed(status="resolved")] * 3
    assert len(model.tasks) == thought
    assert len(desk.closed()) == 1, "and it is not closed a second time"


@pytest.mark.req("HD-5.4")
@pytest.mark.parametrize("role", ["memory", "worker", "summarization"])
def test_hd_5_4_another_agents_attempt_to_terminate_is_warned_of_and_the_workflow_goes_on(
    desk: Desk, role: str
) -> None:
    class Ends(Wraps):
        async def answer(self, message: Any, ctx: Context) -> Any:
            return CLOSED if len(self.asked) == 1 else await super().answer(message, ctx)

    desk.wraps(role, Ends)

    outcome = desk.submit()

    assert (outcome["why"], outcome["by"], outcome["status"]) == ("completed", "ticketing", "resolved")
    assert targets(outcome) == PLAIN
    (line,) = desk.log("termination.refused")
    assert (line["target"], line["level"]) == (role, "warning")
    assert f"{role} tried to end the run, which only ticketing may" in line["reason"]


@pytest.mark.req("HD-5.5")
async def test_hd_5_5_terminate_workflow_stops_every_agents_execution_at_once(desk: Desk) -> None:
    cancelled: list[str] = []

    class WorksOn(Wraps):
        async def answer(self, message: Any, ctx: Context) -> Any:
            ctx.tell(HUB, await super().answer(message, ctx), number=ctx.number)
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                cancelled.append(ctx.address)
                raise

    for role in ("worker", "summarization"):
        desk.wraps(role, WorksOn)
    async with desk.serve() as web:
        outcome = await web.submit(wait=20)
        await settle()

        assert (outcome["why"], targets(outcome)) == ("completed", PLAIN)
        assert sorted(cancelled) == ["summarization", "worker"]


@pytest.mark.req("HD-6.1")
def test_hd_6_1_every_completion_says_whether_it_hands_off_or_terminates(desk: Desk) -> None:
    outcome = desk.submit()

    said = [(each["sender"], each["event"], each["marker"]) for each in desk.events(outcome)]
    assert said == [
        ("memory", "ResolutionRecalled", ""), ("ticketing", "TicketAnalyzed", ""), ("worker", "ResolutionObtained", ""),
        ("memory", "ResolutionStored", ""), ("summarization", "SummaryCompleted", "WORKFLOW_COMPLETE"),
        ("ticketing", "TicketClosed", "TERMINATE_WORKFLOW"),
    ]  # fmt: skip
    handed = [(each["source"], each["reason"], each["marker"]) for each in outcome["handoffs"] if each["target"] == HUB]
    assert handed == said[:-1], "each but the terminator hands off, and says what is done"


RULE = re.compile(r"(?ms)^When you are done, .*\bhand\b.*\b(?:back|over)\b.*\bterminates? the workflow\b")


@pytest.mark.req("HD-6.1")
def test_hd_6_1_each_agents_prompt_says_so(desk: Desk) -> None:
    """By what the model is told for each agent: the ticket goes to all who can work on it."""
    model = Thinks()
    desk.submit(model=model)

    for each in sorted(WORKERS - {"worker"}):
        desk.plays("worker", functools.partial(PassesOn, each))
        desk.submit(f"{TEXT} For {each}.", model=model)
    told = {each.agent: each.instructions for each in model.tasks if not isinstance(each.material, ReadingRequest)}

    assert set(told) == {"ticketing", "summarization", *WORKERS}
    assert [agent for agent, said in told.items() if not RULE.search(said)] == []
    others = {name: each.instructions for name, each in ROSTER.specs.items() if each.instructions and name not in told}
    assert [agent for agent, said in others.items() if not RULE.search(said)] == []


@pytest.mark.req("HD-6.2")
def test_hd_6_2_on_workflow_complete_ticketing_is_handed_the_ticket_exactly_once(desk: Desk) -> None:
    desk.wraps("ticketing")

    outcome = desk.submit()

    after = outcome["handoffs"][[each["marker"] for each in outcome["handoffs"]].index("WORKFLOW_COMPLETE") + 1 :]
    assert [(each["source"], each["target"]) for each in after] == [(HUB, "ticketing")]
    assert asked(desk, "ticketing").count("CloseTicket") == 1


class SaysAllAgain(Wraps):
    """Gives each of its answers twice, and once more whatever it has said before."""

    async def answer(self, message: Any, ctx: Context) -> Any:
        answer = await super().answer(message, ctx)
        said = self.__dict__.setdefault("said", [])
        for number, each in (*said, (ctx.number, answer)):
            ctx.tell(HUB, each, number=number)
        said.append((ctx.number, answer))
        return answer


@pytest.mark.req("HD-6.3")
@pytest.mark.parametrize("kind", [Wraps, SaysAllAgain])
def test_hd_6_3_memory_hands_back_exactly_once_per_retrieval_or_storage(desk: Desk, kind: type[Wraps]) -> None:
    desk.wraps("memory", kind)

    outcome = desk.submit()

    back = [(each["target"], each["reason"]) for each in outcome["handoffs"] if each["source"] == "memory"]
    assert back == [(HUB, "ResolutionRecalled"), (HUB, "ResolutionStored")]
    assert asked(desk, "memory") == ["RecallResolution", "StoreResolution"]
    assert targets(outcome) == PLAIN


@pytest.mark.req("HD-6.4")
@pytest.mark.parametrize("kind", [Wraps, SaysAllAgain])
def test_hd_6_4_summarization_hands_back_exactly_once(desk: Desk, kind: type[Wraps]) -> None:
    desk.wraps("summarization", kind)

    outcome = desk.submit()

    back = [(each["target"], each["reason"]) for each in outcome["handoffs"] if each["source"] == "summarization"]
    assert back == [(HUB, "SummaryCompleted")]
    assert asked(desk, "summarization") == ["SummarizeTicket"]
    assert targets(outcome) == PLAIN


@pytest.mark.req("HD-6.5")
@pytest.mark.parametrize("role", ["ticketing", "worker", "summarization"])
async def test_hd_6_5_an_agent_whose_answer_was_lost_does_not_work_again(desk: Desk, role: str) -> None:
    class Loses(Wraps):
        async def answer(self, message: Any, ctx: Context) -> Any:
            answer = await super().answer(message, ctx)
            if len(self.asked) == 1:
                await asyncio.Event().wait()
            return answer

    desk.wraps(role, Loses)
    async with desk.serve(model := Thinks()) as web:
        outcome = await end(web, (await web.submit())["ticket"])

    assert (outcome.why, outcome.status, len(outcome.handoffs)) == ("completed", "resolved", 13)
    first, second, *_ = desk.played[role][0].asked
    assert first == second, "it was asked the same again"
    thought = [(task.agent, type(task.material)) for task in model.tasks]
    assert len(thought) == len(set(thought)), "nothing was thought about twice"


@pytest.mark.req("HD-6.5")
async def test_hd_6_5_what_was_completed_before_a_restart_is_not_repeated(desk: Desk) -> None:
    for role in ("memory", "ticketing"):
        desk.wraps(role)
    desk.plays("worker", Hangs)
    async with desk.serve(model := Thinks()) as web:
        receipt = await web.submit(id="T-1")
        while web.node.runs.live.count_states() != {("helpdesk", "ticket_analyzed"): 1}:  # noqa: ASYNC110
            await asyncio.sleep(0)
    del desk.roles["worker"]

    async with desk.serve(model) as web:
        outcome = await web.submit(id="T-1", wait=20)

    assert (outcome["run"], outcome["why"], targets(outcome)) == (receipt["run"], "completed", PLAIN)
    assert asked(desk, "memory") == ["RecallResolution", "StoreResolution"]
    assert asked(desk, "ticketing") == ["TriageTicket", "CloseTicket"]
    assert [task.agent for task in model.tasks].count("ticketing") == 1


@pytest.mark.req("HD-7.1")
def test_hd_7_1_the_start_is_logged_with_the_first_agent_and_the_ticket(desk: Desk) -> None:
    outcome = desk.submit(TEXT, "--id", "HD-7")

    (line,) = desk.log("workflow.started")
    assert (line["agent"], line["ticket"], line["run"]) == ("memory", "HD-7", outcome["run"])


@pytest.mark.req("HD-7.2")
@pytest.mark.parametrize("over", [0, 2])
def test_hd_7_2_every_handoff_is_logged_with_source_target_and_reason(desk: Desk, over: int) -> None:
    hands_over(desk, over)

    outcome = desk.submit()

    made = [(line["source"], line["target"], line["reason"]) for line in desk.log("handoff.made")]
    assert made == [(each["source"], each["target"], each["reason"]) for each in outcome["handoffs"]]
    assert made[0] == (HUB, "memory", "memory_check_pending")
    assert made[5 : 5 + over] == [("worker", "network", "better there"), ("network", "billing", "better there")][:over]
    assert all(reason for _, _, reason in made)
    assert len(made) == 11 + over


@pytest.mark.req("HD-7.3")
async def test_hd_7_3_termination_is_logged_with_reason_final_agent_and_total_time(desk: Desk) -> None:
    class Slow(Wraps):
        async def answer(self, message: Any, ctx: Context) -> Any:
            await asyncio.sleep(100)
            return await super().answer(message, ctx)

    desk.wraps("worker", Slow)
    with capture_logs() as lines:
        async with desk.serve() as web:
            await end(web, (await web.submit(id="T-1"))["ticket"])

    (line,) = [each for each in lines if each["event"] == "workflow.terminated"]
    assert (line["ticket"], str(line["reason"]), line["agent"]) == ("T-1", "completed", "ticketing")
    assert 100 <= line["seconds"] < 102


@pytest.mark.req("HD-7.3")
def test_hd_7_3_so_is_that_of_a_run_that_failed(desk: Desk) -> None:
    desk.plays("worker", lambda: PassesOn("worker"))

    outcome = desk.submit()

    (line,) = desk.log("workflow.terminated")
    assert (line["reason"], line["agent"]) == ("loop_detected", "ticketing")
    assert line["seconds"] == pytest.approx(outcome["seconds"], abs=0.001)


@pytest.mark.req("HD-7.4")
@pytest.mark.parametrize(
    ("cycle", "pattern"),
    [
        (("worker",), ["worker -> worker"]),
        (("worker", "network"), ["worker -> network", "network -> worker"]),
        (("worker", "network", "billing"), ["worker -> network", "network -> billing", "billing -> worker"]),
    ],
)
def test_hd_7_4_a_loop_is_logged_with_the_repeating_pattern(
    desk: Desk, cycle: tuple[str, ...], pattern: list[str]
) -> None:
    loops(desk, *cycle, times=3)

    desk.submit()

    (line,) = desk.log("loop.detected")
    assert line["pattern"] == pattern


@pytest.mark.req("HD-7.5")
async def test_hd_7_5_the_response_of_the_api_carries_the_handoff_sequence_as_an_array(desk: Desk) -> None:
    desk.plays("worker", lambda: PassesOn("network"))
    async with desk.serve() as web:
        outcome = await web.submit(id="T-1", wait=20)
        _, standing = await web.ask("GET", "/tickets/T-1")

    expected = [
        (HUB, "memory"), ("memory", HUB), (HUB, "ticketing"), ("ticketing", HUB), (HUB, "worker"),
        ("worker", "network"), ("network", HUB), (HUB, "memory"), ("memory", HUB), (HUB, "summarization"),
        ("summarization", HUB), (HUB, "ticketing"),
    ]  # fmt: skip
    for said in (outcome, standing["outcome"]):
        assert isinstance(said["handoffs"], list)
        assert pairs(said) == expected
        assert all(each["reason"] and each["at"] >= 0 for each in said["handoffs"])
