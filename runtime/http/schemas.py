"""What may be asked and what is answered, and how a request's bytes become the one or a sentence that says why not."""

import asyncio
import math
from typing import Any, TypeVar

import msgspec
from aiohttp import web

from actors.workflow.outcome import Outcome
from runtime import families
from runtime.http.errors import ApiError
from runtime.http.gate import find_person
from runtime.run_filter import RunFilter
from runtime.run_record import Moment, Record
from runtime.settings import Settings
from runtime.storage.journal import StoredRun
from runtime.tickets import HELPDESK, RESEARCH, Ticket, validate
from runtime.user_text import display, safe

T = TypeVar("T")

BODY_SECONDS = 30.0
"""How long a client may take to send its request."""
WAIT_SECONDS = 600.0
"""The longest `?wait`; a longer one is shortened."""
KEY_CHARACTERS = 200
MESSAGE_CHARACTERS = 200
"""A decoder's complaint may quote what was sent; it is cut."""
JSON = "application/json"
TEXTS = ("text/plain", "text/markdown")


class NewTicket(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A ticket as its requester wrote it."""

    text: str = ""
    """What is wrong, in a sentence or more; needed unless there is a subject."""
    subject: str = ""
    id: str = ""
    """Its id in your helpdesk: letters, digits, dots, dashes, underscores. The same again gives the same run."""
    requester: str = ""
    """Who asks; where it is empty and a proxy tells who sent it, that person."""
    workflow: str = HELPDESK
    """Who works on it."""
    options: dict[str, Any] | None = None
    """How it is to be done, by the names that its workflow knows; null: as configured."""
    research: bool | dict[str, Any] = False
    """Short for the workflow `research`: true, or {}, as configured; else its options."""


class Feedback(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a person says of a resolution: whether it was right, or what is."""

    right: bool | None = None
    places: tuple[int, ...] = ()
    """The numbers of the places that were right; needed where the answer shows several: only they are remembered."""
    answer: str = ""
    """The right one, in your words: the same ticket, and similar ones, get it from then on."""
    person: str = ""
    """Who gives the answer; where a proxy tells who asks, that person."""


class AnswersGiven(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a person answers to the questions of a ticket."""

    answers: dict[str, str | int | float] = {}
    """By the names of the questions. Each that is not optional is answered, unless there is a text."""
    text: str = ""
    """What is known, in free words: beside the answers, or instead of them."""
    run: str = ""
    """Whose questions they are; empty: those of the latest run."""


class Links(msgspec.Struct, frozen=True):
    """Where to go on."""

    ticket: str
    run: str
    events: str
    cancel: str
    feedback: str
    answers: str
    trace: str
    report: str = ""
    """Where its workflow writes one."""


class Receipt(msgspec.Struct, frozen=True):
    """The ticket is durable and its run has begun."""

    ticket: str
    run: str
    status: str
    """`running`, or how it ended."""
    question: str
    """The text of the ticket as it came in, without its subject."""
    subject: str
    requester: str
    created: Moment
    """When the ticket came in for the first time."""
    links: Links


class RunStatus(Record, frozen=True, kw_only=True):
    """Where a run stands."""

    outcome: Outcome | None
    """Once it has ended."""
    links: Links


class FoundTraces(msgspec.Struct, frozen=True):
    """Runs as they were looked for."""

    traces: tuple[Record, ...]
    """The newest first."""
    stopped: bool
    """Older runs were not looked through."""


class FeedbackReceipt(msgspec.Struct, frozen=True, omit_defaults=True):
    """Feedback was stored."""

    ticket: str
    right: bool
    answers: int
    """Remembered answers that it concerns."""
    question: str
    """What was asked."""
    subject: str
    requester: str
    answer: str
    """What was judged, or given."""
    places: tuple[int, ...] = ()
    """Those of its places that are remembered; empty: all of it."""


class Health(msgspec.Struct, frozen=True, omit_defaults=True):
    """How the process is. Counts are told only to those who may use the rest."""

    live: bool
    ready: bool
    """It takes tickets: what was running has been resumed, it is not stopping, and what it accepts can be written."""
    why: str = ""
    """Why it is not ready, with what to do."""
    runs: int | None = None
    """In progress here."""
    dead_letters: int | None = None
    """Messages that no actor will read."""
    abandoned: int | None = None
    """Turns of actors that did not end when they had to."""
    workers_killed: int | None = None
    unattended: int | None = None
    """Runs without an end that nobody works on: their process is gone, or their end was not recorded."""
    commits: int | None = None
    last_commit_seconds: float | None = None
    """Seconds since the last commit; left out before the first."""
    last_write_failed: bool | None = None
    free_megabytes: int | None = None
    """Of the disk that the database is on."""
    streams: int | None = None
    """Clients that listen to events."""


class Problem(msgspec.Struct, frozen=True):
    """Why a request was not carried out."""

    error: str
    """One sentence, with what to do next."""


def links(stored: StoredRun) -> Links:
    at = f"/tickets/{stored.ticket}"
    report = (
        f"{at}/report" if families.writes_report(stored.workflow) or families.makes_document(stored.workflow) else ""
    )
    return Links(
        at, f"/runs/{stored.id}", f"{at}/events", f"{at}/cancel", f"{at}/feedback", f"{at}/answers", f"{at}/trace",
        report,
    )  # fmt: skip


async def read_ticket(request: web.Request, settings: Settings) -> Ticket:
    """The ticket in a request's body."""
    kind = _kind(request)
    if kind != JSON and kind not in TEXTS:
        raise ApiError(415, f"Send the ticket as {JSON}, or its text as {' or '.join(TEXTS)}, in UTF-8.")
    body = await _body(request)
    new = _decode(body, NewTicket) if kind == JSON else NewTicket(text=_text(body))
    ticket = Ticket(text=new.text, id=new.id, subject=new.subject, requester=new.requester or find_person(request))
    return _add_options(validate(ticket, "The ticket", settings.run.ticket_kilobytes), new, settings)


def _add_options(ticket: Ticket, new: NewTicket, settings: Settings) -> Ticket:
    if new.research is False:
        options = families.read_options(new.workflow, new.options or {}, settings, "options.")
        return msgspec.structs.replace(ticket, workflow=new.workflow, options=options)
    if new.workflow not in {HELPDESK, RESEARCH} or new.options is not None:
        raise ApiError(400, 'Give either "research", or "workflow" with "options".')
    given = {} if new.research is True else new.research
    options = families.read_options(RESEARCH, given, settings, "research.")
    return msgspec.structs.replace(ticket, workflow=RESEARCH, options=options)


async def read_feedback(request: web.Request) -> Feedback:
    """The feedback in a request's body."""
    if _kind(request) != JSON:
        raise ApiError(415, f'Send {JSON}: {{"right": true}} or {{"right": false}}, or {{"answer": "..."}}.')
    given = _decode(await _body(request), Feedback)
    if (given.right is None) == (not given.answer):
        raise ApiError(400, 'Give either "right", true or false, or an "answer".')
    if given.places and not given.right:
        raise ApiError(400, 'Give "places" only with "right": true.')
    return msgspec.structs.replace(given, person=find_person(request) or given.person)


async def read_answers(request: web.Request) -> AnswersGiven:
    """The answers in a request's body."""
    if _kind(request) != JSON:
        raise ApiError(415, f'Send {JSON}: {{"answers": {{"name": "value"}}}}, or {{"text": "..."}}.')
    return _decode(await _body(request), AnswersGiven)


def read_filter(request: web.Request) -> RunFilter:
    """Which runs are looked for."""
    names = [name for name in RunFilter.__struct_fields__ if name != "search"]
    given = dict(request.query)
    if strange := next((name for name in given if name not in names), None):
        raise ApiError(400, f"There is no filter {display(strange)}; there are {', '.join(names)}.")
    failed = given.pop("failed", "false")
    if failed not in {"true", "false"}:
        raise ApiError(400, f"failed must be true or false, not {display(failed)}.")
    return msgspec.convert({**given, "failed": failed == "true"}, RunFilter)


def read_key(request: web.Request) -> str:
    """The `Idempotency-Key`, or nothing."""
    given = request.headers.get("Idempotency-Key", "")
    if len(given) > KEY_CHARACTERS:
        raise ApiError(
            400, f"The Idempotency-Key is over {KEY_CHARACTERS} characters. Use a shorter one, such as a UUID."
        )
    return given


def read_wait(request: web.Request) -> float:
    """How many seconds the client waits for the outcome."""
    given = request.query.get("wait", "0")
    try:
        seconds = float(given)
    except ValueError:
        seconds = math.nan
    if not seconds >= 0:
        raise ApiError(400, f"wait must be a number of seconds from 0 to {WAIT_SECONDS:g}, not {display(given)}.")
    return min(seconds, WAIT_SECONDS)


def _kind(request: web.Request) -> str:
    """The media type of the body, once it is plain UTF-8."""
    if request.headers.get("Content-Encoding", "identity").lower() != "identity":
        raise ApiError(415, "Send the body without a Content-Encoding.")
    if (request.charset or "utf-8").lower().replace("_", "-") not in {"utf-8", "utf8", "us-ascii"}:
        raise ApiError(415, "Send the body as UTF-8.")
    return request.content_type.lower() if "Content-Type" in request.headers else ""


async def _body(request: web.Request) -> bytes:
    most = request.client_max_size
    too_large = ApiError(413, f"The request is over {most // 1024} KB. Shorten it, or raise [server] body_kilobytes.")
    if (request.content_length or 0) > most:
        raise too_large
    try:
        async with asyncio.timeout(BODY_SECONDS):
            return await request.read()
    except TimeoutError:
        raise ApiError(408, f"The body did not arrive within {BODY_SECONDS:g} s. Send it again.") from None
    except web.HTTPRequestEntityTooLarge:
        raise too_large from None
    except web.RequestPayloadError:
        raise ApiError(400, "The body is cut off or not encoded as its headers say. Send it again.") from None


def _text(body: bytes) -> str:
    try:
        return body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ApiError(400, f"The body is not UTF-8 text: see byte {error.start}. Send it as UTF-8.") from None


def _decode(body: bytes, shape: type[T]) -> T:
    try:
        return msgspec.json.decode(body, type=shape)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        complaint = safe(str(error)[:MESSAGE_CHARACTERS])
    except RecursionError:
        complaint = "it is nested too deeply"
    names = ", ".join(f'"{name}"' for name in shape.__struct_fields__)  # type: ignore[attr-defined] # a struct
    raise ApiError(400, f"The body must be a JSON object with no keys but {names}: {complaint}.")
