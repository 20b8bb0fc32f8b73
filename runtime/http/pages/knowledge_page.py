"""What answers rest on: the folders of the index, and what a search of them finds."""

from aiohttp import web

from runtime.http.endpoints.knowledge_routes import describe_knowledge, find_passages, start_indexing
from runtime.http.errors import ApiError
from runtime.http.pages.page_routes import Form, form_action, go_to, page, render
from runtime.http.schemas import FoundPassages

PATH = "/ui/knowledge"
MOST_SHOWN = 8


@page("GET", PATH, access="operate", nav="knowledge")
async def show_knowledge(request: web.Request) -> web.StreamResponse:
    question, failed = request.query.get("q", "").strip(), ""
    found: FoundPassages | None = None
    if question:
        try:
            found = await find_passages(request, question, MOST_SHOWN)
        except ApiError as refused:
            failed = str(refused)
    state = await describe_knowledge(request)
    return render(request, "knowledge.html", question=question, found=found, failed=failed, state=state)


@form_action(f"{PATH}/index", access="admin")
async def index_again(request: web.Request, _: Form) -> web.StreamResponse:
    await start_indexing(request, ())
    return go_to(PATH)
