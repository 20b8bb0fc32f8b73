"""Who plays which role in the runs of the research workflow, and how a round deeper is begun."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple

import msgspec

from actors.helpdesk.messages import NothingFound, ResolutionObtained, ResolveTicket
from actors.ports import Fetch, Model, Reading, Search, Tickets
from actors.research import messages as m
from actors.research.analyzer import Analyzer
from actors.research.extractor import Extractor
from actors.research.models import ResearchOptions
from actors.research.planner import Planner
from actors.research.reporter import Reporter
from actors.research.searcher import Searcher
from actors.research.workflow import ResearchCase
from actors.workflow.outcome import Outcome
from actors.workflow.tables import Run, Workflow
from bus import Actor, Request
from runtime.child_workflow import Children, ChildRun
from runtime.run import LiveRun


class ResearchDependencies(NamedTuple):
    """What one research run has of its own; the rounds below it share all but the id and what is below them."""

    run: str
    ticket: str
    """As logs name it."""
    children: Children
    model: Model
    search: Search
    fetch: Fetch
    reading: Reading
    deepen: Callable[["ResearchDependencies", str, Workflow, ResearchCase], Awaitable[LiveRun | tuple[Run, Outcome]]]
    """Begin a round deeper, or go on with it."""


Roles = Mapping[str, Callable[[ResearchDependencies], Actor[Any]]]


def research_roles(flow: Workflow, tickets: Tickets, told: Mapping[str, str], hold_back: float) -> Roles:
    """
    Who plays which role; nobody exists before they are asked.

    :param told: each agent's instructions.
    :param hold_back: seconds that a round deeper leaves to the one above it, which has yet to write the report.
    """
    return {
        "planner": lambda own: Planner(own.model, own.search.names, told["planner"]),
        "searcher": lambda own: Searcher(own.search),
        "extractor": lambda own: Extractor(own.fetch),
        "analyzer": lambda own: Analyzer(own.model, own.reading, told["analyzer"]),
        "reporter": lambda own: Reporter(own.model, tickets, told["reporter"], own.run),
        "round": lambda own: _round(own, flow, hold_back),
    }


def _round(own: ResearchDependencies, flow: Workflow, hold_back: float) -> ChildRun:
    async def begin(run_id: str, flow: Workflow, request: Request[Any]) -> LiveRun | tuple[Run, Outcome]:
        assert isinstance(request, m.ExploreDirections)  # noqa: S101 - the table asks nothing else of this role
        return await own.deepen(own, run_id, flow, deeper(request, run_id))

    return ChildRun(own.run, flow, begin, report_round, children=own.children, hold_back=hold_back)


def deeper(request: m.ExploreDirections, run_id: str) -> ResearchCase:
    """The case that the next round begins with: all that is known, and what to explore."""
    known = {name: getattr(request, name) for name in request.__struct_fields__}
    number = request.brief.round + 1
    brief = msgspec.structs.replace(request.brief, round=number, direction=request.directions[0], urls=())
    known |= {"ticket_id": run_id, "brief": brief, "rounds": number, "read_before": len(request.pages)}
    return ResearchCase(**known)


def report_round(where: Run, outcome: Outcome) -> m.RoundCompleted:
    """All that a round deeper knows at its end, for the one above it."""
    case: ResearchCase = where.case
    partial = case.partial or (outcome.detail if outcome.status in {"error", "cancelled"} else "")
    known = {n: getattr(case, n) for n in m.RoundCompleted.__struct_fields__}
    return m.RoundCompleted(**(known | {"partial": partial}))


def make_case(request: Request[Any], run_id: str, brief: ResearchOptions) -> ResearchCase:
    """The case of a research that a ticket asks for."""
    assert isinstance(request, ResolveTicket)  # noqa: S101 - the table asks nothing else of a worker
    question = request.analysis.question if request.analysis and request.analysis.question else request.text
    return ResearchCase(ticket_id=run_id, text=question, brief=brief)


def make_answer(where: Run, outcome: Outcome) -> ResolutionObtained | NothingFound:
    """What a research means to the ticket that asked for it."""
    said = (outcome.unavailable, outcome.degraded)
    if outcome.resolution is not None and outcome.status in {"resolved", "suggested"}:
        return ResolutionObtained(outcome.resolution, *said)
    case: ResearchCase = where.case
    read = f"{len(case.pages)} pages were read." if case.pages else "No page could be read."
    return NothingFound(outcome.detail or f"The research found nothing on this. {read}", *said)
