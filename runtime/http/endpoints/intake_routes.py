"""What helpdesks send, and how the connected ones do."""

import datetime
from collections.abc import AsyncIterator

import msgspec
from aiohttp import web

from actors.text.normalize import remove_controls
from runtime.engine.run_filter import RunFilter, make_wanted
from runtime.http import request_bodies
from runtime.http.endpoints.desk import DESK, read_id
from runtime.http.errors import ApiError
from runtime.http.middleware import answer
from runtime.http.request_bodies import JSON, ApprovedText
from runtime.http.routes import BODY, Document, as_json, refer_to, route
from runtime.intake.intake import Intake, IntakeReport, Taken, open_intake
from runtime.intake.sender import MOST_CHARACTERS

INTAKE = web.AppKey("intake", Intake)
RETRY_SECONDS = 60.0
APPROVALS = 100
SOURCE: Document = {
    "name": "source", "in": "path", "required": True, "schema": {"type": "string"},
    "description": "The name of a connected helpdesk",
}  # fmt: skip
WEEK = "7d"
SINCE: Document = {
    "name": "since", "in": "query", "schema": {"type": "string", "default": WEEK},
    "description": "Of runs begun since: 12h, 7d ago, or 2026-01-31",
}  # fmt: skip
CHALLENGE: Document = {
    "name": "crc_token", "in": "query", "schema": {"type": "string", "maxLength": 200},
    "description": "What the helpdesk has signed",
}  # fmt: skip
REFUSED: dict[Taken, tuple[int, str]] = {
    "unknown": (404, "No helpdesk of this name sends anything here. Connect it, with its secret."),
    "forged": (401, "The delivery is not signed as it must be."),
    "unreadable": (400, "The delivery does not say which ticket it is about."),
    "full": (503, "Too many tickets wait. Send it again later; it is found by polling, too."),
}


class Delivery(msgspec.Struct, frozen=True):
    """What became of a delivery."""

    state: Taken
    """`taken`; `known`: it came before; `ignored`: it is nobody's question."""


class HelpdeskState(msgspec.Struct, frozen=True):
    """How a connected helpdesk does."""

    name: str
    system: str
    mode: str
    problem: str
    """Why it cannot be asked; empty: it can."""
    delivered: datetime.datetime | None
    """The last delivery that was believed, null: none since the start."""
    polled: datetime.datetime | None
    refused: int
    """Deliveries since the start that were not believed."""
    beyond: bool
    """There are tickets that its last poll did not reach: more are open than one poll reads."""
    judged: dict[str, int]
    """Looks at tickets since the start, by why they were left alone; `taken`: they were not."""


class Approval(msgspec.Struct, frozen=True):
    """A suggestion that waits for a person's word."""

    ticket: str
    due: str
    """When the ticket is to be answered, as its helpdesk writes it; empty: it does not say."""


class IntakeState(msgspec.Struct, frozen=True):
    """All connected helpdesks."""

    helpdesks: tuple[HelpdeskState, ...]
    waiting: int
    """Tickets that wait for a look."""
    unwritten: int = 0
    """Runs of which something is still to be written."""
    approvals: tuple[Approval, ...] = ()
    """The first hundred suggestions that wait, what is due first before the rest."""


@route(
    "POST", "/intake/{source}", "What a helpdesk tells: that something happened to one of its tickets",
    {202: as_json("It is durable", Delivery), 200: as_json("There is nothing to do", Delivery)},
    refusals=(*BODY, 404), parameters=(SOURCE,), body={JSON: {"schema": {}}}, access="open",
)  # fmt: skip
async def take_delivery(request: web.Request) -> web.StreamResponse:
    body = await request_bodies.read_body(request)
    state = await request.app[INTAKE].take(request.match_info["source"], request_bodies.join_headers(request), body)
    if refused := REFUSED.get(state):
        raise ApiError(*refused, retry_seconds=RETRY_SECONDS if refused[0] == 503 else 0.0)
    return answer(Delivery(state), 202 if state == "taken" else 200)


@route("GET", "/intake", "How the connected helpdesks do", {200: as_json("All of them", IntakeState)}, access="operate")
async def read_intake(request: web.Request) -> web.StreamResponse:
    return answer(await describe_intake(request.app[INTAKE]))


async def describe_intake(intake: Intake) -> IntakeState:
    """How the connected helpdesks do."""
    found = tuple(
        HelpdeskState(
            name=name, system=watcher.adapter.file.title, mode=watcher.settings.mode, problem=watcher.health.problem,
            delivered=_read_time(watcher.health.delivered_at),
            polled=_read_time(watcher.health.polled_at), refused=watcher.health.refused,
            beyond=watcher.health.beyond,
            judged={reason or "taken": count for reason, count in watcher.health.judged.items()},
        )
        for name, watcher in intake.watchers.items()
    )  # fmt: skip
    unwritten = await intake.list_unwritten()
    approvals = [Approval(each.ticket, each.due) for each in unwritten if each.waits]
    return IntakeState(
        found, intake.inbox.count_waiting, len(unwritten) - len(approvals), tuple(approvals[:APPROVALS])
    )  # fmt: skip


@route(
    "GET", "/reports/helpdesks", "What became of helpdesks' tickets in a while",
    {200: as_json("By what came of them", IntakeReport)}, refusals=(400,), parameters=(SINCE,), access="operate",
)  # fmt: skip
async def read_report(request: web.Request) -> web.StreamResponse:
    given = request_bodies.read_query(request, ("since",))
    return answer(await find_report(request.app[INTAKE], given.get("since", WEEK)))


async def find_report(intake: Intake, since: str) -> IntakeReport:
    """
    What became of helpdesks' tickets.

    :param since: as `RunFilter.since` has it.
    :raises ServiceError: it is no moment.
    """
    return await intake.report(make_wanted(RunFilter(since=since), "").since)


@route(
    "POST", "/tickets/{id}/approve", "Send the suggestion of a ticket's run to its customer, or other words instead",
    {200: as_json("It is being sent", Delivery)}, refusals=(*BODY, 404, 409),
    body={JSON: {"schema": refer_to(ApprovedText)}}, access="operate",
)  # fmt: skip
async def approve(request: web.Request) -> web.StreamResponse:
    given = await request_bodies.read_approval(request)
    if given.text is not None and not remove_controls(given.text).strip():
        raise ApiError(400, "`text` is empty. Leave it out to send what was suggested, or refuse.")
    await decide(request, approved=True, text=given.text or "", run=given.run)
    return answer(Delivery("taken"))


@route(
    "POST", "/tickets/{id}/refuse", "Let the suggestion of a ticket's run not go to its customer",
    {200: as_json("It is not sent", Delivery)}, refusals=(404, 409), access="operate",
)  # fmt: skip
async def refuse(request: web.Request) -> web.StreamResponse:
    await decide(request, approved=False)
    return answer(Delivery("taken"))


async def decide(request: web.Request, *, approved: bool, text: str = "", run: str = "") -> None:
    """
    Keep a person's word on the suggestion of the ticket that a request names.

    :param text: what the customer is told instead of what was suggested; empty: that.
    :param run: whose suggestion the person has read; empty: the latest.
    :raises ApiError: nothing of it waits for one, it was another that was read, or the text is too long.
    """
    if len(text) > MOST_CHARACTERS:
        raise ApiError(400, f"The answer is over {MOST_CHARACTERS:,} characters. Shorten it.")
    stored = await request.app[DESK].find(read_id(request))
    if run and run != stored.id:
        raise ApiError(409, f"{stored.ticket} has gone on since. Read what is suggested now, then decide.")
    if not await request.app[INTAKE].decide(stored, approved=approved, text=remove_controls(text).strip()):
        raise ApiError(409, f"Nothing of {stored.ticket} waits for approval.")


def _read_time(at: float) -> datetime.datetime | None:
    return datetime.datetime.fromtimestamp(at, datetime.UTC) if at else None


@route(
    "GET", "/intake/{source}", "Whether the secret of a helpdesk is known here, as GLPI asks",
    {200: {"description": "The signature of what it sent", "content": {"text/plain": {"schema": {"type": "string"}}}}},
    refusals=(404,), parameters=(SOURCE, CHALLENGE), access="open",
)  # fmt: skip
async def answer_challenge(request: web.Request) -> web.StreamResponse:
    given = request_bodies.read_query(request, ("crc_token",))
    found = request.app[INTAKE].answer_challenge(request.match_info["source"], given.get("crc_token", ""))
    if not found:
        raise ApiError(404, "No helpdesk of this name asks so, or with another secret.")
    return web.Response(text=found)


async def connect_helpdesks(app: web.Application) -> AsyncIterator[None]:
    """Look after the connected helpdesks while the interface is up."""
    async with open_intake(app[DESK]) as intake:
        app[INTAKE] = intake
        yield
