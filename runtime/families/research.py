"""The research as a family: how a ticket becomes one, and how a round deeper is begun and ends."""

import msgspec

from actors.evidence.trace_steps import SearchStep
from actors.research import messages as m
from actors.research.models import ResearchOptions
from actors.research.output_schemas import Answer, Overview, PlanDraft, Points
from actors.research.workflow import RESEARCH, ResearchCase
from actors.text.languages import guess_language
from actors.workflow.outcome import Outcome
from actors.workflow.tables import Run
from runtime.families.family import ChildRole, Family, Round, SharedPorts
from runtime.families.research_order import ResearchOrder, make_options
from runtime.run_handle import RunHandle
from runtime.settings import Settings
from runtime.tickets import Ticket

__all__ = ["FAMILY", "ResearchOptions"]


def make_case(ticket: Ticket, settings: Settings) -> ResearchCase:
    """The case of a question; without options it is as configured."""
    limits, options = settings.research, ticket.options
    if not isinstance(options, ResearchOptions):
        options = ResearchOptions(limits.breadth, limits.depth, sources=limits.sources)
    language = guess_language(ticket.whole)
    return ResearchCase(ticket_id=ticket.id, text=ticket.story, brief=options, language=language)


def make_round(request: m.ExploreDirections, run_id: str, _: Settings) -> ResearchCase:
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


async def restore(shared: SharedPorts) -> tuple[list[RunHandle], list[str]]:
    """Go on with the researches of the state files."""
    from runtime.families.research_state import recovery  # only `resume` needs it

    return await recovery.restore(shared)


def list_searches(case: ResearchCase) -> tuple[SearchStep, ...]:
    """The searches that a case tells of."""
    from actors.research import search_steps  # only a trace needs it

    return search_steps.list_searches(case)


FAMILY = Family(
    flow=RESEARCH,
    label="research",
    runs="runtime.families.research_runs:ResearchRuns",
    make_case=make_case,
    order_of=lambda case: (case.text, case.brief),
    options=ResearchOptions,
    order=ResearchOrder,
    make_options=make_options,
    options_of=lambda case: case.brief,
    round_of=lambda case: Round(case.brief.round, case.brief.depth, case.brief.direction),
    answers=dict.fromkeys((PlanDraft, Answer, Points, Overview), "actors.research.extractive_answers"),
    children={"round": ChildRole(RESEARCH.name, make_round, report_round, lambda s: s.research.report_seconds)},
    report=lambda case: case.report,
    list_searches=list_searches,
    restore=restore,
)
