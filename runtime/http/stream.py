"""Server-sent events of one run: what happened, what happens, and the outcome as the last. Slow clients are dropped."""

import asyncio
import contextlib

import msgspec
import structlog
from aiohttp import web

from actors.workflow.outcome import AnswerReady, AnswerRefused, HandoffMade, RunBegan, RunEnded
from actors.workflow.progress import (
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
from runtime.http.errors import as_api_error, make_problem
from runtime.service import TicketService
from runtime.user_text import as_json

log = structlog.get_logger()

WRITE_SECONDS = 10.0
"""How long a client may take to read on before it is dropped."""
BUFFER_BYTES = 65_536
"""What may wait for a slow client beyond the system's own buffers."""
HEARTBEAT = b": still here\n\n"
NAMES: dict[type[ProgressEvent], str] = {
    RunBegan: "began", HandoffMade: "handoff", AnswerRefused: "refused", RunEnded: "ended", RoundBegan: "round",
    StageProgress: "worked", AnswerReady: "answered", StatusChanged: "status", AgentSelected: "agent-selected",
    AnswerText: "answer-text", DraftChecked: "answer-checked",
}  # fmt: skip
HEADERS = {
    "Content-Type": "text/event-stream; charset=utf-8", "Cache-Control": "no-store", "X-Accel-Buffering": "no",
    "X-Content-Type-Options": "nosniff",
}  # fmt: skip

EVENTS = {
    "description": (
        "Server-sent events: `began`, then `handoff` and `refused` as they happen, those of the past first; `answered` "
        "with the answer as soon as it is there, while the note on the ticket is still being written (of a run that is "
        "over it stands in `ended` alone); of a "
        "research `round` when a round begins and `worked` when a stage gets on, each with the `percent` of the whole "
        "(not told of a run that is over); of a question of law `status` when an agent turns to something else, and "
        "`agent-selected` for each agent that is to answer it, both with their name as `type` (not told of a run that "
        "is over, either); where a model writes the answer, its text meanwhile as `answer-text`, which nobody has "
        "checked yet: `start` is the character of the agent's draft at which a piece stands, and at 0 the draft begins "
        "anew, whatever was told of it before; then `answer-checked` with those statements of the draft that could not "
        "be verified, and are not in the answer (`answered` names all of these, and takes the place of the drafts); "
        "and "
        "`ended` with the Outcome as the last. The data of each is JSON on one line. A comment now and then shows that "
        "the line stands. Where what is stored of the run cannot be read, `failed` with a Problem is the last; a "
        "stream that ends without either was cut off: ask again."
    ),
    "content": {"text/event-stream": {"schema": {"type": "string", "contentMediaType": "text/event-stream"}}},
}
"""As OpenAPI describes it."""


async def stream(request: web.Request, desk: TicketService, run_id: str) -> web.StreamResponse:
    """Write a run's progress to a client until it ends, the client goes away, or it no longer reads."""
    response = web.StreamResponse(headers=HEADERS)
    with desk.listening():
        await response.prepare(request)
        if request.transport is not None and isinstance(request.transport, asyncio.WriteTransport):
            request.transport.set_write_buffer_limits(BUFFER_BYTES)
        try:
            await _pass_on(request, response, desk, run_id)
        except Exception as error:  # no other answer can be given any more, so the last event says it
            log.exception("stream.crashed", run=run_id)
            await _write(request, response, describe_failure(error))
    return response


async def _pass_on(request: web.Request, response: web.StreamResponse, desk: TicketService, run_id: str) -> None:
    board = Progress()
    async with contextlib.aclosing(desk.progress(run_id)) as events:
        async for event in events:
            if event is not None and type(event) not in NAMES:
                continue  # what agents say besides the progress of the run
            if event is not None:
                board = fold(board, event, 0.0)
            if not await _write(request, response, HEARTBEAT if event is None else block(event, board.percent)):
                log.info("stream.dropped", run=run_id)
                return


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
    return f"event: {NAMES[type(event)]}\ndata: {as_json(value)}\n\n".encode()


def describe_failure(error: Exception) -> bytes:
    """The last event of a stream whose run cannot be told to its end."""
    return f"event: failed\ndata: {as_json(make_problem(as_api_error(error)))}\n\n".encode()


def _drop_tag(event: ProgressEvent) -> dict[str, object]:
    return {name: msgspec.to_builtins(getattr(event, name)) for name in event.__struct_fields__}
