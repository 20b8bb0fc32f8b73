"""Server-sent events of one run, or of all. Slow clients are cut off, and go on where they were."""

import asyncio
import contextlib
import math
from collections.abc import AsyncGenerator

import msgspec
import structlog
from aiohttp import web

from actors.workflow.outcome import AnswerReady, AnswerRefused, HandoffMade, RunBegan, RunEnded
from actors.workflow.progress import (
    HEARTBEAT_SECONDS,
    AgentSelected,
    AnswerText,
    DraftChecked,
    Progress,
    ProgressEvent,
    RoundBegan,
    StageProgress,
    StatusChanged,
    fold,
)
from runtime.engine.event_feed import FeedEvent
from runtime.engine.node import Node
from runtime.engine.runs import WatcherTooSlow
from runtime.engine.service import Cursor, Sees, TicketService, watch_all, watch_run
from runtime.http.errors import ApiError, as_api_error, make_problem
from runtime.http.gate import GATE
from runtime.http.routes import Document
from runtime.observe.trace_record import read_trace
from runtime.user_text import as_json

log = structlog.get_logger()

WRITE_SECONDS = 10.0
"""How long a client may take to read on before it is dropped."""
SPANS_SECONDS = 1.0
"""How often a trace is read again for whoever listens to its spans."""
PROXY_SECONDS = 300.0
"""How long a stream lasts of whom a proxy named: their program comes again, and the proxy lets them in or not."""
BUFFER_BYTES = 65_536
"""What may wait for a slow client beyond the system's own buffers."""
HEARTBEAT = b": still here\n\n"
TOO_SLOW = b": too slow; ask again with Last-Event-ID, and nothing is lost\n\n"
NAMES: dict[type[ProgressEvent], str] = {
    RunBegan: "began", HandoffMade: "handoff", AnswerRefused: "refused", RunEnded: "ended", RoundBegan: "round",
    StageProgress: "worked", AnswerReady: "answered", StatusChanged: "status", AgentSelected: "agent-selected",
    AnswerText: "answer-text", DraftChecked: "answer-checked",
}  # fmt: skip
HEADERS = {
    "Content-Type": "text/event-stream; charset=utf-8", "Cache-Control": "no-store", "X-Accel-Buffering": "no",
    "X-Content-Type-Options": "nosniff",
}  # fmt: skip

OF_A_RUN = (
    "Server-sent events: `began`, then `handoff` and `refused` as they happen, those of the past first; `answered` "
    "with the answer as soon as it is there, while the note on the ticket is still being written (of a run that is "
    "over, or of another process, it stands in `ended` alone); of a "
    "research `round` when a round begins and `worked` when a stage gets on, each with the `percent` of the whole; "
    "of a question of law `status` when an agent turns to something else, and "
    "`agent-selected` for each agent that is to answer it, both with their name as `type`; "
    "where a model writes the answer, its text meanwhile as `answer-text`, which nobody has "
    "checked yet: `start` is the character of the agent's draft at which a piece stands, and at 0 the draft begins "
    "anew, whatever was told of it before; then `answer-checked` with those statements of the draft that could not "
    "be verified, and are not in the answer (`answered` names all of these, and takes the place of the drafts); "
    "and `ended` with the Outcome as the last. The data of each is JSON on one line. `began`, `handoff` and `ended` "
    "rest on the journal and have an id, `RUN:n`, rising by one: with it as Last-Event-ID the stream goes on right "
    "behind it, of another process too, or after the end of one. What has no id is told only while it happens here, "
    "and may be told again after a break: answer-text then begins anew. A comment every 5 s is a sign of life. "
    "Who reads too slowly is cut off, and loses nothing by going on. Where what is stored of the run "
    "cannot be read, or who listens may no more (their token was revoked or has expired, they have signed out, or have "
    "a lesser role), `failed` with a Problem is the last; a stream that ends without either was cut off: ask again. "
    "With `spans=1` a `span`, as GET /tickets/{id}/trace has it, for each that is over, some seconds later at most "
    "and before `ended`; it has no id of an event, and after a break all are told again, under the `id` of their own."
)
OF_ALL = (
    "Server-sent events of all tickets, whichever process works on them: `began`, `handoff` (both with `run` and "
    "`ticket`) and `ended` with the Outcome, in the order in which they became durable, from now on "
    "or behind Last-Event-ID; the role `submit` hears of its own alone. It does not end before who listens may no "
    "more: then `failed` with a Problem is the last. Comments and slow readers are as with a ticket."
)


def describe_events(description: str) -> Document:
    """A stream as OpenAPI describes it."""
    schema = {"type": "string", "contentMediaType": "text/event-stream"}
    return {"description": description, "content": {"text/event-stream": {"schema": schema}}}


async def stream(
    request: web.Request, desk: TicketService, run_id: str, after: int, *, spans: bool = False
) -> web.StreamResponse:  # fmt: skip
    """Write what a run does after an event until it ends, the client goes away, or it no longer reads."""
    return await _stream(
        request, desk, _tell_run(desk, run_id, after, SpanTeller(desk.node, run_id) if spans else None)
    )


async def stream_all(
    request: web.Request, desk: TicketService, place: int, cursor: Cursor | None, sees: Sees | None
) -> web.StreamResponse:  # fmt: skip
    """
    Write what the journal has of all runs after a place until the client goes away, or no longer reads.

    :param sees: which runs the client may know of; nothing: all.
    """
    return await _stream(request, desk, _tell_all(desk, place, cursor, sees))


async def _stream(
    request: web.Request, desk: TicketService, blocks: AsyncGenerator[bytes, None]
) -> web.StreamResponse:  # fmt: skip
    response = web.StreamResponse(headers=HEADERS)
    with desk.listening():
        await response.prepare(request)
        if request.transport is not None and isinstance(request.transport, asyncio.WriteTransport):
            request.transport.set_write_buffer_limits(BUFFER_BYTES)
        try:
            async with contextlib.aclosing(blocks), contextlib.aclosing(_keep_admitted(request, blocks)) as kept:
                async for each in kept:
                    if not await _write(request, response, each):
                        log.info("stream.dropped", path=request.path)
                        break
        except WatcherTooSlow:
            log.info("stream.dropped", path=request.path)
            await _write(request, response, TOO_SLOW)
        except ApiError as refused:
            log.info("stream.refused", path=request.path, reason=str(refused))
            await _write(request, response, describe_failure(refused))
        except Exception as error:  # no other answer can be given any more, so the last event says it
            log.exception("stream.crashed", path=request.path)
            await _write(request, response, describe_failure(error))
    return response


async def _keep_admitted(request: web.Request, blocks: AsyncGenerator[bytes, None]) -> AsyncGenerator[bytes, None]:
    """
    The blocks, as long as who listens still may; where nothing is told of what happens, the sign of life.

    Nothing is sent that comes more than a heartbeat after the last look. Whom a proxy named has to come again after
    a while, for nobody else can say that they still may.

    :raises ApiError: they may no more.
    """
    gate, now = request.app[GATE], asyncio.get_running_loop().time
    began = looked = wrote = now()
    async for each in blocks:
        if now() - looked >= HEARTBEAT_SECONDS:
            if gate.is_taken_at_its_word(request) and now() - began >= PROXY_SECONDS:
                return
            await gate.look_again(request)
            looked = now()
        if each or now() - wrote >= HEARTBEAT_SECONDS:
            wrote = now()
            yield each or HEARTBEAT


class SpanTeller:
    """Tells each span of a run once, when it is over."""

    def __init__(self, node: Node, run_id: str) -> None:
        self._node, self._run, self._told = node, run_id, set[str]()
        self._read = -math.inf
        """When the trace was read last, by the loop's clock."""
        self._over = False
        """The run had ended by then: there is nothing new in it."""

    async def tell(self, *, ends: bool = False) -> bytes:
        """Those that are over by now and were not told. A trace is read once a second at most, and where a run ends."""
        now = asyncio.get_running_loop().time()
        if self._over or (now - self._read < SPANS_SECONDS and not ends):
            return b""
        self._read, stored = now, await self._node.journal.run(self._run)
        self._over = stored.ended is not None
        found = await read_trace(self._node, stored)
        fresh = [each for each in found.spans if each.status != "running" and each.id not in self._told]
        self._told.update(each.id for each in fresh)
        return b"".join(f"event: span\ndata: {as_json(each)}\n\n".encode() for each in fresh)


async def _tell_run(
    desk: TicketService, run_id: str, after: int, spans: SpanTeller | None = None
) -> AsyncGenerator[bytes, None]:  # fmt: skip
    board = Progress()
    async with contextlib.aclosing(watch_run(desk, run_id, after)) as events:
        async for told in events:
            if told is None:
                yield HEARTBEAT + (await spans.tell() if spans else b"")
            elif type(told.event) in NAMES:  # agents say other things besides
                board = fold(board, told.event, 0.0)
                name = b"" if told.number is None else _name(run_id, told.number)
                if spans and name and told.is_new and (over := await spans.tell(ends=isinstance(told.event, RunEnded))):
                    yield over
                if told.is_new:
                    yield name + block(told.event, board.percent)


async def _tell_all(
    desk: TicketService, place: int, cursor: Cursor | None, sees: Sees | None
) -> AsyncGenerator[bytes, None]:
    async with contextlib.aclosing(watch_all(desk, place, cursor, sees)) as pages:
        async for page in pages:
            yield HEARTBEAT if page is None else b"".join(map(_encode, page))


def _encode(each: FeedEvent) -> bytes:
    """An event among those of all runs, which says whose it is; made once, however many listen."""
    if not each.data:
        value: object = each.event.outcome if isinstance(each.event, RunEnded) else _drop_tag(each.event)
        if isinstance(value, dict):
            value = {"run": each.run, "ticket": each.ticket, **value}
        each.data = _name(each.run, each.number) + _line(each.event, value)
    return each.data


def _name(run_id: str, number: int) -> bytes:
    return f"id: {run_id}:{number}\n".encode()


async def _write(request: web.Request, response: web.StreamResponse, data: bytes) -> bool:
    try:
        async with asyncio.timeout(WRITE_SECONDS):
            await response.write(data)
    except (TimeoutError, ConnectionError):
        if request.transport is not None:
            request.transport.abort()
        return False
    return True


def block(event: ProgressEvent, percent: int = 0) -> bytes:
    """One event as it goes over the line: a name, and JSON on a single line; `percent` is of a whole research."""
    value: object = event.outcome if isinstance(event, RunEnded) else _drop_tag(event)
    if isinstance(event, StageProgress | RoundBegan):
        value = {**_drop_tag(event), "percent": percent}
    if isinstance(event, StatusChanged | AgentSelected | AnswerText | DraftChecked | AnswerReady):
        value = event  # its tag is what clients tell it by
    return _line(event, value)


def _line(event: ProgressEvent, value: object) -> bytes:
    return f"event: {NAMES[type(event)]}\ndata: {as_json(value)}\n\n".encode()


def describe_failure(error: Exception) -> bytes:
    """The last event of a stream whose run cannot be told to its end."""
    return f"event: failed\ndata: {as_json(make_problem(as_api_error(error)))}\n\n".encode()


def _drop_tag(event: ProgressEvent) -> dict[str, object]:
    return {name: msgspec.to_builtins(getattr(event, name)) for name in event.__struct_fields__}
