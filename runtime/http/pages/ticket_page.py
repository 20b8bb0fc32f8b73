"""One ticket: what was asked, the answer with what it rests on, and how it came to that."""

import contextlib

from aiohttp import web

from actors.documents.template import Document
from actors.workflow.outcome import Handoff, explain_incomplete, say_headline
from actors.workflow.user_input import AnswerRound
from runtime.access.shares import Share
from runtime.families import makes_document, writes_report
from runtime.http.endpoints.desk import DESK
from runtime.http.endpoints.intake_routes import INTAKE
from runtime.http.endpoints.own_tickets import find_ticket, may_act
from runtime.http.endpoints.share_routes import describe_shares, may_share
from runtime.http.files import as_fragment
from runtime.http.pages.answer_blocks import read_groups
from runtime.http.pages.handoff_drawing import draw_runs
from runtime.http.pages.page_routes import page, render
from runtime.http.pages.stage_list import list_stages
from runtime.http.pages.time_line import TimeLine, draw_time_line
from runtime.http.schemas import ListedShare
from runtime.node import NoReport
from runtime.reports import DOCUMENT_FORMATS, missing
from runtime.service import TicketService
from runtime.storage.journal import JournalDamaged, StoredRun
from runtime.times import iso
from runtime.tracing.trace_record import read_trace

JUDGED = frozenset({"resolved", "suggested", "not_found"})
FORMATS = (".pdf", ".docx", ".md")
TITLE_CHARACTERS = 150


@page("GET", "/ui/tickets/{id}", access="submit")
async def show_ticket(request: web.Request) -> web.StreamResponse:
    return await show_run(request, await find_ticket(request))


async def show_run(
    request: web.Request, stored: StoredRun, *, share: Share | None = None, link: str = ""
) -> web.Response:
    """
    The page of a ticket, by one of its runs.

    :param share: what opened it to whom is not signed in: nothing can be done there, and nobody's deeds are told.
    :param link: one to it that was just made.
    """
    desk = request.app[DESK]
    record, outcome = await desk.describe(stored), await desk.node.journal.outcome(stored)
    handoffs, state = (outcome.handoffs, outcome.state) if outcome else await _find_standing(desk, stored)
    report, document = await _read_report(desk, stored)
    resolution = outcome.resolution if outcome and report is None else None
    groups = read_groups(resolution, is_document=document is not None) if resolution else ()
    flow = desk.node.flows.get(stored.workflow)
    return render(
        request, "ticket.html", record=record, outcome=outcome, stands_at=state, groups=groups,
        places=[each.citations[0] for each in groups if each.is_quoted],
        runs=draw_runs(stored.workflow, handoffs, outcome.children if outcome else ()),
        stages=list_stages(flow, handoffs) if flow and not outcome else (), cancels=stored.cancel, judged=JUDGED,
        time_line=await _read_time_line(desk, stored), report=report, document=document, title=TITLE_CHARACTERS,
        judgement=await desk.judgement(stored) if stored.status in JUDGED else "",
        formats=[each for each in (FORMATS if report is not None else DOCUMENT_FORMATS) if not missing(each)],
        rounds=_read_answers(desk, stored),
        writings=None if share else await request.app[INTAKE].find_writings(stored),
        shared_until=iso(share.expires) if share else None,
        may_act=not share and await may_act(request, stored), link=link,
        shares=await _list_shares(request, stored) if not share else None,
        share_days=desk.node.settings.server.share_days,
        say_headline=say_headline, explain_incomplete=explain_incomplete,
    )  # fmt: skip


async def _list_shares(request: web.Request, stored: StoredRun) -> tuple[ListedShare, ...] | None:
    """The links to a ticket; nothing for who may not make any."""
    return await describe_shares(request, stored) if await may_share(request, stored) else None


async def _read_report(desk: TicketService, stored: StoredRun) -> tuple[str | None, Document | None]:
    """The report of a research as HTML of our own, or the document of a question of law; often neither."""
    if stored.ended is None:
        return None, None
    if writes_report(stored.workflow):
        with contextlib.suppress(NoReport, JournalDamaged):
            found = await desk.node.report(stored.ref)
            return await as_fragment(found, desk.node.workers), None
    if makes_document(stored.workflow):
        with contextlib.suppress(JournalDamaged):
            return None, await desk.node.document(stored)
    return None, None


def _read_answers(desk: TicketService, stored: StoredRun) -> tuple[AnswerRound, ...]:
    """What a person answered to the questions of the ticket's earlier runs."""
    with contextlib.suppress(JournalDamaged):
        return desk.node.journal.case(stored).answers
    return ()


async def _read_time_line(desk: TicketService, stored: StoredRun) -> TimeLine | None:
    with contextlib.suppress(JournalDamaged):
        return draw_time_line((await read_trace(desk.node, stored)).spans)
    return None


async def _find_standing(desk: TicketService, stored: StoredRun) -> tuple[tuple[Handoff, ...], str]:
    """How far a run has come that has not ended; nothing where what is stored of it cannot be read."""
    with contextlib.suppress(JournalDamaged):
        standing = await desk.node.journal.fold(stored)
        return standing.handoffs, standing.state
    return (), ""
