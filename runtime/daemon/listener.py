"""The daemon's side: takes tickets and answers of commands in, and tells them what happens on a run."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import structlog

from runtime import families, program
from runtime.daemon.requests import (
    REQUESTS,
    Accepted,
    AnswerQuestions,
    DaemonAnswer,
    Greeting,
    Refused,
    SubmitTicket,
    WatchRun,
    find_peer,
    is_trusted,
    receive,
    send,
    shorten,
)
from runtime.engine.actions import acting_as, name_user
from runtime.engine.runs import WatcherTooSlow
from runtime.engine.service import Answers, TicketService, answer_ticket, watch_run
from runtime.service_error import ServiceError
from runtime.storage.private import FILE
from runtime.tickets import Ticket, validate

log = structlog.get_logger()

READ_SECONDS = 10.0
"""How long a command may leave unread what it is told; then it is one that was stopped."""


@contextlib.asynccontextmanager
async def hear_commands(service: TicketService) -> AsyncIterator[None]:
    """Listen in the storage folder; where that takes no sockets, commands run their tickets themselves."""
    path, commands = service.node.owner.socket, set[asyncio.Task[None]]()
    try:
        sock = _bind(path)
    except OSError as error:
        log.warning("commands.not_heard", reason=str(error))
        yield
        return

    async def hear(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if (task := asyncio.current_task()) is not None:
            commands.add(task)
            task.add_done_callback(commands.discard)
        with contextlib.closing(writer):
            if is_trusted(user := find_peer(writer)):
                await _serve(service, reader, writer, name_user(user))
            else:
                log.warning("command.refused", user=name_user(user))

    server = await asyncio.start_unix_server(hear, sock=sock)
    try:
        yield
    finally:
        path.unlink(missing_ok=True)
        server.close()
        for task in list(commands):
            task.cancel()
        if commands:
            await asyncio.wait(commands)


def _bind(path: Path) -> socket.socket:
    """A socket in a folder of ours, which nobody else may enter."""
    with shorten(path) as short, contextlib.ExitStack() as stack:
        sock = stack.enter_context(socket.socket(socket.AF_UNIX))
        sock.bind(short)
        path.chmod(FILE)
        stack.pop_all()
        return sock


async def _serve(
    service: TicketService, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, user: str
) -> None:  # fmt: skip
    """Greet, hear one request, answer it. One that fails is one that was not answered: the command does it itself."""
    try:
        await send(writer, Greeting(program.version()))
        request = await receive(reader, REQUESTS)
        with acting_as(f"shell:{user}"):
            if isinstance(request, WatchRun):
                await _tell(service, request, writer)
            else:
                await send(writer, await _carry_out(service, request))
    except (OSError, msgspec.MsgspecError, ServiceError, WatcherTooSlow) as error:
        log.info("command.lost", reason=repr(error))
    except Exception:
        log.exception("command.crashed")


async def _carry_out(service: TicketService, request: SubmitTicket | AnswerQuestions) -> DaemonAnswer:
    try:
        if isinstance(request, SubmitTicket):
            return Accepted((await service.submit(_read_ticket(service, request), again=request.again)).run.id)
        answers = Answers(given=request.given, text=request.text)
        asking = await service.run(request.run)
        return Accepted((await answer_ticket(service, asking, answers, named=request.named)).id)
    except ServiceError as error:
        return Refused(str(error), error.kind)


def _read_ticket(service: TicketService, request: SubmitTicket) -> Ticket:
    family = families.find(request.workflow)
    options = msgspec.msgpack.decode(request.options, type=family.options) if request.options else None
    ticket = Ticket(
        text=request.text, id=request.id, subject=request.subject, requester=request.requester,
        workflow=request.workflow, options=options,
    )  # fmt: skip
    return validate(ticket, "The ticket", service.node.settings.run.ticket_kilobytes)


async def _tell(service: TicketService, request: WatchRun, writer: asyncio.StreamWriter) -> None:
    with service.listening():
        async with contextlib.aclosing(watch_run(service, request.run, drafts=request.drafts)) as events:
            async for told in events:
                if told is not None:
                    async with asyncio.timeout(READ_SECONDS):
                        await send(writer, told.event)
