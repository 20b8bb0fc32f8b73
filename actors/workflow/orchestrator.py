"""The Orchestrator: owns the state of one run and carries out what `advance` decides."""

import math
from collections.abc import Callable
from typing import TypeVar, assert_never

from msgspec.structs import replace
from structlog.typing import FilteringBoundLogger

from actors.ports import Entry, Journal
from actors.workflow.advance import advance, begin, next_due
from actors.workflow.broadcast import Broadcast
from actors.workflow.codec import validate_event
from actors.workflow.outcome import Child, EndReason, Outcome, RunEvent, Spent
from actors.workflow.run_end import RunEnd, conclude, limit_spending
from actors.workflow.tables import (
    CLOSING_SECONDS,
    ORCHESTRATOR,
    Case,
    NotDelivered,
    PendingHandoff,
    Run,
    RunStarted,
    TimeUp,
    Workflow,
)
from actors.workflow.transitions import (
    HandOff,
    JournalTimedOut,
    Recorded,
    Refuse,
    RequestPartial,
    Terminate,
    Verdict,
    Wait,
    make_request,
)
from bus import Actor, BusError, Clock, Context, Event, Timer


class Recording:
    """The journal of one run, as its Orchestrator writes it."""

    __slots__ = ("_journal", "_sent", "durable", "events")

    def __init__(self, journal: Journal, run: Run, events: int) -> None:
        """:param events: how many of them the journal holds, which led to `run`."""
        self._journal = journal
        self._sent = events
        self.durable = run
        """The run as its recorded events tell it."""
        self.events = events
        """How many those are."""

    def number(self) -> int:
        """Of the next event."""
        self._sent += 1
        return self._sent

    def record(self, entry: Entry, run: Run, final: Outcome | None, then: Callable[[Exception | None], None]) -> None:
        """
        Make one event durable, together with the end if it led there; then say how it went.

        :param run: what it led to.
        """

        def on_written(error: Exception | None) -> None:
            if error is None and self.events == entry.n - 1:  # what follows a lost one does not count
                self.durable, self.events = run, entry.n
            then(error)

        try:
            if final is None:
                self._journal.record(entry, on_written)
            else:
                self._journal.finish(entry, final, on_written)
        except Exception as error:
            then(error)

    def keep(self, outcome: Outcome, then: Callable[[], None]) -> None:
        """Have the end of what is durable kept until it is recorded; then say that it is safe."""
        try:
            self._journal.keep(outcome, self.events, then)
        except Exception:  # the end itself must not depend on what has failed already
            then()


T = TypeVar("T")
Ended = Callable[[Outcome], None]

RECORDING_SECONDS = 0.4
"""How long recording the end may take beyond the terminator's time; together they are less than 2 s."""
NOTING_SECONDS = 0.05
"""How long an end that cannot be recorded waits until it is at least noted where no crash loses it."""


def _said_already(outcome: Outcome) -> None:
    """Stands for whoever was told of the end: kept, it would make a cycle of every run."""


class Orchestrator(Actor[Event]):
    """Mailbox: RunStarted or RunResumed once, then the cast's events, RunStopped, TimeUp, NotDelivered, Recorded."""

    __slots__ = (
        "_alarm", "_alarm_due", "_broadcast", "_children", "_clock", "_ended", "_final", "_flow", "_over", "_recording",
        "_refused", "_run", "_sealed", "_spent", "_started", "id",
    )  # fmt: skip

    def __init__(
        self, run_id: str, flow: Workflow, run: Run | Case, ended: Ended, clock: Clock,
        *, journal: Journal | None = None, spent: Callable[[], Spent] = Spent, elapsed: float = 0.0, inputs: int = 0,
        children: Callable[[], tuple[Child, ...]] = tuple, ticket: str = "", log: FilteringBoundLogger | None = None,
    ) -> None:  # fmt: skip
        """
        :param run: the case of a new run, or the run that a journal was replayed to
        :param children: the runs within this one, as they stand
        :param ticket: as logs name it; of a run within a run its case has another id
        :param elapsed: seconds since the run began, when it is resumed
        :param inputs: entries of it that the journal holds
        :param log: a bound logger, so that not every run makes its own
        """
        self.id = run_id
        self._flow = flow
        self._run = run if isinstance(run, Run) else Run(flow.first, run)
        self._ended = ended
        self._clock = clock
        self._recording = Recording(journal, self._run, inputs) if journal is not None else None
        self._spent = spent
        self._children = children
        self._started = clock.time() - elapsed
        self._refused = 0
        self._over = False
        self._sealed = False
        """Its end is decided and announced without waiting for the disk any more."""
        self._final: Outcome | None = None
        """The one outcome: what the caller gets is what is recorded."""
        self._alarm: Timer | None = None
        self._alarm_due = 0.0
        self._broadcast = Broadcast(run_id, ticket or self._run.case.ticket_id, flow, len(self._run.handoffs), log)

    @property
    def _log(self) -> FilteringBoundLogger:
        return self._broadcast.log

    def receive(self, message: Event, ctx: Context) -> None:
        kind, itself = type(message), ctx.sender == ORCHESTRATOR
        if kind is Recorded and itself:
            self._on_recorded(message, ctx)  # type: ignore[arg-type] # `kind` was checked, which is cheaper than a match
        elif kind is JournalTimedOut and itself:
            self._end_late(ctx)
        elif itself or not ctx.sender:
            self._move(message, ctx)
        else:
            self._move(validate_event(self._flow, message), ctx)

    def _move(self, message: Event, ctx: Context) -> None:
        kind, elapsed, before = type(message), self._elapsed(), self._run
        due = next_due(self._flow, before) if before.breach else elapsed + CLOSING_SECONDS
        if kind is TimeUp:
            self._alarm = None
        if kind is RunStarted and not self._run.handoffs:
            self._run, verdict = begin(self._flow, self._run.case)
        else:
            self._run, verdict = advance(
                self._flow, self._run, message, sender=ctx.sender, number=ctx.number, elapsed=elapsed
            )
        if not before.handoffs and self._run.handoffs:
            self._broadcast.begin(self._run, ctx)
        for opened in before.open:
            if opened.role != ctx.sender and self._pending(opened.number) is None:
                ctx.interrupt(opened.role)  # its answer is not waited for any more
        if type(verdict) is Refuse:
            self._refuse(message, verdict.reason, ctx)
        elif self._recording is None:
            self._carry_out(verdict, ctx)
        else:
            self._record(self._recording, message, verdict, elapsed, due, ctx)
        if not self._over:
            self._set_alarm(ctx)

    def _pending(self, number: int) -> PendingHandoff | None:
        for opened in self._run.open:  # not `next`, which costs four times as much for the one that there usually is
            if opened.number == number:
                return opened
        return None

    @property
    def where(self) -> Run:
        """The run's state as it is now: what led to it may not be journalled yet."""
        return self._run

    def _elapsed(self) -> float:
        """Seconds since the run began, to the microsecond, so that it is the same by a clock that began elsewhere."""
        return round(self._clock.time() - self._started, 6)

    def _outcome(self, why: EndReason, by: str, seconds: float) -> Outcome:
        """The end of this run, if this is it."""
        spent = self._try("spent.unknown", lambda: limit_spending(self._spent()), Spent(estimated=True))
        children = self._try("children.unknown", self._children, tuple[Child, ...]())
        return conclude(self.id, self._flow, self._run, RunEnd(why, by, seconds, spent, self._refused), children)

    def _try(self, event: str, call: Callable[[], T], otherwise: T) -> T:
        """What cannot be counted must not keep a run from its end."""
        try:
            return call()
        except Exception as error:
            self._log.error(event, error=repr(error))
            return otherwise

    def so_far(self) -> list[RunEvent]:
        """The events that a watcher from the beginning would have received."""
        return self._broadcast.so_far(self._run)

    def _record(
        self, recording: Recording, event: Event, verdict: Verdict, elapsed: float, due: float, ctx: Context
    ) -> None:
        """
        Make the event durable before anything follows from it.

        :param due: when the terminator's time is over, in seconds since the run began.
        """
        if type(event) is RunStarted:
            recording.durable = self._run
            self._carry_out(verdict, ctx)
            return
        entry = Entry(self.id, recording.number(), elapsed, ctx.sender, ctx.number, event)
        tell_self, final = ctx.tell_self, None

        def then(error: Exception | None) -> None:
            if not self._over:
                tell_self(Recorded(verdict=verdict, error=error))

        if type(verdict) is Terminate:
            final = self._final = self._outcome(verdict.why, verdict.by, elapsed)
            grace = max(0.0, due - elapsed) if verdict.by else 0.0  # without the terminator, it was over already
            self._end_within(grace + RECORDING_SECONDS, ctx)
        recording.record(entry, self._run, final, then)

    def _on_recorded(self, message: Recorded, ctx: Context) -> None:
        if self._sealed:
            return
        if message.error is None:
            self._carry_out(message.verdict, ctx)
            return
        self._log.error("journal.failed", error=repr(message.error))
        self._end_within(NOTING_SECONDS, ctx)
        self._seal(EndReason.STORAGE_FAILED, ctx.tell_self)

    def _end_late(self, ctx: Context) -> None:
        if not self._sealed:
            self._log.error("journal.silent", reason="the end is not recorded yet")
            sealed = self._final is not None and not self._final.by
            self._seal(self._final.why if self._final and sealed else EndReason.STORAGE_FAILED)
        self._end(ctx)

    def _end_within(self, seconds: float, ctx: Context) -> None:
        """Whatever the disk does, whoever waits for the answer gets it by then."""
        if self._alarm is not None:
            self._alarm.cancel()
        self._alarm = ctx.schedule(seconds, JournalTimedOut())
        self._alarm_due = -math.inf  # no bound of the run comes before it

    def _seal(self, why: EndReason, tell_self: Callable[[Event], None] | None = None) -> None:
        """Decide the end by what is durable, and have it kept; `tell_self` says when it is."""

        def then() -> None:
            if tell_self is not None and not self._over:
                tell_self(JournalTimedOut())

        self._sealed = True
        if self._recording is not None:
            self._run = self._recording.durable
        outcome = self._final = self._outcome(why, "", self._elapsed())
        self._run = replace(self._run, state=self._flow.final, open=())
        if self._recording is not None:
            self._recording.keep(outcome, then)

    def fail(self) -> Outcome:
        """The end of a run whose Orchestrator broke."""
        if self._final is None or not (self._over or self._sealed):
            self._seal(EndReason.ORCHESTRATOR_FAILED)
        self._over = True
        assert self._final is not None  # noqa: S101 - sealing made it
        return self._final

    def _carry_out(self, verdict: Verdict, ctx: Context) -> None:
        if type(verdict) is HandOff:  # nearly always, and cheaper than a match
            self._hand_out(verdict, ctx)
            return
        match verdict:
            case HandOff() | Refuse():
                """The one is done above, the other was logged."""
            case RequestPartial():
                self._log.info("workflow.cancelling", seconds=self._flow.cancel_seconds)
                ctx.request_stop()
            case Wait(made=made):
                self._broadcast.publish(self._run.handoffs, made, ctx)
            case Terminate(why=why, by=by):
                self._final = self._final or self._outcome(why, by, self._elapsed())
                self._end(ctx)
            case _:
                assert_never(verdict)

    def _hand_out(self, verdict: HandOff, ctx: Context) -> None:
        if verdict.warnings:
            self._broadcast.warn(verdict.warnings)
        self._broadcast.publish(self._run.handoffs, verdict.numbers[-1], ctx)
        self._broadcast.announce(self._run, ctx)
        for number in verdict.numbers:
            opened = self._pending(number)
            if opened is None:
                continue  # overtaken while it was being recorded
            request, until = make_request(self._flow, self._run, opened), self._started + opened.due
            try:
                # Urgent: what the agent may still be doing was asked for earlier, and nobody waits for it any more.
                ctx.tell(opened.role, request, number=number, urgent=True, until=until)
            except BusError as error:
                ctx.tell_self(NotDelivered(handoff=number, error=str(error)))

    def _refuse(self, event: Event, reason: str, ctx: Context) -> None:
        if isinstance(event, TimeUp):
            return  # the clock rang a little early
        self._refused += 1
        self._broadcast.refuse(reason, ctx)

    def _set_alarm(self, ctx: Context) -> None:
        """One timer a run: it rings when the next bound is reached, and is set anew then."""
        due = next_due(self._flow, self._run)
        if self._alarm is not None:
            if due >= self._alarm_due:
                return
            self._alarm.cancel()
            self._alarm = None
        if due < math.inf:
            self._alarm_due = due
            self._alarm = ctx.schedule(max(0.0, due - (self._clock.time() - self._started)), TimeUp())

    def _end(self, ctx: Context) -> None:
        outcome = self._final
        if self._over or outcome is None:
            return
        self._over = True
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None
        self._broadcast.end(outcome, ctx)
        ended, self._ended = self._ended, _said_already
        ended(outcome)
