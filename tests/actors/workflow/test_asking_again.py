"""Agents that are asked again: when that is a loop, when it costs nothing, and who thinks anew."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import pytest
from structlog.testing import capture_logs

from actors.drafting.drafts import Draft, HandoverRequest, ReadingRequest, SecondReading
from actors.helpdesk import messages as m
from actors.helpdesk.output_schemas import Analysis, Summary
from actors.ports import Completion, ModelRequest, Recall
from actors.workflow.outcome import EndReason, Outcome, explain_end
from actors.workflow.tables import ORCHESTRATOR, Handover, Limits, Workflow
from bus import Actor, Context, Event, LocalBus
from runtime.families import helpdesk as helpdesk_family
from runtime.families.limits import configure
from runtime.settings import AgentSettings, AgentsSettings, RunSettings, Settings
from tests.fakes import (
    CASE,
    HELPDESK,
    OBTAINED,
    PLAIN,
    RESOLUTION,
    TAKERS,
    WORKERS,
    Hangs,
    Remembers,
    Says,
    Stage,
    Thinks,
    helpdesk,
    targets,
)

CLOSED = m.TicketClosed(status="resolved", resolution=RESOLUTION)
Lines = list[Any]


def retrying(retries: int) -> Workflow:
    return msgspec.structs.replace(HELPDESK, default_limits=Limits(within=20.0, retries=retries))


async def logged(stage: Stage) -> tuple[Outcome, Lines]:
    with capture_logs() as lines:
        outcome = await stage.end()
    return outcome, list(lines)


def warned(lines: Lines, event: str) -> list[tuple[str, str]]:
    return [(each["target"], each["reason"]) for each in lines if each["event"] == event]


class Odd(Event, frozen=True):
    """Nothing that any workflow knows."""


FAILING: dict[str, tuple[Callable[[], Actor[Any]], EndReason, str]] = {
    "fails": (lambda: Says(OSError("?")), EndReason.STEP_FAILED, "An internal error (OSError)"),
    "hangs": (Hangs, EndReason.STEP_TIMED_OUT, "did not answer in time"),
    "wrong": (lambda: Says(Odd()), EndReason.ANSWERS_REFUSED, "is no answer"),
}


@pytest.mark.req("HD-3.1", "HD-3.4", "HD-7.4")
@pytest.mark.parametrize("role", ["memory", "ticketing", "worker", "summarization"])
@pytest.mark.parametrize("kind", FAILING)
async def test_the_same_handoff_a_third_time_in_a_row_is_a_loop_named_with_the_last_failure(
    role: str, kind: str
) -> None:
    make, _, failure = FAILING[kind]
    stage = Stage({role: make}, flow=retrying(10))

    outcome, lines = await logged(stage)

    assert outcome.why is EndReason.LOOP_DETECTED
    assert outcome.loop == ((ORCHESTRATOR, role),)
    asked = [each.target for each in outcome.handoffs if each.source == ORCHESTRATOR and each.reason != outcome.why]
    assert asked.count(role) == 2, "the third handoff is not made any more"
    assert outcome.detail == f"The agents passed the task on in a circle: {ORCHESTRATOR} → {role}."
    assert failure in warned(lines, "step.failed")[-1][1]
    (line,) = [each for each in lines if each["event"] == "loop.detected"]
    assert (line["log_level"], line["pattern"]) == ("error", [f"{ORCHESTRATOR} -> {role}"])
    if role != "ticketing":
        status, note = stage.tickets.rows["T-1"]
        assert status == "error"
        assert outcome.detail in note
    assert stage.replayed().loop == outcome.loop


@pytest.mark.req("HD-3.1")
@pytest.mark.parametrize("kind", FAILING)
async def test_the_retries_that_nobody_changed_stay_below_a_loop(kind: str) -> None:
    make, why, failure = FAILING[kind]

    flow = configure(helpdesk_family.FAMILY, Settings(run=RunSettings(agent_seconds=20.0)))

    outcome, lines = await logged(Stage({"worker": make}, flow=flow))

    assert (outcome.why, outcome.loop) == (why, ())
    assert targets(outcome).count("worker") == 2
    assert outcome.detail == explain_end(why, "", 20)
    assert failure in warned(lines, "step.failed")[-1][1]


@pytest.mark.req("HD-3.1")
async def test_ten_retries_of_a_worker_are_a_loop_and_not_a_breach_of_the_cap() -> None:
    agents = AgentsSettings(limits={"worker": AgentSettings(retries=10)})
    flow = configure(helpdesk_family.FAMILY, Settings(agents=agents))

    outcome = await Stage({"worker": lambda: Says(OSError("?"))}, flow=flow).end()

    assert (outcome.why, len(outcome.handoffs)) == (EndReason.LOOP_DETECTED, 8)


@pytest.mark.req("HD-3.1")
async def test_agents_that_hand_over_and_fail_in_turns_go_in_a_circle_too() -> None:
    """Each handover begins new tries, so they alone would never end it."""

    class FailsAndPassesOn(Says):
        def __init__(self, to: str) -> None:
            super().__init__(*(OSError("?"), Handover(to=to, reason="not mine")) * 9)

    worker, network = FailsAndPassesOn("network"), FailsAndPassesOn("worker")
    roomy = msgspec.structs.replace(HELPDESK, max_handoffs=60)

    outcome = await Stage({"worker": lambda: worker, "network": lambda: network}, flow=roomy).end()

    assert outcome.why is EndReason.LOOP_DETECTED
    assert outcome.loop == ((ORCHESTRATOR, "worker"), (ORCHESTRATOR, "network"))


@pytest.mark.req("HD-3.2")
@pytest.mark.parametrize("role", ["memory", "worker", "summarization"])
async def test_asked_to_close_after_another_nobody_is_handed_to_twice(role: str) -> None:
    _, lines = await logged(Stage({role: lambda: Says(OSError("?"))}, flow=retrying(0)))

    assert warned(lines, "handoff.repeated") == []


@pytest.mark.req("HD-3.2")
async def test_the_terminator_that_is_asked_to_close_right_after_itself_is_warned_of() -> None:
    failing = Says(OSError("?"), CLOSED)

    outcome, lines = await logged(Stage({"ticketing": lambda: failing}, flow=retrying(0)))

    assert outcome.why is EndReason.STEP_FAILED
    assert warned(lines, "handoff.repeated") == [("ticketing", "orchestrator hands to ticketing twice in a row")]


@pytest.mark.req("HD-3.2")
async def test_so_it_is_when_a_cancel_closes() -> None:
    stage = Stage({"ticketing": Hangs})
    await stage.until(5)
    with capture_logs() as lines:
        stage.live.cancel()
        await stage.end()

    assert warned(list(lines), "handoff.repeated") == [("ticketing", "orchestrator hands to ticketing twice in a row")]


@pytest.mark.req("HD-5.4")
async def test_an_attempt_to_end_the_run_is_let_off_twice_and_counts_then() -> None:
    liar = Says(CLOSED)

    outcome, lines = await logged(Stage({"worker": lambda: liar}, flow=retrying(1)))

    assert len(liar.asked) == 2 + 2, "twice for nothing, then as often as its retries say"
    assert (outcome.why, outcome.by) == (EndReason.ANSWERS_REFUSED, "ticketing")
    assert len(warned(lines, "termination.refused")) == 2


@pytest.mark.req("HD-5.4")
async def test_who_is_let_off_gets_no_more_time_for_it() -> None:
    left: list[float] = []

    class Late(Says):
        async def receive(self, message: Any, ctx: Any) -> Any:
            left.append(ctx.remaining_seconds())
            await stage.wait(6.0)
            return super().receive(message, ctx)

    class Timed(Stage):
        async def wait(self, seconds: float) -> None:
            over = asyncio.Event()
            self.clock.call_later(seconds, over.set)
            await over.wait()

    stage = Timed({"worker": lambda: Late(CLOSED, CLOSED, OBTAINED)}, flow=retrying(1))
    outcome = await stage.end()

    assert left == [20.0, 14.0, 8.0]
    assert (outcome.why, outcome.seconds) == (EndReason.COMPLETED, 18.0)


@pytest.mark.req("HD-5.4", "HD-6.5")
async def test_an_attempt_is_journalled_so_that_a_crash_lets_nobody_off_again() -> None:
    stage = Stage({"worker": lambda: Says(CLOSED, OBTAINED)})

    outcome = await stage.end()

    assert [type(each.event).__name__ for each in stage.notebook.entries if each.sender == "worker"] == [
        "TicketClosed", "ResolutionObtained",
    ]  # fmt: skip
    assert stage.replayed().handoffs == outcome.handoffs
    assert targets(outcome) == PLAIN


class Counting(Thinks):
    """Thinks as `Thinks` does, and remembers for whom."""

    @property
    def agents(self) -> list[str]:
        """Who thought, but who only reads what was thought."""
        return [each.agent for each in self.tasks if not isinstance(each.material, ReadingRequest)]


REQUESTS: dict[str, Any] = {
    "ticketing": m.TriageTicket(ticket_id="T-1", text=CASE.text, recalled=Recall("miss")),
    "worker": m.ResolveTicket(
        ticket_id="T-1", text=CASE.text, analysis=None, recalled=Recall("miss"), context="", degraded=""
    ),
    "summarization": m.SummarizeTicket(text=CASE.text, resolution=RESOLUTION, detail=""),
}


@pytest.mark.req("HD-6.5")
@pytest.mark.parametrize("role", REQUESTS)
async def test_who_has_finished_says_it_again_and_whose_answer_was_refused_thinks_anew(role: str) -> None:
    model = Counting()
    bus = LocalBus(helpdesk(model=model))
    request = REQUESTS[role]

    first = await bus.ask(role, request, within=1)
    assert await bus.ask(role, request, within=1) == first
    assert model.agents == [role]
    for n in (1, 2):
        refused = msgspec.structs.replace(request, refused=("Say it otherwise.",) * n)
        await bus.ask(role, refused, within=1)
        assert model.agents == [role] * (1 + n), "not from memory"
        thought = [each for each in model.tasks if not isinstance(each.material, ReadingRequest)]
        assert thought[-1].refused == ("Say it otherwise.",) * n, "the model is told why"
    bus.seal()


class Loses(Actor[Any]):
    """Finishes its task, and its answer does not arrive in time; asked again, it answers at once."""

    def __init__(self, inner: Actor[Any], event: str) -> None:
        self._inner, self._event = inner, event

    async def receive(self, message: Any, ctx: Context) -> Any:
        answer = await self._inner.receive(message, ctx)  # type: ignore[misc] # each of the helpdesk's waits
        if type(answer).__name__ == self._event:
            self._event = ""
            await asyncio.Event().wait()
        return answer


class Counts(Remembers):
    def __init__(self) -> None:
        super().__init__()
        self.keys: list[str] = []
        self.recalled = 0

    async def recall(self, text: str, *, within: float) -> Recall:
        self.recalled += 1
        return await super().recall(text, within=within)

    async def store(self, key: str, ticket_id: str, text: str, resolution: Any, degraded: str = "") -> None:
        self.keys.append(key)
        await super().store(key, ticket_id, text, resolution, degraded)


LOST = [
    ("memory", "ResolutionRecalled"), ("ticketing", "TicketAnalyzed"), ("worker", "ResolutionObtained"),
    ("memory", "ResolutionStored"), ("summarization", "SummaryCompleted"),
]  # fmt: skip


@pytest.mark.req("HD-6.5")
@pytest.mark.parametrize(("sender", "event"), LOST, ids=[event for _, event in LOST])
async def test_no_agent_does_again_what_it_finished_when_its_answer_was_lost(sender: str, event: str) -> None:
    model, memory = Counting(), Counts()
    inner = helpdesk(model=model, memory=memory)[sender]
    lost = Loses(inner(), event)

    outcome = await Stage({sender: lambda: lost}, model=model, memory=memory, flow=retrying(1)).end()

    assert outcome.why is EndReason.COMPLETED
    assert targets(outcome).count(sender) == PLAIN.count(sender) + 1, "it was asked again"
    assert model.agents == ["ticketing", "worker", "summarization"]
    assert (memory.recalled, memory.keys) == (1, ["R-1:store"])


@pytest.mark.req("HD-6.5")
async def test_a_run_stores_once_whoever_plays_memory() -> None:
    """As after a crash: the one who stored it is gone, and the key tells that it was done."""
    memory = Counts()
    request = m.StoreResolution(ticket_id="T-1", text=CASE.text, resolution=RESOLUTION)
    for _ in range(2):
        bus = LocalBus(helpdesk(memory=memory))
        assert await bus.ask("memory", request, within=1) == m.ResolutionStored()
        bus.seal()

    assert set(memory.keys) == {"R-1:store"}
    assert len(memory.stored) == 1


@pytest.mark.req("HD-6.5")
async def test_each_refused_answer_of_an_agent_is_thought_of_anew() -> None:
    class Wrong(Counting):
        """Analyses nothing: what it says has the wrong type, so it is refused."""

        async def fill(self, shape: type[Any], task: ModelRequest, *, within: float) -> Completion:
            self.tasks.append(task)
            return Completion(Analysis("incident", 42, "?")) if shape is Analysis else Completion(Summary("s"))  # type: ignore[arg-type]

    model = Wrong()
    outcome = await Stage(model=model, flow=retrying(1)).end()

    assert outcome.why is EndReason.ANSWERS_REFUSED
    assert model.agents == ["ticketing"] * 2
    assert model.tasks[1].refused


async def test_what_was_held_against_one_step_is_not_held_against_the_next() -> None:
    asked: list[tuple[str, ...]] = []

    class Hears(Thinks):
        async def fill(self, shape: type[Any], task: ModelRequest, *, within: float) -> Completion:
            if shape is not SecondReading:
                asked.append((task.agent, "\n".join(task.refused)))
            return await super().fill(shape, task, within=within)

    shared = Says(CLOSED, m.ResolutionRecalled(recalled=Recall("miss")), m.ResolutionStored())
    await Stage({"memory": lambda: shared}, model=Hears()).end()

    assert asked == [("ticketing", ""), ("worker", ""), ("summarization", "")]


class PassesTo(Counting):
    """A model that names these, one after another, and quotes when that alone is asked of it."""

    def __init__(self, *to: str | None, quotes: bool = True) -> None:
        super().__init__()
        self._to: Sequence[str | None] = to
        self._quotes = quotes
        self.drafts = 0

    async def fill(self, shape: type[Any], task: ModelRequest, *, within: float) -> Completion:
        if shape is not Draft:
            return await super().fill(shape, task, within=within)
        to = self._to[min(self.drafts, len(self._to) - 1)]
        self.drafts += 1
        if to is None or (task.quotes_only and self._quotes):
            return await super().fill(shape, task, within=within)
        self.tasks.append(task)
        return Completion(Draft(pass_on=HandoverRequest(to, "better")), task.findings.passages if task.findings else ())


IMPOSSIBLE = ["nobody", "worker", "ticketing", "memory", ORCHESTRATOR, "TERMINATE_WORKFLOW", "", "x" * 10_000]


@pytest.mark.parametrize("to", IMPOSSIBLE, ids=lambda to: to[:20] or "nothing")
async def test_a_handover_to_nobody_who_could_take_it_loses_no_ticket(to: str) -> None:
    model = PassesTo(to)

    outcome, lines = await logged(Stage(model=model))

    assert (outcome.why, targets(outcome)) == (EndReason.COMPLETED, PLAIN)
    assert outcome.resolution is not None
    assert outcome.resolution.citations == RESOLUTION.citations
    dropped = [each for each in lines if each["event"] == "handover.dropped"]
    assert [(each["agent"], each["log_level"], len(each["to"]) <= 100) for each in dropped] == [
        ("worker", "warning", True)
    ] * 2
    assert [each.choices for each in model.tasks[1:3]] == [(("to", tuple(sorted(TAKERS - {"worker"}))),), ()]
    assert f"You cannot pass this on to {to[:100]!r}. Answer it yourself" in "\n".join(model.tasks[2].refused)


async def test_a_model_that_learns_whom_it_may_name_passes_the_ticket_on() -> None:
    outcome = await Stage(model=PassesTo("networking", "network", None)).end()

    assert ("worker", "network") in [(each.source, each.target) for each in outcome.handoffs]
    assert (outcome.why, outcome.status) == (EndReason.COMPLETED, "resolved")


async def test_where_nothing_else_can_quote_it_is_an_honest_not_found() -> None:
    outcome = await Stage(model=PassesTo("nobody", quotes=False)).end()

    assert (outcome.why, outcome.status) == (EndReason.COMPLETED, "not_found")
    assert "VPN > Drops (kb/vpn.md)" in outcome.detail


async def test_an_agent_that_hands_over_to_nobody_is_told_to_whom_it_may() -> None:
    worker = Says(Handover(to="nobody", reason="please"), OBTAINED)

    outcome, lines = await logged(Stage({"worker": lambda: worker}))

    assert (outcome.why, outcome.resolution) == (EndReason.COMPLETED, RESOLUTION)
    said = f"worker cannot hand over to 'nobody', only to one of: {', '.join(sorted(TAKERS))}"
    assert worker.asked[1].refused == (said,)
    assert warned(lines, "handoff.repeated") == [("worker", f"asked again: {said}")]


@pytest.mark.parametrize("picked", ["worker", "", "network", "nobody", "x" * 1000])
async def test_a_worker_that_is_picked_but_unknown_is_warned_of(picked: str) -> None:
    analyzed = m.TicketAnalyzed(analysis=Analysis("other", "low", "?"), degraded="", assigned=picked)
    shared = Says(analyzed, CLOSED)

    outcome, lines = await logged(Stage({"ticketing": lambda: shared}))

    first = next(each.target for each in outcome.handoffs if each.reason == "ticket_analyzed")
    known = picked in WORKERS
    assert first == (picked if known else "worker")
    unknown = [name for name, _ in warned(lines, "pick.unknown")]
    assert [len(each) <= 500 for each in unknown] == ([] if known or not picked else [True])


async def test_the_least_that_may_be_configured_is_enough_for_a_plain_ticket() -> None:
    flow = configure(helpdesk_family.FAMILY, Settings(run=RunSettings(max_handoffs=11)))

    outcome = await Stage(flow=flow).end()

    assert (outcome.why, len(outcome.handoffs)) == (EndReason.COMPLETED, 11)
