"""What memory would tell the agents of a ticket, and why not more."""

from aiohttp import web

from runtime.http.endpoints.agent_routes import recall_text
from runtime.http.endpoints.desk import DESK
from runtime.http.errors import ApiError
from runtime.http.pages.page_routes import page, render
from runtime.http.schemas import Recalled


@page("GET", "/ui/memory", access="operate", nav="memory")
async def show_memory(request: web.Request) -> web.StreamResponse:
    text, failed = request.query.get("text", "").strip(), ""
    found: Recalled | None = None
    if text:
        try:
            found = await recall_text(request.app[DESK].node, text)
        except ApiError as refused:
            failed = str(refused)
    return render(request, "memory.html", text=text, found=found, failed=failed)
