"""The agents that there are, and what memory would tell them."""

from aiohttp import web

from runtime.engine.node import Node
from runtime.families import FAMILIES
from runtime.families.limits import AgentRecord, list_agents
from runtime.http import request_bodies
from runtime.http.endpoints.desk import DESK
from runtime.http.errors import ApiError
from runtime.http.middleware import answer
from runtime.http.request_bodies import AgentList, DescribedAgent, Recalled
from runtime.http.routes import as_json, route
from runtime.llm.model_choice import chosen

TEXT_CHARACTERS = 4_000


@route(
    "GET",
    "/agents",
    "The agents of each workflow, in the order in which they are asked",
    {200: as_json("They", AgentList)},
    access="submit",
)
async def read_agents(request: web.Request) -> web.StreamResponse:
    return answer(AgentList(describe_agents(request.app[DESK].node)))


def describe_agents(node: Node) -> tuple[DescribedAgent, ...]:
    """The agents of each workflow, with the model that thinks for each; empty where rules do."""
    usual = node.settings.model.name if chosen(node.settings.model) != "extractive" else ""
    found = []
    for each in list_agents(FAMILIES, node.flows, node.roster):
        spec = node.roster.specs.get(each.name)
        model = (spec.model or usual) if spec is not None and spec.instructions and usual else ""
        known = {name: getattr(each, name) for name in AgentRecord.__struct_fields__}
        found.append(DescribedAgent(**known, model=model))
    return tuple(found)


@route(
    "GET", "/memory", "What memory would recall for a text, and why, or why not",
    {200: as_json("What it would recall", Recalled)}, refusals=(400,),
    parameters=(
        {"name": "text", "in": "query", "required": True, "description": "As a ticket would have it",
         "schema": {"type": "string", "minLength": 1, "maxLength": TEXT_CHARACTERS}},
    ),
    access="operate",
)  # fmt: skip
async def recall(request: web.Request) -> web.StreamResponse:
    text = request_bodies.read_query(request, ("text",)).get("text", "")
    return answer(await recall_text(request.app[DESK].node, text))


async def recall_text(node: Node, text: str) -> Recalled:
    """
    What memory would recall for a text.

    :raises ApiError: it is empty, or too long.
    """
    if not 0 < len(text.strip()) <= TEXT_CHARACTERS:
        raise ApiError(400, f"text must be a ticket's text of 1 to {TEXT_CHARACTERS:,} characters.")
    found = await node.memory.recall(text, within=node.settings.memory.lookup_seconds)
    return Recalled(
        found.verdict, found.why, found.ticket_id, found.resolution, found.stale, found.answered, found.rejected
    )
