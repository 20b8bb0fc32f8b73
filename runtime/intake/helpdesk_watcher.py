"""One connected helpdesk: its tickets are looked at when a bell rings, and each run's end goes back to it."""

import asyncio
import contextlib
import hashlib
import re
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Literal, TypeVar

import msgspec
import structlog

from actors.workflow.tables import NEXT_MESSAGE, EarlierMessage
from runtime.engine.actions import acting_as
from runtime.intake.adapter import Adapter
from runtime.intake.events import BEFORE_SECONDS, HelpdeskTicket, Message, Role
from runtime.intake.helpdesk_client import HelpdeskError, HelpdeskUnavailable
from runtime.intake.helpdesk_settings import HelpdeskSettings
from runtime.intake.inbox import Bell, Inbox, InboxFull, SenderHistory
from runtime.intake.loop_rules import (
    OF_SENDER,
    TO_PEOPLE,
    History,
    Reason,
    Verdict,
    find_sender,
    judge_event,
    judge_ticket,
    make_heard,
)
from runtime.intake.sender import Sender, explain_leaving
from runtime.intake.writes import PREFIX, Origin
from runtime.service_error import ServiceError
from runtime.tickets import SHORT_CHARACTERS, Ticket

S = TypeVar("S")
PLAIN = re.compile(r"[A-Za-z0-9_-]{1,60}")
QUOTED = re.compile(r"(?m)^>.*\n?")
MOST_CHARACTERS = 60_000
MOST_SAID, SAID_CHARACTERS, TIME_CHARACTERS = 12, 2_000, 40
"""Of a conversation: so many messages, so much of each, so much of when it was."""
ROLES: dict[Role, Literal["customer", "person", "terminus"]] = {
    "customer": "customer", "agent": "person", "bot": "terminus",
}  # fmt: skip


def make_id(source: str, ticket: str) -> str:
    """Our id of a ticket: the helpdesk's own behind its name, or a digest of it where that holds other characters."""
    name = ticket if PLAIN.fullmatch(ticket) else hashlib.sha256(ticket.encode()).hexdigest()[:24]
    return f"{PREFIX}{source}.{name}"


def make_ticket(source: str, ticket: HelpdeskTicket, settings: HelpdeskSettings, now: float) -> Ticket:
    """What is submitted: what the customer wrote since they were last answered, and as its context what came before."""
    asked = ticket.list_asked()
    latest = asked[-1] if asked else None
    message, mail = (latest.id, latest.message_id) if latest else ("", "")
    origin = Origin(
        source=source, ticket=ticket.id, message=message, mail=mail, version=ticket.version, queue=ticket.queue,
        category=ticket.category, tags=ticket.tags, at=now,
    )  # fmt: skip
    return Ticket(
        id=make_id(source, ticket.id), subject=_clean(ticket.subject[:SHORT_CHARACTERS]),
        text=_clean(_join(asked)), said_before=_list_before(ticket, asked[0]) if asked else (),
        requester=_clean(ticket.requester[:SHORT_CHARACTERS]), workflow=settings.workflow,
        origin=msgspec.msgpack.encode(origin),
    )  # fmt: skip


def _join(asked: Sequence[Message]) -> str:
    """The first of some messages and the latest as one text, of each the end; what was sent twice stands there once."""
    texts = list(dict.fromkeys(filter(None, map(_render, asked))))
    shown = _take(texts)
    return NEXT_MESSAGE.join(each[-MOST_CHARACTERS // len(shown) :] for each in shown)


def _take(said: Sequence[S]) -> tuple[S, ...]:
    return (*said[:1], *said[1:][1 - MOST_SAID :])


def _list_before(ticket: HelpdeskTicket, asked: Message) -> tuple[EarlierMessage, ...]:
    """What the customer wrote or has seen before a message: the first of it, and the latest."""
    before = ticket.messages[: ticket.messages.index(asked)]
    said = [
        EarlierMessage(ROLES[each.role], _clean(each.at[:TIME_CHARACTERS]), _clean(text[:SAID_CHARACTERS]))
        for each in before
        if each.public and each.role in ROLES and (text := _render(each))
    ]
    return _take(said)


def _clean(text: str) -> str:
    return text.replace("\0", "")


def _render(message: Message) -> str:
    """What was written, without what it quotes, and what was attached: by name, and its beginning where it is text."""
    attached = (f"[{each.name}]\n{each.text}".strip() for each in message.attachments)
    return "\n\n".join(filter(None, (QUOTED.sub("", message.text.replace("\r\n", "\n")).strip(), *attached)))


log = structlog.get_logger()

AT_ONCE = 4
"""Tickets of one helpdesk that are looked at side by side."""
BACK_OFF_SECONDS = 5.0
MOST_BACK_OFF = 900.0
LISTEN_SECONDS = 600.0
Submit = Callable[[Ticket], Awaitable[object]]


DOWN_SECONDS = 30.0
"""Before a ticket is tried again while none can be read."""
PUT_OFF_SECONDS = 300.0
"""Before a ticket that could not be read is tried again."""


class HelpdeskWatcher:
    """What looks after one helpdesk while `run` does."""

    def __init__(
        self, adapter: Adapter, settings: HelpdeskSettings, inbox: Inbox, sender: Sender, submit: Submit,
        clock: Callable[[], float] = time.time,
    ) -> None:  # fmt: skip
        """
        :param submit: begins a run of a ticket, and returns when it is durable.
        :param clock: Unix seconds.
        """
        self.adapter, self.settings, self.health = adapter, settings, Health()
        self._inbox, self._sender, self._submit, self._clock = inbox, sender, submit, clock
        self._rung = asyncio.Event()
        self._judging, self._telling = asyncio.Lock(), asyncio.Lock()
        self._failures = 0
        self._polled = 0.0
        self._polls = adapter.file.poll is not None
        self._has_read = False
        """The last look read a ticket."""

    def ring(self) -> None:
        """Look at once: something came in, or a run has ended."""
        self._rung.set()

    async def run(self) -> None:
        """Look after the helpdesk until this is cancelled; one that does not answer is asked less and less often."""
        while True:
            self._rung.clear()
            wait = self.settings.poll_seconds
            try:
                if self._clock() - self._polled >= self.settings.poll_seconds:
                    self._polled = self._clock()
                    await self.poll()
                    if self._polls:
                        self._failures = 0  # it answers: what fails now is a ticket's
                wait = min(wait, await self.look())
                if self._polls or self._has_read:
                    self._failures = 0
                    self.health.problem = ""
                elif self._failures:  # nobody has asked it since
                    wait = min(wait, self._find_pause())
            except HelpdeskError as error:
                wait = self._back_off(error)
            except Exception as error:
                wait = self._back_off(error)
                log.exception("helpdesk.failed", helpdesk=self.adapter.name)
            await self._wait(wait)

    async def _wait(self, seconds: float) -> None:
        """Until it rings, at most so long; who is asked less and less often is not asked for every ring."""
        if (task := asyncio.current_task()) is not None and task.cancelling():
            raise asyncio.CancelledError  # a library lost it: `wait_for` of Python 3.11 does where its answer has come
        if self._failures:
            await asyncio.sleep(seconds)
            return
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(max(seconds, 0.01)):
                await self._rung.wait()

    async def listen(self) -> None:
        """Poll at once when the helpdesk can tell that something is new; return where it cannot."""
        while True:
            try:
                came = await self.adapter.wait(LISTEN_SECONDS)
            except Exception as error:  # the poll goes on meanwhile, and tells what fails there, too
                if not isinstance(error, HelpdeskError):
                    log.exception("helpdesk.not_heard", helpdesk=self.adapter.name)
                await asyncio.sleep(BACK_OFF_SECONDS)
                continue
            if came is None:
                return
            if came:
                self._polled = 0.0
                self.ring()

    def _back_off(self, error: Exception) -> float:
        self._failures += 1
        self._polled = 0.0
        self.health.problem = str(error)
        log.warning("helpdesk.unavailable", helpdesk=self.adapter.name, error=str(error), times=self._failures)
        asked = error.seconds if isinstance(error, HelpdeskUnavailable) else None
        return asked or self._find_pause()

    def _find_pause(self) -> float:
        return min(BACK_OFF_SECONDS * 2.0 ** (self._failures - 1), MOST_BACK_OFF)

    async def poll(self) -> None:
        """Take in what happened since the last poll; the cursor moves when all of it is durable."""
        cursor = await self._inbox.cursor(self.adapter.name)
        connected = self._inbox.find_connection_time(self.adapter.name)
        start = cursor
        if not cursor.strip("0"):  # it was never asked, or could not be asked by a time until now
            start = self.adapter.make_cursor((connected or self._clock()) - BEFORE_SECONDS)
        found = await self.adapter.poll(start)
        self.health.polled_at, self.health.beyond = self._clock(), found.beyond
        for event in found.events:
            if judge_event(event, self.adapter.bot, connected).reason:
                continue
            try:
                await self._inbox.take(event, self._clock())
            except InboxFull:
                return
        if found.cursor != cursor:
            await self._inbox.move_cursor(self.adapter.name, found.cursor)

    async def look(self) -> float:
        """Look at the tickets whose bell rang, and write back what is to be: in how many seconds again, at most."""
        limit = asyncio.Semaphore(AT_ONCE)
        rests: list[HelpdeskUnavailable] = []

        async def see(bell: Bell) -> None:
            async with limit:
                try:
                    await (asyncio.sleep(0) if rests else self._see(bell))
                except HelpdeskUnavailable as error:
                    if not error.seconds:
                        raise
                    rests.append(error)

        bells = await self._inbox.bells(self.adapter.name, self._clock())
        self._has_read = bool(bells)
        results = await asyncio.gather(*map(see, bells), return_exceptions=True)
        if rests:  # it asks to be left alone: what has not been looked at keeps its bell
            raise rests[0]
        failed = [(bell, each) for bell, each in zip(bells, results, strict=True) if isinstance(each, BaseException)]
        down = len(failed) == len(bells) and all(isinstance(each, HelpdeskUnavailable) for _, each in failed)
        for bell, error in failed:
            if not isinstance(error, Exception):
                raise error
            await self._put_off(bell, error, DOWN_SECONDS if down else PUT_OFF_SECONDS)
        wait = await self._sender.send()
        if failed and down:
            raise failed[0][1]
        return min(wait, PUT_OFF_SECONDS) if failed else wait

    async def _put_off(self, bell: Bell, error: Exception, seconds: float) -> None:
        """A ticket that cannot be looked at holds up no other."""
        known = error if isinstance(error, HelpdeskError) else None
        log.warning(
            "helpdesk.ticket_failed", helpdesk=self.adapter.name, ticket=bell.ticket, error=str(error),
            exc_info=None if known else error,
        )  # fmt: skip
        self.health.count("failed")
        await self._inbox.settle(bell, again=self._clock() + seconds)

    async def _see(self, bell: Bell) -> None:
        """Look at one ticket; its bell is settled when what follows from it is durable."""
        ticket = await self.adapter.fetch(bell.ticket)
        name = make_id(self.adapter.name, bell.ticket)
        history, verdict = await self._judge(name, ticket)
        log.info("helpdesk.judged", helpdesk=self.adapter.name, ticket=bell.ticket, why=verdict.reason or "taken")
        self.health.count(verdict.reason)
        if verdict.reason == "too soon":
            await self._inbox.settle(bell, again=max(history.runs) + self.settings.spacing_seconds)
            return
        if not verdict.reason and self.settings.mode != "off":
            if not await self._take(bell, ticket):
                return
        elif verdict.reason in TO_PEOPLE:
            await self._leave(ticket, verdict.reason)
        elif history.runs:
            await self._sender.learn(name, ticket)
        await self._inbox.settle(bell)

    async def _judge(self, name: str, ticket: HelpdeskTicket) -> tuple[History, Verdict]:
        """
        What is to become of a ticket, and what we did about it so far.

        A message that is taken counts against its sender's budget from here on, before the next one is judged.
        """
        source, who, now = self.adapter.name, find_sender(ticket), self._clock()
        async with self._judging:
            known = await self._inbox.sender(source, who) if who else SenderHistory()
            history = msgspec.structs.replace(await self._inbox.history(name), heard=known.heard)
            verdict = judge_ticket(ticket, history, self.settings, now)
            if who and not verdict.reason and self.settings.mode != "off":
                await self._inbox.hear(source, who, known, make_heard(ticket, now))
        return history, verdict

    async def _leave(self, ticket: HelpdeskTicket, reason: Reason) -> None:
        """
        Leave a ticket to people, who are told in it; of one sender's many tickets, in one a day.

        Each of those is given to them once a day: what that changes in a ticket may ring its bell again.
        """
        if self.settings.mode in {"off", "dry_run"}:
            return
        said = explain_leaving(reason, ticket)
        if reason not in OF_SENDER:
            await self._sender.hand_over(ticket, reason, said)
            return
        source, who, name, now = self.adapter.name, find_sender(ticket), make_heard(ticket, 0.0).ticket, self._clock()
        async with self._telling:
            known = await self._inbox.sender(source, who)
            is_told = known.is_told(now)
            if not (is_told and name in known.left):
                await self._sender.hand_over(ticket, reason, said, notes=not is_told)
                async with self._judging:
                    await self._inbox.leave(source, who, await self._inbox.sender(source, who), name, now)

    async def _take(self, bell: Bell, ticket: HelpdeskTicket) -> bool:
        """Begin a run; false: it is to be tried again, and the bell says when."""
        with acting_as(f"helpdesk:{self.adapter.name}"):
            try:
                await self._submit(make_ticket(self.adapter.name, ticket, self.settings, self._clock()))
            except ServiceError as error:
                if not error.retry_seconds:
                    log.warning("helpdesk.refused", helpdesk=self.adapter.name, ticket=bell.ticket, why=str(error))
                    await self._sender.hand_over(ticket, str(error))
                    return True
                await self._inbox.settle(bell, again=self._clock() + error.retry_seconds)
                return False
        return True


class Health:
    """How a helpdesk does, for people who look after it."""

    def __init__(self) -> None:
        self.problem = ""
        """Why it could not be asked; empty: it could."""
        self.delivered_at = 0.0
        self.polled_at = 0.0
        self.beyond = False
        """There are tickets that its last poll did not reach."""
        self.refused = 0
        """Deliveries that were not believed."""
        self.judged: dict[str, int] = {}
        """How often tickets were left alone, by why; empty: taken."""

    def count(self, reason: Reason | Literal["failed"]) -> None:
        self.judged[reason] = self.judged.get(reason, 0) + 1
