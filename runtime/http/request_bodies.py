"""How a request's bytes become what is asked, or a sentence that says why not."""

import asyncio
import math
import re
import urllib.parse
from collections.abc import Mapping, Sequence
from typing import TypeVar

import msgspec
from aiohttp import web

from runtime import families
from runtime.http.errors import ApiError
from runtime.http.gate import find_person
from runtime.http.schemas import (
    JSON,
    KEY_CHARACTERS,
    TEXTS,
    WAIT_SECONDS,
    AnswersGiven,
    ApprovedText,
    Feedback,
    IndexOrder,
    NewShare,
    NewTicket,
)
from runtime.run_filter import RunFilter
from runtime.settings import Settings
from runtime.tickets import HELPDESK, RESEARCH, Ticket, validate
from runtime.user_text import display, safe

T = TypeVar("T")

FORM = "application/x-www-form-urlencoded"
"""What curl calls a text that nobody calls anything."""
_FIELD = re.compile(rb"[\w.\[\]%-]*=")
UNREADABLE = f"Send the ticket as {JSON}, or its text as {' or '.join(TEXTS)}, in UTF-8."
FORM_FIELDS = 200
BODY_SECONDS = 30.0
"""How long a client may take to send its request."""
MESSAGE_CHARACTERS = 200
"""A decoder's complaint may quote what was sent; it is cut."""


async def read_ticket(request: web.Request, settings: Settings) -> Ticket:
    """The ticket in a request's body."""
    kind = find_kind(request)
    if kind not in {JSON, FORM, *TEXTS}:
        raise ApiError(415, UNREADABLE)
    body = await read_body(request)
    if kind == FORM and _FIELD.match(body):
        raise ApiError(415, f"These are the fields of a form. {UNREADABLE}")
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
    if find_kind(request) != JSON:
        raise ApiError(415, f'Send {JSON}: {{"right": true}} or {{"right": false}}, or {{"answer": "..."}}.')
    given = _decode(await read_body(request), Feedback)
    if (given.right is None) == (not given.answer):
        raise ApiError(400, 'Give either "right", true or false, or an "answer".')
    if given.places and not given.right:
        raise ApiError(400, 'Give "places" only with "right": true.')
    return msgspec.structs.replace(given, person=find_person(request) or given.person)


async def read_approval(request: web.Request) -> str:
    """What the customer is told instead of what was suggested; empty: that, as without a body."""
    if not request.can_read_body:
        return ""
    if find_kind(request) != JSON:
        raise ApiError(415, f'Send {JSON}: {{"text": "..."}}, or no body.')
    return _decode(await read_body(request), ApprovedText).text


async def read_answers(request: web.Request) -> AnswersGiven:
    """The answers in a request's body."""
    if find_kind(request) != JSON:
        raise ApiError(415, f'Send {JSON}: {{"answers": {{"name": "value"}}}}, or {{"text": "..."}}.')
    return _decode(await read_body(request), AnswersGiven)


async def read_share(request: web.Request) -> NewShare:
    """How a link is to be, in a request's body; without one, as is usual."""
    if not request.can_read_body:
        return NewShare()
    if find_kind(request) != JSON:
        raise ApiError(415, f'Send {JSON}: {{"days": 3}}, or no body.')
    return _decode(await read_body(request), NewShare)


async def read_form(request: web.Request) -> dict[str, list[str]]:
    """The fields of a form of ours, each with all that was given for it."""
    if find_kind(request) != FORM:
        raise ApiError(415, f"Send {FORM}.")
    try:
        return urllib.parse.parse_qs(
            _text(await read_body(request)), keep_blank_values=True, max_num_fields=FORM_FIELDS, errors="strict"
        )
    except ValueError:  # too many fields, or what is escaped is no text
        raise ApiError(400, f"The form is no UTF-8 text of at most {FORM_FIELDS} fields.") from None


def read_query(request: web.Request, names: Sequence[str]) -> dict[str, str]:
    """What stands behind the question mark, where it is among these names."""
    if strange := next((name for name in request.query if name not in names), None):
        raise ApiError(400, f"There is no filter {display(strange)}; there are {', '.join(names)}.")
    return dict(request.query)


def read_filter(request: web.Request) -> RunFilter:
    """Which runs are looked for."""
    names = tuple(name for name in RunFilter.__struct_fields__ if name not in {"search", "status"})
    return make_filter(read_query(request, names))


def make_filter(given: Mapping[str, str]) -> RunFilter:
    """
    Which runs are looked for, by the fields of a `RunFilter` as a query has them.

    :raises ApiError: `failed` is neither true nor false.
    """
    failed = given.get("failed", "false")
    if failed not in {"true", "false"}:
        raise ApiError(400, f"failed must be true or false, not {display(failed)}.")
    return msgspec.convert({**given, "failed": failed == "true"}, RunFilter)


async def read_index_order(request: web.Request) -> IndexOrder:
    """Which folders a request wants to be read; without a body, all."""
    if not request.can_read_body:
        return IndexOrder()
    if find_kind(request) != JSON:
        raise ApiError(415, f'Send {JSON}: {{"folders": ["NAME"]}}, or no body.')
    return _decode(await read_body(request), IndexOrder)


async def read_document(request: web.Request, megabytes: float) -> bytes:
    """The bytes of a document in a request's body."""
    return await read_body(request.clone(client_max_size=int(megabytes * 1_000_000)), say_too_large(megabytes))


def say_too_large(megabytes: float) -> str:
    """That a document is larger than one may be."""
    return f"The document is over {megabytes:g} MB. Send a smaller one, or raise [knowledge] file_megabytes."


def join_headers(request: web.Request) -> dict[str, str]:
    """Each header once; what came under one name several times stands in it with commas between, as HTTP has it."""
    return {name: ",".join(request.headers.getall(name)) for name in request.headers}


def read_limit(given: Mapping[str, str], usual: int, most: int) -> int:
    """How many are listed at most."""
    limit = given.get("limit", str(usual))
    count = int(limit) if limit.isascii() and limit.isdigit() and len(limit) <= len(str(most)) else 0
    if not 1 <= count <= most:
        raise ApiError(400, f"limit must be a whole number from 1 to {most:,}, not {display(limit)}.")
    return count


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


def find_kind(request: web.Request) -> str:
    """The media type of the body, which has to be UTF-8."""
    if (request.charset or "utf-8").lower().replace("_", "-") not in {"utf-8", "utf8", "us-ascii"}:
        raise ApiError(415, "Send the body as UTF-8.")
    return request.content_type.lower() if "Content-Type" in request.headers else ""


async def read_body(request: web.Request, over: str = "") -> bytes:
    """The body as it is, bounded in size and time; one that is packed is not opened."""
    if request.headers.get("Content-Encoding", "identity").lower() != "identity":
        raise ApiError(415, "Send the body without a Content-Encoding.")
    most = request.client_max_size
    usual = f"The request is over {most // 1024} KB. Shorten it, or raise [server] body_kilobytes."
    too_large = ApiError(413, over or usual)
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
