"""The two records behind an address: the cell that stays, and the turn that one message takes."""

import asyncio
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
import structlog

from bus.actor import Actor, Answer, Timer
from bus.errors import ActorStopped, AskTimedOut
from bus.mailbox import Mailbox
from bus.message import Message, Request
from bus.supervision import counters

if TYPE_CHECKING:
    from bus.local import LocalBus

log = structlog.get_logger()

R = TypeVar("R")


class Envelope(msgspec.Struct, eq=False):
    """One message for one actor: queued as its letter, then handed to `receive` as its context."""

    cell: "ActorCell"
    message: Message
    sender: str
    number: int
    answer: "asyncio.Future[Any] | None" = None
    """Who asked waits for this."""
    until: float | None = None
    over: bool = False
    """Its turn was interrupted."""

    def __repr__(self) -> str:
        """Without the message, which may hold what no log should show."""
        return f"<{type(self.message).__name__} to {self.cell.address}>"

    @property
    def address(self) -> str:
        return self.cell.address

    @property
    def stopping(self) -> bool:
        return self.cell.bus.stopping

    @property
    def has_watchers(self) -> bool:
        return bool(self.cell.bus.watchers)

    @property
    def has_live_watchers(self) -> bool:
        return self.cell.bus.live_watchers > 0

    def on_stop(self, call: Callable[[], object]) -> None:
        self.cell.bus.on_stop(call)

    def request_stop(self) -> None:
        self.cell.bus.require_hub(self.cell.address)
        self.cell.bus.request_stop()

    def remaining_seconds(self) -> float:
        if self.until is None:
            return math.inf
        left = self.until - self.cell.bus.clock.time()
        return left if left > 0 else 0.0

    def tell(
        self, to: str, message: Message, *, number: int = 0, urgent: bool = False, until: float | None = None
    ) -> None:
        if self.over:
            raise ActorStopped(f"the turn of {self.address} is over")
        self.cell.bus.post(to, message, sender=self.cell.address, number=number, urgent=urgent, until=until)

    def interrupt(self, address: str) -> None:
        if not self.over:
            self.cell.bus.interrupt(address, self.cell.address)

    async def ask(self, to: str, request: Request[R], *, within: float) -> R:
        if self.over:
            raise ActorStopped(f"the turn of {self.address} is over")
        return await self.cell.bus.ask(to, request, within=within, sender=self.address)

    def schedule(self, after: float, message: Message) -> Timer:
        cell = self.cell  # the turn itself is not kept for as long
        return cell.bus.clock.call_later(after, cell.tell_self, message)

    def tell_self(self, message: Message) -> None:
        self.cell.tell_self(message)

    def publish(self, message: Message) -> None:
        if not self.over and not self.cell.bus.sealed:
            self.cell.bus.publish(self.cell.address, message)

    def on_done(self, task: "asyncio.Task[Answer]") -> None:
        """Called by the loop when the task of this turn has ended."""
        self.cell.bus.finish(self, task)


class ActorCell(Mailbox[Envelope], eq=False, kw_only=True):
    """One address: its mailbox, its actor once somebody wrote to it, and the turn that it is in."""

    bus: "LocalBus"
    address: str
    actor: Actor[Any] | None = None
    turn: Envelope | None = None
    task: "asyncio.Task[Answer] | None" = None
    busy: bool = False

    def __repr__(self) -> str:
        return f"<cell of {self.address}>"

    def tell_self(self, message: Message) -> None:
        """Send the actor a message from itself."""
        self.bus.try_post(self.address, message, self.address)


def resolve(answer: asyncio.Future[Any], outcome: Answer | Exception) -> None:
    """Answer who asked, unless they have given up."""
    if answer.done():
        return
    if isinstance(outcome, Exception):
        answer.set_exception(outcome)
    else:
        answer.set_result(outcome)


def expire(answer: asyncio.Future[Any], to: str, request: Message, within: float) -> None:
    """Called when the time of who asked is over."""
    resolve(answer, AskTimedOut(f"{to} did not answer {type(request).__name__} in {within} s"))


def count_abandoned(task: asyncio.Task[Any]) -> None:
    """Called when a turn that was interrupted has had its time to end."""
    if not task.done():
        counters.abandoned += 1
        log.error("actor.abandoned", actor=task.get_name())
