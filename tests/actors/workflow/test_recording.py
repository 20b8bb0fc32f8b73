"""A journal that hangs or breaks at any of its calls, and an Orchestrator that breaks: the run ends all the same."""

import asyncio
import functools
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from actors.evidence.sources import FailedSource
from actors.helpdesk import messages as m
from actors.helpdesk.workflow import HELPDESK
from actors.ports import Entry, Recall
from actors.workflow.advance import replay
from actors.workflow.codec import decoder
from actors.workflow.orchestrator import NOTING_SECONDS, RECORDING_SECONDS
from actors.workflow.outcome import EndReason, Outcome, Spent
from actors.workflow.run_end import RunEnd, conclude
from actors.workflow.tables import CLOSING_SECONDS, ORCHESTRATOR, InvalidAnswer, Limits
from bus import Event
from runtime.engine.run import LiveRun
from tests.clock import Jumping, settle
from tests.fakes import CASE, OBTAINED, PLAIN, Notebook, Says, Stage, Thinks, helpdesk, targets

Then = Callable[[Exception | None], None]
CALLS = 6
"""What a plain ticket writes: five events, and the sixth with the end."""
FLOW = msgspec.structs.replace(HELPDESK, max_seconds=100.0, default_limits=Limits(within=20.0, retries=1))


class Faulty(Notebook):
    """Serves so many calls, then does something else with the next, or with all that follow, until it recovers."""

    def __init__(self, after: int, fault: str, *, once: bool) -> None:
        super().__init__()
        self.calls = 0
        self.sent: list[Entry] = []
        self._after, self._fault, self._once = after, fault, once
        self._held: list[Callable[[], None]] = []

    def record(self, entry: Entry, then: Then) -> None:
        self.sent.append(entry)
        if not self._faulty(then, functools.partial(super().record, entry, then)):
            super().record(entry, then)

    def finish(self, entry: Entry, outcome: Outcome, then: Then) -> None:
        self.sent.append(entry)
        if not self._faulty(then, functools.partial(super().finish, entry, outcome, then)):
            super().finish(entry, outcome, then)

    def keep(self, outcome: Outcome, events: int, then: Callable[[], None]) -> None:
        keeps = functools.partial(super().keep, outcome, events, then)
        self._held.append(keeps)  # behind all that hangs
        if self._once or self._fault != "hangs":
            then()

    def recover(self) -> None:
        """The disk does at last, in order, what was asked of it."""
        for act in self._held:
            act()

    def _faulty(self, then: Then, act: Callable[[], None]) -> bool:
        self.calls += 1
        if self.calls <= self._after or (self._once and self.calls > self._after + 1):
            return False
        if self._fault == "raises":
            raise OSError("disk full")
        if self._fault == "breaks":
            then(OSError("disk full"))
        else:
            self._held.append(act)
        return True


async def recovered(stage: Stage) -> Outcome:
    """What is read of a run once the disk is well again."""
    stage.notebook.recover()
    await settle()
    (end,) = stage.notebook.outcomes
    ending = RunEnd(end.why, end.by, end.seconds, end.spent, end.refused)
    return conclude("R-1", stage.flow, stage.replayed(), ending)


def decided(stage: Stage) -> float:
    """When the terminator was told to close, by what the journal was asked to hold."""
    sent = [(each.event, each.sender, each.number, each.at) for each in stage.notebook.sent]
    run, _ = replay(stage.flow, stage.case, sent)
    breaches = {(ORCHESTRATOR, EndReason.STEP_TIMED_OUT), (ORCHESTRATOR, EndReason.STEP_FAILED)}
    return next(each.at for each in run.handoffs if (each.source, each.reason) in breaches)


@pytest.mark.parametrize("after", range(CALLS))
@pytest.mark.parametrize("once", [True, False], ids=["once", "for ever"])
@pytest.mark.parametrize("fault", ["breaks", "raises"])
async def test_a_journal_that_breaks_ends_the_run_at_once(after: int, fault: str, *, once: bool) -> None:
    journal = Faulty(after, fault, once=once)
    stage = Stage(flow=FLOW, journal=journal)

    outcome = await stage.end()

    assert (outcome.why, outcome.by, outcome.status, outcome.seconds) == (EndReason.STORAGE_FAILED, "", "error", 0)
    assert targets(outcome) == PLAIN[: len(outcome.handoffs)]
    assert journal.calls == after + 1, "nothing follows from what is not recorded"
    assert len(journal.entries) == after
    assert await recovered(stage) == outcome, "what is told is what is stored"


@pytest.mark.parametrize("after", range(CALLS))
async def test_a_journal_that_hangs_for_ever_holds_no_run(after: int) -> None:
    stage = Stage(flow=FLOW, journal=Faulty(after, "hangs", once=False))

    outcome = await stage.end()

    assert outcome.status == "error"
    assert outcome.by == ""
    if after == CALLS - 1:  # at the very end: the terminator has spoken
        assert (outcome.why, outcome.seconds) == (EndReason.STORAGE_FAILED, CLOSING_SECONDS + RECORDING_SECONDS)
        assert outcome.resolution is not None
    else:
        assert outcome.why is EndReason.STEP_TIMED_OUT
        assert outcome.seconds - decided(stage) <= 2.0
    assert await recovered(stage) == outcome, "a commit that comes late changes nothing"


@pytest.mark.parametrize("after", range(CALLS))
async def test_a_journal_that_once_forgets_to_answer_costs_a_try(after: int) -> None:
    stage = Stage(flow=FLOW, journal=Faulty(after, "hangs", once=True))

    outcome = await stage.end()

    if after == CALLS - 1:
        assert outcome.why is EndReason.STORAGE_FAILED
    else:
        assert (outcome.why, outcome.status, outcome.seconds) == (EndReason.COMPLETED, "resolved", 20)


@pytest.mark.parametrize("after", range(CALLS + 1))
async def test_a_breach_is_over_in_two_seconds_even_if_the_journal_hangs_then(after: int) -> None:
    """The worst case: the terminator takes nearly all of its time, and then its word cannot be recorded."""
    journal = Faulty(after, "hangs", once=False)

    class SlowlyClosed:
        async def close(self, key: str, ticket_id: str, status: str, note: str) -> None:
            closed = asyncio.Event()
            stage.clock.call_later(CLOSING_SECONDS - 0.01, closed.set)
            await closed.wait()

    stage = Stage({"worker": lambda: Says(OSError("?"))}, flow=FLOW, journal=journal, tickets=SlowlyClosed())

    outcome = await stage.end()

    assert outcome.seconds - decided(stage) <= 2.0
    assert await recovered(stage) == outcome


async def test_an_event_that_is_lost_takes_with_it_what_was_recorded_after_it() -> None:
    """Two are being written at once, and only the first of them fails: the end rests on neither."""
    held: list[tuple[Entry, Then]] = []

    class Holds(Notebook):
        def record(self, entry: Entry, then: Then) -> None:
            held.append((entry, then))

    stage = Stage(journal=Holds())
    await settle()
    stage.live.cancel()
    await settle()
    (_, lost), (entry, then) = held

    lost(OSError("this record cannot be written"))
    Notebook.record(stage.notebook, entry, then)
    outcome = await stage.end()

    assert (outcome.why, targets(outcome)) == (EndReason.STORAGE_FAILED, PLAIN[:1])
    assert stage.notebook.entries == []
    assert stage.notebook.outcomes == [outcome]


async def test_an_end_that_cannot_be_recorded_is_told_when_it_is_noted() -> None:
    stage, noted = _full()
    await settle()
    assert not stage.live.is_over

    noted[0]()
    await settle()

    outcome = stage.live.outcome_so_far()
    assert outcome is not None
    assert (outcome.why, stage.clock.now) == (EndReason.STORAGE_FAILED, 0)


async def test_an_end_that_cannot_even_be_noted_is_told_all_the_same() -> None:
    stage, _ = _full()

    assert (await stage.end()).why is EndReason.STORAGE_FAILED
    assert stage.clock.now == NOTING_SECONDS


def _full() -> tuple[Stage, list[Callable[[], None]]]:
    """A run whose journal takes nothing, and what it would call once it has noted the end."""
    noted: list[Callable[[], None]] = []

    class Full(Notebook):
        def record(self, entry: Entry, then: Then) -> None:
            then(OSError("disk full"))

        def keep(self, outcome: Outcome, events: int, then: Callable[[], None]) -> None:
            noted.append(then)

    return Stage(journal=Full()), noted


HOSTILE = [10**30, -1, float("nan"), float("inf"), -(10**30), True]


@pytest.mark.parametrize("count", HOSTILE, ids=str)
async def test_whatever_was_counted_an_end_can_be_recorded_and_read_again(count: Any) -> None:
    spent = Spent(count, count, count)
    live = LiveRun("R-1", HELPDESK, CASE, helpdesk(), clock=Jumping(), journal=Notebook(), spent=lambda: spent)
    await settle()

    outcome = await live.outcome()

    assert outcome.why is EndReason.COMPLETED
    told = msgspec.json.decode(msgspec.json.encode(outcome), type=Outcome)
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(outcome), type=Outcome) == told == outcome
    assert 0 <= outcome.spent.tokens_in <= 2**53
    assert outcome.spent.estimated is (count is not True)


async def test_nothing_is_handed_out_before_the_journal_holds_it() -> None:
    said: list[str] = []

    class Slow(Notebook):
        def record(self, entry: Entry, then: Then) -> None:
            stage.clock.call_later(1.0, self._later, entry, then)

        def _later(self, entry: Entry, then: Then) -> None:
            said.append(type(entry.event).__name__)
            then(None)

    class Notes(Thinks):
        async def fill(self, shape: type[Any], task: Any, *, within: float) -> Any:
            said.append(task.agent)
            return await super().fill(shape, task, within=within)

    stage = Stage(model=Notes(), journal=Slow())

    outcome = await stage.end()

    assert outcome.why is EndReason.COMPLETED
    assert said == [
        "ResolutionRecalled", "ticketing", "TicketAnalyzed", "worker", "worker", "ResolutionObtained",
        "ResolutionStored", "summarization", "SummaryCompleted",
    ]  # fmt: skip


async def test_a_handoff_that_was_overtaken_while_it_was_recorded_is_not_made() -> None:
    held: list[Then] = []

    class Holds(Notebook):
        def record(self, entry: Entry, then: Then) -> None:
            held.append(then)

    ticketing = Says(m.TicketClosed(status="cancelled", resolution=None))
    stage = Stage({"ticketing": lambda: ticketing}, journal=Holds())
    await settle()
    stage.live.cancel()
    await settle()

    for then in held:
        then(None)
    outcome = await stage.end()

    assert outcome.why is EndReason.CANCELLED
    assert [type(each).__name__ for each in ticketing.asked] == ["CloseTicket"], "the analysis is of no use any more"


async def test_the_end_is_not_told_before_the_journal_holds_it() -> None:
    held: list[Then] = []

    class Holds(Notebook):
        def finish(self, entry: Entry, outcome: Outcome, then: Then) -> None:
            held.append(then)

    stage = Stage(journal=Holds())
    await settle()
    assert not stage.live.is_over
    assert stage.tickets.closed

    held[0](None)
    assert (await stage.end()).why is EndReason.COMPLETED


async def test_the_journal_rebuilds_the_run_with_its_limits() -> None:
    stage = Stage({"worker": lambda: Says(OSError("once"), OBTAINED)})

    outcome = await stage.end()

    again = stage.replayed()
    assert (again.handoffs, again.case.resolution) == (outcome.handoffs, outcome.resolution)
    assert again.state == HELPDESK.final
    assert stage.replayed() == again


class Surprise(Event, frozen=True):
    surprise: str


def unverified() -> Any:
    """A table that `verify` refuses: it puts a fact into the case that the case does not have."""
    first = msgspec.structs.replace(HELPDESK.steps["resolution_obtained"], then={Surprise: "resolution_stored"})
    return msgspec.structs.replace(HELPDESK, steps={**HELPDESK.steps, "resolution_obtained": first})


async def test_a_run_ends_even_when_its_orchestrator_breaks_and_its_sequence_is_kept() -> None:
    shared = Says(m.ResolutionRecalled(recalled=Recall("miss")), Surprise(surprise="!"))
    stage = Stage({"memory": lambda: shared}, flow=unverified())
    await settle()

    outcome = await stage.live.outcome()

    assert (outcome.why, outcome.by, outcome.status) == (EndReason.ORCHESTRATOR_FAILED, "", "error")
    assert targets(outcome) == PLAIN[:7]
    assert [each.why for each in stage.notebook.outcomes] == [EndReason.ORCHESTRATOR_FAILED]


async def test_counting_what_was_spent_cannot_keep_a_run_from_its_end() -> None:
    def breaks() -> Spent:
        raise ZeroDivisionError

    live = LiveRun("R-1", HELPDESK, CASE, helpdesk(), clock=Jumping(), journal=Notebook(), spent=breaks)
    await settle()

    assert (await live.outcome()).why is EndReason.COMPLETED


async def test_an_orchestrator_that_breaks_with_its_journal_still_ends() -> None:
    shared = Says(m.ResolutionRecalled(recalled=Recall("miss")), Surprise(surprise="!"))
    stage = Stage({"memory": lambda: shared}, flow=unverified(), journal=Faulty(3, "raises", once=False))
    await settle()

    outcome = await stage.live.outcome()

    assert outcome.why is EndReason.ORCHESTRATOR_FAILED


def test_a_journal_that_was_written_before_a_type_was_renamed_is_read() -> None:
    answer = msgspec.msgpack.encode({"type": "NoAnswer", "what": "a poem"})
    failed = {"type": "Missed", "place": "rss", "reason": "source_failed", "detail": "It is down."}

    assert decoder(HELPDESK).decode(answer) == InvalidAnswer("a poem")
    assert msgspec.convert(failed, FailedSource) == FailedSource("rss", "source_failed", "It is down.")
