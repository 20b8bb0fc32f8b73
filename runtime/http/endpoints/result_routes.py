"""What came of a ticket: its report, and what a person says of its answer."""

import msgspec
from aiohttp import web

from runtime.families import find, writes_report
from runtime.http import request_bodies
from runtime.http.endpoints.desk import DESK
from runtime.http.endpoints.own_tickets import find_ticket
from runtime.http.errors import ApiError
from runtime.http.files import FORMATS, as_file, document_format, requested_format
from runtime.http.gate import may_do
from runtime.http.middleware import answer
from runtime.http.routes import BODY, Document, as_json, refer_to, route
from runtime.http.schemas import JSON, Feedback, FeedbackReceipt, links
from runtime.node import NoReport
from runtime.storage.journal import StoredRun

FORMAT: Document = {
    "name": "format", "in": "query", "schema": {"type": "string", "enum": list(FORMATS)},
    "description": "Default: HTML if the Accept header asks for it, else Markdown.",
}  # fmt: skip
STRING: Document = {"schema": {"type": "string"}}
JUDGE = "say whether its answer was right"


@route(
    "GET", "/tickets/{id}/report", "The report of a research, or the document that a ticket asked for",
    {200: {"description": "The report", "content": dict.fromkeys(FORMATS.values(), STRING)}},
    refusals=(400, 404, 409), parameters=(FORMAT,), access="submit",
)  # fmt: skip
async def report(request: web.Request) -> web.StreamResponse:
    return await send_report(request, await find_ticket(request))


async def send_report(request: web.Request, stored: StoredRun) -> web.StreamResponse:
    """
    The report or the document of a run, as the file that a request asks for.

    :raises ApiError: it has none, or none yet.
    """
    node = request.app[DESK].node
    if (document := await node.document(stored)) is not None:
        return await as_file(document, document_format(request), stored.ticket, node.workers)
    suffix = requested_format(request)
    if not writes_report(stored.workflow):
        kind = find(stored.workflow).label
        raise ApiError(404, f"{stored.ticket} is a {kind}; GET {links(stored).ticket} shows it.")
    try:
        found = await node.report(stored.ref)
    except NoReport:
        why = "yet; ask again when it has ended" if stored.ended is None else "because it ended before there was one"
        raise ApiError(409, f"There is no report of {stored.ticket} {why}.") from None
    return await as_file(found, suffix, stored.ticket, node.workers)


@route(
    "POST", "/tickets/{id}/feedback",
    "Say whether a ticket's resolution was right, or what is; memory never repeats one that was wrong",
    {200: as_json("It is noted", FeedbackReceipt)}, refusals=(404, 409, *BODY),
    body={JSON: {"schema": refer_to(Feedback)}}, access="submit",
)  # fmt: skip
async def feedback(request: web.Request) -> web.StreamResponse:
    desk = request.app[DESK]
    stored, given = await find_ticket(request, JUDGE), await request_bodies.read_feedback(request)
    said = await desk.read_question(stored)
    if given.right is None:
        if not may_do(request, "operate"):  # it is given word for word from then on, to customers, too
            raise ApiError(403, "Only the roles operate and admin give memory an answer. Say `right`: true or false.")
        right, count, about = True, 1, await desk.node.teach(stored.ref, given.answer, given.person)
    else:
        right, may_all = given.right, may_do(request, "operate")
        _, _, count = await desk.feedback(stored, right=right, places=given.places, for_all=may_all)
        about = await desk.read_answer(stored)
    judged = FeedbackReceipt(stored.ticket, right, count, said.question, said.subject, said.requester, about)
    return answer(msgspec.structs.replace(judged, places=given.places))
