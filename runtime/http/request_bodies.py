"""
What may be asked and what is answered, as types; and how a request's bytes become one, or a
sentence that says why not.
"""

import asyncio
import math
import re
import urllib.parse
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeVar

import msgspec
from aiohttp import web

from actors.evidence.claims import Resolution
from actors.evidence.passages import Passage
from actors.workflow.outcome import Outcome
from runtime import families
from runtime.engine.run_filter import RunFilter
from runtime.engine.run_record import Record
from runtime.families.limits import AgentRecord
from runtime.http.errors import ApiError
from runtime.http.gate import find_person
from runtime.knowledge.index import IndexedDocument, IndexedFolder, MeaningState
from runtime.knowledge.indexing import IndexingState
from runtime.settings import Settings
from runtime.storage.records import NewRun
from runtime.tickets import HELPDESK, RESEARCH, Ticket, validate
from runtime.times import Moment
from runtime.user_text import display, safe

WAIT_SECONDS = 600.0
"""The longest `?wait`; a longer one is shortened."""
KEY_CHARACTERS = 200
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


class ApprovedText(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """With which words a suggestion is approved."""

    text: str | None = None
    """What the customer is told instead, as plain text; null: what was suggested."""
    run: str = ""
    """The run whose suggestion was read; empty: the ticket's latest."""


class AnswersGiven(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a person answers to the questions of a ticket."""

    answers: dict[str, str | int | float] = {}
    """By the names of the questions. Each that is not optional is answered, unless there is a text."""
    text: str = ""
    """What is known, in free words: beside the answers, or instead of them."""
    run: str = ""
    """Whose questions they are; empty: those of the latest run."""


class NewShare(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A link that is to be made."""

    days: float | None = None
    """How long it opens the ticket; null: as long as `[server] share_days` lets it."""


class ListedShare(msgspec.Struct, frozen=True):
    """A link that opens a ticket."""

    id: str
    ticket: str
    by: str
    """Who made it."""
    created: Moment
    expires: Moment


class MadeShare(ListedShare, frozen=True):
    """A link that was just made."""

    link: str
    """Its address, whose last part is told this once."""


class ShareList(msgspec.Struct, frozen=True):
    """The links to a ticket."""

    shares: tuple[ListedShare, ...]


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


class ListedTicket(Record, frozen=True, kw_only=True):
    """A ticket by its latest run."""

    links: Links
    agents: tuple[str, ...] = ()
    """Who worked on it, in the order in which they came in; empty as long as it goes on."""


class TicketPage(msgspec.Struct, frozen=True):
    """Tickets as they were looked for, the one that came in last first."""

    tickets: tuple[ListedTicket, ...]
    next: str = ""
    """Where the older ones are; empty: there are none."""
    stopped: bool = False
    """No more tickets were looked through at once: `next` goes on, even where none was found on this page."""


class FoundTraces(msgspec.Struct, frozen=True):
    """Runs as they were looked for."""

    traces: tuple[Record, ...]
    """The newest first."""
    stopped: bool
    """Older runs were not looked through."""


class KnowledgeState(msgspec.Struct, frozen=True):
    """What can be searched."""

    folders: tuple[IndexedFolder, ...]
    megabytes: float
    """Size of the index."""
    indexing: IndexingState
    meaning: MeaningState | None = None
    """How far the texts of the documents can be found by what they mean; null: by their words only."""


class DocumentPage(msgspec.Struct, frozen=True):
    """Documents by their names."""

    documents: tuple[IndexedDocument, ...]
    next: str = ""
    """Where the others are; empty: there are none."""


class FoundPassages(msgspec.Struct, frozen=True):
    """What a search found."""

    passages: tuple[Passage, ...]
    """The best first, with their scores."""
    abstain: str
    """Why there are none; empty when there are."""
    words_only: str
    """Why it went by words alone, where meaning was to be looked at, too."""


class IndexOrder(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which folders are to be read."""

    folders: tuple[str, ...] = ()
    """By their names in the index, or their paths; empty: those of the settings."""


class RemovedFolder(msgspec.Struct, frozen=True):
    """A folder is out of the index."""

    folder: str
    documents: int
    """How many it held."""


class DescribedAgent(AgentRecord, frozen=True, kw_only=True):
    """An agent as it works here, with the model that thinks for it."""

    model: str
    """Empty: rules or the documents' own words answer."""


class AgentList(msgspec.Struct, frozen=True):
    """All agents."""

    agents: tuple[DescribedAgent, ...]


class Recalled(msgspec.Struct, frozen=True):
    """What memory would tell the agents of a ticket."""

    verdict: Literal["hit", "suggestion", "miss"]
    why: str
    ticket: str
    """The earlier ticket that it comes from; empty: none."""
    resolution: Resolution | None
    stale: str
    """Why a suggestion is not to be repeated as it is."""
    answered: str
    """The day of the earlier answer; empty: nobody knows."""
    rejected: tuple[str, ...]
    """Answers to this very text that a person called wrong."""


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
    mute_models: tuple[str, ...] = ()
    """Models that are left alone for a while, for they gave no answer as JSON; what needs none answers meanwhile."""


def links(run: NewRun) -> Links:
    at = f"/tickets/{run.ticket}"
    report = f"{at}/report" if families.writes_report(run.workflow) or families.makes_document(run.workflow) else ""
    return Links(
        at, f"/runs/{run.id}", f"{at}/events", f"{at}/cancel", f"{at}/feedback", f"{at}/answers", f"{at}/trace",
        report,
    )  # fmt: skip


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


async def read_approval(request: web.Request) -> ApprovedText:
    """With which words which suggestion is approved."""
    if not request.can_read_body:
        return ApprovedText()
    if find_kind(request) != JSON:
        raise ApiError(415, f'Send {JSON}: {{"text": "..."}}, or no body.')
    return _decode(await read_body(request), ApprovedText)


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
