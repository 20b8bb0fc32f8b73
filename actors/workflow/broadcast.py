"""What a run tells while it goes on: to its log, and to those who watch it."""

import logging
from collections.abc import Sequence

import structlog
from structlog.typing import FilteringBoundLogger

from actors.workflow.history import as_shown, began
from actors.workflow.outcome import AnswerRefused, EndReason, Handoff, Outcome, RunEnded, RunEvent
from actors.workflow.run_end import log_end
from actors.workflow.tables import Run
from actors.workflow.verdicts import Warned
from bus import Context


class Broadcast:
    """One per run. Each handoff is told once, also when several follow from one message or from none."""

    __slots__ = ("_bound", "_first", "_informs", "_ticket", "_told", "_unbound", "_workflow", "run")

    def __init__(
        self, run: str, ticket: str, workflow: str, first: str, *, made: int, log: FilteringBoundLogger | None
    ) -> None:
        """
        :param ticket: as logs name it.
        :param first: the state that its workflow begins in.
        :param made: handoffs that were told by the process before, of a run that is resumed.
        :param log: a bound one, which spares each of many runs the making of it.
        """
        self.run = run
        self._ticket = ticket
        self._workflow = workflow
        self._first = first
        self._told = made
        self._unbound = log or structlog.get_logger().bind()
        self._informs = self._unbound.is_enabled_for(logging.INFO)
        self._bound: FilteringBoundLogger | None = None

    @property
    def log(self) -> FilteringBoundLogger:
        if self._bound is None:  # most runs have nothing to say above INFO
            self._bound = self._unbound.bind(workflow=self._workflow, run=self.run, ticket=self._ticket)
        return self._bound

    def begin(self, run: Run, ctx: Context) -> None:
        if self._informs:
            self.log.info("workflow.started", agent=run.handoffs[0].target)
        if ctx.has_watchers:
            ctx.publish(began(self.run, run.case.ticket_id, self._workflow, run.handoffs))

    def so_far(self, run: Run) -> list[RunEvent]:
        """What a watcher from the beginning would have heard."""
        if not run.handoffs:
            return []
        made = (as_shown(run.handoffs, number, self._first) for number in range(1, self._told + 1))
        return [began(self.run, run.case.ticket_id, self._workflow, run.handoffs), *made]

    def handoffs(self, handoffs: Sequence[Handoff], number: int, ctx: Context) -> None:
        """Log and show every handoff up to this one that was not: the answer, and what it led to."""
        first = self._told + 1
        if number >= first:
            self._told = number
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
                ctx.publish(as_shown(handoffs, n, self._first))

    def warn(self, warnings: tuple[Warned, ...]) -> None:
        for each in warnings:
            self.log.warning(each.event, target=each.target, reason=each.reason)

    def refuse(self, reason: str, ctx: Context) -> None:
        self.log.warning("message.refused", sender=ctx.sender, number=ctx.number, reason=reason)
        if ctx.has_watchers:
            ctx.publish(AnswerRefused(sender=ctx.sender, reason=reason))

    def end(self, outcome: Outcome, ctx: Context) -> None:
        self.handoffs(outcome.handoffs, len(outcome.handoffs), ctx)
        if self._informs or outcome.why is not EndReason.COMPLETED:
            log_end(self.log, outcome)
        if ctx.has_watchers:
            ctx.publish(RunEnded(outcome=outcome))
