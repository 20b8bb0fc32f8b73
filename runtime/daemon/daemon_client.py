"""A command's side: hands work to a daemon on the same folder, and does it itself where there is none."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator
from typing import NamedTuple

import msgspec
import structlog

from actors.workflow.outcome import Outcome, RunEnded
from actors.workflow.progress import ProgressEvent
from runtime import program
from runtime.daemon.requests import (
    ANSWERS,
    EVENTS,
    GREETINGS,
    AnswerQuestions,
    DaemonRequest,
    Refused,
    SubmitTicket,
    WatchRun,
    find_peer,
    is_trusted,
    receive,
    send,
    shorten,
)
from runtime.engine.event_feed import number_of
from runtime.engine.runs import Handle, RunHandle, make_id
from runtime.engine.service import ACCEPT_SECONDS, Answers, TicketService, answer_ticket
from runtime.service_error import ServiceError
from runtime.storage.records import StoredRun
from runtime.tickets import Ticket

log = structlog.get_logger()

GREET_SECONDS = 2.0
"""How long a daemon may take to say that it is there: one that is stopped or stuck is done without."""

GONE = (OSError, TimeoutError, msgspec.MsgspecError)


class _Line(NamedTuple):
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter


class DaemonRun:
    """A run that a daemon was given, watched as it happens. When that daemon goes away, it goes on all the same."""

    def __init__(self, service: TicketService, handle: Handle) -> None:
        self._service, self._handle = service, handle
        self._heard: Outcome | None = None
        self.run = handle.run

    async def watch(self, *, drafts: bool = False) -> AsyncGenerator[ProgressEvent, None]:
        """`RunHandle.watch`, whatever process the run is in."""
        last = -1
        with contextlib.suppress(*GONE):
            async with contextlib.aclosing(_listen(self._service, WatchRun(self._handle.run, drafts))) as told:
                async for event in told:
                    last = max(last, number_of(event) or 0)
                    if isinstance(event, RunEnded):
                        self._heard = event.outcome
                    yield event
                    if self._heard:
                        return
        async with contextlib.aclosing(self._handle.watch(drafts=drafts)) as events:
            async for event in events:
                if (number := number_of(event)) is None or number > last:
                    yield event

    async def outcome(self) -> Outcome:
        return self._heard or await self._handle.outcome()

    def cancel(self) -> None:
        """By way of the database, which is heard wherever the run is."""
        self._handle.cancel()


async def submit(service: TicketService, ticket: Ticket) -> Handle | DaemonRun:
    """
    Begin the run of a ticket, another one where its run has ended: in a daemon if one answers, else in this process.

    :raises ServiceError: it was refused.
    """
    named = ticket if ticket.id else msgspec.structs.replace(ticket, id=make_id("T"))
    options = b"" if ticket.options is None else msgspec.msgpack.encode(ticket.options)
    request = SubmitTicket(
        named.text, named.id, named.subject, named.requester, named.workflow, options, again=bool(ticket.id)
    )
    if (handle := await _ask(service, request)) is not None:
        return handle
    # What a daemon took that then went away is found under its id, and goes on.
    submitted = await service.submit(named, again=bool(ticket.id))
    return await service.handle(submitted.run.id)


async def answer(
    service: TicketService, asking: StoredRun, answers: Answers, *, named: bool
) -> Handle | DaemonRun:  # fmt: skip
    """`answer_ticket`, likewise."""
    request = AnswerQuestions(asking.id, answers.given, answers.text, named)
    if (handle := await _ask(service, request)) is not None:
        return handle
    return await service.node.runs.attend(await answer_ticket(service, asking, answers, named=named))


async def _ask(service: TicketService, request: SubmitTicket | AnswerQuestions) -> Handle | DaemonRun | None:
    """The run that a daemon accepted; nothing where none does: there is none, or it starts, stops or hangs."""
    try:
        async with _open(service, request) as line:
            answered = await asyncio.wait_for(receive(line.reader, ANSWERS), ACCEPT_SECONDS)
    except GONE as error:
        log.info("daemon.not_asked", reason=repr(error))
        return None
    if isinstance(answered, Refused):
        if answered.kind == "unavailable":
            return None
        raise ServiceError(answered.sentence, answered.kind)
    handle = await service.node.runs.attend(await service.node.journal.run(answered.run))
    return handle if isinstance(handle, RunHandle) else DaemonRun(service, handle)


async def _listen(service: TicketService, request: WatchRun) -> AsyncGenerator[ProgressEvent, None]:
    async with _open(service, request) as line:
        while True:
            yield await receive(line.reader, EVENTS)


@contextlib.asynccontextmanager
async def _open(service: TicketService, request: DaemonRequest) -> AsyncIterator[_Line]:
    """
    A connection to a daemon of this version, which has the request.

    :raises OSError: there is none.
    """
    line = await _connect(service)
    try:
        await send(line.writer, request)
        yield line
    finally:
        line.writer.close()


async def _connect(service: TicketService) -> _Line:
    for path in service.node.owner.sockets():
        with contextlib.suppress(*GONE):
            async with asyncio.timeout(GREET_SECONDS):
                with shorten(path) as short:
                    line = _Line(*await asyncio.open_unix_connection(short))
                try:
                    if not is_trusted(user := find_peer(line.writer)):
                        log.warning("daemon.not_trusted", socket=str(path), user=user)
                    elif (await receive(line.reader, GREETINGS)).version == program.version():
                        return line
                except BaseException:
                    line.writer.close()
                    raise
                line.writer.close()
    raise ConnectionError("no daemon listens")
