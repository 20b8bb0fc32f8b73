"""The Orchestrator: owns the state of one run and carries out what `advance` decides."""

import math
from collections.abc import Callable
from typing import assert_never

from msgspec.structs import replace
from structlog.typing import FilteringBoundLogger

from actors.ports import Entry, Journal
from actors.workflow.advance import advance, begin, next_due
from actors.workflow.broadcast import Broadcast
from actors.workflow.codec import validate_event
from actors.workflow.outcome import Child, EndReason, Outcome, RunEvent, Spent
from actors.workflow.recording import Recording
from actors.workflow.run_end import RunEnd, conclude, limit_spending
from actors.workflow.tables import CLOSING_SECONDS, Case, NotDelivered, Run, RunStarted, TimeUp, Workflow
from actors.workflow.verdicts import (
    HandOff,
    HandOffs,
    JournalTimedOut,
    Recorded,
    Refuse,
    RequestPartial,
    Terminate,
    Verdict,
    Wait,
)
from bus import Actor, BusError, Clock, Context, Event, Timer

Ended = Callable[[Outcome], None]

RECORDING_SECONDS = 0.4
"""What the end may take to be recorded beyond the time that the terminator has: with it, less than 2 s."""
NOTING_SECONDS = 0.05
"""What is waited for once it cannot be recorded, until it is at least noted where no crash loses it."""


class Orchestrator(Actor[Event]):
    """Mailbox: RunStarted or RunResumed once, then the cast's events, RunStopped, TimeUp, NotDelivered, Recorded."""

    __slots__ = (
        "_alarm", "_alarm_due", "_children", "_clock", "_ended", "_final", "_flow", "_over", "_recording", "_refused",
        "_run", "_sealed", "_spent", "_started", "_telling", "id",
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
        :param log: a bound one, which spares each of many runs the making of it
        """
        self.id = run_id
        self._flow = flow
        self._run = run if isinstance(run, Run) else Run(next(iter(flow.steps)), run)
        self._ended = ended
        self._clock = clock
        self._recording = Recording(journal, self._run, inputs) if journal is not None else None
        self._spent = spent
        self._children = children
        self._started = clock.time() - elapsed
        self._refused = 0
        self._over = False
        self._sealed = False
        """Its end is decided, and is told without waiting for the disk any more."""
        self._final: Outcome | None = None
        """The one end: what is told is what is recorded."""
        self._alarm: Timer | None = None
        self._alarm_due = 0.0
        self._telling = Broadcast(
            run_id, ticket or self._run.case.ticket_id, flow.name, next(iter(flow.steps)),
            made=len(self._run.handoffs), log=log,
        )  # fmt: skip

    @property
    def _log(self) -> FilteringBoundLogger:
        return self._telling.log

    def receive(self, message: Event, ctx: Context) -> None:
        kind, itself = type(message), ctx.sender == ctx.address
        if kind is Recorded and itself:
            self._recorded(message, ctx)  # type: ignore[arg-type] # told by `kind`, which is cheaper than a match
        elif kind is JournalTimedOut and itself:
            self._late_end(ctx)
        elif itself or not ctx.sender:
            self._move(message, ctx)
        else:
            self._move(validate_event(self._flow, message), ctx)

    def _move(self, message: Event, ctx: Context) -> None:
        kind, elapsed, before = type(message), self._clock.time() - self._started, self._run
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
            self._telling.begin(self._run, ctx)
        self._take_back(before, ctx)
        self._settle(message, verdict, elapsed, due, ctx)
        if not self._over:
            self._set_alarm(ctx)

    def _take_back(self, before: Run, ctx: Context) -> None:
        """Interrupt those whose answer is not waited for any more."""
        for opened in before.open:
            if opened.role != ctx.sender and not self._waits_for(opened.number):
                ctx.interrupt(opened.role)

    def _waits_for(self, number: int) -> bool:
        for opened in self._run.open:  # noqa: SIM110 - `any` costs four times as much for the one that there usually is
            if opened.number == number:
                return True
        return False

    @property
    def where(self) -> Run:
        """The run's state as it is now: what led to it may not be journalled yet."""
        return self._run

    def _outcome(self, why: EndReason, by: str) -> Outcome:
        """The end of this run, if this is it."""
        seconds = self._clock.time() - self._started
        ending = RunEnd(why, by, seconds, self._cost(), self._refused)
        return conclude(self.id, self._flow, self._run, ending, self._below())

    def _cost(self) -> Spent:
        try:
            return limit_spending(self._spent())
        except Exception as error:  # counting must not keep a run from its end
            self._log.error("spent.unknown", error=repr(error))
            return Spent(estimated=True)

    def _below(self) -> tuple[Child, ...]:
        try:
            return self._children()
        except Exception as error:  # nor must this
            self._log.error("children.unknown", error=repr(error))
            return ()

    def so_far(self) -> list[RunEvent]:
        """What a watcher from the beginning would have heard."""
        return self._telling.so_far(self._run)

    def _settle(self, event: Event, verdict: Verdict, elapsed: float, due: float, ctx: Context) -> None:
        """Record the event before anything follows from it; a refused one leaves only a line in the log."""
        if type(verdict) is Refuse:
            self._refuse(event, verdict.reason, ctx)
        elif self._recording is None:
            self._carry_out(verdict, ctx)
        elif type(event) is RunStarted:
            self._recording.durable = self._run
            self._carry_out(verdict, ctx)
        else:
            entry = Entry(self.id, self._recording.number(), elapsed, ctx.sender, ctx.number, event)
            self._record(self._recording, entry, verdict, due, ctx)

    def _record(self, recording: Recording, entry: Entry, verdict: Verdict, due: float, ctx: Context) -> None:
        tell_self, final = ctx.tell_self, None

        def then(error: Exception | None) -> None:
            if not self._over:
                tell_self(Recorded(verdict=verdict, error=error))

        if type(verdict) is Terminate:
            final = self._final = self._outcome(verdict.why, verdict.by)
            grace = max(0.0, due - entry.at) if verdict.by else 0.0  # without the terminator, it was over already
            self._end_within(grace + RECORDING_SECONDS, ctx)
        recording.record(entry, self._run, final, then)

    def _recorded(self, message: Recorded, ctx: Context) -> None:
        if self._sealed:
            return
        if message.error is None:
            self._carry_out(message.verdict, ctx)
            return
        self._log.error("journal.failed", error=repr(message.error))
        self._end_within(NOTING_SECONDS, ctx)
        self._seal(EndReason.STORAGE_FAILED, ctx.tell_self)

    def _late_end(self, ctx: Context) -> None:
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

    def _seal(self, why: EndReason, notify: Callable[[Event], None] | None = None) -> None:
        """Decide the end by what is durable, and have it kept; `notify` hears when it is."""

        def then() -> None:
            if notify is not None and not self._over:
                notify(JournalTimedOut())

        self._sealed = True
        if self._recording is not None:
            self._run = self._recording.durable
        outcome = self._final = self._outcome(why, "")
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
            case HandOff():
                self._hand_out(verdict, ctx)
            case HandOffs(each=each, warnings=warnings):
                self._telling.warn(warnings)
                for handoff in each:
                    self._hand_out(handoff, ctx)
            case RequestPartial():
                self._log.info("workflow.cancelling", seconds=self._flow.cancel_seconds)
                ctx.request_stop()
            case Wait(made=made):
                self._telling.handoffs(self._run.handoffs, made, ctx)
            case Refuse():
                pass
            case Terminate(why=why, by=by):
                self._final = self._final or self._outcome(why, by)
                self._end(ctx)
            case _:
                assert_never(verdict)

    def _hand_out(self, verdict: HandOff, ctx: Context) -> None:
        if verdict.warnings:
            self._telling.warn(verdict.warnings)
        self._telling.handoffs(self._run.handoffs, verdict.number, ctx)
        if not self._waits_for(verdict.number):
            return  # overtaken while it was being recorded
        try:
            # Urgent: what the agent may still be doing was asked for earlier, and nobody waits for it any more.
            ctx.tell(
                verdict.target,
                verdict.request,
                number=verdict.number,
                urgent=True,
                until=self._clock.time() + verdict.within,
            )
        except BusError as error:
            ctx.tell_self(NotDelivered(handoff=verdict.number, error=str(error)))

    def _refuse(self, event: Event, reason: str, ctx: Context) -> None:
        if isinstance(event, TimeUp):
            return  # the clock rang a little early
        self._refused += 1
        self._telling.refuse(reason, ctx)

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
        self._telling.end(outcome, ctx)
        self._ended(outcome)
