"""A role that is played by a whole run: a child with its own bus, Orchestrator and handoff counter."""

from collections.abc import Callable
from typing import Any

import msgspec

from actors.outcome import Outcome
from actors.workflow import Workflow
from bus import Actor, Context, Event, Request
from runtime.run import LiveRun

Open = Callable[[str, Workflow, Request[Any]], LiveRun]
"""Begin the child run of this id under this workflow, or go on with it when a journal knows the id."""


class ChildRun(Actor[Request[Any]]):
    """
    Mailbox: the request of the step that the child run works on.

    The child's id is its parent's with the number of the handoff, so a parent that is resumed finds the same child. It
    has its own count of handoffs, but never more time than its parent has left, and it ends with its parent.
    """

    __slots__ = ("_flow", "_open", "_parent", "_report")

    def __init__(self, parent: str, flow: Workflow, open_run: Open, report: Callable[[Outcome], Event]) -> None:
        """:param report: what the child's outcome means to the parent, as an answer to its step."""
        self._parent = parent
        self._flow = flow
        self._open = open_run
        self._report = report

    async def receive(self, message: Request[Any], ctx: Context) -> Event:
        seconds = min(self._flow.max_seconds, ctx.time_left())
        flow = msgspec.structs.replace(self._flow, max_seconds=seconds)
        child = self._open(f"{self._parent}.{ctx.number}", flow, message)
        ctx.when_stopping(child.cancel)
        try:
            return self._report(await child.outcome())
        finally:
            if not child.ended:
                child.abandon()
