"""
One run of one workflow: open its bus, place its Orchestrator, wait for its end, whatever the actors
do.

A run within a run is a role that is played by a whole run: a child with its own bus, Orchestrator
and count of handoffs.
"""

import asyncio
import contextvars
import functools
from collections.abc import Awaitable, Callable, Iterable, Iterator
from typing import Any, NamedTuple

import msgspec
import structlog
from structlog.typing import FilteringBoundLogger

from actors.ports import Journal
from actors.workflow.orchestrator import Orchestrator
from actors.workflow.outcome import AnswerReady, Child, HandoffMade, Outcome, RunEnded, RunEvent, Spent
from actors.workflow.progress import AnswerText, DraftChecked, ProgressEvent, StageProgress, Working
from actors.workflow.run_end import log_end
from actors.workflow.tables import ORCHESTRATOR, Case, Run, RunResumed, RunStarted, RunStopped, Workflow
from bus import Actor, Cast, Clock, Context, Event, LocalBus, Message, Request
from bus.turns import Turns

LIMIT = 200
"""How much is kept; of what is said within one stage it is only the last."""


class ProgressHistory:
    """What was said in one run, each with the number of the handoff that it followed."""

    __slots__ = ("_drafts", "_handoff", "_said")

    def __init__(self) -> None:
        self._drafts: dict[str, AnswerText] = {}
        """What models have written so far of answers that nobody has checked, by the agent."""
        self._handoff = 0
        self._said: list[tuple[int, Working]] = []

    def hear(self, event: object) -> None:
        if isinstance(event, HandoffMade):
            self._handoff = event.number
        elif isinstance(event, AnswerText):
            before = self._drafts.get(event.agent) if event.start else None
            self._drafts[event.agent] = AnswerText(event.agent, 0, (before.text if before else "") + event.text)
        elif isinstance(event, DraftChecked):
            self._drafts.pop(event.agent, None)
        elif isinstance(event, AnswerReady):
            self._drafts.clear()  # of who was interrupted, too, and could not say that it was over
        elif isinstance(event, Working):
            last = self._said[-1][1] if self._said else None
            if isinstance(event, StageProgress) and isinstance(last, StageProgress) and event.stage == last.stage:
                self._said.pop()
            if len(self._said) < LIMIT:
                self._said.append((self._handoff, event))

    def among(self, progress: Iterable[RunEvent]) -> Iterator[ProgressEvent]:
        """The progress of the run so far, and what was said in its place between."""
        waiting = list(self._said)
        for event in progress:
            if isinstance(event, HandoffMade):
                while waiting and waiting[0][0] < event.number:
                    yield waiting.pop(0)[1]
            yield event
        yield from (said for _, said in waiting)
        yield from (draft for draft in self._drafts.values() if draft.text)


log = structlog.get_logger()


class ResumeState(NamedTuple):
    """What a journal knows of a run that has not ended."""

    flow: Workflow
    """The table that it goes by, with the time that it has."""
    run: Run
    elapsed: float
    """Seconds since it began, the time in which nobody ran it included."""
    inputs: int
    children: tuple[Child, ...] = ()
    """The runs within it, as far as they came."""


class LiveRun:
    """A run in progress: one bus, one Orchestrator, one outcome."""

    __slots__ = (
        "_bus", "_orchestrator", "_outcome", "_said", "_waiting", "_within", "children", "id", "ticket", "workflow",
    )  # fmt: skip

    def __init__(
        self, run_id: str, flow: Workflow, case: Case, cast: Cast, *, clock: Clock | None = None,
        journal: Journal | None = None, spent: Callable[[], Spent] = Spent, replayed: ResumeState | None = None,
        children: Callable[[], tuple[Child, ...]] = tuple, within: str = "", log: FilteringBoundLogger | None = None,
        turns: Turns | None = None,
    ) -> None:  # fmt: skip
        """
        :param children: the runs within this one, as they stand
        :param within: the ticket of the run that this one is within, which logs name
        :param turns: hears when work for it begins and ends
        """
        loop = asyncio.get_running_loop()
        clock = clock or loop
        self.id = run_id
        self.ticket = case.ticket_id
        self.workflow = flow.name
        self.children = children
        self._within = within or case.ticket_id
        self._said: ProgressHistory | None = None
        self._outcome: asyncio.Future[Outcome] = loop.create_future()
        self._waiting: list[asyncio.Future[None]] = []
        context = contextvars.copy_context()
        if within:  # whatever logs in a run within a run does not know the ticket
            context.run(structlog.contextvars.bind_contextvars, run=run_id, ticket=within)
        self._bus = context.run(
            functools.partial(LocalBus, cast, on_failure=self._on_failure, clock=clock, hub=ORCHESTRATOR, turns=turns)
        )
        self._orchestrator = Orchestrator(
            run_id, flow, replayed.run if replayed else case, self._end, clock, journal=journal, spent=spent,
            elapsed=replayed.elapsed if replayed else 0.0, inputs=replayed.inputs if replayed else 0,
            children=children, ticket=within, log=log,
        )  # fmt: skip
        self._bus.place(ORCHESTRATOR, self._orchestrator)
        self._bus.post(ORCHESTRATOR, RunResumed(orderly=True) if replayed else RunStarted())

    @property
    def state(self) -> str:
        """Where it stands in its table."""
        return self._orchestrator.where.state

    async def outcome(self) -> Outcome:
        """Wait for the end. When this returns, no actor of the run is heard any more. Cancelling the wait is safe."""
        ended = self._outcome
        if not ended.done():  # not `shield`: thousands may wait, and it costs them half a KiB each
            waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append(waiter)
            try:
                await waiter
            finally:
                self._waiting.remove(waiter)
        return ended.result()

    @property
    def is_over(self) -> bool:
        """It has ended, or was abandoned."""
        return self._outcome.done()

    def outcome_so_far(self) -> Outcome | None:
        """The end, if there is one by now."""
        return self._outcome.result() if self._outcome.done() and not self._outcome.cancelled() else None

    @property
    def where(self) -> Run:
        """Where the run stands in its workflow; of one that has ended, where it ended."""
        return self._orchestrator.where

    def on_end(self, call: Callable[[Outcome], None]) -> None:
        def tell(future: asyncio.Future[Outcome]) -> None:
            if not future.cancelled():
                call(future.result())

        self._outcome.add_done_callback(tell)

    def when_over(self, call: Callable[[], object]) -> Callable[[], object]:
        """Have something called once the run has ended, or was abandoned; call the result to take that back."""

        def tell(_: asyncio.Future[Outcome]) -> None:
            call()

        self._outcome.add_done_callback(tell)
        return functools.partial(self._outcome.remove_done_callback, tell)

    def watch(self, watcher: Callable[[Message], None], *, live: bool = False) -> Callable[[], None]:
        """
        Hear the run's `RunEvent` as it happens; call the result to stop. It must not block.

        Only the Orchestrator can say how the run goes; what agents publish of theirs is heard besides.

        :param live: have its models write while the watcher reads along.
        """

        def hear(sender: str, message: Message) -> None:
            if sender == ORCHESTRATOR or not isinstance(message, RunEvent):
                watcher(message)

        return self._bus.subscribe(hear, live=live)

    def remember(self) -> None:
        """Keep what its agents say of their work for those who watch later. Most runs say nothing, and keep nothing."""
        said = self._said = ProgressHistory()
        self._bus.subscribe(lambda _, message: said.hear(message))

    def so_far(self) -> list[ProgressEvent]:
        """What happened before anybody could watch."""
        made = self._orchestrator.so_far()
        return list(self._said.among(made)) if self._said else [*made]

    def cancel(self) -> None:
        """Ask for the end; a second time, do not wait for agents to hand in what they have."""
        self._bus.try_post(ORCHESTRATOR, RunStopped(), "")

    def abandon(self) -> None:
        """Stop without an end: the journal keeps the run, and somebody resumes it later."""
        self._bus.seal()
        self._outcome.cancel()
        self._wake()

    def _end(self, outcome: Outcome) -> None:
        self._bus.seal()
        if not self._outcome.done():
            self._outcome.set_result(outcome)
            self._wake()

    def _wake(self) -> None:
        for waiter in self._waiting:
            if not waiter.done():
                waiter.set_result(None)

    def _on_failure(self, error: BaseException) -> None:
        told = log.bind(workflow=self.workflow, run=self.id, ticket=self._within)
        told.error("orchestrator.failed", error=repr(error))
        outcome = self._orchestrator.fail()
        log_end(told, outcome)
        self._bus.publish(ORCHESTRATOR, RunEnded(outcome=outcome))
        self._end(outcome)


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
