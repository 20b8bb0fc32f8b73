"""What a run says of itself: to its log, to those who watch it, and again to those who come later."""

import logging
from collections.abc import Sequence

import structlog
from structlog.typing import FilteringBoundLogger

from actors.workflow.outcome import (
    AnswerReady,
    AnswerRefused,
    EndReason,
    Handoff,
    HandoffMade,
    Outcome,
    RunBegan,
    RunEnded,
    RunEvent,
)
from actors.workflow.run_end import log_end, state_after
from actors.workflow.tables import Run, Workflow
from actors.workflow.transitions import HandoffWarning
from bus import Context


class Broadcast:
    """One per run. Each handoff is published once, also when several follow from one message or from none."""

    __slots__ = ("_answered", "_bound", "_flow", "_informs", "_made", "_ticket", "_unbound", "run")

    def __init__(self, run: str, ticket: str, flow: Workflow, made: int, log: FilteringBoundLogger | None) -> None:
        """
        :param ticket: as logs name it.
        :param made: handoffs that the process before published, of a run that is resumed.
        :param log: a bound logger, so that not every run makes its own.
        """
        self.run = run
        self._ticket = ticket
        self._flow = flow
        self._made = made
        self._answered: int | None = None
        """After which handoff the answer was told."""
        self._unbound = log or structlog.get_logger().bind()
        self._informs = self._unbound.is_enabled_for(logging.INFO)
        self._bound: FilteringBoundLogger | None = None

    @property
    def log(self) -> FilteringBoundLogger:
        if self._bound is None:  # most runs have nothing to say above INFO
            self._bound = self._unbound.bind(workflow=self._flow.name, run=self.run, ticket=self._ticket)
        return self._bound

    def begin(self, run: Run, ctx: Context) -> None:
        if self._informs:
            self.log.info("workflow.started", agent=run.handoffs[0].target)
        if ctx.has_watchers:
            ctx.publish(_begin(self.run, run.case.ticket_id, self._flow.name, run.handoffs, run.case.language))

    def so_far(self, run: Run) -> list[RunEvent]:
        """What a watcher from the beginning would have heard."""
        made = run.handoffs[: self._made + 1]  # the one behind the last that was published says where that led
        ticket, language = run.case.ticket_id, run.case.language
        events = _list_events(self.run, ticket, self._flow.name, made, self._flow.first, language)[: self._made + 1]
        if self._answered is not None and (answer := run.case.resolution) is not None:
            events.insert(self._answered + 1, AnswerReady(resolution=answer))
        return events

    def publish(self, handoffs: Sequence[Handoff], number: int, ctx: Context) -> None:
        """Log and show every handoff up to this one that was not: the answer, and what it led to."""
        first = self._made + 1
        if number >= first:
            self._made = number
        if not self._informs and not ctx.has_watchers:
            return
        for n in range(first, number + 1):
            made = handoffs[n - 1]
            if self._informs:
                marked = {"marker": made.marker} if made.marker else {}
                self.log.info(
                    "handoff.made", number=n, source=made.source, target=made.target, reason=made.reason, **marked
                )
            if ctx.has_watchers:
                ctx.publish(_show(handoffs, n, self._flow.first))

    def announce(self, run: Run, ctx: Context) -> None:
        """Show the answer once, as soon as there is one."""
        if self._answered is not None or run.case.resolution is None:
            return
        self._answered = self._made
        if ctx.has_watchers:
            ctx.publish(AnswerReady(resolution=run.case.resolution))

    def warn(self, warnings: tuple[HandoffWarning, ...]) -> None:
        for each in warnings:
            self.log.warning(each.event, target=each.target, reason=each.reason)

    def refuse(self, reason: str, ctx: Context) -> None:
        self.log.warning("message.refused", sender=ctx.sender, number=ctx.number, reason=reason)
        if ctx.has_watchers:
            ctx.publish(AnswerRefused(sender=ctx.sender, reason=reason))

    def end(self, outcome: Outcome, ctx: Context) -> None:
        self.publish(outcome.handoffs, len(outcome.handoffs), ctx)
        if self._informs or outcome.why is not EndReason.COMPLETED:
            log_end(self.log, outcome)
        if ctx.has_watchers:
            ctx.publish(RunEnded(outcome=outcome))


def list_past(outcome: Outcome) -> list[RunEvent]:
    """What a watcher of a run that is over heard before its end, without the answer that was ready by then."""
    return _list_events(
        outcome.run, outcome.ticket, outcome.workflow, outcome.handoffs, outcome.state, outcome.language
    )


def list_made(run_id: str, flow: Workflow, run: Run) -> list[RunEvent]:
    """What a watcher of a run that has come so far heard of its handoffs."""
    case = run.case
    return _list_events(run_id, case.ticket_id, flow.name, run.handoffs, flow.first, case.language)


def _list_events(
    run: str, ticket: str, workflow: str, handoffs: Sequence[Handoff], first: str, language: str
) -> list[RunEvent]:
    if not handoffs:
        return []
    made = (_show(handoffs, number, first) for number in range(1, len(handoffs) + 1))
    return [_begin(run, ticket, workflow, handoffs, language), *made]


def _begin(run: str, ticket: str, workflow: str, handoffs: Sequence[Handoff], language: str) -> RunBegan:
    return RunBegan(run=run, ticket=ticket, workflow=workflow, agent=handoffs[0].target, language=language)


def _show(handoffs: Sequence[Handoff], number: int, first: str) -> HandoffMade:
    made = handoffs[number - 1]
    return HandoffMade(
        number=number, source=made.source, target=made.target, reason=made.reason,
        state=state_after(handoffs, number, first), seconds=made.at, marker=made.marker,
    )  # fmt: skip
