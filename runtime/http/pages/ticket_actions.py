"""What a person does with a ticket: cancels it, judges its answer or gives the right one, answers what it asks."""

from aiohttp import web

from runtime.engine.service import Answers, answer_ticket
from runtime.http.endpoints.desk import DESK, find_run, find_ticket, read_id
from runtime.http.endpoints.intake_routes import decide
from runtime.http.endpoints.share_routes import create_share, drop_share, find_shared
from runtime.http.endpoints.ticket_routes import JUDGE
from runtime.http.errors import ApiError
from runtime.http.gate import find_person, may_do
from runtime.http.pages.page_routes import Form, form_action, go_to, read_field
from runtime.http.pages.ticket_page import show_run

ANSWER = "answer-"
"""Before the name of a question, in the name of its field."""


def _show(request: web.Request) -> web.Response:
    return go_to(f"/ui/tickets/{read_id(request)}")


@form_action("/ui/tickets/{id}/cancel", access="operate")
async def cancel(request: web.Request, _: Form) -> web.StreamResponse:
    desk = request.app[DESK]
    await desk.node.cancel((await desk.ticket(read_id(request))).ref)
    return _show(request)


@form_action("/ui/tickets/{id}/feedback", access="submit")
async def judge(request: web.Request, form: Form) -> web.StreamResponse:
    desk, said = request.app[DESK], read_field(form, "right")
    if said not in {"yes", "no"}:
        raise ApiError(400, "Say whether the answer was right. Go back to the ticket and choose.")
    places = tuple(int(each) for each in form.get("place", ()) if each.isascii() and each.isdigit() and len(each) < 4)
    stored = await find_ticket(request, JUDGE)
    chosen, may_all = places if said == "yes" else (), may_do(request, "operate")
    await desk.feedback(stored, right=said == "yes", places=chosen, for_all=may_all)
    return _show(request)


@form_action("/ui/tickets/{id}/approve", access="operate")
async def approve(request: web.Request, form: Form) -> web.StreamResponse:
    text = read_field(form, "text")
    if "text" in form and not text:
        raise ApiError(400, "There is no answer in the form. Go back to the ticket and write it, or refuse.")
    await decide(request, approved=True, text=text, run=read_field(form, "run"))
    return _show(request)


@form_action("/ui/tickets/{id}/refuse", access="operate")
async def refuse(request: web.Request, form: Form) -> web.StreamResponse:
    await decide(request, approved=False, run=read_field(form, "run"))
    return _show(request)


@form_action("/ui/tickets/{id}/teach", access="operate")
async def teach(request: web.Request, form: Form) -> web.StreamResponse:
    desk, answer, stored = request.app[DESK], read_field(form, "answer"), await find_ticket(request, JUDGE)
    if not answer:
        raise ApiError(400, "There is no answer in the form. Go back to the ticket and write it.")
    await desk.node.teach(stored.ref, answer, find_person(request))
    return _show(request)


@form_action("/ui/tickets/{id}/share", access="submit")
async def share(request: web.Request, _: Form) -> web.StreamResponse:
    """The page again, with the link: it is told this once, so there is nowhere to go on to."""
    stored = await find_shared(request)
    return await show_run(request, stored, link=(await create_share(request, stored)).link)


@form_action("/ui/tickets/{id}/unshare", access="submit")
async def unshare(request: web.Request, form: Form) -> web.StreamResponse:
    await drop_share(request, await find_shared(request), read_field(form, "share"))
    return _show(request)


@form_action("/ui/tickets/{id}/answers", access="submit")
async def answer_questions(request: web.Request, form: Form) -> web.StreamResponse:
    desk = request.app[DESK]
    await find_ticket(request, "answer what it asks")
    asking = await find_run(request, read_field(form, "run"))
    if asking.ticket != read_id(request):
        raise ApiError(404, "These are questions of another ticket. Go back to the ticket, and answer what it asks.")
    names = [name.removeprefix(ANSWER) for name in form if name.startswith(ANSWER)]
    given = {name: read_field(form, ANSWER + name) for name in names}
    await answer_ticket(desk, asking, Answers(given=given, text=read_field(form, "text")), named=True)
    return _show(request)
