"""One ticket: what was asked, the answer with what it rests on, and how it came to that."""

import contextlib

from aiohttp import web

from actors.workflow.outcome import Handoff
from runtime.families import makes_document, writes_report
from runtime.http.endpoints.desk import DESK, read_id
from runtime.http.endpoints.own_tickets import owns_ticket
from runtime.http.pages.answer_blocks import read_groups
from runtime.http.pages.handoff_drawing import draw_handoffs
from runtime.http.pages.page_routes import page, render
from runtime.service import TicketService
from runtime.storage.journal import JournalDamaged, StoredRun

JUDGED = frozenset({"resolved", "suggested", "not_found"})
TITLE_CHARACTERS = 90


@page("GET", "/ui/tickets/{id}", access="submit")
async def show_ticket(request: web.Request) -> web.StreamResponse:
    desk = request.app[DESK]
    stored = await desk.ticket(read_id(request))
    record, outcome = await desk.describe(stored), await desk.node.journal.outcome(stored)
    resolution, has_report = outcome.resolution if outcome else None, writes_report(stored.workflow)
    handoffs, state = (outcome.handoffs, outcome.state) if outcome else await _find_standing(desk, stored)
    groups = read_groups(resolution) if resolution and not has_report else ()
    places = [each.citations[0] for each in groups if each.is_quoted]
    return render(
        request, "ticket.html", record=record, outcome=outcome, resolution=resolution, handoffs=handoffs,
        stands_at=state, groups=groups, places=places, drawing=draw_handoffs(handoffs), cancels=stored.cancel,
        judgement=await desk.judgement(stored) if stored.status in JUDGED else "", judged=JUDGED,
        may_answer=bool(outcome and outcome.questions) and await owns_ticket(desk, request, stored),
        has_report=has_report, has_document=await _has_document(desk, stored), title=TITLE_CHARACTERS,
    )  # fmt: skip


async def _find_standing(desk: TicketService, stored: StoredRun) -> tuple[tuple[Handoff, ...], str]:
    """How far a run has come that has not ended; nothing where what is stored of it cannot be read."""
    with contextlib.suppress(JournalDamaged):
        standing = await desk.node.journal.fold(stored)
        return standing.handoffs, standing.state
    return (), ""


async def _has_document(desk: TicketService, stored: StoredRun) -> bool:
    return makes_document(stored.workflow) and await desk.node.document(stored) is not None
