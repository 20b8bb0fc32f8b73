"""A role that is played by a whole run: a child with its own bus, Orchestrator and handoff counter."""

from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from actors.outcome import Outcome, Progress
from actors.workflow import Run, Workflow
from bus import Actor, Context, Event, Message, Request
from runtime.run import LiveRun

Open = Callable[[str, Workflow, Request[Any]], Awaitable[LiveRun | tuple[Run, Outcome]]]
"""Begin the child run of this id, or go on with the one that a journal knows; one that has ended comes with its end."""


class ChildRun(Actor[Request[Any]]):
    """
    Mailbox: the request of the step that the child run works on.

    The child's id is its parent's with the number of the handoff, so a parent that is resumed finds the same child. It
    has its own count of handoffs, but never more time than its parent has left, and it ends with its parent.
    """

    __slots__ = ("_flow", "_hold_back", "_open", "_parent", "_report")

    def __init__(
        self, parent: str, flow: Workflow, open_run: Open, report: Callable[[Run, Outcome], Event],
        *, hold_back: float = 0.0,
    ) -> None:  # fmt: skip
        """
        :param report: what the child's end means to the parent, as an answer to its step.
        :param hold_back: seconds of the parent's time that the child does not get, for what the parent has yet to do.
        """
        self._parent = parent
        self._flow = flow
        self._open = open_run
        self._report = report
        self._hold_back = hold_back

    async def receive(self, message: Request[Any], ctx: Context) -> Event:
        left = ctx.time_left()
        seconds = min(self._flow.max_seconds, max(left - self._hold_back, left / 2))
        flow = msgspec.structs.replace(self._flow, max_seconds=seconds)
        child = await self._open(f"{self._parent}.{ctx.number}", flow, message)
        if isinstance(child, tuple):
            return self._report(*child)

        def hear(said: Message) -> None:
            if not isinstance(said, Progress):  # handoffs are the child's own; what its agents do is the parent's news
                ctx.publish(said)

        stop = child.watch(hear)
        ctx.when_stopping(child.cancel)
        try:
            outcome = await child.outcome()
            return self._report(child.where, outcome)
        finally:
            stop()
            if not child.ended:
                child.abandon()
