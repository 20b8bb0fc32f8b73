"""The interface as OpenAPI 3.1: schemas come from the very types that are read and answered."""

import functools
from typing import Any

import msgspec

from actors.workflow.outcome import AnswerRefused, HandoffMade, Outcome, RunBegan
from actors.workflow.progress import RoundBegan, StageProgress
from runtime.http.files import FORMATS
from runtime.http.schemas import (
    JSON,
    KEY_CHARACTERS,
    TEXTS,
    WAIT_SECONDS,
    Feedback,
    FeedbackReceipt,
    Health,
    NewTicket,
    Problem,
    Receipt,
    RunStatus,
)
from runtime.run_record import EndedRecord

Document = dict[str, Any]
"""JSON, as deep as it is."""

REFUSALS = {
    400: "What was sent cannot be used",
    401: "The token is missing or wrong",
    403: "A page of another site, or another machine than this one",
    404: "There is no such ticket or run",
    408: "The body did not arrive in time",
    409: "It does not fit to what is known of the ticket",
    413: "Too large",
    415: "Another media type or encoding than those listed",
    422: "The Idempotency-Key came with another ticket before",
    429: "As many tickets as are allowed are being worked on; see Retry-After",
    500: "What the database holds of it cannot be read, or the server failed; the sentence says which",
    503: "Stopping, not ready, or unable to do it now; see Retry-After",
}
BODY = (400, 408, 413, 415)


@functools.cache
def document() -> Document:
    """The whole description."""
    shapes = [
        NewTicket,
        Feedback,
        Receipt,
        RunStatus,
        Outcome,
        EndedRecord,
        FeedbackReceipt,
        Health,
        Problem,
        RunBegan,
        HandoffMade,
        AnswerRefused,
        RoundBegan,
        StageProgress,
    ]
    _, components = msgspec.json.schema_components(shapes, ref_template="#/components/schemas/{name}")
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Terminus",
            "version": "1",
            "description": "Tickets in, resolutions out. Every ticket ends, with exactly one outcome.",
        },
        "paths": _paths(),
        "components": {
            "schemas": components,
            "securitySchemes": {
                "token": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "Needed when the server has a token.",
                },
            },
        },
        "security": [{}, {"token": []}],
    }


def _paths() -> Document:
    return {
        "/tickets": {"post": _submit()},
        "/tickets/{id}": {"get": _read("Where a ticket stands: its latest run", RunStatus)},
        "/tickets/{id}/cancel": {
            "post": _operation(
                "End a ticket's run gently; a second time, at once",
                {202: _json("It was asked to end", Receipt), 200: _json("It had ended already", Receipt)},
                (404,), [_id()],
            ),
        },
        "/tickets/{id}/events": {"get": _events()},
        "/tickets/{id}/report": {"get": _report()},
        "/tickets/{id}/feedback": {
            "post": {
                **_operation(
                    "Say whether a ticket's resolution was right; memory never repeats one that was wrong",
                    {200: _json("It is noted", FeedbackReceipt)}, (404, 409, *BODY), [_id()],
                ),
                "requestBody": {"required": True, "content": {JSON: {"schema": _ref(Feedback)}}},
            },
        },
        "/runs/{id}": {"get": _read("Where a run stands", RunStatus)},
        "/health": {
            "get": _operation(
                "Whether the server lives and takes tickets; counts only with the token, if there is one",
                {200: _json("It takes tickets", Health), 503: _json("It does not take tickets now", Health)}, (), [],
            ),
        },
        "/openapi.json": {
            "get": _operation(
                "This description",
                {200: {"description": "OpenAPI 3.1", "content": {JSON: {"schema": {"type": "object"}}}}}, (), [],
            ),
        },
    }  # fmt: skip


def _submit() -> Document:
    wait = {
        "name": "wait", "in": "query", "schema": {"type": "number", "minimum": 0, "default": 0},
        "description": f"Seconds to wait for the outcome; at most {WAIT_SECONDS:g}, longer ones are shortened.",
    }  # fmt: skip
    key = {
        "name": "Idempotency-Key", "in": "header", "schema": {"type": "string", "maxLength": KEY_CHARACTERS},
        "description": "The same again gives the same run. A ticket with an id needs none: its id is the key.",
    }  # fmt: skip
    texts = {kind: {"schema": {"type": "string", "description": "The ticket's text"}} for kind in TEXTS}
    return {
        **_operation(
            "Submit a ticket",
            {
                202: _json("The ticket is durable and its run goes on", Receipt),
                200: _json("It has ended within the time waited", EndedRecord),
            },
            (*BODY, 409, 422, 429, 503), [wait, key],
        ),
        "requestBody": {"required": True, "content": {JSON: {"schema": _ref(NewTicket)}, **texts}},
    }  # fmt: skip


def _events() -> Document:
    told = (
        "Server-sent events: `began`, then `handoff` and `refused` as they happen, those of the past first; of a "
        "research `round` when a round begins and `worked` when a stage gets on, each with the `percent` of the whole "
        "(not told of a run that is over); and "
        "`ended` with the Outcome as the last. The data of each is JSON on one line. A comment now and then shows that "
        "the line stands. Where what is stored of the run cannot be read, `failed` with a Problem is the last; a "
        "stream that ends without either was cut off: ask again."
    )
    schema = {"type": "string", "contentMediaType": "text/event-stream"}
    ok = {"description": told, "content": {"text/event-stream": {"schema": schema}}}
    return _operation("Watch a ticket's latest run", {200: ok}, (404, 503), [_id()])


def _report() -> Document:
    form = {
        "name": "format", "in": "query", "schema": {"type": "string", "enum": list(FORMATS)},
        "description": "Default: HTML if the Accept header asks for it, else Markdown.",
    }  # fmt: skip
    content = {kind: {"schema": {"type": "string"}} for kind in FORMATS.values()}
    ok = {"description": "The report", "content": content}
    return _operation("The report of a research", {200: ok}, (400, 404, 409, 503), [_id(), form])


def _read(summary: str, shape: type) -> Document:
    return _operation(summary, {200: _json("Where it stands", shape)}, (404,), [_id()])


def _operation(
    summary: str, answers: dict[int, Document], refusals: tuple[int, ...], parameters: list[Document]
) -> Document:
    problems = {str(status): _json(REFUSALS[status], Problem) for status in sorted({*refusals, 401, 403, 500, 503})}
    return {
        "summary": summary,
        "parameters": parameters,
        "responses": {**problems, **{str(status): told for status, told in answers.items()}},
    }


def _json(description: str, shape: type) -> Document:
    return {"description": description, "content": {JSON: {"schema": _ref(shape)}}}


def _ref(shape: type) -> Document:
    return {"$ref": f"#/components/schemas/{shape.__name__}"}


def _id() -> Document:
    pattern = "^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$"
    return {"name": "id", "in": "path", "required": True, "schema": {"type": "string", "pattern": pattern}}
