"""One test for each acceptance criterion of the helpdesk's source document; the deeper ones stand beside the code."""

import asyncio
import re
from typing import Any

import msgspec
import pytest
from structlog.testing import capture_logs

from actors.helpdesk import messages as m
from actors.helpdesk.workflow import State
from actors.ports import Recall
from actors.workflow.advance import advance, begin
from actors.workflow.outcome import EndReason, HandoffMade, RunBegan
from actors.workflow.tables import ORCHESTRATOR, Handover, Limits, Run, Step
from actors.workflow.verdicts import HandOff, Refuse, Terminate
from actors.workflow.verify import InvalidWorkflow, verify
from bus import Actor, Context, LocalBus
from tests.clock import settle
from tests.fakes import (
    CASE,
    HELPDESK,
    OBTAINED,
    PLAIN,
    RESOLUTION,
    ROSTER,
    WORKERS,
    Hangs,
    PassesOn,
    Remembers,
    Says,
    Stage,
    Stubborn,
    Thinks,
    TicketTable,
    helpdesk,
    obtained,
    targets,
)

CLOSED = m.TicketClosed(status="resolved", resolution=RESOLUTION)
Lines = list[Any]


def events(lines: Lines, name: str) -> Lines:
    return [line for line in lines if line["event"] == name]


async def logged(stage: Stage) -> tuple[Any, Lines]:
    with capture_logs() as lines:
        outcome = await stage.end()
    return outcome, list(lines)


def at_the_end() -> tuple[Run, int]:
    """A run that Ticketing has just ended, by the pure rules, and the number of its last handoff."""
    run, verdict = begin(HELPDESK, CASE)
    for sender, event in (
        ("memory", m.ResolutionRecalled(recalled=Recall("hit", RESOLUTION, "T-0"))),
        ("ticketing", CLOSED),
    ):
        run, verdict = advance(HELPDESK, run, event, sender=sender, number=len(run.handoffs), elapsed=1.0)
    assert isinstance(verdict, Terminate)
    return run, len(run.handoffs)


@pytest.mark.req("HD-1.1")
async def test_hd_1_1_ticketings_final_update_ends_the_workflow_at_once() -> None:
    outcome = await Stage().end()

    assert outcome.handoffs[-1].target == "ticketing", "nobody is handed anything after it"
    assert (outcome.by, outcome.why) == ("ticketing", EndReason.COMPLETED)


@pytest.mark.req("HD-1.2")
def test_hd_1_2_in_the_terminated_state_no_agent_starts_a_handoff() -> None:
    run, number = at_the_end()

    for sender in ("ticketing", "memory", "worker", "summarization"):
        for event in (Handover(to="worker", reason="more"), OBTAINED, CLOSED):
            after, verdict = advance(HELPDESK, run, event, sender=sender, number=number, elapsed=2.0)
            assert after is run
            assert verdict == Refuse("the run has ended")


@pytest.mark.req("HD-1.3")
async def test_hd_1_3_a_handoff_that_arrives_after_termination_is_ignored() -> None:
    contexts: list[Context] = []

    class Keeps(Actor[Any]):
        def receive(self, message: Any, ctx: Context) -> Any:
            contexts.append(ctx)
            return OBTAINED

    stage = Stage({"worker": Keeps})
    outcome = await stage.end()
    heard = len(stage.heard)

    with pytest.raises(Exception, match="sealed"):
        contexts[0].tell(ORCHESTRATOR, Handover(to="network", reason="late"), number=contexts[0].number)
    await settle()

    assert await stage.live.outcome() == outcome
    assert len(stage.heard) == heard


@pytest.mark.req("HD-1.4")
@pytest.mark.parametrize("role", ["memory", "worker", "summarization"])
async def test_hd_1_4_the_result_is_there_within_two_seconds_of_termination(role: str) -> None:
    """Whatever the others do at that moment: here one that never lets go."""
    stubborn = Stubborn()
    stage = Stage({role: lambda: stubborn})
    await stage.until(5)
    stage.live.cancel()

    outcome = await stage.end()

    assert outcome.seconds - 5 <= 2.0
    await stubborn.release()


@pytest.mark.req("HD-1.5")
async def test_hd_1_5_tickets_one_after_another_and_side_by_side_end_independently() -> None:
    cases = [msgspec.structs.replace(CASE, ticket_id=f"T-{n}", text=f"VPN {n}") for n in range(6)]
    loop = {"worker": lambda: PassesOn("worker")}
    stages = [Stage(loop if n % 2 else None, case=case) for n, case in enumerate(cases)]

    together = await asyncio.gather(*(stage.end() for stage in stages))
    alone = [await Stage(loop if n % 2 else None, case=case).end() for n, case in enumerate(cases)]

    assert together == alone
    assert [each.why for each in together] == [EndReason.COMPLETED, EndReason.LOOP_DETECTED] * 3
    assert [each.ticket for each in together] == [case.ticket_id for case in cases]


@pytest.mark.req("HD-2.1")
async def test_hd_2_1_ticketings_resolving_response_carries_terminate_workflow() -> None:
    stage = Stage()
    await stage.end()

    last = stage.notebook.entries[-1]
    assert last.sender == "ticketing"
    assert msgspec.to_builtins(last.event)["type"] == "TERMINATE_WORKFLOW"


@pytest.mark.req("HD-2.2")
def test_hd_2_2_an_orchestrator_that_sees_the_marker_hands_off_to_nobody() -> None:
    run, _ = begin(HELPDESK, CASE)
    hit = m.ResolutionRecalled(recalled=Recall("hit", RESOLUTION, "T-0"))
    run, verdict = advance(HELPDESK, run, hit, sender="memory", number=1, elapsed=0.0)
    assert isinstance(verdict, HandOff)

    after, verdict = advance(HELPDESK, run, CLOSED, sender="ticketing", number=verdict.numbers[0], elapsed=0.0)

    assert verdict == Terminate(EndReason.COMPLETED, "ticketing")
    assert after.handoffs == run.handoffs


@pytest.mark.req("HD-2.3")
async def test_hd_2_3_the_completed_summary_carries_workflow_complete() -> None:
    stage = Stage()
    await stage.end()

    (entry,) = [each for each in stage.notebook.entries if each.sender == "summarization"]
    assert msgspec.to_builtins(entry.event)["type"] == "WORKFLOW_COMPLETE"


@pytest.mark.req("HD-2.4")
@pytest.mark.parametrize("sender", sorted(WORKERS | {"memory", "summarization", "ticketing"}))
async def test_hd_2_4_with_a_termination_marker_in_the_history_nobody_starts_a_handoff(sender: str) -> None:
    """The history is the journal: rebuilt with the marker in it, the run takes nothing from anybody."""
    stage = Stage()
    await stage.end()
    run = stage.replayed()

    for number in range(len(run.handoffs) + 2):
        event = Handover(to="worker", reason="once more")
        after, verdict = advance(HELPDESK, run, event, sender=sender, number=number, elapsed=1.0)
        assert (after, verdict) == (run, Refuse("the run has ended"))


@pytest.mark.req("HD-2.5", "HD-7.3")
async def test_hd_2_5_and_7_3_termination_is_logged_with_reason_final_agent_and_time() -> None:
    flow = msgspec.structs.replace(HELPDESK, max_seconds=50.0)
    for stage, expected in (
        (Stage(), ("completed", "ticketing", 0.0)),
        (Stage({"worker": Hangs}, flow=flow), ("timed_out", "ticketing", 50.0)),
    ):
        _, lines = await logged(stage)

        (line,) = events(lines, "workflow.terminated")
        assert (str(line["reason"]), line["by"], line["seconds"]) == expected


@pytest.mark.req("HD-3.1")
async def test_hd_3_1_the_same_pattern_three_times_in_a_row_is_a_loop() -> None:
    stage = Stage({"worker": lambda: PassesOn("network"), "network": lambda: PassesOn("worker")})

    outcome = await stage.end()

    assert outcome.why is EndReason.LOOP_DETECTED
    assert outcome.loop == (("worker", "network"), ("network", "worker"))
    chosen = [
        (each.source, each.target) for each in outcome.handoffs if each.source in WORKERS and each.target in WORKERS
    ]
    assert chosen == [*outcome.loop * 2, outcome.loop[0]], "the sixth handover is not made any more"


@pytest.mark.req("HD-3.2")
async def test_hd_3_2_handing_to_the_same_agent_twice_in_a_row_is_warned_of() -> None:
    _, lines = await logged(Stage({"worker": lambda: Says(m.ResolutionStored(), OBTAINED)}))

    (line,) = events(lines, "handoff.repeated")
    assert (line["target"], line["log_level"]) == ("worker", "warning")
    _, lines = await logged(Stage())
    assert events(lines, "handoff.repeated") == []


@pytest.mark.req("HD-3.3")
async def test_hd_3_3_more_than_twenty_handoffs_end_the_workflow() -> None:
    path = [{"n": "network", "b": "billing", "a": "accounts", "w": "worker"}[each] for each in "nbanwabwnawb" * 3]
    shared = PassesOn(*path)

    outcome = await Stage(dict.fromkeys(WORKERS, lambda: shared)).end()

    assert outcome.why is EndReason.MAX_HANDOFFS_EXCEEDED
    assert len([each for each in outcome.handoffs if each.reason != outcome.why]) == 20


@pytest.mark.req("HD-3.4")
async def test_hd_3_4_a_loop_sets_the_tickets_status_to_error_with_details() -> None:
    stage = Stage({"worker": lambda: PassesOn("network"), "network": lambda: PassesOn("worker")})
    await stage.end()

    status, note = stage.tickets.rows["T-1"]
    assert status == "error"
    assert "three times in a row: worker to network, network to worker" in note


@pytest.mark.req("HD-3.5")
@pytest.mark.parametrize("role", ["memory", "worker", "summarization"])
async def test_hd_3_5_more_than_ten_minutes_end_the_workflow(role: str) -> None:
    outcome = await Stage({role: Hangs}).end()

    assert (outcome.why, outcome.seconds, outcome.status) == (EndReason.TIMED_OUT, 600, "error")


def states(stage: Stage) -> list[str]:
    return [each.state for each in stage.heard if isinstance(each, HandoffMade)]


@pytest.mark.req("HD-4.1")
async def test_hd_4_1_a_workflow_starts_in_memory_check_pending() -> None:
    stage = Stage({"memory": Hangs})
    await settle()

    assert states(stage) == [State.MEMORY_CHECK_PENDING]
    assert begin(HELPDESK, CASE)[0].state == "memory_check_pending"
    await stage.end()


@pytest.mark.req("HD-4.2")
@pytest.mark.parametrize("verdict", ["hit", "suggestion", "miss"])
async def test_hd_4_2_memorys_answer_moves_it_to_memory_checked_with_the_result_type(verdict: Any) -> None:
    recalled = Recall(verdict, RESOLUTION if verdict != "miss" else None, "T-0")
    run, _ = begin(HELPDESK, CASE)

    event = m.ResolutionRecalled(recalled=recalled)
    run, _ = advance(HELPDESK, run, event, sender="memory", number=1, elapsed=0.0)

    assert (run.state, run.case.recalled.verdict) == ("memory_checked", verdict)


@pytest.mark.req("HD-4.3", "HD-4.4", "HD-4.5", "SY-2")
async def test_hd_4_3_to_4_5_each_stage_moves_the_state() -> None:
    stage = Stage()
    outcome = await stage.end()

    assert list(dict.fromkeys(states(stage))) == [
        "memory_check_pending", "memory_checked", "ticket_analyzed", "resolution_obtained", "resolution_stored",
        "summary_complete",
    ]  # fmt: skip
    assert outcome.state == "summary_complete"
    assert stage.replayed().state == "terminated"
    cut = [(e.event, e.sender, e.number, e.at) for e in stage.notebook.entries]
    reached = []
    run, _ = begin(HELPDESK, CASE)
    for event, sender, number, at in cut:
        run, _ = advance(HELPDESK, run, event, sender=sender, number=number, elapsed=at)
        reached.append((sender, run.state))
    assert reached == [
        ("memory", "memory_checked"), ("ticketing", "ticket_analyzed"), ("worker", "resolution_obtained"),
        ("memory", "resolution_stored"), ("summarization", "summary_complete"), ("ticketing", "terminated"),
    ]  # fmt: skip


@pytest.mark.req("HD-4.6")
def test_hd_4_6_in_terminated_every_handoff_request_is_refused() -> None:
    run, number = at_the_end()

    for to in (*WORKERS, "memory", "ticketing", ORCHESTRATOR):
        event = Handover(to=to, reason="please")
        _, verdict = advance(HELPDESK, run, event, sender="ticketing", number=number, elapsed=2.0)
        assert verdict == Refuse("the run has ended")


@pytest.mark.req("HD-5.1")
async def test_hd_5_1_given_a_cached_resolution_ticketing_ends_it_alone() -> None:
    memory = Remembers()
    await memory.store("k", "T-0", CASE.text, RESOLUTION)

    stage = Stage(memory=memory)
    outcome = await stage.end()

    assert targets(outcome) == ["memory", "orchestrator", "ticketing"]
    assert (outcome.why, outcome.by, outcome.resolution) == (EndReason.COMPLETED, "ticketing", RESOLUTION)
    status, note = stage.tickets.rows["T-1"]
    assert status == "resolved"
    assert "T-0" in note
    assert stage.model.tasks == []


@pytest.mark.req("HD-5.2")
async def test_hd_5_2_given_a_final_summary_ticketing_ends_it_alone() -> None:
    stage = Stage()
    outcome = await stage.end()

    summary = [n for n, each in enumerate(outcome.handoffs) if each.reason == "SummaryCompleted"]
    assert [each.target for each in outcome.handoffs[summary[0] + 1 :]] == ["ticketing"]
    assert stage.tickets.rows["T-1"][1] == outcome.summary


@pytest.mark.req("HD-5.3")
async def test_hd_5_3_after_it_has_terminated_ticketing_accepts_nothing() -> None:
    """It only says again that the ticket is closed: no work, no second update."""
    tickets, model = TicketTable(), Thinks()
    bus = LocalBus(helpdesk(tickets, model=model))
    close = m.CloseTicket(ticket_id="T-1", resolution=RESOLUTION, summary="s", reason="completed", detail="")
    first = await bus.ask("ticketing", close, within=1)

    triage = m.TriageTicket(ticket_id="T-1", text="again", recalled=Recall("miss"))
    assert await bus.ask("ticketing", triage, within=1) == first
    assert await bus.ask("ticketing", msgspec.structs.replace(close, reason="timed_out"), within=1) == first
    assert tickets.closed == ["R-1:close"]
    assert model.tasks == []
    bus.seal()


@pytest.mark.req("HD-5.4")
@pytest.mark.parametrize("role", ["memory", "worker", "summarization"])
async def test_hd_5_4_nobody_but_ticketing_may_terminate(role: str) -> None:
    honest = {
        "memory": m.ResolutionRecalled(recalled=Recall("miss")), "worker": OBTAINED,
        "summarization": m.SummaryCompleted(summary="s"),
    }  # fmt: skip
    then = m.ResolutionStored()
    liar = Says(CLOSED, CLOSED, honest[role], *([then] if role == "memory" else []))
    flow = msgspec.structs.replace(HELPDESK, default_limits=Limits(retries=0))

    outcome, lines = await logged(Stage({role: lambda: liar}, flow=flow))

    assert (outcome.why, outcome.by, targets(outcome)) == (EndReason.COMPLETED, "ticketing", PLAIN)
    refused = [(line["target"], line["log_level"], line["reason"]) for line in events(lines, "termination.refused")]
    said = f"{role} tried to end the run, which only ticketing may; it is asked again"
    assert refused == [(role, "warning", said)] * 2
    assert events(lines, "handoff.repeated") == []


@pytest.mark.req("HD-5.5")
async def test_hd_5_5_terminate_workflow_stops_every_agents_execution_at_once() -> None:
    cancelled: list[str] = []

    class WorksOn(Actor[Any]):
        async def receive(self, message: Any, ctx: Context) -> Any:
            ctx.tell(ORCHESTRATOR, OBTAINED, number=ctx.number)
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                cancelled.append(ctx.address)
                raise

    outcome = await Stage({"worker": WorksOn}).end()

    assert (outcome.why, outcome.seconds) == (EndReason.COMPLETED, 0)
    assert cancelled == ["worker"]


@pytest.mark.req("HD-6.1")
async def test_hd_6_1_every_completion_says_whether_it_hands_off_or_terminates() -> None:
    """Each answer is either the terminator's word, or a handoff that is named as one."""
    stage = Stage({"worker": lambda: PassesOn("network"), "network": lambda: Says(OBTAINED)})
    outcome = await stage.end()

    answers = [(each.sender, type(each.event).__name__) for each in stage.notebook.entries]
    made = [(each.source, each.target) for each in outcome.handoffs if each.source != ORCHESTRATOR]
    assert answers[-1] == ("ticketing", "TicketClosed")
    assert [sender for sender, _ in answers[:-1]] == [source for source, _ in made]


RULE = re.compile(r"(?ms)^When you are done, .*\bhand\b.*\b(?:back|over)\b.*\bterminates? the workflow\b")


@pytest.mark.req("HD-6.1")
@pytest.mark.parametrize("agent", sorted(name for name, each in ROSTER.specs.items() if each.instructions))
def test_hd_6_1_each_agents_prompt_says_when_it_hands_off_and_that_it_does_not_terminate(agent: str) -> None:
    assert RULE.search(ROSTER[agent].instructions)


@pytest.mark.req("HD-6.2")
async def test_hd_6_2_on_workflow_complete_ticketing_is_handed_the_ticket_exactly_once() -> None:
    outcome = await Stage().end()

    after = outcome.handoffs[[each.reason for each in outcome.handoffs].index("SummaryCompleted") + 1 :]
    assert [(each.source, each.target) for each in after] == [(ORCHESTRATOR, "ticketing")]


@pytest.mark.req("HD-6.3", "HD-6.4")
async def test_hd_6_3_and_6_4_memory_and_summarization_hand_back_exactly_once_for_each_task() -> None:
    outcome = await Stage().end()

    for role, tasks in (
        ("memory", ["ResolutionRecalled", "ResolutionStored"]),
        ("summarization", ["SummaryCompleted"]),
    ):
        back = [(each.target, each.reason) for each in outcome.handoffs if each.source == role]
        assert back == [(ORCHESTRATOR, task) for task in tasks]
        assert [each.target for each in outcome.handoffs].count(role) == len(tasks)


@pytest.mark.req("HD-6.3", "HD-6.4")
@pytest.mark.parametrize("role", ["memory", "summarization"])
async def test_hd_6_3_and_6_4_a_second_answer_counts_for_nothing(role: str) -> None:
    every: dict[str, list[Any]] = {
        "memory": [m.ResolutionRecalled(recalled=Recall("miss")), m.ResolutionStored()],
        "summarization": [m.SummaryCompleted(summary="s")],
    }
    answers = every[role]

    class Twice(Says):
        def receive(self, message: Any, ctx: Context) -> Any:
            answer = super().receive(message, ctx)
            ctx.tell(ORCHESTRATOR, answer, number=ctx.number)
            return answer

    twice = Twice(*answers)
    outcome = await Stage({role: lambda: twice}).end()

    assert (outcome.why, targets(outcome)) == (EndReason.COMPLETED, PLAIN)
    assert outcome.refused == len(answers)


@pytest.mark.req("HD-6.5")
@pytest.mark.parametrize("role", ["worker", "summarization"])
async def test_hd_6_5_a_completed_task_is_not_repeated(role: str) -> None:
    """Asked the same again, because its answer was lost on the way, an agent answers without working twice."""
    model = Thinks()
    bus = LocalBus(helpdesk(model=model))
    request: Any = {
        "worker": m.ResolveTicket(
            ticket_id="T-1", text=CASE.text, analysis=None, recalled=Recall("miss"), context="", degraded=""
        ),
        "summarization": m.SummarizeTicket(text=CASE.text, resolution=RESOLUTION, detail=""),
    }[role]

    first = await bus.ask(role, request, within=1)
    second = await bus.ask(role, request, within=1)

    assert first == second
    asked = [(each.agent, type(each.material)) for each in model.tasks]
    assert {agent for agent, _ in asked} == {role}
    assert len(asked) == len(set(asked)), "nothing was thought about twice"
    bus.seal()


@pytest.mark.req("HD-7.1")
async def test_hd_7_1_the_start_is_logged_with_the_first_agent_and_the_ticket() -> None:
    stage = Stage()
    _, lines = await logged(stage)

    (line,) = events(lines, "workflow.started")
    assert (line["agent"], line["ticket"]) == ("memory", "T-1")
    assert stage.heard[0] == RunBegan(run="R-1", ticket="T-1", workflow="helpdesk", agent="memory")


@pytest.mark.req("HD-7.2")
async def test_hd_7_2_every_handoff_is_logged_with_source_target_and_reason() -> None:
    outcome, lines = await logged(
        Stage({"worker": lambda: PassesOn("network"), "network": lambda: Says(obtained("x"))})
    )

    made = [(line["number"], line["source"], line["target"], line["reason"]) for line in events(lines, "handoff.made")]
    assert made == [(n, each.source, each.target, each.reason) for n, each in enumerate(outcome.handoffs, 1)]


@pytest.mark.req("HD-7.4")
async def test_hd_7_4_a_loop_is_logged_with_its_pattern() -> None:
    _, lines = await logged(Stage({"worker": lambda: PassesOn("network"), "network": lambda: PassesOn("worker")}))

    (line,) = events(lines, "loop.detected")
    assert (line["log_level"], line["pattern"]) == ("error", ["worker -> network", "network -> worker"])


@pytest.mark.req("HD-7.5")
async def test_hd_7_5_the_result_carries_the_handoffs_as_an_array() -> None:
    outcome = await Stage().end()

    told = msgspec.json.decode(msgspec.json.encode(outcome))
    assert [each["target"] for each in told["handoffs"]] == PLAIN
    assert set(told["handoffs"][0]) == {"source", "target", "reason", "at", "marker"}
    assert told["children"] == [], "nobody worked on it in a run of its own"


@pytest.mark.req("SY-1")
async def test_sy_1_every_agent_is_an_actor_with_a_mailbox_on_an_in_process_bus() -> None:
    cast = helpdesk()
    bus = LocalBus(cast)

    request = m.RecallResolution(text=CASE.text)
    assert await bus.ask("memory", request, within=1) == m.ResolutionRecalled(recalled=Recall("miss"))
    for role in (*WORKERS, "memory", "ticketing", "summarization"):
        assert isinstance(cast[role](), Actor), role


@pytest.mark.req("SY-2")
def test_sy_2_the_orchestrator_owns_the_states_and_the_counts() -> None:
    assert [*HELPDESK.steps, HELPDESK.final] == list(State)
    assert (HELPDESK.max_handoffs, HELPDESK.max_seconds) == (20, 600)
    assert verify(HELPDESK) == 21


@pytest.mark.req("SY-3")
@pytest.mark.parametrize("role", ["memory", "worker", "summarization"])
def test_sy_3_no_table_lets_anybody_but_the_terminator_end_it(role: str) -> None:
    last = Step(role, m.CloseTicket, {m.TicketClosed: State.TERMINATED})

    with pytest.raises(InvalidWorkflow, match="only ticketing may terminate"):
        verify(msgspec.structs.replace(HELPDESK, steps={**HELPDESK.steps, State.SUMMARY_COMPLETE: last}))
