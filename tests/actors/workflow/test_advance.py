"""The rules as plain values: what each event does to a run, without a bus, a clock or a journal."""

import math

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.helpdesk import messages as m
from actors.helpdesk.workflow import State
from actors.ports import Recall
from actors.workflow.advance import advance, begin, next_due, put
from actors.workflow.outcome import EndReason, Handoff, explain_end
from actors.workflow.tables import (
    CLOSING_SECONDS,
    MAX_RESUMES,
    ORCHESTRATOR,
    Handover,
    NotDelivered,
    PendingHandoff,
    Run,
    RunResumed,
    RunStarted,
    RunStopped,
    Step,
    TimeUp,
)
from actors.workflow.transitions import HandOff, HandoffWarning, Refuse, Terminate, Wait, make_request
from bus import Failed
from tests.fakes import CASE, HELPDESK, OBTAINED, RESOLUTION

CLOSED = m.TicketClosed(status="resolved", resolution=RESOLUTION)
MISS = m.ResolutionRecalled(recalled=Recall("miss"))


def at(state: State, role: str, *, since: float = 0.0) -> Run:
    """A run that waits for this role in this state, as its sixth handoff."""
    made = (*(Handoff(ORCHESTRATOR, f"r{n}", "?") for n in range(5)), Handoff(ORCHESTRATOR, role, state))
    return Run(state, CASE, handoffs=made, open=(PendingHandoff(6, role, since + 300.0),))


@pytest.mark.req("SY-3", "HD-5.4")
def test_even_where_a_table_would_let_it_nobody_else_terminates() -> None:
    run = at(State.SUMMARY_COMPLETE, "worker")

    after, verdict = advance(HELPDESK, run, CLOSED, sender="worker", number=6, elapsed=1.0)

    assert after.state != HELPDESK.final
    assert isinstance(verdict, HandOff)


@pytest.mark.parametrize(("sender", "number"), [("worker", 5), ("worker", 7), ("network", 6), ("", 6), ("", 0)])
def test_an_answer_counts_only_from_whom_it_is_waited_for_and_to_what_was_asked(sender: str, number: int) -> None:
    run = at(State.TICKET_ANALYZED, "worker")

    assert advance(HELPDESK, run, OBTAINED, sender=sender, number=number, elapsed=1.0) == (
        run, Refuse(f"handoff {number} to {sender} is not in force"),
    )  # fmt: skip


@pytest.mark.parametrize("event", [TimeUp(), RunStopped(), RunResumed(), NotDelivered(handoff=6, error="")])
def test_what_comes_from_outside_is_not_an_agents_to_say(event: TimeUp) -> None:
    run = at(State.TICKET_ANALYZED, "worker")

    assert advance(HELPDESK, run, event, sender="worker", number=6, elapsed=700.0) == (run, Refuse("not its to say"))


def test_a_run_begins_once() -> None:
    run, _ = begin(HELPDESK, CASE)

    assert advance(HELPDESK, run, RunStarted(), sender="", number=0, elapsed=0.0) == (
        run, Refuse("the run has begun already"),
    )  # fmt: skip


def test_the_clock_that_rings_early_changes_nothing() -> None:
    run = at(State.TICKET_ANALYZED, "worker")

    assert advance(HELPDESK, run, TimeUp(), sender="", number=0, elapsed=299.9) == (run, Refuse("not due yet"))


def test_the_clock_is_set_to_the_tighter_bound() -> None:
    run = at(State.TICKET_ANALYZED, "worker")

    assert next_due(HELPDESK, run) == 300
    assert next_due(HELPDESK, msgspec.structs.replace(run, open=(PendingHandoff(6, "worker", 900.0),))) == 600
    ended = msgspec.structs.replace(run, state=HELPDESK.final, open=())
    assert next_due(HELPDESK, ended) == math.inf


def test_an_answer_at_the_last_moment_counts_and_one_after_the_deadline_does_not() -> None:
    run = at(State.TICKET_ANALYZED, "worker", since=400)

    after, _ = advance(HELPDESK, run, OBTAINED, sender="worker", number=6, elapsed=600.0)
    assert (after.state, after.breach) == (State.RESOLUTION_OBTAINED, None)
    after, verdict = advance(HELPDESK, run, OBTAINED, sender="worker", number=6, elapsed=600.1)
    assert after.breach is EndReason.TIMED_OUT
    assert after.case.resolution == RESOLUTION, "what was found is kept"
    assert isinstance(verdict, HandOff)
    assert after.open[0].role == "ticketing"


def test_a_late_no_is_the_deadlines_fault_not_the_agents() -> None:
    run = at(State.TICKET_ANALYZED, "worker", since=400)

    after, _ = advance(HELPDESK, run, Failed(request="", error="?"), sender="worker", number=6, elapsed=600.0)

    assert after.breach is EndReason.TIMED_OUT


@pytest.mark.parametrize("closed", [True, False])
def test_after_a_breach_the_terminator_is_heard_once_and_whatever_it_says_is_the_end(*, closed: bool) -> None:
    run = at(State.TICKET_ANALYZED, "worker")
    run, verdict = advance(HELPDESK, run, RunStopped(), sender="", number=0, elapsed=10.0)
    assert isinstance(verdict, HandOff)
    assert next_due(HELPDESK, run) == 10 + CLOSING_SECONDS

    event = CLOSED if closed else MISS
    after, verdict = advance(HELPDESK, run, event, sender="ticketing", number=verdict.numbers[0], elapsed=11.0)

    assert verdict == Terminate(EndReason.CANCELLED, "ticketing" if closed else "")
    assert (after.state, after.open) == (HELPDESK.final, ())


def test_a_handoff_that_cannot_be_delivered_is_a_failure_of_its_target() -> None:
    run = at(State.TICKET_ANALYZED, "worker")
    gone = NotDelivered(handoff=6, error="nobody is called 'worker'")

    run, verdict = advance(HELPDESK, run, gone, sender=ORCHESTRATOR, number=0, elapsed=1.0)
    assert isinstance(verdict, HandOff)
    gone = NotDelivered(handoff=verdict.numbers[0], error="nobody is called 'worker'")
    run, verdict = advance(HELPDESK, run, gone, sender=ORCHESTRATOR, number=0, elapsed=1.0)

    assert (run.breach, run.case.detail) == (EndReason.STEP_FAILED, explain_end(EndReason.STEP_FAILED, "", 20))
    assert isinstance(verdict, HandOff)
    assert verdict.warnings[0] == HandoffWarning("step.failed", "worker", "nobody is called 'worker'")
    gone = NotDelivered(handoff=99, error="?")
    assert advance(HELPDESK, run, gone, sender="", number=0, elapsed=1.0) == (run, Refuse("handoff 99 is not in force"))


def test_a_resumed_run_asks_again_what_was_open_and_counts_no_handoff() -> None:
    run = at(State.TICKET_ANALYZED, "worker")

    after, verdict = advance(HELPDESK, run, RunResumed(), sender="", number=0, elapsed=500.0)

    assert verdict == HandOff((6,))
    assert after.open == (PendingHandoff(6, "worker", 600.0),)
    assert (after.handoffs, after.resumed) == (run.handoffs, 1)


def test_a_run_is_resumed_a_few_times_only() -> None:
    run = at(State.TICKET_ANALYZED, "worker")
    for _ in range(MAX_RESUMES):
        run, verdict = advance(HELPDESK, run, RunResumed(), sender="", number=0, elapsed=1.0)
        assert isinstance(verdict, HandOff)

    run, _ = advance(HELPDESK, run, RunResumed(), sender="", number=0, elapsed=1.0)

    assert run.breach is EndReason.CRASHED_REPEATEDLY


def test_a_deadline_while_the_case_is_closing_gives_the_terminator_its_grace() -> None:
    run = at(State.SUMMARY_COMPLETE, "ticketing", since=400)

    run, verdict = advance(HELPDESK, run, TimeUp(), sender="", number=0, elapsed=600.0)
    assert isinstance(verdict, Wait)
    assert next_due(HELPDESK, run) == 600 + CLOSING_SECONDS
    _, verdict = advance(HELPDESK, run, CLOSED, sender="ticketing", number=6, elapsed=601.0)
    assert verdict == Terminate(EndReason.COMPLETED, "ticketing")


def test_a_process_that_died_while_the_case_was_closing_gives_it_that_grace_too() -> None:
    run = at(State.SUMMARY_COMPLETE, "ticketing", since=400)

    run, verdict = advance(HELPDESK, run, RunResumed(), sender="", number=0, elapsed=4000.0)
    assert isinstance(verdict, HandOff)
    request = make_request(HELPDESK, run, run.open[0])
    assert isinstance(request, m.CloseTicket)
    assert request.reason == "completed"
    _, verdict = advance(HELPDESK, run, CLOSED, sender="ticketing", number=6, elapsed=4000.5)
    assert verdict == Terminate(EndReason.COMPLETED, "ticketing")


def test_what_an_agent_says_at_length_is_kept_short_in_the_handoffs() -> None:
    run = at(State.TICKET_ANALYZED, "worker")
    long = Handover(to="network", reason="because " * 10_000, context="c")

    run, _ = advance(HELPDESK, run, long, sender="worker", number=6, elapsed=1.0)

    assert len(run.handoffs[-1].reason) == 500
    failed = Failed(request="", error="x" * 10_000, told="y" * 10_000)
    run, _ = advance(HELPDESK, run, failed, sender="network", number=len(run.handoffs), elapsed=1.0)
    run, verdict = advance(HELPDESK, run, failed, sender="network", number=len(run.handoffs), elapsed=1.0)
    assert isinstance(verdict, HandOff)
    assert (len(run.case.detail), len(verdict.warnings[0].reason)) == (500, 500)


def test_a_step_that_picks_its_first_agent_takes_only_one_of_its_peers() -> None:
    step = HELPDESK.steps[State.TICKET_ANALYZED]
    assert isinstance(step, Step)
    picky = msgspec.structs.replace(step, pick="context")
    flow = msgspec.structs.replace(HELPDESK, steps={State.TICKET_ANALYZED: picky})

    for context, role in (("billing", "billing"), ("ticketing", "worker"), ("", "worker"), ("nobody", "worker")):
        run, verdict = begin(flow, msgspec.structs.replace(CASE, context=context))
        assert isinstance(verdict, HandOff)
        assert run.open[0].role == role


def test_what_an_event_leaves_unsaid_the_case_keeps() -> None:
    case = msgspec.structs.replace(CASE, resolution=RESOLUTION, summary="Solved.")

    said = put(case, m.TicketClosed(status="resolved"))

    assert (said.status, said.resolution, said.summary) == ("resolved", RESOLUTION, "Solved.")
    assert put(case, m.TicketClosed(status="error", summary="Cut short.")).summary == "Cut short."


def test_a_closing_step_that_takes_its_time_can_be_cancelled_and_then_closes_at_once() -> None:
    close = HELPDESK.steps[State.SUMMARY_COMPLETE]
    assert isinstance(close, Step)
    for returns_partial in (False, True):
        slow = msgspec.structs.replace(close, returns_partial=returns_partial)
        flow = msgspec.structs.replace(HELPDESK, steps={State.SUMMARY_COMPLETE: slow})
        run, _ = begin(flow, CASE)

        run, verdict = advance(flow, run, RunStopped(), sender="", number=0, elapsed=3.0)

        if not returns_partial:
            assert isinstance(verdict, Refuse)
            continue
        assert isinstance(verdict, HandOff)
        request = make_request(flow, run, run.open[0])
        assert isinstance(request, m.CloseTicket)
        assert (request.reason, run.open[0].due) == ("cancelled", 3.0 + CLOSING_SECONDS)
        late, refused = advance(flow, run, CLOSED, sender="ticketing", number=1, elapsed=3.1)
        assert (late, isinstance(refused, Refuse)) == (run, True), "what it was asked before is not heard any more"
        _, end = advance(flow, run, CLOSED, sender="ticketing", number=2, elapsed=3.2)
        assert end == Terminate(EndReason.CANCELLED, "ticketing")


@given(st.lists(st.sampled_from(["died", "stopped", "answered"]), max_size=60))
def test_only_deaths_in_a_row_without_an_answer_close_a_run(story: list[str]) -> None:
    """However often its processes are stopped, or killed while they do something else."""
    run, in_a_row = at(State.TICKET_ANALYZED, "worker"), 0
    for what in story:
        if what == "answered":  # its answer is none, so the same agent is asked again
            run, _ = advance(HELPDESK, run, MISS, sender="worker", number=6, elapsed=1.0)
            assert run.resumed == 0
            run, in_a_row = at(State.TICKET_ANALYZED, "worker"), 0
            continue
        run, _ = advance(HELPDESK, run, RunResumed(orderly=what == "stopped"), sender="", number=0, elapsed=1.0)
        in_a_row += what == "died"
        assert run.resumed == in_a_row
        assert (run.breach is EndReason.CRASHED_REPEATEDLY) == (in_a_row > MAX_RESUMES)
        if run.breach:
            return
