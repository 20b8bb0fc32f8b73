"""Where a run goes when the agent of a step failed for good and its table knows somebody else to ask."""

from msgspec.structs import replace

from actors.workflow.advance import advance, begin, next_due
from actors.workflow.outcome import EndReason, explain_end
from actors.workflow.tables import InvalidAnswer, Limits, Run, RunStopped, Step, TimeUp, Workflow
from actors.workflow.transitions import HandOff, Terminate
from actors.workflow.verify import verify
from bus import Event, Failed
from tests.actors.workflow.tables import BOSS, FINAL, A, Ask, Close, End, TableCase

FLOW = Workflow(
    name="table",
    case=TableCase,
    terminator=BOSS,
    close=Close,
    closed=End,
    final=FINAL,
    steps={
        "working": Step("r1", Ask, {A: "closing"}, on_failed="helping"),
        "helping": Step("r2", Ask, {A: "closing"}),
        "closing": Step(BOSS, Close, {End: FINAL}),
    },
    default_limits=Limits(10.0, 1),
)
FAILED = Failed(request="", error="It broke.")


def play(flow: Workflow, *said: tuple[str, Event, float]) -> tuple[Run, object]:
    run, verdict = begin(flow, TableCase(ticket_id="T-1"))
    for role, event, at in said:
        number = run.open[0].number if role else 0
        run, verdict = advance(flow, run, event, sender=role, number=number, elapsed=at)
    return run, verdict


def test_the_one_that_the_table_names_is_asked_when_the_retries_are_used_up() -> None:
    run, verdict = play(FLOW, ("r1", FAILED, 1.0), ("r1", FAILED, 2.0))

    assert isinstance(verdict, HandOff)
    assert (run.state, [each.role for each in run.open], run.breach) == ("helping", ["r2"], None)
    assert run.case.detail == explain_end(EndReason.STEP_FAILED, "", 20)
    assert [(each.event, each.target, each.reason) for each in verdict.warnings] == [("step.failed", "r1", "It broke.")]
    assert [(each.source, each.target) for each in run.handoffs] == [
        ("orchestrator", "r1"), ("r1", "orchestrator"), ("orchestrator", "r1"), ("r1", "orchestrator"),
        ("orchestrator", "r2"),
    ]  # fmt: skip


def test_silence_and_answers_that_are_none_lead_there_too() -> None:
    once = replace(FLOW, default_limits=Limits(10.0, 0))

    silent, _ = play(once, ("", TimeUp(), 10.0))
    wrong, _ = play(once, ("r1", InvalidAnswer(what="str"), 1.0))

    assert (silent.state, silent.case.detail) == ("helping", explain_end(EndReason.STEP_TIMED_OUT, "", 20))
    assert (wrong.state, wrong.case.detail) == ("helping", explain_end(EndReason.ANSWERS_REFUSED, "", 20))


def test_what_fails_where_no_other_is_named_closes_the_run() -> None:
    once = replace(FLOW, default_limits=Limits(10.0, 0))

    run, _ = play(once, ("r1", FAILED, 1.0), ("r2", FAILED, 2.0))

    assert (run.breach, [each.role for each in run.open]) == (EndReason.STEP_FAILED, [BOSS])


def test_time_a_cancel_and_the_cap_go_before_it() -> None:
    late, _ = play(replace(FLOW, max_seconds=5.0, default_limits=Limits(10.0, 0)), ("", TimeUp(), 5.0))
    stopped, _ = play(FLOW, ("", RunStopped(), 1.0))
    full, _ = play(replace(FLOW, max_handoffs=1, default_limits=Limits(10.0, 0)), ("r1", FAILED, 1.0))

    assert [run.breach for run in (late, stopped, full)] == [
        EndReason.TIMED_OUT, EndReason.CANCELLED, EndReason.MAX_HANDOFFS_EXCEEDED,
    ]  # fmt: skip


def test_its_handoffs_are_counted_in_what_a_run_can_take() -> None:
    assert verify(replace(FLOW, default_limits=Limits(10.0, 0))) == 2 + 2 + 1 + 1
    assert verify(replace(FLOW, default_limits=Limits(10.0, 2))) == 6 + 6 + 5 + 1


def test_a_run_that_fails_at_every_step_still_ends() -> None:
    run, verdict = play(FLOW)
    for _ in range(20):
        if isinstance(verdict, Terminate):
            break
        run, verdict = advance(FLOW, run, TimeUp(), sender="", number=0, elapsed=next_due(FLOW, run))

    assert isinstance(verdict, Terminate)
    assert run.state == FINAL
