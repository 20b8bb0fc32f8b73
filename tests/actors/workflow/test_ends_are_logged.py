"""Whatever ends a run, the log says so once: why, who had control, how long it took; with the markers for people."""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from structlog.testing import capture_logs

from actors.helpdesk import messages as m
from actors.helpdesk.workflow import HELPDESK
from actors.ports import Recall
from actors.research.messages import ResearchClosed
from actors.workflow.outcome import EndReason, HandoffMade, Outcome, RunBegan, Status, marker
from actors.workflow.tables import CLOSING_SECONDS, ORCHESTRATOR, Limits
from tests.actors.workflow.test_recording import Faulty, Surprise, unverified
from tests.clock import settle
from tests.fakes import Hangs, PassesOn, Says, Stage, Stubborn

FLOW = msgspec.structs.replace(HELPDESK, max_seconds=100.0, default_limits=Limits(within=20.0, retries=1))
Lines = list[Any]


async def logged(stage: Stage, *, before: Callable[[], object] = lambda: None) -> tuple[Outcome, Lines]:
    with capture_logs() as lines:
        before()
        await settle()
        outcome = await (stage.live.outcome() if stage.live.is_over else stage.end())
    return outcome, list(lines)


def named(lines: Lines, event: str) -> Lines:
    return [each for each in lines if each["event"] == event]


def breaks() -> Stage:
    shared = Says(m.ResolutionRecalled(recalled=Recall("miss")), Surprise(surprise="!"))
    return Stage({"memory": lambda: shared}, flow=unverified())


ENDS: dict[str, tuple[Callable[[], Stage], EndReason, str, str, Status, float]] = {
    "all goes well": (Stage, EndReason.COMPLETED, "ticketing", "ticketing", "resolved", 0),
    "a loop": (
        lambda: Stage({"worker": lambda: PassesOn("worker")}),
        EndReason.LOOP_DETECTED,
        "ticketing",
        "ticketing",
        "error",
        0,
    ),
    "out of time": (lambda: Stage({"worker": Hangs}), EndReason.TIMED_OUT, "ticketing", "ticketing", "error", 600),
    "an agent that fails": (
        lambda: Stage({"memory": lambda: Says(OSError("?"))}),
        EndReason.STEP_FAILED,
        "ticketing",
        "ticketing",
        "error",
        0,
    ),
    "a terminator that is silent": (
        lambda: Stage({"ticketing": Hangs}, flow=FLOW),
        EndReason.STEP_TIMED_OUT,
        "",
        "ticketing",
        "error",
        40 + CLOSING_SECONDS,
    ),
    "a journal that breaks": (
        lambda: Stage(flow=FLOW, journal=Faulty(2, "breaks", once=False)),
        EndReason.STORAGE_FAILED,
        "",
        "worker",
        "error",
        0,
    ),
    "an Orchestrator that breaks": (breaks, EndReason.ORCHESTRATOR_FAILED, "", "memory", "error", 0),
}


@pytest.mark.req("HD-2.5", "HD-7.3")
@pytest.mark.parametrize("end", ENDS)
async def test_every_end_is_logged_once_with_reason_final_agent_and_time(end: str) -> None:
    make, why, by, agent, status, seconds = ENDS[end]

    outcome, lines = await logged(make())

    (line,) = named(lines, "workflow.terminated")
    assert (line["reason"], line["by"], line["agent"], line["status"]) == (why, by, agent, status)
    assert (line["seconds"], line["handoffs"], line["log_level"]) == (seconds, len(outcome.handoffs), "info")
    assert (line["run"], line["ticket"], line["workflow"]) == ("R-1", "T-1", "helpdesk")
    assert line["marker"] == outcome.marker == ("TERMINATE_WORKFLOW" if by else "")
    assert lines[-1]["event"] == "workflow.terminated", "nothing follows it"


@pytest.mark.req("HD-2.5", "HD-7.1", "HD-7.3")
async def test_a_run_that_is_cancelled_before_it_began_begins_and_ends_in_the_log() -> None:
    with capture_logs() as lines:
        stage = Stage()
        stage.live.cancel()
        outcome = await stage.end()

    assert (outcome.why, outcome.by) == (EndReason.CANCELLED, "ticketing")
    assert [(each["event"], each.get("agent")) for each in lines if each["event"].startswith("workflow")] == [
        ("workflow.started", "ticketing"), ("workflow.terminated", "ticketing"),
    ]  # fmt: skip
    assert isinstance(stage.heard[0], RunBegan)
    assert outcome.state == "memory_check_pending"


@pytest.mark.req("HD-7.3")
async def test_one_that_is_cut_off_when_it_is_cancelled_says_who_did_not_stop() -> None:
    step = msgspec.structs.replace(HELPDESK.steps["ticket_analyzed"], returns_partial=True)
    flow = msgspec.structs.replace(HELPDESK, steps={**HELPDESK.steps, "ticket_analyzed": step})
    stubborn = Stubborn()
    stage = Stage({"worker": lambda: stubborn}, flow=flow)
    await stage.until(5)

    outcome, lines = await logged(stage, before=stage.live.cancel)

    assert outcome.why is EndReason.CANCEL_FORCED
    (line,) = named(lines, "workflow.terminated")
    assert (line["reason"], line["by"], line["agent"], line["seconds"]) == (EndReason.CANCEL_FORCED, "", "worker", 35)
    await stubborn.release()


@pytest.mark.req("HD-2.1", "HD-2.3")
async def test_the_markers_stand_where_people_look_who_debug() -> None:
    stage = Stage()
    outcome, lines = await logged(stage)

    marked = [(each["source"], each["marker"]) for each in named(lines, "handoff.made") if "marker" in each]
    assert marked == [("summarization", "WORKFLOW_COMPLETE")]
    assert named(lines, "workflow.terminated")[0]["marker"] == "TERMINATE_WORKFLOW"
    told = msgspec.json.decode(msgspec.json.encode(outcome))
    assert told["marker"] == "TERMINATE_WORKFLOW"
    assert [(each["source"], each["marker"]) for each in told["handoffs"] if each["marker"]] == marked
    shown = [(each.source, each.marker) for each in stage.heard if isinstance(each, HandoffMade) and each.marker]
    assert shown == marked
    assert [each.marker for each in stage.replayed().handoffs] == [each.marker for each in outcome.handoffs]


@pytest.mark.req("HD-2.1", "HD-2.3")
def test_a_marker_is_the_wire_tag_of_what_an_agent_says() -> None:
    assert marker(m.TicketClosed) == marker(ResearchClosed) == "TERMINATE_WORKFLOW"
    assert marker(m.SummaryCompleted) == "WORKFLOW_COMPLETE"
    assert marker(m.ResolutionObtained) == ""


@pytest.mark.req("HD-7.2")
async def test_a_handoff_that_a_breach_overtakes_stands_in_the_log_too() -> None:
    stage = Stage({"worker": Hangs})
    await stage.until(5)

    outcome, lines = await logged(stage, before=stage.live.cancel)

    last = named(lines, "handoff.made")[-1]
    assert (last["number"], last["source"], last["target"], last["reason"]) == (
        len(outcome.handoffs), ORCHESTRATOR, "ticketing", EndReason.CANCELLED,
    )  # fmt: skip
