"""A role that is played by a whole run: a child with its own bus, Orchestrator and handoff counter."""

from collections.abc import Awaitable, Callable, Iterable
from typing import Any

import msgspec

from actors.workflow.outcome import Child, Outcome, RunEvent
from actors.workflow.tables import Run, Workflow
from bus import Actor, Context, Event, Message, Request
from runtime.run import LiveRun

Open = Callable[[str, Workflow, Request[Any]], Awaitable[LiveRun | tuple[Run, Outcome]]]
"""Begin the child run of this id, or go on with the one that a journal knows; one that has ended comes with its end."""


class Children:
    """The runs within one run, as they stand: its outcome tells their handoffs beside its own."""

    __slots__ = ("_known", "_live")

    def __init__(self, known: Iterable[Child] = ()) -> None:
        """:param known: those that a journal tells of, of a run that is resumed."""
        self._known = {child.run: child for child in known}
        self._live: dict[str, tuple[LiveRun, int]] = {}

    def __call__(self) -> tuple[Child, ...]:
        live = {
            run: Child(run, each.workflow, number, each.where.handoffs, each.children())
            for run, (each, number) in self._live.items()
        }
        return tuple(sorted((self._known | live).values(), key=lambda child: child.handoff))

    def add(self, child: LiveRun, handoff: int) -> None:
        """One that works on the handoff of this number."""
        self._live[child.id] = child, handoff


class ChildRun(Actor[Request[Any]]):
    """
    Mailbox: the request of the step that the child run works on.

    The child's id is its parent's with the number of the handoff, so a parent that is resumed finds the same child. It
    has its own count of handoffs, but never more time than its parent has left, and it ends with its parent.
    """

    __slots__ = ("_children", "_flow", "_hold_back", "_open", "_parent", "_report")

    def __init__(
        self, parent: str, flow: Workflow, open_run: Open, report: Callable[[Run, Outcome], Event],
        *, children: Children | None = None, hold_back: float = 0.0,
    ) -> None:  # fmt: skip
        """
        :param children: those of the parent, to which this one is added.
        :param report: what the child's end means to the parent, as an answer to its step.
        :param hold_back: seconds of the parent's time that the child does not get, for what the parent has yet to do.
        """
        self._parent = parent
        self._flow = flow
        self._open = open_run
        self._report = report
        self._children = children or Children()
        self._hold_back = hold_back

    async def receive(self, message: Request[Any], ctx: Context) -> Event:
        left = ctx.remaining_seconds()
        seconds = min(self._flow.max_seconds, max(left - self._hold_back, left / 2))
        flow = msgspec.structs.replace(self._flow, max_seconds=seconds)
        child = await self._open(f"{self._parent}.{ctx.number}", flow, message)
        if isinstance(child, tuple):  # a journal knows it, and who resumed the parent knows it from there
            return self._report(*child)
        self._children.add(child, ctx.number)

        def hear(said: Message) -> None:
            if not isinstance(said, RunEvent):  # handoffs are the child's own; what its agents do is the parent's news
                ctx.publish(said)

        stop = child.watch(hear)
        ctx.on_stop(child.cancel)
        try:
            outcome = await child.outcome()
            return self._report(child.where, outcome)
        finally:
            stop()
            if not child.is_over:
                child.abandon()
