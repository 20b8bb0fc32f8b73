"""How the server does: whether it takes tickets, the helpdesks that it looks after, and who works on tickets."""

from aiohttp import web

from runtime.http.endpoints.agent_routes import describe_agents
from runtime.http.endpoints.desk import DESK
from runtime.http.endpoints.health_routes import look_at
from runtime.http.endpoints.intake_routes import INTAKE, WEEK, describe_intake, find_report
from runtime.http.pages.page_routes import page, render


@page("GET", "/ui/operation", access="operate", nav="operation")
async def show_operation(request: web.Request) -> web.StreamResponse:
    desk = request.app[DESK]
    by_workflow: dict[str, list[object]] = {}
    for each in describe_agents(desk.node):
        by_workflow.setdefault(each.workflow, []).append(each)
    intake = await describe_intake(request.app[INTAKE])
    week = await find_report(request.app[INTAKE], WEEK) if intake.helpdesks else None
    return render(
        request, "operation.html", health=await look_at(desk), intake=intake, week=week, workflows=by_workflow,
    )  # fmt: skip
